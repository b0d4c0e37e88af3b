// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/hosts/hosts_page.h"

#include "core/train/start_check.h"
#include "ui/bridge/convert.h"
#include "ui/models/hosts/host_run_model.h"
#include "ui/pages/hosts/add_host_dialog.h"
#include "ui/pages/hosts/host_card.h"
#include "ui/pages/hosts/host_checks.h"
#include "ui/pages/page_list.h"
#include "ui/pages/table.h"
#include "ui/pages/undo_note.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QProgressBar>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using hosts::RemoteRun;
using Reach = HostState::Reach;
using widgets::MessageKind;

constexpr int kCardsWidth = 280;
constexpr int kFetchingLookMs = 200;

enum HostsSheet { NoHostSheet, HostSheet };
enum HostRunsSheet { HostMessageSheet, HostRunsSheet };

/// Somebody trains it: it takes orders.
bool takesOrders(const RemoteRun& run) {
    static constexpr const char* kLive[] = {"preparing", "running", "paused", "saving"};
    return std::any_of(std::begin(kLive), std::end(kLive),
                       [&](const char* state) { return run.state == state; });
}

bool answers(const HostState* host) {
    return host != nullptr && host->reach == Reach::Here;
}

bool canTrain(const HostState* host) {
    return answers(host) && host->look && host->look->usable();
}

} // namespace

HostsPage::HostsPage(Studio& studio, Actions& /*actions*/)
    : studio_(studio), book_({studio.paths().runs_root, studio.paths().sockets,
                              studio.paths().worker, studio.paths().state}) {
    model_ = new HostRunModel(this);
    undo_ = new UndoNote(*this);
    fetching_look_ = new QTimer(this);
    fetching_look_->setInterval(kFetchingLookMs);
    connect(fetching_look_, &QTimer::timeout, this, &HostsPage::refreshFetching);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    column->addWidget(new widgets::Hairline);
    stack_ = new QStackedWidget;
    auto* none = new widgets::EmptyState(
        "hosts", tr("No host yet"),
        tr("Other machines that your OpenSSH reaches can train your drafts. Their runs are "
           "followed here as if they were trained on this machine."));
    QPushButton* first = none->addButton(tr("Add host…"), false);
    first->setObjectName("addHostFirst");
    connect(first, &QPushButton::clicked, this, &HostsPage::addHost);
    stack_->addWidget(none);
    auto* content = new QWidget;
    auto* row = new QHBoxLayout(content);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(createHosts());
    row->addWidget(new widgets::Hairline(Qt::Vertical));
    row->addWidget(createRuns(), 1);
    stack_->addWidget(content);
    column->addWidget(stack_, 1);
    connect(&book_, &HostBook::changed, this, &HostsPage::refresh);
    connect(&book_, &HostBook::failed, this, [this](const QString& problem) {
        emit toastRequested(static_cast<int>(MessageKind::Error), problem);
    });
    connect(&book_, &HostBook::begun, this, [this](const QString& host, const std::string& run) {
        wanted_ = run;
        emit toastRequested(static_cast<int>(MessageKind::Success),
                            tr("%1 trains on %2").arg(runTitle(run), host));
    });
    connect(&book_, &HostBook::told, this, [this](const QString& answer) {
        emit toastRequested(static_cast<int>(MessageKind::Info), answer.trimmed());
    });
    connect(&book_, &HostBook::tellHere, this, [this](const std::string& order) {
        RunControl& control = studio_.control();
        order == "pause"        ? control.pause()
        : order == "resume"     ? control.resume()
        : order == "checkpoint" ? control.checkpointNow()
                                : control.stopAndSave();
    });
    connect(&book_, &HostBook::fetched, this, [this](const std::filesystem::path& checkpoint) {
        studio_.index().refresh();
        const std::filesystem::path run = checkpoint.parent_path().parent_path();
        emit toastRequested(static_cast<int>(MessageKind::Success),
                            tr("%1 of %2 is here, to be resumed or tried under Checkpoints")
                                .arg(pathText(checkpoint.filename()), runTitle(run)));
    });
    connect(&book_, &HostBook::followed, this, [this](const std::filesystem::path& folder) {
        studio_.showRun(folder);
        emit pageRequested("train");
    });
    connect(&studio_.draft(), &Draft::changed, this, &HostsPage::updateButtons);
    refresh();
}

