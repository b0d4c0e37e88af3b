// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/runs_page.h"

#include "ui/actions.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/file_dialog.h"
#include "ui/pages/drawings.h"
#include "ui/pages/open_folders.h"
#include "ui/pages/page_list.h"
#include "ui/pages/runs/column_dialog.h"
#include "ui/pages/runs/compare_panel.h"
#include "ui/pages/runs/notes_dialog.h"
#include "ui/pages/runs/run_filter_box.h"
#include "ui/pages/runs/runs_table.h"
#include "ui/pages/runs/trash_dialog.h"
#include "ui/pages/undo_note.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSaveFile>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

enum RunsSheet { RunsMessageSheet, RunsTableSheet };

constexpr int kRunsPageRereadMs = 5000;
constexpr int kFilterProblemWidth = 300; // two lines of it, beside the field of a small window
constexpr const char* kArchivedTerm = "is:archived";

} // namespace

RunsPage::RunsPage(Studio& studio, Actions& actions)
    : studio_(studio), views_(studio.paths().state / "run-views.ini") {
    model_ = new RunTableModel(studio_.index(), curves_, this);
    filtered_ = new RunTableFilter(*model_, this);
    looks_ = new RunLooks(this);
    settings_ = new RunSettings(this);
    model_->setLooks(looks_);
    undo_ = new UndoNote(*this);
    connect(model_, &RunTableModel::edited, this,
            [this](const std::filesystem::path& run, const train::AnnotationChange& change) {
                offerUndo({{run, change}}, tr("%1 is annotated").arg(runTitle(run)));
            });
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader(actions));
    column->addWidget(new widgets::Hairline);
    splitter_ = new widgets::ThinSplitter(Qt::Vertical);
    left_ = new widgets::ThinSplitter(Qt::Vertical);
    left_->addWidget(createTable(actions));
    splitter_->addWidget(left_);
    compare_ = new ComparePanel(curves_);
    beside_ = new QStackedWidget;
    beside_->addWidget(compare_);
    splitter_->addWidget(beside_);
    splitter_->setStretchFactor(0, 3);
    splitter_->setStretchFactor(1, 2);
    splitter_->setSizes({460, 340});
    whole_ = new QStackedWidget;
    whole_->addWidget(splitter_);
    column->addWidget(whole_, 1);
    connect(compare_, &ComparePanel::exported, this, &RunsPage::showWritten);
    // What the words of a filter mean depends on the runs.
    connect(&studio_.index(), &RunIndex::runsChanged, this, &RunsPage::applyFilter);
    connect(&studio_.index(), &RunIndex::runsChanged, this, &RunsPage::selectOpened);
    connect(&studio_.opener(), &PathOpener::runsOpened, this, &RunsPage::showOpened);
    connect(&studio_.index(), &RunIndex::failed, this, [this](const QString& problem) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error), problem);
    });
    reread_.setInterval(kRunsPageRereadMs);
    connect(&reread_, &QTimer::timeout, this, [this] {
        if (isVisible() && !table_->isEditing()) {
            studio_.index().refresh();
        }
    });
    connect(looks_, &RunLooks::changed, this, &RunsPage::showTitle);
    connect(settings_, &RunSettings::changed, this, &RunsPage::fillGroups);
    showMode();
    refresh();
}

// The table remembers its columns when it goes; the models, which are older, would go first.
RunsPage::~RunsPage() {
    delete splitter_;
}

