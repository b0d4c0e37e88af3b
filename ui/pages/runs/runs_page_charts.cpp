// SPDX-License-Identifier: GPL-3.0-or-later
// The Runs page with charts beside its table: legend, groups, saved views.
#include "ui/bridge/convert.h"
#include "ui/pages/runs/report/report_export.h"
#include "ui/pages/runs/report/report_panel.h"
#include "ui/pages/runs/runs_page.h"
#include "ui/pages/runs/runs_table.h"
#include "ui/pages/runs/wall/brush_panel.h"
#include "ui/pages/runs/wall/matter_panel.h"
#include "ui/pages/runs/wall/wall_panel.h"
#include "ui/pages/undo_note.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/look/menu_text.h"

#include <QComboBox>
#include <QEvent>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kReportRows = 200;  // more are the matter of a CSV file
constexpr int kLegendWidth = 400; // of the table beside the charts, at text size 1

} // namespace

// When they are asked for: a page without them opens sooner.
void RunsPage::createCharts() {
    if (wall_ != nullptr) {
        return;
    }
    const std::vector<train::RunSummary> listed = listedRuns();
    looks_->setRuns(listed);
    settings_->setRuns(listed);
    wall_ = new WallPanel(curves_, *looks_);
    brush_ = new BrushPanel(*looks_, *settings_);
    auto* right = new widgets::ThinSplitter(Qt::Vertical, "wallAndBrush");
    right->addWidget(wall_);
    right->addWidget(brush_);
    right->setStretchFactor(0, 1);
    right->setStretchFactor(1, 0);
    right->setSizes({560, 220});
    beside_->addWidget(right);
    matter_ = new MatterPanel(*looks_, *settings_);
    left_->addWidget(matter_);
    left_->setStretchFactor(0, 1);
    left_->setStretchFactor(1, 0);
    brush_->setMetric(matter_->metric());
    connect(matter_, &MatterPanel::metricChanged, this,
            [this] { brush_->setMetric(matter_->metric()); });
    connect(matter_, &MatterPanel::settingChosen, this, [this](const QString& path) {
        looks_->setGroupBy(path);
        group_->setCurrentIndex(std::max(0, group_->findData(path)));
    });
    connect(wall_, &WallPanel::exported, this, &RunsPage::showWritten);
    connect(brush_, &BrushPanel::exported, this, &RunsPage::showWritten);
    connect(wall_, &WallPanel::reportRequested, this,
            [this](WallCell* cell) { addToReport({cell}); });
}

void RunsPage::createReport() {
    if (report_ != nullptr) {
        return;
    }
    report_ = new ReportPanel(studio_.paths().state / "report.json");
    whole_->addWidget(report_);
    connect(report_, &ReportPanel::written, this, &RunsPage::showWritten);
    connect(report_, &ReportPanel::tableRequested, this, &RunsPage::addTableToReport);
    connect(report_, &ReportPanel::chartsRequested, this, [this] {
        setMode(ChartsMode);
        emit toastRequested(static_cast<int>(widgets::MessageKind::Info),
                            tr("Choose the charts, then “Add to report”, or + on one of them"));
    });
}

void RunsPage::addToReport(const std::vector<WallCell*>& cells) {
    createReport();
    for (WallCell* cell : cells) {
        report_->add(frozenChart(*cell->chart(), metricWords(cell->metric())));
    }
    emit toastRequested(
        static_cast<int>(widgets::MessageKind::Success),
        tr("%n chart(s) added to the report", nullptr, static_cast<int>(cells.size())));
}

void RunsPage::addTableToReport() {
    ReportBlock block;
    block.kind = ReportBlock::Kind::Table;
    const QAbstractItemModel& model = *table_->model();
    std::vector<int> columns;
    const std::vector<RunColumn> shown = table_->visualColumns();
    for (const RunColumn& column : shown) {
        const auto& all = model_->columns();
        const auto at = static_cast<int>(std::find(all.begin(), all.end(), column) - all.begin());
        if (column.kind != RunColumn::Kind::Curve && !table_->isColumnHidden(at)) {
            columns.push_back(at);
            block.columns << model.headerData(at, Qt::Horizontal, Qt::DisplayRole).toString();
        }
    }
    for (int row = 0; row < std::min(model.rowCount(), kReportRows); ++row) {
        QStringList& texts = block.rows.emplace_back();
        for (const int column : columns) {
            texts << model.index(row, column).data().toString();
        }
    }
    block.text = model.rowCount() > kReportRows
                     ? tr("The first %1 of %2 runs").arg(kReportRows).arg(model.rowCount())
                     : tr("%n run(s)", nullptr, model.rowCount());
    report_->add(std::move(block));
    if (matter_ != nullptr && !matter_->explained().empty()) {
        report_->add(matter_->block());
    }
}

void RunsPage::setMode(int mode) {
    modes_->setCurrentIndex(mode);
}

void RunsPage::showMode() {
    const bool charts = modes_->currentIndex() == ChartsMode;
    const bool report = modes_->currentIndex() == ReportMode;
    add_to_report_->setVisible(charts);
    open_folder_->setVisible(!charts); // it is in the menu, too
    if (report) {
        createReport();
        whole_->setCurrentWidget(report_);
        return; // table and charts stay as they are
    }
    whole_->setCurrentIndex(0);
    if (charts) {
        createCharts();
        matter_->show();
    } else if (matter_ != nullptr) {
        matter_->hide();
    }
    for (QPushButton* button : {open_, checkpoints_, tag_, notes_, archive_, trash_}) {
        button->setVisible(!charts);
    }
    group_->setVisible(charts);
    model_->showLooks(charts);
    filtered_->setLooks(charts ? looks_ : nullptr);
    table_->setNarrow(charts);
    beside_->setCurrentIndex(charts ? 1 : 0);
    splitter_->setOrientation(charts ? Qt::Horizontal : Qt::Vertical);
    splitter_->setStretchFactor(0, charts ? 0 : 3);
    splitter_->setStretchFactor(1, charts ? 1 : 2);
    const auto legend = static_cast<int>(kLegendWidth * widgets::Theme::current().fontScale());
    const int legend_now = std::min(legend, width() / 3);
    splitter_->setSizes(charts ? QList<int>{legend_now, std::max(400, width() - legend_now)}
                               : QList<int>{460, 340});
    showTitle();
}

