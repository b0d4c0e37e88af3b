// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/checkpoint_table.h"

#include "ui/models/checkpoint_model.h"
#include "ui/pages/checkpoints/badge_delegate.h"
#include "ui/pages/table.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QEvent>
#include <QHeaderView>
#include <QPainter>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kCheckpointTableCompactWidth = 560; // narrower: the columns that matter least go
constexpr int kTightWidth = 360;
constexpr int kLeastProblem = 80; // a longer one ends in dots; the panel beside has the whole

} // namespace

CheckpointTable::CheckpointTable(CheckpointModel& model, QWidget* parent)
    : QTableView(parent), checkpoints_(model) {
    setTabKeyNavigation(false); // Tab leaves the table
    setObjectName("checkpointTable");
    setAccessibleName(tr("Checkpoints"));
    sorted_.setSourceModel(&model);
    sorted_.setSortRole(CheckpointModel::kSortRole);
    setModel(&sorted_);
    setSortingEnabled(true);
    sortByColumn(CheckpointModel::Step, Qt::DescendingOrder); // newest first
    setItemDelegateForColumn(CheckpointModel::Badge, new BadgeDelegate(*this, this));
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    verticalHeader()->hide();
    scaleRows(this, widgets::size::kRowHeight);
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    horizontalHeader()->setSectionResizeMode(CheckpointModel::KeptFor, QHeaderView::Stretch);
    horizontalHeader()->setHighlightSections(false);
    fitting_.setSingleShot(true);
    fitting_.setInterval(0);
    connect(&fitting_, &QTimer::timeout, this, &CheckpointTable::fitColumns);
    const auto later = [this] { fitting_.start(); }; // rows come in crowds
    connect(&model, &QAbstractItemModel::modelReset, this, later);
    connect(&model, &QAbstractItemModel::rowsInserted, this, later);
    connect(&model, &QAbstractItemModel::rowsRemoved, this, later);
    connect(&model, &QAbstractItemModel::dataChanged, this, later);
}

const CheckpointRow& CheckpointTable::row(const QModelIndex& shown) const {
    return checkpoints_.row(sorted_.mapToSource(shown).row());
}

QString CheckpointTable::bestText() const {
    return names_best_ ? checkpoints_.bestName() : tr("best");
}

int CheckpointTable::currentRow() const {
    return sorted_.mapToSource(currentIndex()).row();
}

void CheckpointTable::chooseRow(int row) {
    selectRow(sorted_.mapFromSource(checkpoints_.index(row, 0)).row());
}

std::vector<int> CheckpointTable::selectedRowNumbers() const {
    std::vector<int> rows;
    for (const QModelIndex& index : selectionModel()->selectedRows()) {
        rows.push_back(sorted_.mapToSource(index).row());
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

void CheckpointTable::alsoSelect(const std::vector<std::int64_t>& steps) {
    for (const std::int64_t step : steps) {
        if (const int row = checkpoints_.rowOfStep(step); row >= 0) {
            selectionModel()->select(sorted_.mapFromSource(checkpoints_.index(row, 0)),
                                     QItemSelectionModel::Select | QItemSelectionModel::Rows);
        }
    }
}

void CheckpointTable::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (model()->rowCount() > 0) {
        return;
    }
    QPainter painter(viewport());
    const widgets::Theme& theme = widgets::Theme::current();
    widgets::paintText(painter, QRectF(viewport()->rect()), Qt::AlignCenter,
                       tr("No checkpoint yet"), theme.font(widgets::TextStyle::Body),
                       theme.color(widgets::Role::Muted));
}

void CheckpointTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fitColumns();
}

void CheckpointTable::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitColumns();
    }
}

void CheckpointTable::fitColumns() {
    names_best_ = false;
    const double room = width() / widgets::Theme::current().fontScale();
    const bool compact = room < kCheckpointTableCompactWidth;
    for (const auto column :
         {CheckpointModel::Epoch, CheckpointModel::TrainLoss, CheckpointModel::Saved}) {
        setColumnHidden(column, compact);
    }
    showColumn(CheckpointModel::Size);
    // What is wrong with a checkpoint stands among the reasons: other columns go before that one.
    const double least = hasProblems() ? widthOfReasons() : 0;
    for (const auto column : {CheckpointModel::Saved, CheckpointModel::Epoch,
                              CheckpointModel::TrainLoss, CheckpointModel::Size}) {
        setColumnHidden(column, isColumnHidden(column) || roomForReasons() < least);
    }
    // The badges still say newest and best.
    const bool tight = room < kTightWidth || widthOfReasons() > roomForReasons();
    setColumnHidden(CheckpointModel::KeptFor, tight);
    horizontalHeader()->setStretchLastSection(tight);
    fitMetric();
    fitBadges();
}

// With what the others leave.
void CheckpointTable::fitBadges() {
    names_best_ = true;
    names_best_ =
        roomForReasons() >= (isColumnHidden(CheckpointModel::KeptFor) ? 0 : widthOfReasons());
    // Where it is the last one, Qt keeps it as wide as it was until it is told.
    QHeaderView* header = horizontalHeader();
    header->resizeSection(CheckpointModel::Badge,
                          std::max(sizeHintForColumn(CheckpointModel::Badge),
                                   header->sectionSizeHint(CheckpointModel::Badge)));
    header->setSectionResizeMode(CheckpointModel::Badge, QHeaderView::ResizeToContents);
}

// The name of the metric is shortened where all that is left is wider than the table.
void CheckpointTable::fitMetric() {
    QHeaderView* header = horizontalHeader();
    const int missing = -roomForReasons();
    header->setSectionResizeMode(CheckpointModel::Metric,
                                 missing > 0 ? QHeaderView::Fixed : QHeaderView::ResizeToContents);
    if (missing > 0) {
        const int values = sizeHintForColumn(CheckpointModel::Metric);
        const int named = header->sectionSizeHint(CheckpointModel::Metric);
        header->resizeSection(CheckpointModel::Metric,
                              std::max(values, std::max(values, named) - missing));
    }
}

/// What the other columns leave.
int CheckpointTable::roomForReasons() const {
    int left = viewport()->width();
    for (int column = 0; column < CheckpointModel::ColumnCount; ++column) {
        if (column != CheckpointModel::KeptFor && !isColumnHidden(column)) {
            left -=
                std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
        }
    }
    return left;
}

bool CheckpointTable::hasProblems() const {
    for (int row = 0; row < checkpoints_.rowCount(); ++row) {
        if (!checkpoints_.row(row).problem.empty()) {
            return true;
        }
    }
    return false;
}

/// What the reasons need to be read, and a problem to be seen.
double CheckpointTable::widthOfReasons() const {
    QString reason;
    QString problem;
    for (int row = 0; row < checkpoints_.rowCount(); ++row) {
        const QString text = checkpoints_.index(row, CheckpointModel::KeptFor).data().toString();
        QString& longest = checkpoints_.row(row).problem.empty() ? reason : problem;
        longest = text.size() > longest.size() ? text : longest;
    }
    const QFont font = widgets::Theme::current().font(widgets::TextStyle::Body);
    return std::max(widgets::textWidth(font, reason),
                    std::min(widgets::textWidth(font, problem),
                             kLeastProblem * widgets::Theme::current().fontScale())) +
           2 * widgets::space::kControl;
}

} // namespace weft::ui