QWidget* HostsPage::createHeader() {
    header_ = new widgets::SectionHeader(tr("Hosts"), widgets::SectionHeader::Level::Page);
    const auto button = [this](const char* name, const QString& text, void (HostsPage::*slot)()) {
        auto* out = new QPushButton(text);
        out->setObjectName(name);
        connect(out, &QPushButton::clicked, this, slot);
        header_->addControl(out);
        return out;
    };
    add_ = button("addHost", tr("Add host…"), &HostsPage::addHost);
    start_with_data_ =
        button("startWithData", tr("Start with its data"), &HostsPage::startWithData);
    start_ = button("startOnHost", tr("Start the draft there"), &HostsPage::startDraft);
    widgets::setButtonKind(start_, widgets::ButtonKind::Primary);
    return header_;
}

QWidget* HostsPage::createHosts() {
    auto* panel = new widgets::Surface;
    panel->setFixedWidth(kCardsWidth);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* cards = new QWidget;
    card_column_ = new QVBoxLayout(cards);
    card_column_->setContentsMargins(12, 12, 12, 12);
    card_column_->setSpacing(8);
    card_column_->addStretch(1);
    column->addWidget(widgets::verticalScroll(cards), 1);
    return panel;
}

QPushButton* HostsPage::addRunButton(const char* name, const QString& text,
                                     const QString& tooltip) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tooltip);
    widgets::setCompact(button);
    runs_header_->addControl(button);
    return button;
}

QWidget* HostsPage::createRuns() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    runs_header_ = new widgets::SectionHeader({});
    column->addWidget(runs_header_);
    follow_ = addRunButton("followHostRun", tr("Follow"),
                           tr("Show the run on the Train page and keep it up to date"));
    pause_ = addRunButton("pauseHostRun", tr("Pause"), {});
    save_ = addRunButton("saveHostRun", tr("Checkpoint"), tr("Save its state there"));
    stop_ = addRunButton("stopHostRun", tr("Stop"), tr("End it; it saves first"));
    table_ = createTable(model_, "hostRunTable", tr("Runs of the host, the newest first"));
    run_stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("hosts");
    message_->setObjectName("hostMessage");
    run_stack_->addWidget(message_);
    run_stack_->addWidget(table_);
    column->addWidget(run_stack_, 1);
    column->addWidget(createFetching());
    column->addWidget(new widgets::Hairline);
    auto* checks_header = new widgets::SectionHeader(tr("What it has to have"));
    again_ = new QPushButton(tr("Look again"));
    again_->setObjectName("lookAtHost");
    remove_ = new QPushButton(tr("Remove"));
    remove_->setObjectName("removeHost");
    remove_->setToolTip(tr("Take the host off the list; its runs stay there"));
    for (QPushButton* button : {again_, remove_}) {
        widgets::setCompact(button);
        checks_header->addControl(button);
    }
    column->addWidget(checks_header);
    checks_ = new HostChecks;
    checks_->setObjectName("hostChecks");
    column->addWidget(checks_);
    connect(follow_, &QPushButton::clicked, this, [this] {
        if (const RemoteRun* run = chosenRun()) {
            book_.follow(chosen_, run->folder);
        }
    });
    connect(pause_, &QPushButton::clicked, this, [this] {
        const RemoteRun* run = chosenRun();
        tell(run != nullptr && run->state == "paused" ? "resume" : "pause");
    });
    connect(save_, &QPushButton::clicked, this, [this] { tell("checkpoint"); });
    connect(stop_, &QPushButton::clicked, this, [this] { tell("stop"); });
    connect(again_, &QPushButton::clicked, this, [this] { book_.refreshHost(chosen_); });
    connect(remove_, &QPushButton::clicked, this, &HostsPage::removeHost);
    connect(table_, &QTableView::activated, follow_, &QPushButton::click);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &HostsPage::updateButtons);
    return panel;
}

