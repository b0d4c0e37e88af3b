// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/queue/queue_page.h"

#include "core/base/clock.h"
#include "core/queue/edit.h"
#include "ui/bridge/convert.h"
#include "ui/models/queue_model.h"
#include "ui/pages/page_list.h"
#include "ui/pages/queue/sweep_dialog.h"
#include "ui/pages/queue/sweep_panel.h"
#include "ui/pages/table.h"
#include "ui/pages/undo_note.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/messages.h"
#include "widgets/look/style.h"

#include <QItemSelectionModel>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using queue::Book;
using queue::Entry;
using queue::State;

enum QueueSheet { QueueMessageSheet, QueueContentSheet };

bool canBeHeld(const Entry& entry) {
    return entry.state == State::waiting;
}

bool canBeReleased(const Entry& entry) {
    const bool again = entry.state == State::failed || entry.state == State::stopped;
    return entry.state == State::held || (again && entry.sweep.empty());
}

bool canBeStopped(const Entry& entry) {
    return !has_ended(entry.state) && !entry.stop;
}

bool canBeRemoved(const Entry& entry) {
    return entry.state != State::running && entry.sweep.empty();
}

int countOf(const Book& book, State state) {
    return static_cast<int>(
        std::count_if(book.entries.begin(), book.entries.end(),
                      [state](const Entry& entry) { return entry.state == state; }));
}

QString summaryOf(const Book& book) {
    QStringList parts;
    if (const int running = countOf(book, State::running); running > 0) {
        parts << QueuePage::tr("%n running", nullptr, running);
    }
    if (const int waiting = countOf(book, State::waiting); waiting > 0) {
        parts << QueuePage::tr("%n waiting", nullptr, waiting);
    }
    if (const int held = countOf(book, State::held); held > 0) {
        parts << QueuePage::tr("%n held", nullptr, held);
    }
    return parts.join(QLatin1String(", "));
}

double nowSeconds() {
    return SystemClock().epoch_s();
}

} // namespace

QueuePage::QueuePage(Studio& studio, Actions& /*actions*/) : studio_(studio) {
    model_ = new QueueModel(this);
    undo_ = new UndoNote(*this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    column->addWidget(new widgets::Hairline);
    stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("queue");
    message_->setObjectName("queueMessage");
    add_first_ = message_->addButton(tr("Add the draft"), false);
    add_first_->setObjectName("queueDraftFirst");
    connect(add_first_, &QPushButton::clicked, this, &QueuePage::addDraft);
    add_sweep_first_ = message_->addButton(tr("New sweep…"), false);
    add_sweep_first_->setObjectName("newSweepFirst");
    connect(add_sweep_first_, &QPushButton::clicked, this, &QueuePage::addSweep);
    stack_->addWidget(message_);
    splitter_ = new widgets::ThinSplitter(Qt::Vertical);
    splitter_->addWidget(createEntries());
    splitter_->addWidget(createSweep());
    splitter_->setStretchFactor(0, 1);
    splitter_->setStretchFactor(1, 1);
    stack_->addWidget(splitter_);
    column->addWidget(stack_, 1);
    connect(&index_, &QueueIndex::changed, this, &QueuePage::refresh);
    connect(&index_, &QueueIndex::added, this, [this](const QString& name) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Success),
                            tr("%1 is in the queue").arg(name));
    });
    connect(&index_, &QueueIndex::failed, this, [this](const QString& problem) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error), problem);
    });
    connect(&studio_.draft(), &Draft::changed, this, &QueuePage::updateDraft);
    refresh();
    updateDraft();
}

