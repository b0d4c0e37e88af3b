// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/checkpoints_page.h"

#include "core/base/error.h"
#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/models/checkpoint_model.h"
#include "ui/pages/checkpoints/checkpoint_actions.h"
#include "ui/pages/checkpoints/checkpoint_curve.h"
#include "ui/pages/checkpoints/checkpoint_table.h"
#include "ui/pages/checkpoints/fork_dialog.h"
#include "ui/pages/checkpoints/resume_panel.h"
#include "ui/pages/checkpoints/run_tree.h"
#include "ui/pages/checkpoints/weights_view.h"
#include "ui/pages/drawings.h"
#include "ui/pages/open_folders.h"
#include "ui/pages/page_list.h"
#include "ui/pages/undo_note.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

enum CheckpointsSheet { CheckpointsEmptySheet, CheckpointsRunSheet, WeightsSheet };

constexpr int kCheckpointsPageRunsWidth = 224;
constexpr int kPanelWidth = 320;
constexpr int kCheckpointsPageRereadMs = 100;

} // namespace

CheckpointsPage::CheckpointsPage(Studio& studio, Actions& actions)
    : studio_(studio), reader_(other_) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader(actions));
    column->addWidget(new widgets::Hairline);
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal, "checkpointsSplitter");
    splitter->addWidget(createTree());
    stack_ = new QStackedWidget;
    auto* empty =
        new widgets::EmptyState("checkpoints", tr("No run selected"),
                                tr("Checkpoints of your runs appear here. Run the demo on "
                                   "Home to write the first."));
    addHomeButton(*empty, studio_.draft());
    stack_->addWidget(empty);
    stack_->addWidget(createMiddle());
    weights_ = new WeightsView(studio_.draft());
    stack_->addWidget(weights_);
    connect(weights_, &WeightsView::startRequested, this, &CheckpointsPage::startFromWeights);
    splitter->addWidget(stack_);
    panel_ = new ResumePanel;
    splitter->addWidget(panel_);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes(
        {kCheckpointsPageRunsWidth, 1440 - kCheckpointsPageRunsWidth - kPanelWidth, kPanelWidth});
    column->addWidget(splitter, 1);

    connect(&studio_.index(), &RunIndex::runsChanged, this, &CheckpointsPage::fillTree);
    const auto take = [this](const std::filesystem::path& folder,
                             const std::vector<checkpoint::Entry>& entries) {
        if (folder == folder_) { // else an answer to an older question
            entries_ = entries;
            refresh();
        }
    };
    connect(&studio_.index(), &RunIndex::checkpointsFound, this, take);
    connect(&studio_.index(), &RunIndex::checkpointsRead, this, take);
    connect(&studio_.opener(), &PathOpener::weightsOpened, this, &CheckpointsPage::showWeights);
    connect(&studio_.draft(), &Draft::changed, this, &CheckpointsPage::updateChosen);
    reread_.setSingleShot(true);
    reread_.setInterval(kCheckpointsPageRereadMs);
    connect(&reread_, &QTimer::timeout, this, [this] { studio_.index().readCheckpoints(folder_); });
    followModel(studio_.run());
    followModel(other_);
    connect(&studio_.run(), &RunModel::reset, this, &CheckpointsPage::followSelected);
    connect(&reader_, &RunReader::caughtUp, this, [this] {
        refresh();
        if (!other_.problem().isEmpty()) {
            emit toastRequested(static_cast<int>(widgets::MessageKind::Error), other_.problem());
        }
    });
    connect(&studio_, &Studio::trainingChanged, this,
            [this] { panel_->setTraining(studio_.isTraining()); });
    connect(&studio_.opener(), &PathOpener::checkpointOpened, this,
            [this](const std::filesystem::path& path) {
                const std::string name = path.filename().string();
                const bool named = name.starts_with("step-"); // a copy may be called anything
                selectRun(path.parent_path().parent_path(),
                          named ? std::atoll(name.substr(name.find('-') + 1).c_str()) : -1);
            });
    connect(panel_, &ResumePanel::resumeRequested, this, &CheckpointsPage::resume);
    connect(&studio_.opener(), &PathOpener::forkAsked, this, &CheckpointsPage::forkBy);
    connect(panel_, &ResumePanel::forkRequested, this, &CheckpointsPage::fork);
    connect(panel_, &ResumePanel::offerChanged, this, &Page::leadChanged);
    connect(stack_, &QStackedWidget::currentChanged, this, &Page::leadChanged);
}