QWidget* RunsPage::createHeader(Actions& actions) {
    page_header_ = new widgets::SectionHeader(tr("Runs"), widgets::SectionHeader::Level::Page);
    modes_ = new widgets::SegmentedControl({tr("Table"), tr("Charts"), tr("Report")});
    modes_->setObjectName("runsMode");
    modes_->setAccessibleName(tr("How runs are shown"));
    modes_->setCompact(true);
    connect(modes_, &widgets::SegmentedControl::currentIndexChanged, this, &RunsPage::showMode);
    page_header_->setBadge(modes_);
    views_button_ = new QPushButton(tr("Views"));
    views_button_->setObjectName("runViews");
    views_button_->setToolTip(tr("Saved views: filter, groups, columns and charts under a name"));
    auto* menu = new QMenu(views_button_);
    menu->setObjectName("runViewsMenu");
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillViews(*menu); });
    views_button_->setMenu(menu);
    page_header_->addControl(views_button_);
    add_to_report_ = new QPushButton(widgets::icon("plus"), tr("Add to report"));
    add_to_report_->setObjectName("addToReport");
    add_to_report_->setToolTip(tr("Add the charts in view to the report, as they are now"));
    connect(add_to_report_, &QPushButton::clicked, this,
            [this] { addToReport(wall_->visibleCells()); });
    filter_problem_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Error);
    filter_problem_->setObjectName("runFilterProblem");
    filter_problem_->setWordWrap(true);
    filter_problem_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    filter_problem_->setFixedWidth(kFilterProblemWidth);
    filter_problem_->hide();
    page_header_->addControl(filter_problem_);
    filter_ = new RunFilterBox(studio_.index());
    filter_->setMinimumWidth(170);
    filter_->setMaximumWidth(360);
    connect(filter_, &QLineEdit::textChanged, this, &RunsPage::applyFilter);
    auto* find = new QShortcut(QKeySequence::Find, this);
    connect(find, &QShortcut::activated, filter_,
            [this] { filter_->setFocus(Qt::ShortcutFocusReason); });
    page_header_->addControl(filter_);
    archived_ = new widgets::ToggleSwitch(tr("Archived"));
    archived_->setObjectName("showArchived");
    archived_->setToolTip(tr("Also show archived runs"));
    connect(archived_, &QAbstractButton::clicked, this, [this](bool on) {
        QString text = filter_->text();
        text.remove(kArchivedTerm);
        filter_->setText(
            (on ? kArchivedTerm + QStringLiteral(" ") + text.trimmed() : text.trimmed()));
    });
    page_header_->addControl(archived_);
    open_folder_ = new QPushButton(widgets::icon("folder"), tr("Open folder…"));
    connect(open_folder_, &QPushButton::clicked, actions.get(action::kOpenFolder),
            &QAction::trigger);
    page_header_->addControl(open_folder_);
    page_header_->addControl(add_to_report_);
    return page_header_;
}

QWidget* RunsPage::createTable(Actions& actions) {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    table_header_ = new widgets::SectionHeader({});
    column->addWidget(table_header_);
    createTableActions();
    stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("runs");
    go_home_ = addHomeButton(*message_, studio_.draft());
    log_recipe_ = message_->addButton(tr("Log from your own loop…"), false);
    log_recipe_->setObjectName("showRunsRecipe");
    connect(log_recipe_, &QPushButton::clicked, actions.get(action::kLogRecipe), &QAction::trigger);
    clear_filter_ = message_->addButton(tr("Clear the filter"), false);
    clear_filter_->setObjectName("clearRunFilter");
    connect(clear_filter_, &QPushButton::clicked, filter_, &QLineEdit::clear);
    stack_->addWidget(message_);
    table_ = new RunsTable(*model_, *filtered_, studio_.paths().state / "runs-table.ini");
    stack_->addWidget(table_);
    column->addWidget(stack_, 1);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &RunsPage::updateSelection);
    connect(table_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        if (!(index.flags() & Qt::ItemIsEditable)) {
            openSelected();
        }
    });
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(table_, &QWidget::customContextMenuRequested, this, &RunsPage::showRowMenu);
    const auto on_key = [this](int key, auto slot) {
        auto* shortcut =
            new QShortcut(QKeySequence(key), table_, nullptr, nullptr, Qt::WidgetShortcut);
        connect(shortcut, &QShortcut::activated, this, slot);
    };
    on_key(Qt::Key_Delete, &RunsPage::trashSelected);
    on_key(Qt::Key_Return, &RunsPage::openSelected);
    on_key(Qt::Key_Enter, &RunsPage::openSelected);
    on_key(Qt::Key_Space, &RunsPage::toggleEyes);
    connect(table_, &RunsTable::chooserRequested, this, &RunsPage::chooseColumns);
    connect(table_, &RunsTable::eyeClicked, this, [this](const QModelIndex& index) {
        const std::filesystem::path folder = filtered_->run(index.row()).folder;
        looks_->setShown({folder}, !looks_->isShown(folder));
    });
    table_->setMouseTracking(true);
    table_->viewport()->installEventFilter(this);
    connect(table_, &QTableView::entered, this, &RunsPage::highlightHovered);
    return panel;
}