QWidget* QueuePage::createHeader() {
    header_ = new widgets::SectionHeader(tr("Queue"), widgets::SectionHeader::Level::Page);
    add_ = new QPushButton(tr("Add the draft"));
    add_->setObjectName("queueDraft");
    connect(add_, &QPushButton::clicked, this, &QueuePage::addDraft);
    header_->addControl(add_);
    add_sweep_ = new QPushButton(tr("New sweep…"));
    add_sweep_->setObjectName("newSweep");
    connect(add_sweep_, &QPushButton::clicked, this, &QueuePage::addSweep);
    header_->addControl(add_sweep_);
    run_ = new QPushButton;
    run_->setObjectName("runQueue");
    connect(run_, &QPushButton::clicked, this, &QueuePage::runOrStop);
    header_->addControl(run_);
    return header_;
}

QPushButton* QueuePage::addTableButton(const char* name, const QString& text,
                                       const QString& tooltip, void (QueuePage::*slot)()) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tooltip);
    widgets::setCompact(button);
    table_header_->addControl(button);
    connect(button, &QPushButton::clicked, this, slot);
    return button;
}

QWidget* QueuePage::createEntries() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    table_header_ = new widgets::SectionHeader({});
    column->addWidget(table_header_);
    show_ = addTableButton("showQueued", tr("Show curves"), tr("Show the run on the Train page"),
                           &QueuePage::showRun);
    hold_ = addTableButton("holdQueued", tr("Hold"), {}, &QueuePage::holdOrRelease);
    up_ = addTableButton("raiseQueued", tr("Up"), tr("Start it earlier"), &QueuePage::moveUp);
    down_ = addTableButton("lowerQueued", tr("Down"), tr("Start it later"), &QueuePage::moveDown);
    stop_ =
        addTableButton("stopQueued", tr("Stop"), tr("End it; a run that is under way saves first"),
                       &QueuePage::stopEntries);
    remove_ = addTableButton("removeQueued", tr("Remove"),
                             tr("Take it out of the queue; its run stays. Trials go with their "
                                "sweep."),
                             &QueuePage::removeEntries);
    table_ = createTable(model_, "queueTable", tr("The queue, in order"));
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    column->addWidget(table_, 1);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        updateButtons();
        const auto entries = chosen();
        if (!choosing_ && entries.size() == 1 && !entries[0]->sweep.empty()) {
            sweep_->showSweep(toQString(entries[0]->sweep));
        }
    });
    connect(table_, &QTableView::activated, this, &QueuePage::showRun);
    auto* remove =
        new QShortcut(QKeySequence(Qt::Key_Delete), table_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, remove_, &QPushButton::click);
    return panel;
}

QWidget* QueuePage::createSweep() {
    sweep_ = new SweepPanel;
    connect(sweep_, &SweepPanel::exported, this, &QueuePage::showWritten);
    connect(sweep_, &SweepPanel::stopRequested, this, &QueuePage::stopSweep);
    connect(sweep_, &SweepPanel::removeRequested, this, &QueuePage::removeSweep);
    connect(sweep_, &SweepPanel::runRequested, this, [this](const std::filesystem::path& run) {
        studio_.showRun(run);
        emit pageRequested("train");
    });
    return sweep_;
}

void QueuePage::activated() {
    index_.setRoot(studio_.index().root());
    index_.refresh();
}

void QueuePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    index_.setWatched(true);
}

void QueuePage::hideEvent(QHideEvent* event) {
    index_.setWatched(false);
    Page::hideEvent(event);
}

void QueuePage::refresh() {
    const auto look = index_.look();
    const bool some = look && !look->entries.empty();
    stack_->setCurrentIndex(some ? QueueContentSheet : QueueMessageSheet);
    message_->setTitle(look ? tr("Nothing is queued") : tr("Reading the queue …"));
    message_->setText(
        look ? tr("Drafts that are added here are trained one after another, or as devices get "
                  "free, also while the studio is closed. A sweep trains the draft with other "
                  "settings, "
                  "over and over.")
             : QString());
    add_first_->setVisible(look != nullptr);
    add_sweep_first_->setVisible(look != nullptr);
    add_->setVisible(some);
    add_sweep_->setVisible(some);
    run_->setVisible(some);
    if (look) {
        std::vector<std::int64_t> ids;
        for (const Entry* entry : chosen()) {
            ids.push_back(entry->id);
        }
        choosing_ = true; // nobody chose anything
        if (!model_->setEntries(look->entries)) {
            choose(ids);
        }
        choosing_ = false;
        fitColumns(table_, QueueModel::StateColumn);
        header_->setSubtitle(summaryOf(look->book));
        sweep_->setVisible(!look->book.sweeps.empty());
        sweep_->setLook(look);
    }
    updateButtons();
}