QWidget* HostsPage::createFetching() {
    auto* panel = new QWidget;
    auto* row = new QHBoxLayout(panel);
    row->setContentsMargins(12, 6, 12, 6);
    row->setSpacing(8);
    row->addWidget(new widgets::TextLabel(tr("Checkpoint")));
    which_ = new QComboBox;
    which_->setObjectName("hostCheckpoint");
    which_->setAccessibleName(tr("Checkpoint to fetch"));
    which_->setEditable(true); // a step
    which_->addItems({tr("latest"), tr("best")});
    which_->setToolTip(tr("The latest, the best, or a step"));
    row->addWidget(which_);
    fetch_ = new QPushButton(tr("Fetch"));
    fetch_->setObjectName("fetchCheckpoint");
    fetch_->setToolTip(tr("Bring it here, where it can be used and gone on with"));
    connect(fetch_, &QPushButton::clicked, this, &HostsPage::fetch);
    row->addWidget(fetch_);
    fetching_ = new QWidget;
    auto* under_way = new QHBoxLayout(fetching_);
    under_way->setContentsMargins(0, 0, 0, 0);
    fetched_of_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    under_way->addWidget(fetched_of_);
    progress_ = new QProgressBar;
    progress_->setObjectName("fetchProgress");
    progress_->setRange(0, 100);
    under_way->addWidget(progress_, 1);
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setObjectName("cancelFetch");
    connect(cancel, &QPushButton::clicked, this, [this] {
        book_.stopTransfer();
        refresh();
    });
    under_way->addWidget(cancel);
    row->addWidget(fetching_, 1);
    row->addStretch();
    return panel;
}

void HostsPage::activated() {
    book_.refresh();
}

void HostsPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    book_.watch(chosen_);
}

void HostsPage::hideEvent(QHideEvent* event) {
    book_.watch({});
    Page::hideEvent(event);
}

void HostsPage::refresh() {
    const auto& known = book_.hosts();
    if (book_.find(chosen_) == nullptr) {
        choose(known.empty() ? QString() : toQString(known.front().host.name));
    }
    stack_->setCurrentIndex(known.empty() ? NoHostSheet : HostSheet);
    add_->setVisible(!known.empty());
    start_->setVisible(!known.empty());
    start_with_data_->setVisible(!known.empty());
    header_->setSubtitle(known.empty() ? QString()
                                       : tr("%n host(s)", nullptr, static_cast<int>(known.size())));
    refreshCards();
    refreshRuns();
    refreshChecks();
    refreshFetching();
    updateButtons();
}

void HostsPage::refreshCards() {
    for (auto card = cards_.begin(); card != cards_.end();) {
        if (book_.find(card->first) == nullptr) {
            card->second->deleteLater();
            card = cards_.erase(card);
        } else {
            ++card;
        }
    }
    for (const HostState& host : book_.hosts()) {
        const QString name = toQString(host.host.name);
        HostCard*& card = cards_[name];
        if (card == nullptr) {
            card = new HostCard;
            card->setObjectName("host:" + name);
            connect(card, &HostCard::clicked, this, [this, name] {
                choose(name);
                refresh();
            });
            card_column_->insertWidget(card_column_->count() - 1, card);
        }
        card->setState(host);
        card->setSelected(name == chosen_);
    }
}

void HostsPage::refreshRuns() {
    const HostState* host = book_.find(chosen_);
    if (host == nullptr) {
        model_->setRuns({});
        return;
    }
    const RemoteRun* run = chosenRun();
    const std::string before = run != nullptr ? run->folder : std::string();
    const bool same = model_->setRuns(host->runs);
    const int wanted = model_->rowOf(wanted_);
    if (wanted >= 0) {
        wanted_.clear();
    }
    if (const int row = wanted >= 0 ? wanted : model_->rowOf(before);
        row >= 0 && (wanted >= 0 || !same)) {
        table_->selectRow(row);
    }
    fitColumns(table_, HostRunModel::NameColumn);
    run_stack_->setCurrentIndex(host->runs.empty() ? HostMessageSheet : HostRunsSheet);
    if (host->reach == Reach::Lost) {
        message_->setTitle(tr("%1 does not answer").arg(chosen_));
        message_->setText(tr("%1\nIt is asked again every few seconds.").arg(host->problem));
    } else if (!host->runs_known) {
        message_->setTitle(tr("Asking %1 …").arg(chosen_));
        message_->setText({});
    } else {
        message_->setTitle(tr("No run on %1").arg(chosen_));
        message_->setText(tr("“Start the draft there” begins one; paths in the draft are those of "
                             "the host."));
    }
}