std::vector<train::RunSummary> RunsPage::listedRuns() const {
    std::vector<train::RunSummary> listed;
    for (int row = 0; row < filtered_->rowCount(); ++row) {
        listed.push_back(filtered_->run(row));
    }
    return listed;
}

void RunsPage::showTitle() {
    if (modes_->currentIndex() == ChartsMode) {
        const auto all = static_cast<int>(looks_->runs().size());
        const auto shown = static_cast<int>(looks_->shownCount());
        table_header_->setTitle(tr("%n run(s)", nullptr, all));
        table_header_->setSubtitle(shown == all ? QString() : tr("%1 drawn").arg(shown));
        return;
    }
    const auto count = static_cast<int>(selectedRuns().size());
    table_header_->setTitle(count == 0 ? tr("No run selected")
                                       : tr("%n run(s) selected", nullptr, count));
    table_header_->setSubtitle({});
}

void RunsPage::fillGroups() {
    const QSignalBlocker blocker(group_);
    group_->clear();
    group_->addItem(tr("No groups"), QString());
    for (const QString& path : settings_->paths()) {
        group_->addItem(tr("by %1").arg(settings_->shortName(path)), path);
        group_->setItemData(group_->count() - 1, path, Qt::ToolTipRole);
    }
    const int now = group_->findData(looks_->groupBy());
    if (now < 0) {
        group_->addItem(tr("by %1").arg(looks_->groupBy()), looks_->groupBy());
    }
    group_->setCurrentIndex(now < 0 ? group_->count() - 1 : now);
}

// Of all that are selected, as of the first of them.
void RunsPage::toggleEyes() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    if (modes_->currentIndex() != ChartsMode || runs.empty()) {
        return;
    }
    std::vector<std::filesystem::path> folders;
    for (const train::RunSummary& run : runs) {
        folders.push_back(run.folder);
    }
    looks_->setShown(folders, !looks_->isShown(folders.front()));
}

// The run under the mouse, else the one that is selected, stands out on all charts.
void RunsPage::highlightHovered(const QModelIndex& index) {
    if (wall_ == nullptr || modes_->currentIndex() != ChartsMode) {
        return;
    }
    if (index.isValid()) {
        wall_->highlight(filtered_->run(index.row()).folder);
        return;
    }
    const std::vector<train::RunSummary> runs = selectedRuns();
    wall_->highlight(runs.size() == 1 ? runs[0].folder : std::filesystem::path());
}

bool RunsPage::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave) {
        highlightHovered({});
    }
    return Page::eventFilter(watched, event);
}

RunView RunsPage::view() const {
    RunView view;
    view.filter = filter_->text();
    view.group_by = looks_->groupBy();
    for (const RunColumn& column : table_->visualColumns()) {
        view.columns << column.id();
    }
    view.mode = modes_->currentIndex();
    view.wall = wall_ != nullptr ? wall_->state() : WallState();
    return view;
}

void RunsPage::setView(const RunView& view) {
    filter_->setText(view.filter);
    std::vector<RunColumn> columns;
    for (const QString& id : view.columns) {
        if (const auto column = RunColumn::fromId(id)) {
            columns.push_back(*column);
        }
    }
    if (!columns.empty()) {
        table_->changeColumns(columns);
    }
    setMode(view.mode == ChartsMode ? ChartsMode : TableMode); // a report is of all views
    looks_->setGroupBy(view.group_by);
    fillGroups();
    if (wall_ != nullptr) {
        wall_->setState(view.wall);
    }
}

void RunsPage::fillViews(QMenu& menu) {
    menu.clear();
    const std::vector<RunView> all = views_.all();
    const RunView now = view();
    for (const RunView& saved : all) {
        QAction* entry = menu.addAction(widgets::menuText(saved.name));
        RunView unnamed = saved;
        unnamed.name.clear();
        entry->setCheckable(true);
        entry->setChecked(unnamed == now);
        connect(entry, &QAction::triggered, this, [this, saved] { setView(saved); });
    }
    if (!all.empty()) {
        menu.addSeparator();
    }
    connect(menu.addAction(tr("Save this view…")), &QAction::triggered, this, &RunsPage::saveView);
    if (!all.empty()) {
        QMenu* remove = menu.addMenu(tr("Remove"));
        remove->setObjectName("removeViewMenu");
        for (const RunView& saved : all) {
            connect(remove->addAction(widgets::menuText(saved.name)), &QAction::triggered, this,
                    [this, saved] {
                        views_.remove(saved.name);
                        undo_->offer(tr("The view “%1” is removed").arg(saved.name),
                                     [this, saved] { views_.save(saved); });
                    });
        }
    }
}

void RunsPage::saveView() {
    auto* dialog = new QInputDialog(this);
    dialog->setObjectName("viewDialog");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Save this view"));
    dialog->setLabelText(tr("Name of the view; one of the same name is replaced:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
        RunView now = view();
        now.name = text.simplified();
        if (!now.name.isEmpty()) {
            views_.save(now);
        }
    });
    dialog->open();
}

} // namespace weft::ui