std::vector<const Entry*> QueuePage::chosen() const {
    std::vector<int> rows;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows()) {
        rows.push_back(index.row());
    }
    std::sort(rows.begin(), rows.end());
    std::vector<const Entry*> out;
    for (const int row : rows) {
        out.push_back(&model_->row(row).entry);
    }
    return out;
}

void QueuePage::choose(const std::vector<std::int64_t>& ids) {
    QItemSelection rows;
    for (const std::int64_t id : ids) {
        if (const int row = model_->rowOf(id); row >= 0) {
            rows.select(model_->index(row, 0), model_->index(row, 0));
        }
    }
    table_->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect |
                                               QItemSelectionModel::Rows);
}

void QueuePage::updateButtons() {
    const std::vector<const Entry*> entries = chosen();
    const auto all = [&](auto&& fits) {
        return !entries.empty() && std::all_of(entries.begin(), entries.end(),
                                               [&](const Entry* entry) { return fits(*entry); });
    };
    const int row = entries.size() == 1 ? model_->rowOf(entries[0]->id) : -1;
    table_header_->setTitle(
        entries.empty() ? tr("No entry selected")
                        : tr("%n entry(s) selected", nullptr, static_cast<int>(entries.size())));
    show_->setEnabled(entries.size() == 1 && !entries[0]->run.empty());
    const bool releases = all(canBeReleased);
    hold_->setText(releases ? tr("Release") : tr("Hold"));
    hold_->setToolTip(releases ? tr("Let it wait for its turn")
                               : tr("Do not start it until it is released"));
    hold_->setEnabled(releases || all(canBeHeld));
    const auto is_to_come = [this](int at) {
        return at >= 0 && at < model_->rowCount() && !has_ended(model_->row(at).entry.state);
    };
    up_->setEnabled(is_to_come(row) && row > 0);
    down_->setEnabled(is_to_come(row) && is_to_come(row + 1));
    stop_->setEnabled(all(canBeStopped));
    remove_->setEnabled(all(canBeRemoved));
    const auto look = index_.look();
    const bool scheduled = look && look->scheduled;
    const bool waits =
        look && countOf(look->book, State::waiting) + countOf(look->book, State::running) > 0;
    run_->setText(scheduled ? tr("Stop the queue") : tr("Run the queue"));
    run_->setToolTip(scheduled ? tr("Runs save, and go on when the queue is run again")
                     : waits   ? tr("Train what waits, in order; also while the studio is closed")
                               : tr("Nothing waits"));
    run_->setEnabled(!index_.isChanging() && (scheduled || waits));
}

void QueuePage::updateDraft() {
    const bool valid = studio_.draft().isValid();
    for (QPushButton* button : {add_, add_first_, add_sweep_, add_sweep_first_}) {
        button->setEnabled(valid);
        button->setToolTip(valid ? tr("Queue a run of the draft as it is now")
                                 : tr("There is no draft without problems"));
    }
}

void QueuePage::addDraft() {
    const compile::CheckedRun checked =
        compile::read_run_config(studio_.draft().document(), studio_.draft().baseDir());
    if (checked.ok()) {
        index_.add(checked.config);
    }
}

void QueuePage::addSweep() {
    SweepDialog dialog(studio_.draft().document(), studio_.draft().baseDir(), this);
    if (dialog.exec() == QDialog::Accepted && dialog.planned()) {
        index_.addSweep(dialog.planned());
    }
}

void QueuePage::runOrStop() {
    const auto look = index_.look();
    if (look && look->scheduled) {
        index_.stopScheduler();
    } else {
        index_.startScheduler(studio_.paths().worker);
    }
    updateButtons();
}