void HostsPage::refreshChecks() {
    const HostState* host = book_.find(chosen_);
    if (host != nullptr && host->look) {
        checks_->setChecks(host->look->checks);
    } else {
        checks_->setText(host != nullptr && host->reach == Reach::Lost
                             ? tr("Nothing is known: it does not answer.")
                             : tr("It is being looked at …"));
    }
}

void HostsPage::refreshFetching() {
    const auto transfer = book_.transfer();
    fetching_->setVisible(transfer.has_value());
    if (transfer) {
        fetched_of_->setText(transfer->what);
        progress_->setValue(static_cast<int>(transfer->share * 100));
        fetching_look_->start();
    } else {
        fetching_look_->stop();
    }
}

const RemoteRun* HostsPage::chosenRun() const {
    const auto rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? nullptr : &model_->row(rows.front().row());
}

void HostsPage::updateButtons() {
    const HostState* host = book_.find(chosen_);
    const RemoteRun* run = chosenRun();
    const bool valid = studio_.draft().isValid();
    start_->setEnabled(valid && canTrain(host));
    start_->setToolTip(!valid            ? tr("There is no draft without problems")
                       : !answers(host)  ? tr("The host does not answer")
                       : !canTrain(host) ? tr("The host lacks something: see below")
                                         : tr("Paths in the draft are those of the host"));
    start_with_data_->setEnabled(start_->isEnabled());
    start_with_data_->setToolTip(
        start_->isEnabled() ? tr("Files and folders of the draft's data are brought there first")
                            : start_->toolTip());
    const bool here = answers(host) && run != nullptr;
    runs_header_->setTitle(run != nullptr ? runTitle(run->folder) : tr("No run selected"));
    follow_->setEnabled(here);
    const bool live = here && takesOrders(*run);
    const bool paused = live && run->state == "paused";
    pause_->setText(paused ? tr("Resume") : tr("Pause"));
    for (QPushButton* button : {pause_, save_, stop_}) {
        button->setEnabled(live);
    }
    fetch_->setEnabled(here && run->checkpoint_step >= 0 && !book_.transfer());
    again_->setEnabled(host != nullptr && host->reach != Reach::Asking);
    remove_->setEnabled(host != nullptr);
}

void HostsPage::choose(const QString& name) {
    if (name != chosen_) {
        chosen_ = name;
        table_->clearSelection();
    }
    if (isVisible()) {
        book_.watch(chosen_);
    }
}

void HostsPage::addHost() {
    AddHostDialog dialog(this);
    if (dialog.exec() == QDialog::Accepted) {
        book_.add(dialog.host());
    }
}

void HostsPage::removeHost() {
    const HostState* known = book_.find(chosen_);
    if (known == nullptr) {
        return;
    }
    const hosts::Host host = known->host;
    book_.remove(chosen_);
    undo_->offer(tr("%1 is off the list").arg(chosen_), [this, host] { book_.add(host); });
}

void HostsPage::startDraft() {
    book_.start(chosen_, studio_.draft().document());
}

void HostsPage::startWithData() {
    book_.start(chosen_, studio_.draft().document(), train::data_files(studio_.draft().config()));
}

void HostsPage::tell(const std::string& order) {
    if (const RemoteRun* run = chosenRun()) {
        const bool commands = studio_.isTraining() && studio_.control().controlProblem().isEmpty();
        book_.tell(chosen_, run->folder, order,
                   commands ? studio_.run().folder() : std::filesystem::path());
    }
}

void HostsPage::fetch() {
    const RemoteRun* run = chosenRun();
    if (run == nullptr) {
        return;
    }
    const QString which = which_->currentText().trimmed();
    book_.fetch(chosen_, run->folder,
                which == tr("latest") ? "latest"
                : which == tr("best") ? "best"
                                      : which.toStdString());
    refresh();
}

const PageRecord kHostsPage{
    "hosts", QT_TRANSLATE_NOOP("Pages", "Hosts"), "hosts",
    [](Studio& studio, Actions& actions) -> Page* { return new HostsPage(studio, actions); }};

} // namespace weft::ui
