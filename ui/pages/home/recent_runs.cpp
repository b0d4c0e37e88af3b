// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/home/recent_runs.h"

#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/pages/open_folders.h"
#include "ui/recent_menu.h"
#include "ui/studio.h"
#include "widgets/controls/card.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/sparkline.h"
#include "widgets/look/style.h"

#include <QContextMenuEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kRecentRunsRows = 8;
enum RecentRunsColumn {
    RecentRunsNameColumn,
    RecentRunsWhatColumn,
    RecentRunsCurveColumn,
    RecentRunsStateColumn,
    RecentRunsBestColumn,
    RecentRunsBestValueColumn,
    RecentRunsStepColumn,
    RecentRunsTimeColumn,
    RecentRunsSizeColumn,
    RecentRunsWhenColumn,
    RecentRunsActionColumn,
    RecentRunsColumns
};

constexpr RecentRunsColumn kLeastTelling[] = {RecentRunsSizeColumn,  RecentRunsTimeColumn,
                                              RecentRunsBestColumn,  RecentRunsWhenColumn,
                                              RecentRunsCurveColumn, RecentRunsWhatColumn};
constexpr int kMostWhat = 200; // at text size 1: longer ones end in dots before columns leave

/// "mlp · Fashion-MNIST"; the Runs page says how much data there are. A run made elsewhere may know
/// only one of them.
QString modelAndData(const train::RunSummary& run) {
    const QString data = toQString(run.info.data);
    QStringList known{toQString(run.info.model), data.section(QStringLiteral(", "), 0, 0)};
    known.removeAll(QString());
    return known.join(" · ");
}

QString stepText(const train::RunSummary& run) {
    return formatCount(run.step) +
           (run.total_steps > 0 ? " / " + formatCount(run.total_steps) : QString());
}

widgets::TextLabel* number(const QString& text) {
    auto* label = new widgets::TextLabel(text, TextStyle::Mono);
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return label;
}

} // namespace

RecentRuns::RecentRuns(Studio& studio, Actions& actions, QWidget* parent)
    : QWidget(parent), studio_(studio) {
    setObjectName("recentRuns");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* head = new QHBoxLayout;
    head->addWidget(new widgets::TextLabel(tr("Recent runs"), TextStyle::Heading));
    head->addStretch(1);
    head->addWidget(createRecentButton(actions));
    column->addLayout(head);
    connect(&studio_.index(), &RunIndex::runsChanged, this, &RecentRuns::rebuild);
    connect(&studio_.index(), &RunIndex::runMoved, this, &RecentRuns::follow);
    connect(&studio_, &Studio::trainingChanged, this, &RecentRuns::rebuild);
    rebuild();
}

/// Also configurations, and what was opened elsewhere.
QPushButton* RecentRuns::createRecentButton(Actions& actions) {
    auto* recent = new QPushButton(tr("Open recent"));
    recent->setObjectName("homeRecent");
    widgets::setButtonKind(recent, widgets::ButtonKind::Flat);
    widgets::setCompact(recent);
    recent->setMenu(new RecentMenu(studio_, actions.get(action::kClearRecent), recent));
    const auto follow = [this, recent] { recent->setVisible(!studio_.recent().entries().empty()); };
    connect(&studio_.recent(), &RecentPaths::changed, recent, follow);
    recent->hide();
    follow();
    return recent;
}

void RecentRuns::rebuild() {
    delete table_;
    auto* card = new widgets::Card;
    table_ = card;
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(0, 0, 0, 0);
    folders_.clear();
    moving_.clear();
    grid_ = new QGridLayout;
    grid_->setContentsMargins(12, 4, 12, 4);
    grid_->setHorizontalSpacing(16);
    grid_->setVerticalSpacing(0);
    grid_->setColumnStretch(RecentRunsWhatColumn, 1);
    column->addLayout(grid_);
    layout()->addWidget(card);
    if (!studio_.index().isLoaded()) {
        addMessage(tr("Reading %1 …").arg(pathText(studio_.index().root())));
        return;
    }
    if (studio_.index().runs().empty()) {
        addMessage(tr("No runs yet. Run the demo, or choose a preset and press F5."));
        return;
    }
    addHeader();
    chooseStyles();
    int row = 1;
    for (const train::RunSummary& run : studio_.index().runs()) {
        if (row > 2 * kRecentRunsRows) {
            break;
        }
        grid_->addWidget(new widgets::Hairline, row++, 0, 1, RecentRunsColumns);
        addRow(row++, run);
    }
}