void QueuePage::showRun() {
    const std::vector<const Entry*> entries = chosen();
    if (entries.size() == 1 && !entries[0]->run.empty()) {
        studio_.showRun(entries[0]->run);
        emit pageRequested("train");
    }
}

void QueuePage::changeChosen(const std::function<void(Book&, std::int64_t)>& edit) {
    std::vector<std::int64_t> ids;
    for (const Entry* entry : chosen()) {
        ids.push_back(entry->id);
    }
    index_.change([ids, edit](Book& book) {
        for (const std::int64_t id : ids) {
            edit(book, id);
        }
    });
}

void QueuePage::holdOrRelease() {
    const std::vector<const Entry*> entries = chosen();
    const bool releases = std::all_of(entries.begin(), entries.end(),
                                      [](const Entry* entry) { return canBeReleased(*entry); });
    changeChosen([releases](Book& book, std::int64_t id) {
        Entry& entry = queue::entry_of_id(book, id);
        releases ? queue::release(entry) : queue::hold(entry);
    });
}

void QueuePage::moveUp() {
    const std::vector<const Entry*> entries = chosen();
    const int row = entries.size() == 1 ? model_->rowOf(entries[0]->id) : 0;
    if (row > 0) {
        changeChosen([before = model_->row(row - 1).entry.id](Book& book, std::int64_t id) {
            queue::move_before(book, id, before);
        });
    }
}

void QueuePage::moveDown() {
    const std::vector<const Entry*> entries = chosen();
    const int row = entries.size() == 1 ? model_->rowOf(entries[0]->id) : -1;
    if (row >= 0 && row + 1 < model_->rowCount()) {
        changeChosen([behind = model_->row(row + 1).entry.id](Book& book, std::int64_t id) {
            queue::move_before(book, behind, id);
        });
    }
}

void QueuePage::stopEntries() {
    changeChosen([](Book& book, std::int64_t id) { queue::stop(book, id, nowSeconds()); });
}

void QueuePage::removeEntries() {
    std::vector<Entry> removed;
    for (const Entry* entry : chosen()) {
        removed.push_back(*entry);
    }
    if (removed.empty()) {
        return;
    }
    const auto count = static_cast<int>(removed.size());
    changeChosen([](Book& book, std::int64_t id) { queue::remove(book, id); });
    undo_->offer(tr("%n entry(s) out of the queue", nullptr, count), [this, removed] {
        index_.change([removed](Book& book) {
            for (const Entry& entry : removed) {
                if (book.find(entry.id) == nullptr) {
                    book.entries.push_back(entry);
                }
            }
        });
    });
}

void QueuePage::stopSweep(const QString& name) {
    index_.change(
        [name = name.toStdString()](Book& book) { queue::stop_sweep(book, name, nowSeconds()); });
}

void QueuePage::removeSweep(const QString& name) {
    const auto look = index_.look();
    const queue::Sweep* known = look ? look->book.find_sweep(name.toStdString()) : nullptr;
    if (known == nullptr) {
        return;
    }
    std::vector<Entry> trials;
    for (const std::size_t at : look->book.trials_of(known->name)) {
        trials.push_back(look->book.entries[at]);
    }
    index_.change([sweep = known->name](Book& book) { queue::remove_sweep(book, sweep); });
    undo_->offer(tr("The sweep %1 is out of the queue").arg(name), [this, trials, sweep = *known] {
        index_.change([trials, sweep](Book& book) {
            if (book.find_sweep(sweep.name) == nullptr) {
                book.sweeps.push_back(sweep);
                book.entries.insert(book.entries.end(), trials.begin(), trials.end());
            }
        });
    });
}

const PageRecord kQueuePage{
    "queue", QT_TRANSLATE_NOOP("Pages", "Queue"), "queue",
    [](Studio& studio, Actions& actions) -> Page* { return new QueuePage(studio, actions); }};

} // namespace weft::ui