QPushButton* RunsPage::addButton(const QString& name, const QString& text, const QString& tooltip) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tooltip);
    widgets::setCompact(button);
    table_header_->addControl(button);
    return button;
}

void RunsPage::createTableActions() {
    open_ = addButton("openRun", tr("Show curves"), tr("Show the run on the Train page"));
    connect(open_, &QPushButton::clicked, this, &RunsPage::openSelected);
    checkpoints_ = addButton("runCheckpoints", tr("Checkpoints"), tr("Show the run's checkpoints"));
    connect(checkpoints_, &QPushButton::clicked, this, &RunsPage::showCheckpoints);
    tag_ = addButton("tagRuns", tr("Tag…"), tr("Add a tag to every selected run"));
    connect(tag_, &QPushButton::clicked, this, &RunsPage::tagSelected);
    notes_ = addButton("noteRun", tr("Notes…"), tr("Write notes of the run, in several lines"));
    connect(notes_, &QPushButton::clicked, this, &RunsPage::noteSelected);
    archive_ =
        addButton("archiveRuns", tr("Archive"), tr("Hide the selected runs unless asked for"));
    connect(archive_, &QPushButton::clicked, this, &RunsPage::archiveSelected);
    trash_ =
        addButton("trashRuns", tr("Move to trash…"), tr("Move the selected runs to the trash"));
    connect(trash_, &QPushButton::clicked, this, &RunsPage::trashSelected);
    group_ = new QComboBox;
    group_->setObjectName("groupRuns");
    group_->setAccessibleName(tr("Group the runs by a setting"));
    group_->setToolTip(tr("Group the runs by a setting"));
    group_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    group_->setMinimumContentsLength(14);
    widgets::setCompact(group_);
    table_header_->addControl(group_);
    connect(group_, &QComboBox::activated, this,
            [this] { looks_->setGroupBy(group_->currentData().toString()); });
    csv_ = widgets::iconButton("export", "runsCsv", tr("Write the table as CSV"));
    table_header_->addControl(csv_);
    connect(csv_, &QPushButton::clicked, this, &RunsPage::exportCsv);
    QPushButton* columns = widgets::iconButton("more", "runColumns", tr("Columns of the table"));
    table_header_->addControl(columns);
    connect(columns, &QPushButton::clicked, this, [this, columns] {
        table_->showColumnMenu(
            columns->mapToGlobal(QPoint(0, columns->height() + widgets::space::kTight)));
    });
}

// What the buttons above do, and the way out of the list for what was opened from elsewhere.
void RunsPage::showRowMenu(const QPoint& at) {
    const std::vector<train::RunSummary> runs = selectedRuns();
    if (runs.empty()) {
        return;
    }
    auto* menu = new QMenu(this);
    menu->setObjectName("runMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (QPushButton* button : {open_, checkpoints_, tag_, notes_, archive_, trash_}) {
        menu->addAction(button->text(), button, &QPushButton::click)
            ->setEnabled(button->isEnabled());
    }
    if (modes_->currentIndex() == ChartsMode) {
        menu->addAction(tr("Show or hide on the charts\tSpace"), this, &RunsPage::toggleEyes);
    }
    menu->addSeparator();
    std::vector<std::filesystem::path> offered;
    for (const train::RunSummary& run : runs) {
        const std::filesystem::path opened = openedFolderOf(studio_.index(), run.folder);
        if (std::find(offered.begin(), offered.end(), opened) == offered.end()) {
            offered.push_back(opened);
            addCloseAction(*menu, studio_.index(), run.folder, [this](const QString& text) {
                emit toastRequested(static_cast<int>(widgets::MessageKind::Info), text);
            });
        }
    }
    menu->popup(table_->viewport()->mapToGlobal(at));
}