// The best of each metric alike: they stand below each other.
void RecentRuns::chooseStyles() {
    std::map<std::string, std::vector<double>> values;
    for (const train::RunSummary& run : studio_.index().runs()) {
        if (run.best_value) {
            values[run.best_metric].push_back(*run.best_value);
        }
    }
    styles_.clear();
    for (auto& [metric, numbers] : values) {
        styles_.emplace(metric, widgets::NumberStyle(std::move(numbers)));
    }
}

void RecentRuns::follow(const train::RunSummary& run) {
    if (const auto found = moving_.find(run.folder); found != moving_.end()) {
        found->second.step->setText(stepText(run));
        found->second.time->setText(formatDuration(run.seconds));
    }
}

QSize RecentRuns::minimumSizeHint() const {
    return {0, QWidget::minimumSizeHint().height()};
}

bool RecentRuns::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) { // other runs, or another size of text
        fitColumns();
    }
    return QWidget::event(event);
}

void RecentRuns::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitColumns();
}

void RecentRuns::fitColumns() {
    std::array<std::vector<QWidget*>, RecentRunsColumns> cells;
    std::array<int, RecentRunsColumns> widths{};
    for (int i = 0; i < grid_->count(); ++i) {
        int row = 0;
        int column = 0;
        int rows = 0;
        int columns = 0;
        grid_->getItemPosition(i, &row, &column, &rows, &columns);
        QWidget* cell = grid_->itemAt(i)->widget();
        if (columns == 1) {
            if (column == RecentRunsWhatColumn) {
                const double most = kMostWhat * widgets::Theme::current().fontScale();
                cell->setMinimumWidth(std::min(cell->sizeHint().width(), static_cast<int>(most)));
            }
            cells[static_cast<std::size_t>(column)].push_back(cell);
            const bool shrinks =
                (cell->sizePolicy().horizontalPolicy() & QSizePolicy::ShrinkFlag) != 0;
            const QSize least = shrinks ? cell->minimumSizeHint() : cell->sizeHint();
            int& width = widths[static_cast<std::size_t>(column)];
            width = std::max({width, least.width(), cell->minimumWidth()});
        }
    }
    const QMargins margins = grid_->contentsMargins();
    int needed = margins.left() + margins.right() - grid_->horizontalSpacing();
    for (const int width : widths) {
        needed += width > 0 ? width + grid_->horizontalSpacing() : 0;
    }
    for (const RecentRunsColumn column : kLeastTelling) {
        const bool leaves = needed > width();
        needed -= leaves ? widths[column] + grid_->horizontalSpacing() : 0;
        for (QWidget* cell : cells[column]) {
            cell->setVisible(!leaves);
        }
    }
}

void RecentRuns::addHeader() {
    const QString titles[RecentRunsColumns] = {
        tr("run"),  tr("model and data"), tr("loss"), tr("state"), tr("best"), {},
        tr("step"), tr("time"),           tr("size"), tr("when"),  {}};
    for (int i = 0; i < RecentRunsColumns; ++i) {
        auto* label = new widgets::TextLabel(titles[i], TextStyle::Caption, Role::Muted);
        if (i >= RecentRunsBestValueColumn && i <= RecentRunsWhenColumn) {
            label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        }
        grid_->addWidget(label, 0, i);
    }
    grid_->setRowMinimumHeight(0, 24);
}

void RecentRuns::addRow(int row, const train::RunSummary& run) {
    grid_->setRowMinimumHeight(row, 34);
    const QString name = nameOf(run);
    const bool unreadable = !run.problem.empty();
    auto* label =
        new widgets::TextLabel(name, TextStyle::Strong, unreadable ? Role::Muted : Role::Text);
    label->setToolTip(pathText(run.folder));
    grid_->addWidget(label, row, RecentRunsNameColumn);
    folders_[row] = run.folder;
    if (unreadable) {
        addUnreadable(row, run);
        return;
    }
    const QString what =
        run.source == train::RunSource::weft ? modelAndData(run) : sourceName(run.source);
    grid_->addWidget(new widgets::ElidedLabel(what, TextStyle::Body, Role::Muted), row,
                     RecentRunsWhatColumn);
    auto* curve = new widgets::Sparkline;
    curve->setMinimumWidth(curve->sizeHint().width());
    curve->setData(sparklineOf(run));
    grid_->addWidget(curve, row, RecentRunsCurveColumn);
    const StateLook look = stateLook(run.state);
    grid_->addWidget(new widgets::Badge(look.text, look.role), row, RecentRunsStateColumn,
                     Qt::AlignLeft);
    grid_->addWidget(
        new widgets::TextLabel(metricWords(run.best_metric), TextStyle::Body, Role::Muted), row,
        RecentRunsBestColumn);
    grid_->addWidget(
        number(run.best_value ? styles_.at(run.best_metric).text(*run.best_value) : QString("–")),
        row, RecentRunsBestValueColumn);
    widgets::TextLabel* step = number(stepText(run));
    widgets::TextLabel* time = number(formatDuration(run.seconds));
    grid_->addWidget(step, row, RecentRunsStepColumn);
    grid_->addWidget(time, row, RecentRunsTimeColumn);
    moving_[run.folder] = {step, time};
    grid_->addWidget(number(formatFileSize(run.bytes)), row, RecentRunsSizeColumn);
    auto* when = new widgets::TextLabel(formatWhen(run.modified), TextStyle::Body, Role::Muted);
    when->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid_->addWidget(when, row, RecentRunsWhenColumn);
    addAction(row, run);
}