QWidget* CheckpointsPage::createHeader(Actions& actions) {
    auto* header =
        new widgets::SectionHeader(tr("Checkpoints"), widgets::SectionHeader::Level::Page);
    filter_ = new QLineEdit;
    filter_->setObjectName("checkpointFilter");
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setAccessibleName(tr("Filter folders"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaximumWidth(200);
    connect(filter_, &QLineEdit::textChanged, this,
            [this](const QString& text) { tree_->setFilter(text); });
    header->addControl(filter_);
    auto* open = new QPushButton(widgets::icon("folder"), tr("Open folder…"));
    connect(open, &QPushButton::clicked, actions.get(action::kOpenFolder), &QAction::trigger);
    header->addControl(open);
    QPushButton* exporting = createExportButton(*this, [this] { return runTitle(folder_); });
    exporting->setObjectName("checkpointsExport");
    header->addControl(exporting);
    return header;
}

QWidget* CheckpointsPage::createTree() {
    auto* side = new widgets::Surface;
    side->setMinimumWidth(120);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(new widgets::SectionHeader(tr("Folders")));
    tree_ = new RunTree(studio_.index());
    column->addWidget(tree_, 1);
    connect(tree_, &RunTree::runChosen, this,
            [this](const std::filesystem::path& folder) { selectRun(folder); });
    connect(tree_, &RunTree::weightsChosen, this, &CheckpointsPage::showWeights);
    connect(tree_, &RunTree::closed, this, [this](const QString& text) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Info), text);
    });
    return side;
}

QWidget* CheckpointsPage::createMiddle() {
    auto* middle = new widgets::Surface;
    auto* column = new QVBoxLayout(middle);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    run_header_ = new widgets::SectionHeader({});
    column->addWidget(run_header_);
    column->addWidget(new widgets::Hairline);
    model_ = new CheckpointModel(this);
    curve_ = new CheckpointCurve(*model_);
    whole_run_ = new QPushButton(tr("Whole run"));
    whole_run_->setObjectName("wholeRun");
    whole_run_->setToolTip(tr("Also the steps that are planned and not trained yet"));
    whole_run_->setCheckable(true);
    widgets::setButtonKind(whole_run_, widgets::ButtonKind::Flat);
    widgets::setCompact(whole_run_);
    connect(whole_run_, &QPushButton::toggled, curve_, &CheckpointCurve::setWholeRunShown);
    run_header_->addControl(whole_run_);
    column->addWidget(curve_);
    column->addWidget(new widgets::Hairline);
    table_header_ = new widgets::SectionHeader(tr("Saved"));
    actions_ = new CheckpointActions;
    connect(actions_, &CheckpointActions::said, this,
            [this](int kind, const QString& text) { emit toastRequested(kind, text); });
    auto* undo = new UndoNote(*this);
    connect(actions_, &CheckpointActions::trashed, this,
            [this, undo](const std::vector<Trashed>& gone) {
                undo->offer(tr("%n checkpoint(s) moved to the trash", nullptr,
                               static_cast<int>(gone.size())),
                            [this, gone] { actions_->bringBack(gone); });
            });
    connect(actions_, &CheckpointActions::changed, this,
            [this] { studio_.index().readCheckpoints(folder_); });
    table_header_->addControl(actions_);
    column->addWidget(table_header_);
    table_ = new CheckpointTable(*model_);
    column->addWidget(table_, 1);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this] { selectRow(table_->currentRow()); });
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &CheckpointsPage::updateChosen);
    connect(table_, &QTableView::activated, this, [this] { panel_->focusResume(); });
    auto* remove =
        new QShortcut(QKeySequence(Qt::Key_Delete), table_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, actions_, &CheckpointActions::remove);
    connect(curve_, &CheckpointCurve::rowChosen, table_, &CheckpointTable::chooseRow);
    connect(curve_, &CheckpointCurve::exported, this, &CheckpointsPage::showWritten);
    return middle;
}

void CheckpointsPage::activated() {
    studio_.index().refresh();
    if (stack_->currentIndex() == WeightsSheet) {
        return;
    }
    if (folder_.empty() && !studio_.run().isEmpty()) {
        selectRun(studio_.run().folder());
    } else if (!folder_.empty()) {
        selectRun(folder_, wanted_step_); // one that was asked for is not selected yet
    }
}

