// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/profiler/time_panel.h"

#include "ui/bridge/convert.h"
#include "ui/models/profile_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/delegates/share_delegate.h"

#include <QEvent>
#include <QHeaderView>
#include <QLineEdit>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kTimePanelFilterWidth = 160;
constexpr int kTimePanelWide = 760;   // narrower: calls and predicted times go
constexpr int kTimePanelMiddle = 520; // narrower still: what it is bound by

} // namespace

TimePanel::TimePanel(QWidget* parent) : Surface(widgets::Role::Surface, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Where the time goes"));
    groups_ = new widgets::SegmentedControl({tr("Op"), tr("Layer"), tr("Kernel"), tr("Phase")});
    groups_->setObjectName("profileGrouping");
    groups_->setCompact(true);
    groups_->setAccessibleName(tr("Group the calls"));
    header_->addControl(groups_);
    filter_ = new QLineEdit;
    filter_->setObjectName("profileFilter");
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setAccessibleName(tr("Filter the rows by their names"));
    filter_->setToolTip(tr("Part of a name (Ctrl+F)"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaximumWidth(kTimePanelFilterWidth);
    widgets::setCompact(filter_);
    header_->addControl(filter_);
    column->addWidget(header_);
    model_ = new ProfileModel(this);
    proxy_ = new QSortFilterProxyModel(this);
    proxy_->setSourceModel(model_);
    proxy_->setSortRole(ProfileModel::kSortRole);
    proxy_->setFilterKeyColumn(ProfileModel::NameColumn);
    proxy_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    table_ = createTable(proxy_, "profileTable", tr("Where the time of a step goes"));
    table_->setTextElideMode(Qt::ElideMiddle); // the end says as much as the beginning
    share_ = new widgets::ShareDelegate(ProfileModel::kShareRole, table_);
    share_->setMarkRole(ProfileModel::kPredictedRole);
    table_->setItemDelegateForColumn(ProfileModel::ShareColumn, share_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(ProfileModel::ShareColumn, Qt::DescendingOrder);
    column->addWidget(table_, 1);
    connect(groups_, &widgets::SegmentedControl::currentIndexChanged, this, [this] {
        fill();
        emit groupingChanged();
    });
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QScopedValueRollback settling(settling_, true);
        proxy_->setFilterFixedString(text);
        describe();
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (!settling_) {
                    emit rowChosen(current.isValid()
                                       ? model_->row(proxy_->mapToSource(current).row()).now.name
                                       : std::string());
                }
            });
}

profile::Grouping TimePanel::grouping() const {
    return static_cast<profile::Grouping>(groups_->currentIndex());
}

void TimePanel::setGrouping(profile::Grouping grouping) {
    groups_->setCurrentIndex(static_cast<int>(grouping));
}

void TimePanel::setRecordings(const std::shared_ptr<const OpenRecording>& now,
                              const std::shared_ptr<const OpenRecording>& before) {
    const bool compared = before != nullptr;
    if (compared != (before_ != nullptr)) { // what changed most is looked at first
        table_->sortByColumn(compared ? ProfileModel::ChangeColumn : ProfileModel::ShareColumn,
                             Qt::DescendingOrder);
    }
    now_ = now;
    before_ = before;
    fill();
}

void TimePanel::fill() {
    const QScopedValueRollback settling(settling_, true);
    model_->setRecordings(now_, before_, grouping());
    arrangeColumns();
    describe();
}

void TimePanel::describe() {
    double full = 0;
    for (const ProfileRow& row : model_->rows()) {
        full = std::max(full, row.share);
    }
    share_->setFull(full);
    const int rows = proxy_->rowCount();
    header_->setSubtitle(filter_->text().isEmpty() ? QString()
                                                   : tr("%n row(s) match", nullptr, rows));
}

void TimePanel::showRow(const std::string& name) {
    const QScopedValueRollback settling(settling_, true);
    const int row = name.empty() ? -1 : model_->rowOf(name);
    const QModelIndex index =
        row < 0 ? QModelIndex() : proxy_->mapFromSource(model_->index(row, 0));
    if (!index.isValid()) {
        table_->clearSelection();
        table_->selectionModel()->clearCurrentIndex();
    } else {
        table_->selectRow(index.row());
        table_->scrollTo(index);
    }
}

void TimePanel::revealRow(const std::string& name) {
    const int row = model_->rowOf(name);
    if (row >= 0 && !proxy_->mapFromSource(model_->index(row, 0)).isValid()) {
        filter_->clear();
    }
    showRow(name);
}

void TimePanel::focusFilter() {
    filter_->setFocus(Qt::ShortcutFocusReason);
    filter_->selectAll();
}

void TimePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeColumns();
}

void TimePanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrangeColumns();
    }
}

// The name takes the room that is left; the columns that matter least go first.
void TimePanel::arrangeColumns() {
    const double room = width() / widgets::Theme::current().fontScale();
    const bool compared = model_->isCompared();
    const auto& rows = model_->rows();
    const bool has_best = std::any_of(rows.begin(), rows.end(),
                                      [](const ProfileRow& row) { return row.now.best_us > 0; });
    const bool has_predicted = std::any_of(
        rows.begin(), rows.end(), [](const ProfileRow& row) { return row.now.predicted_us > 0; });
    table_->setColumnHidden(ProfileModel::CallsColumn, room < kTimePanelWide);
    table_->setColumnHidden(ProfileModel::PredictedColumn,
                            room < kTimePanelWide || !has_predicted || compared);
    table_->setColumnHidden(ProfileModel::BestColumn, !has_best);
    table_->setColumnHidden(ProfileModel::BoundColumn, room < kTimePanelMiddle || !has_best);
    table_->setColumnHidden(ProfileModel::BeforeColumn, !compared);
    table_->setColumnHidden(ProfileModel::ChangeColumn, !compared);
    setColumnWidths(table_,
                    {{ProfileModel::CallsColumn, "1,000"},
                     {ProfileModel::ShareColumn, QString(room < kTimePanelMiddle || compared ? 13
                                                         : room < kTimePanelWide             ? 16
                                                                                             : 22,
                                                         'm')},
                     {ProfileModel::MsColumn, "1,000.00"},
                     {ProfileModel::BeforeColumn, "1,000.00"},
                     {ProfileModel::ChangeColumn, "+1,000.0"},
                     {ProfileModel::PredictedColumn, "1,000.00"},
                     {ProfileModel::BestColumn, "100.0×"},
                     {ProfileModel::BoundColumn, "arithmetic"}});
    table_->horizontalHeader()->setSectionResizeMode(ProfileModel::NameColumn,
                                                     QHeaderView::Stretch);
}

} // namespace weft::ui