QPushButton* RecentRuns::createButton(const QString& text, const train::RunSummary& run) {
    auto* button = new QPushButton(text);
    button->setAccessibleName(text + " " + nameOf(run));
    widgets::setCompact(button);
    button->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
    return button;
}

// Why, and the ways on: to its new place, out of the list, or to where all runs are.
void RecentRuns::addUnreadable(int row, const train::RunSummary& run) {
    auto* cell = new QWidget;
    auto* line = new QHBoxLayout(cell);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(widgets::space::kControl);
    line->addWidget(
        new widgets::ElidedLabel(toQString(run.problem), TextStyle::Caption, Role::Error), 1);
    const std::filesystem::path opened = openedFolderOf(studio_.index(), run.folder);
    if (opened.empty()) {
        QPushButton* runs = createButton(tr("Show in Runs"), run);
        runs->setToolTip(tr("There it can be moved to the trash"));
        connect(runs, &QPushButton::clicked, this, &RecentRuns::runsRequested);
        line->addWidget(runs);
    } else {
        QPushButton* locate = createButton(tr("Locate…"), run);
        locate->setObjectName("locateRecent");
        connect(locate, &QPushButton::clicked, this,
                [this, folder = pathText(opened)] { emit locateRequested(folder); });
        line->addWidget(locate);
        QPushButton* remove =
            createButton(opened == run.folder ? tr("Remove") : closeText(opened), run);
        remove->setObjectName("removeRecent");
        remove->setToolTip(tr("Take %1 out of the list").arg(pathText(opened)));
        connect(remove, &QPushButton::clicked, this, [this, opened] {
            closeOpened(studio_.index(), opened,
                        [this](const QString& text) { emit closed(text); });
        });
        line->addWidget(remove);
    }
    grid_->addWidget(cell, row, RecentRunsWhatColumn, 1, RecentRunsColumns - RecentRunsWhatColumn);
}

void RecentRuns::contextMenuEvent(QContextMenuEvent* event) {
    const QPoint at = table_->mapFrom(this, event->pos());
    for (const auto& [row, folder] : folders_) {
        const QRect line = grid_->cellRect(row, RecentRunsNameColumn);
        if (at.y() < line.top() || at.y() > line.bottom()) {
            continue;
        }
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->addAction(tr("Open"), this,
                        [this, path = pathText(folder)] { emit openRequested(path); });
        addCloseAction(*menu, studio_.index(), folder,
                       [this](const QString& text) { emit closed(text); });
        menu->popup(event->globalPos());
    }
}

void RecentRuns::addAction(int row, const train::RunSummary& run) {
    const QString folder = pathText(run.folder);
    const bool resumable = (run.state == "stopped" || run.state == "interrupted") &&
                           run.last_checkpoint_step >= 0 && !studio_.isTraining();
    QPushButton* button = createButton(resumable               ? tr("Resume")
                                       : run.state == "failed" ? tr("Show why")
                                                               : tr("Open"),
                                       run);
    connect(button, &QPushButton::clicked, this, [this, folder, resumable] {
        resumable ? emit resumeRequested(folder) : emit openRequested(folder);
    });
    grid_->addWidget(button, row, RecentRunsActionColumn);
}

void RecentRuns::addMessage(const QString& text) {
    grid_->setRowMinimumHeight(0, 56);
    auto* label = new widgets::TextLabel(text, TextStyle::Body, Role::Muted);
    label->setAlignment(Qt::AlignCenter);
    grid_->addWidget(label, 0, 0, 1, RecentRunsColumns);
}

} // namespace weft::ui