void RunsPage::activated() {
    studio_.index().refresh();
}

void RunsPage::applyFilter() {
    const train::RunFilter filter(filter_->text().toStdString(), studio_.index().names());
    const QString problem = toQString(filter.problem());
    widgets::setInvalid(filter_, !problem.isEmpty());
    filter_->setAccessibleDescription(problem);
    filter_problem_->setText(problem);
    filter_problem_->setVisible(!problem.isEmpty());
    archived_->setChecked(filter_->text().contains(kArchivedTerm));
    filtered_->setFilter(filter);
    refresh();
}

void RunsPage::refresh() {
    const RunIndex& index = studio_.index();
    const int all = model_->rowCount();
    const int shown = filtered_->rowCount();
    const bool none = all == 0;
    go_home_->setVisible(index.isLoaded() && none);
    log_recipe_->setVisible(index.isLoaded() && none);
    clear_filter_->setVisible(!none && shown == 0);
    table_header_->setVisible(!none); // without runs there is nothing to do with them
    if (!index.isLoaded()) {
        message_->setTitle(tr("Reading the runs …"));
        message_->setText(pathText(index.root()));
    } else if (none) {
        message_->setTitle(tr("No runs yet"));
        message_->setText(
            tr("Runs appear here as soon as one is started. “Open folder…” lists runs "
               "of other places and of other programs, such as TensorBoard logs."));
    } else if (shown == 0) {
        message_->setTitle(tr("No run fits the filter"));
        message_->setText(tr("%1 runs are hidden by it.").arg(all));
    }
    stack_->setCurrentIndex(shown > 0 ? RunsTableSheet : RunsMessageSheet);
    page_header_->setSubtitle(shown == all ? tr("%n run(s)", nullptr, all)
                                           : tr("%1 of %2").arg(shown).arg(all));
    bool written = false;
    for (int row = 0; row < all; ++row) {
        written = written || isBeingWritten(model_->run(row));
    }
    written ? reread_.start() : reread_.stop();
    updateSelection();
}

void RunsPage::showOpened(const std::filesystem::path& folder,
                          const std::vector<std::filesystem::path>& runs) {
    opened_ = runs;
    filter_->clear();
    const auto count = static_cast<int>(runs.size());
    const QString name =
        pathText(folder.has_filename() ? folder.filename() : folder.parent_path().filename());
    emit pageRequested("runs");
    emit toastRequested(
        static_cast<int>(widgets::MessageKind::Info),
        runs.size() <= ComparePanel::kMostRuns
            ? tr("%n run(s) found in %1: all are selected", nullptr, count).arg(name)
            : tr("%n run(s) found in %1: the newest %2 are selected", nullptr, count)
                  .arg(name, formatCount(static_cast<qint64>(ComparePanel::kMostRuns))));
}

// Of more than can be told apart, those written last.
void RunsPage::selectOpened() {
    if (opened_.empty()) {
        return;
    }
    std::vector<const train::RunSummary*> found;
    for (const std::filesystem::path& folder : opened_) {
        const train::RunSummary* run = studio_.index().find(folder);
        if (run == nullptr) {
            return; // the list was read before the folder was opened: another reading follows
        }
        found.push_back(run);
    }
    opened_.clear();
    std::stable_sort(found.begin(), found.end(),
                     [](const auto* a, const auto* b) { return a->modified > b->modified; });
    found.resize(std::min(found.size(), ComparePanel::kMostRuns));
    QItemSelection rows;
    for (int row = 0; row < filtered_->rowCount(); ++row) {
        const std::filesystem::path& folder = filtered_->run(row).folder;
        if (std::any_of(found.begin(), found.end(),
                        [&](const auto* run) { return run->folder == folder; })) {
            const QModelIndex index = filtered_->index(row, 0);
            rows.select(index, index);
            table_->scrollTo(index);
        }
    }
    if (!rows.isEmpty()) {
        table_->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect |
                                                   QItemSelectionModel::Rows);
    }
}