// Of a run that can go on, or of weights to start from.
bool CheckpointsPage::leads() const {
    return stack_->currentIndex() == WeightsSheet || panel_->canResume();
}

void CheckpointsPage::fillTree() {
    tree_->fill();
    const auto& all = studio_.index().openedFolders();
    if (!opened_.empty() && std::find(all.begin(), all.end(), opened_) == all.end()) {
        clearShown();
        stack_->setCurrentIndex(CheckpointsEmptySheet);
    }
    const bool weights = stack_->currentIndex() == WeightsSheet;
    if (folder_.empty() && !weights && isVisible() && !studio_.index().runs().empty()) {
        selectRun(studio_.index().runs().front().folder);
    }
}

void CheckpointsPage::clearShown() {
    folder_.clear();
    opened_.clear();
    reader_.stop();
    other_.clear();
    model_->clear();
    updateChosen();
    panel_->clear();
    panel_->hide();
}

void CheckpointsPage::showWeights(const std::filesystem::path& file) {
    clearShown();
    opened_ = openedFolderOf(studio_.index(), file);
    tree_->select(file);
    weights_->open(file);
    stack_->setCurrentIndex(WeightsSheet);
}

// The draft alone changes, with undo; starting it is another click.
void CheckpointsPage::startFromWeights(const std::filesystem::path& file) {
    if (studio_.draft().isEmpty()) {
        if (studio_.opener().openModel(file)) {
            return;
        }
        emit toastRequested(static_cast<int>(widgets::MessageKind::Warning),
                            tr("There is no draft. Choose the model that the weights belong to on "
                               "Home, then start from them."));
        return;
    }
    studio_.draft().setField("init.from", pathText(file).toStdString());
    emit toastRequested(
        static_cast<int>(widgets::MessageKind::Success),
        tr("The draft starts from %1. F5 starts it.").arg(toQString(file.filename().string())));
}

const RunModel& CheckpointsPage::run() const {
    return folder_ == studio_.run().folder() ? studio_.run() : other_;
}

// Both models are listened to; what the one that is not shown says is not drawn.
void CheckpointsPage::followModel(RunModel& model) {
    const auto on = [this, &model](auto signal, auto handler) {
        connect(&model, signal, this, [this, &model, handler] {
            if (&model == &run()) {
                handler();
            }
        });
    };
    on(&RunModel::reset, [this] {
        curve_->restart(run());
        refresh();
    });
    on(&RunModel::stepsRewound, [this] { curve_->restart(run()); });
    on(&RunModel::stepsAppended, [this] {
        curve_->extend();
        describeRun();
    });
    on(&RunModel::evaluationAdded, [this] { curve_->updateMarks(); });
    on(&RunModel::checkpointsChanged, [this] {
        if (isVisible() && !reader_.isReading()) {
            reread_.start();
        }
    });
}

// The run on the Train page is in memory; another one is read from its folder.
void CheckpointsPage::followSelected() {
    if (folder_.empty() || &run() != &other_) {
        reader_.stop();
    } else if (reader_.folder() != folder_) {
        other_.clear();
        reader_.open(folder_);
    } else {
        reader_.refresh();
    }
}

void CheckpointsPage::selectRun(const std::filesystem::path& folder, std::int64_t step) {
    const bool another = folder != folder_;
    folder_ = folder;
    opened_ = openedFolderOf(studio_.index(), folder);
    wanted_step_ = step;
    if (another) {
        entries_.clear();
        model_->clear();
        panel_->clear();
    }
    tree_->select(folder);
    panel_->setVisible(true);
    if (stack_->currentIndex() == WeightsSheet) {
        stack_->setCurrentIndex(CheckpointsEmptySheet);
    }
    followSelected();
    if (another) {
        curve_->restart(run());
    }
    studio_.index().readCheckpoints(folder);
}

void CheckpointsPage::describeRun() {
    const RunModel& shown = run();
    run_header_->setTitle(runTitle(folder_));
    run_header_->setSubtitle(
        tr("%1 · %2 · step %3")
            .arg(shown.isForeign() ? tr("another program") : toQString(shown.config().model_type()),
                 shown.wasInterrupted() ? tr("interrupted")
                                        : widgets::runStateText(toWidget(shown.state())).toLower(),
                 formatCount(shown.step())) +
        (shown.totalSteps() > 0 ? tr(" of %1").arg(formatCount(shown.totalSteps())) : QString()));
    whole_run_->setVisible(shown.step() < shown.totalSteps());
}