std::vector<train::RunSummary> RunsPage::selectedRuns() const {
    std::vector<int> rows;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows()) {
        rows.push_back(index.row());
    }
    std::sort(rows.begin(), rows.end());
    std::vector<train::RunSummary> runs;
    for (const int row : rows) {
        runs.push_back(filtered_->run(row));
    }
    return runs;
}

void RunsPage::updateSelection() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    const auto count = static_cast<int>(runs.size());
    showTitle();
    open_->setEnabled(count == 1 && runs[0].problem.empty());
    checkpoints_->setEnabled(count == 1 && runs[0].last_checkpoint_step >= 0);
    tag_->setEnabled(count > 0);
    notes_->setEnabled(count == 1);
    const bool all_archived =
        count > 0 && std::all_of(runs.begin(), runs.end(),
                                 [](const auto& run) { return run.annotations.archived; });
    archive_->setEnabled(count > 0);
    archive_->setText(all_archived ? tr("Unarchive") : tr("Archive"));
    trash_->setEnabled(count > 0);
    updateComparison();
}

void RunsPage::updateComparison() {
    std::vector<train::RunSummary> listed = listedRuns();
    if (wall_ != nullptr) {
        looks_->setRuns(listed);
        settings_->setRuns(listed);
    }
    std::vector<train::RunSummary> selected = selectedRuns();
    std::vector<std::filesystem::path> folders;
    for (const train::RunSummary& run : selected) {
        folders.push_back(run.folder);
    }
    model_->setCompared(std::move(folders));
    table_->viewport()->update();
    compare_->setRuns(std::move(selected), std::move(listed));
}

void RunsPage::openSelected() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    if (runs.size() != 1) {
        return;
    }
    studio_.showRun(runs[0].folder);
    emit pageRequested("train");
}

void RunsPage::showCheckpoints() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    if (runs.size() == 1 && runs[0].last_checkpoint_step >= 0) {
        emit studio_.opener().checkpointOpened(
            runs[0].folder / "checkpoints" / checkpoint::folder_name(runs[0].last_checkpoint_step));
        emit pageRequested("checkpoints");
    }
}

void RunsPage::tagSelected() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    if (runs.empty()) {
        return;
    }
    auto* dialog = new QInputDialog(this);
    dialog->setObjectName("tagDialog");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Tag"));
    dialog->setLabelText(tr("Tags for the selected runs, separated by commas:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this, runs](const QString& text) {
        const auto add = [tags = train::parse_tags(text.toStdString())](train::Annotations& now) {
            for (const std::string& tag : tags) {
                if (std::find(now.tags.begin(), now.tags.end(), tag) == now.tags.end()) {
                    now.tags.push_back(tag);
                }
            }
        };
        annotate(runs, add, tr("%n run(s) tagged", nullptr, static_cast<int>(runs.size())));
    });
    dialog->open();
}

void RunsPage::noteSelected() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    if (runs.size() != 1) {
        return;
    }
    auto* dialog =
        new NotesDialog(runTitle(runs[0].folder), toQString(runs[0].annotations.notes), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, runs] {
        const std::string notes = dialog->notes().toStdString();
        annotate(
            runs, [&notes](train::Annotations& now) { now.notes = notes; },
            tr("%1 is annotated").arg(runTitle(runs[0].folder)));
    });
    dialog->open();
}

void RunsPage::chooseColumns() {
    auto* dialog = new ColumnDialog(*table_, *model_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void RunsPage::exportCsv() {
    const std::string text = table_->csv();
    const QString path = askForPlace(
        this, {tr("Write the table"), FileUse::Export, tr("Tables (*.csv)"), "runs.csv"});
    if (path.isEmpty()) {
        return;
    }
    QSaveFile file(path);
    const bool well = file.open(QIODevice::WriteOnly) &&
                      file.write(text.data(), static_cast<qint64>(text.size())) ==
                          static_cast<qint64>(text.size()) &&
                      file.commit();
    showWritten(well, writtenText(well, path));
}

void RunsPage::archiveSelected() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    const bool archive = std::any_of(runs.begin(), runs.end(),
                                     [](const auto& run) { return !run.annotations.archived; });
    const auto count = static_cast<int>(runs.size());
    annotate(
        runs, [archive](train::Annotations& now) { now.archived = archive; },
        archive ? tr("%n run(s) archived", nullptr, count)
                : tr("%n run(s) out of the archive", nullptr, count));
}

void RunsPage::trashSelected() {
    const std::vector<train::RunSummary> runs = selectedRuns();
    if (runs.empty()) {
        return;
    }
    auto* dialog = new TrashDialog(runs, studio_.index().runs(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { moveToTrash(dialog->folders()); });
    dialog->open();
}

void RunsPage::moveToTrash(std::vector<std::filesystem::path> folders) {
    if (studio_.isTraining()) {
        std::erase(folders, studio_.run().folder()); // began meanwhile
    }
    if (std::find(folders.begin(), folders.end(), studio_.run().folder()) != folders.end()) {
        studio_.closeRun();
    }
    runInBackground(
        this,
        [folders] {
            std::vector<Trashed> out;
            for (const std::filesystem::path& folder : folders) {
                out.push_back(trashRun(folder));
            }
            return out;
        },
        [this](std::vector<Trashed> trashed) {
            for (const Trashed& one : trashed) {
                if (!one.problem.isEmpty()) {
                    emit toastRequested(static_cast<int>(widgets::MessageKind::Error), one.problem);
                }
            }
            std::erase_if(trashed, [](const Trashed& one) { return !one.problem.isEmpty(); });
            if (!trashed.empty()) {
                const auto count = static_cast<int>(trashed.size());
                undo_->offer(count == 1
                                 ? tr("%1 is in the trash").arg(runTitle(trashed.front().from))
                                 : tr("%n run(s) in the trash", nullptr, count),
                             [this, trashed] { bringBackFromTrash(trashed); });
            }
            studio_.index().refresh();
        });
}

void RunsPage::bringBackFromTrash(const std::vector<Trashed>& trashed) {
    runInBackground(
        this, [trashed] { return bringBack(trashed); },
        [this, count = static_cast<int>(trashed.size())](const QString& problem) {
            const bool good = problem.isEmpty();
            emit toastRequested(static_cast<int>(good ? widgets::MessageKind::Success
                                                      : widgets::MessageKind::Error),
                                good ? tr("%n run(s) brought back from the trash", nullptr, count)
                                     : problem);
            studio_.index().refresh();
        });
}

// All of them at once, and back at once.
void RunsPage::annotate(const std::vector<train::RunSummary>& runs,
                        const std::function<void(train::Annotations&)>& edit, const QString& done) {
    std::vector<Annotated> changed;
    for (const train::RunSummary& run : runs) {
        train::AnnotationChange change{run.annotations, run.annotations};
        edit(change.after);
        studio_.index().annotate(run.folder, change);
        changed.push_back({run.folder, std::move(change)});
    }
    offerUndo(std::move(changed), done);
}

void RunsPage::offerUndo(std::vector<Annotated> changed, const QString& done) {
    undo_->offer(done, [this, changed = std::move(changed)] {
        for (const Annotated& one : changed) {
            studio_.index().annotate(one.run, one.change.reversed());
        }
    });
}

const PageRecord kRunsPage{
    "runs", QT_TRANSLATE_NOOP("Pages", "Runs"), "runs",
    [](Studio& studio, Actions& actions) -> Page* { return new RunsPage(studio, actions); }};

} // namespace weft::ui