// Table, header and marks out of the run and its files.
void CheckpointsPage::refresh() {
    // The newest stays selected as new ones arrive, unless the user chose another.
    const int current = table_->currentRow();
    std::vector<std::int64_t> several;
    for (const int row : table_->selectedRowNumbers()) {
        several.push_back(model_->row(row).step);
    }
    if (several.size() < 2) {
        several.clear();
    }
    const std::int64_t selected = wanted_step_ >= 0  ? wanted_step_
                                  : !several.empty() ? several.front()
                                  : current > 0      ? model_->row(current).step
                                                     : -1;
    if (stack_->currentIndex() == WeightsSheet) {
        return;
    }
    const RunModel& shown = run();
    if (shown.isEmpty()) {
        model_->clear();
        panel_->clear();
        stack_->setCurrentIndex(CheckpointsEmptySheet);
        return;
    }
    model_->setContent(shown, entries_);
    stack_->setCurrentIndex(CheckpointsRunSheet);
    describeRun();
    table_header_->setSubtitle(tr("%1 kept · %2 pruned · %3")
                                   .arg(model_->onDisk())
                                   .arg(model_->rowCount() - model_->onDisk())
                                   .arg(formatFileSize(model_->totalBytes())));
    curve_->updateMarks();
    const int row = selected >= 0 ? model_->rowOfStep(selected) : (model_->rowCount() > 0 ? 0 : -1);
    if (row >= 0) {
        wanted_step_ = -1;
        table_->chooseRow(row);
        table_->alsoSelect(several);
        selectRow(row);
    } else {
        panel_->clear();
    }
}

void CheckpointsPage::selectRow(int row) {
    if (row < 0 || row >= model_->rowCount()) {
        return;
    }
    curve_->select(row);
    panel_->show(model_->row(row), run(), studio_.draft());
    panel_->setTraining(studio_.isTraining());
}

void CheckpointsPage::updateChosen() {
    std::vector<CheckpointRow> rows;
    for (const int row : table_->selectedRowNumbers()) {
        rows.push_back(model_->row(row));
    }
    if (rows.size() == 1) {
        panel_->show(rows.front(), run(), studio_.draft());
    }
    actions_->setChosen(std::move(rows));
}

void CheckpointsPage::resume() {
    const StartResult result = studio_.control().resumeRun(folder_);
    if (!result.started) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error), result.problem);
    }
}

void CheckpointsPage::fork() {
    const int current = table_->currentRow();
    if (current < 0) {
        return;
    }
    const CheckpointRow chosen = model_->row(current);
    auto* dialog =
        new ForkDialog(run().config(), chosen.step, run().totalSteps(), studio_.machine(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    // Another run may be on the page by then.
    connect(dialog, &QDialog::accepted, this, [this, dialog, folder = folder_, path = chosen.path] {
        const StartResult result = studio_.control().forkRun(folder, path, dialog->overrides());
        if (!result.started) {
            emit toastRequested(static_cast<int>(widgets::MessageKind::Error), result.problem);
        }
    });
    dialog->open();
}

// Over whatever page is on screen.
void CheckpointsPage::forkBy(const train::WayOn& way) {
    const RunModel& on_screen = studio_.run();
    auto* dialog = new ForkDialog(on_screen.config(), way.from_step, on_screen.totalSteps(),
                                  studio_.machine(), window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->fill(way.overrides);
    connect(dialog, &QDialog::accepted, this, [this, dialog, way] {
        const StartResult result =
            studio_.control().takeWayOn({way.label, way.from_step, dialog->overrides()});
        if (!result.started) {
            emit toastRequested(static_cast<int>(widgets::MessageKind::Error), result.problem);
        }
    });
    dialog->open();
}

const PageRecord kCheckpointsPage{
    "checkpoints", QT_TRANSLATE_NOOP("Pages", "Checkpoints"), "checkpoints",
    [](Studio& studio, Actions& actions) -> Page* { return new CheckpointsPage(studio, actions); }};

} // namespace weft::ui
