// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_fetch.h"
#include "ui/file_dialog.h"
#include "ui/models/problem_model.h"
#include "ui/pages/page_list.h"
#include "ui/shell/config_dialog.h"
#include "ui/shell/draft_compare_dialog.h"
#include "ui/shell/draft_files.h"
#include "ui/shell/help_dialog.h"
#include "ui/shell/lower_docks.h"
#include "ui/shell/run_banner.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/status_bar.h"
#include "widgets/controls/card.h"
#include "widgets/controls/log_view.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/nav_rail.h"
#include "widgets/controls/shelf.h"
#include "widgets/controls/tab_walk.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDialog>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QMimeData>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace weft::ui {
namespace {

constexpr int kMainWindowCompactWidth = 1200;
constexpr QSize kSmallestSize{960, 600};

QString titleOf(const PageRecord& record) {
    return QCoreApplication::translate("Pages", record.title);
}

} // namespace

MainWindow::MainWindow(Studio& studio, widgets::ThemeController& theme)
    : studio_(studio), theme_(theme), actions_(studio), problems_(new ProblemModel(studio, this)),
      palette_(nullptr) {
    setObjectName("mainWindow");
    setWindowTitle(tr("Weft Studio"));
    setWindowIcon(widgets::applicationIcon());
    setMinimumSize(kSmallestSize);
    setAcceptDrops(true);
    askBeforeClose = [this] { return closeDialog(); };
    new FilePlaces(studio_.paths().state / "folders.ini", studio_.paths().runs_root, this);

    auto* central = new QWidget;
    auto* column = new QVBoxLayout(central);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    toolbar_ = new RunToolbar(studio_, actions_);
    column->addWidget(toolbar_);
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    rail_ = new widgets::NavRail;
    row->addWidget(rail_);
    row->addWidget(new widgets::Hairline(Qt::Vertical));
    // A window in the window: docks belong to the pages, the status bar stays below everything.
    docks_ = new QMainWindow;
    docks_->setWindowFlags(Qt::Widget);
    stack_ = new QStackedWidget;
    banner_ = new RunBanner(studio_);
    shelf_ = new widgets::Shelf(stack_, widgets::Shelf::Edge::Bottom); // above the docks
    shelf_->add(banner_);
    docks_->setCentralWidget(shelf_);
    row->addWidget(docks_, 1);
    column->addLayout(row, 1);
    setCentralWidget(central);
    status_ = new StatusBar(studio_, actions_);
    column->addWidget(status_);

    toasts_ = new widgets::ToastHost(this);
    toasts_->setArea(docks_);
    palette_ = new widgets::CommandPalette(this);
    createPages();
    lower_ = new LowerDocks(*docks_, *problems_, studio_);
    files_ = new DraftFiles(studio_, *this);
    createMenus();
    connectActions();
    connectStudio();
    applySettings();
    showPage("home");
    restoreLayout();
    stack_->setFocusPolicy(Qt::ClickFocus);
    stack_->setFocus(); // no control looks chosen before the user chose one
}

// An edit that has the focus is finished by losing it, and reaches for what goes before the
// widgets: out of sight, none has it.
MainWindow::~MainWindow() {
    for (QDialog* dialog : findChildren<QDialog*>()) {
        dialog->hide();
    }
    hide();
}

// Through the page as the eye goes; around it in Qt's order, in which the page is one stop.
bool MainWindow::focusNextPrevChild(bool next) {
    const widgets::TabWay way = next ? widgets::TabWay::Forward : widgets::TabWay::Back;
    QWidget& page = *stack_->currentWidget();
    const QWidget* from = focusWidget();
    const bool inside = from == &page || page.isAncestorOf(from);
    QWidget* stop = inside ? widgets::nextTabStop(page, from, way) : nullptr;
    const QWidget* start = inside ? stack_ : from != nullptr ? from : this;
    const auto step = [next](const QWidget* at) {
        return next ? at->nextInFocusChain() : at->previousInFocusChain();
    };
    for (QWidget* at = step(start); at != start && stop == nullptr; at = step(at)) {
        if (at == stack_) {
            stop = widgets::nextTabStop(page, nullptr, way);
        } else if (!stack_->isAncestorOf(at) && widgets::isTabStop(*at)) {
            stop = at;
        }
    }
    if (stop != nullptr) {
        widgets::goToTabStop(*stop, way);
    }
    return stop != nullptr;
}

void MainWindow::createPages() {
    int number = 1;
    for (const PageRecord* record : allPages()) {
        const QString id = QString::fromLatin1(record->id);
        const QString title = titleOf(*record);
        // There are nine such keys: Ctrl+0 is of the size of text.
        const QKeySequence keys =
            number <= 9 ? QKeySequence(QString("Ctrl+%1").arg(number)) : QKeySequence();
        ++number;
        QAction* action = actions_.add("page." + id, tr("Go to %1").arg(widgets::menuText(title)),
                                       record->icon, keys, tr("Show the page %1").arg(title));
        connect(action, &QAction::triggered, this, [this, id] { showPage(id); });
        Page* page = record->create(studio_, actions_);
        page->setObjectName("page." + id);
        const QString key = keys.isEmpty() ? QString() : " (" + keys.toString() + ")";
        const int index = rail_->addPage(record->icon, title, title + key);
        stack_->addWidget(page);
        page_index_.insert(id, index);
        page_ids_.append(id);
        connect(page, &Page::navStateChanged, this,
                [this, page, index] { rail_->setPageState(index, page->navState()); });
        connect(page, &Page::leadChanged, this, &MainWindow::shareLead);
        connect(page, &Page::pageRequested, this, &MainWindow::showPage);
        connect(page, &Page::fieldRequested, this,
                [this](const std::string& pointer) { showField(toQString(pointer)); });
        connect(page, &Page::toastRequested, this,
                [this, page](int kind, const QString& text, QAction* offered) {
                    toasts_->show(static_cast<widgets::MessageKind>(kind), text, offered, page);
                });
        rail_->setPageState(index, page->navState());
    }
    connect(rail_, &widgets::NavRail::currentPageChanged, this,
            [this](int index) { showPage(page_ids_.value(index)); });
    connect(rail_, &widgets::NavRail::collapsedChanged, this, [this] { rail_chosen_ = true; });
}

void MainWindow::connectStudio() {
    connect(toolbar_, &RunToolbar::runChosen, this, &MainWindow::open);
    connect(status_, &StatusBar::pageRequested, this, &MainWindow::showPage);
    connect(&studio_.log(), &RunLog::logged, this,
            [this](int level, const QString& source, const QString& text, qint64 step) {
                lower_->log().append(widgets::LogLine{QDateTime::currentMSecsSinceEpoch(),
                                                      static_cast<widgets::LogLevel>(level), source,
                                                      text, step});
            });
    // Notes go after some seconds; what they said stays.
    connect(toasts_, &widgets::ToastHost::historyChanged, this, [this] {
        const widgets::ToastRecord& note = toasts_->history().back();
        lower_->log().append(widgets::LogLine{
            QDateTime::currentMSecsSinceEpoch(),
            note.kind == widgets::MessageKind::Error     ? widgets::LogLevel::Error
            : note.kind == widgets::MessageKind::Warning ? widgets::LogLevel::Warning
                                                         : widgets::LogLevel::Info,
            tr("studio"), note.text, -1});
    });
    connect(&studio_, &Studio::troubled, this, &MainWindow::complain);
    connect(banner_, &RunBanner::failed, this, &MainWindow::complain);
    connect(banner_, &RunBanner::compareRequested, this, &MainWindow::showCompare);
    connect(files_, &DraftFiles::failed, this, &MainWindow::complain);
    connect(files_, &DraftFiles::chosen, this, &MainWindow::open);
    connect(files_, &DraftFiles::saved, this, [this](const QString& name) {
        toasts_->show(widgets::MessageKind::Success, tr("Saved %1").arg(name), nullptr,
                      stack_->currentWidget());
    });
    connect(lower_, &LowerDocks::problemActivated, this, &MainWindow::showProblem);
    connect(&lower_->log(), &widgets::LogView::stepActivated, this, [this](qint64 step) {
        showPage("train");
        page("train")->showStep(step);
    });
    const auto count = [this] {
        status_->setProblemCount(problems_->errors(), problems_->warnings());
    };
    connect(problems_, &ProblemModel::countChanged, this, count);
    count();
    connect(&studio_.opener(), &PathOpener::configOpened, this, [this] {
        showPage("home");
        if (!studio_.draft().isValid()) {
            lower_->showProblems();
        }
    });
    connect(&studio_.opener(), &PathOpener::modelOpened, this, [this] { showPage("model"); });
    connect(&studio_.draft(), &Draft::replaced, this, [this](const QString& before) {
        toasts_->show(
            widgets::MessageKind::Info,
            tr("%1 took the place of the edited draft %2").arg(studio_.draft().name(), before),
            actions_.get(action::kUndo), stack_->currentWidget());
    });
    connect(&studio_, &Studio::runShown, this, [this] { showPage("train"); });
    connect(&studio_.opener(), &PathOpener::checkpointOpened, this,
            [this] { showPage("checkpoints"); });
    connect(&studio_.opener(), &PathOpener::weightsOpened, this,
            [this] { showPage("checkpoints"); });
    connect(&studio_.run(), &RunModel::changed, this, &MainWindow::updateTitle);
    connect(&studio_, &Studio::trainingChanged, this, &MainWindow::updateTitle);
    // A studio that is killed comes back on the run that it showed.
    connect(&studio_, &Studio::trainingChanged, this, &MainWindow::saveLayout);
    connect(&theme_, &widgets::ThemeController::changed, this, [this] { update(); });
    connect(&studio_.settings(), &Settings::changed, this, &MainWindow::applySettings);
}

void MainWindow::updateTitle() {
    const double done = studio_.run().progress();
    setWindowTitle(studio_.isTraining() && done >= 0 ? tr("%1 % · %2 · Weft Studio")
                                                           .arg(static_cast<int>(done * 100))
                                                           .arg(studio_.run().name())
                                                     : tr("Weft Studio"));
}

void MainWindow::showPage(const QString& id) {
    if (page_index_.contains(id)) {
        trail_.visit(id);
        bringUp(id);
    }
}

void MainWindow::walkPages(int steps) {
    if (trail_.canGo(steps)) {
        bringUp(trail_.go(steps));
    }
}

void MainWindow::bringUp(const QString& id) {
    const int index = page_index_.value(id);
    if (rail_->currentPage() != index) {
        const QSignalBlocker blocker(rail_);
        rail_->setCurrentPage(index);
    }
    QWidget* next = stack_->widget(index);
    if (next->isHidden() && next->focusWidget() == nullptr) {
        next->setFocus(); // not its first control, which nobody chose
    }
    stack_->setCurrentIndex(index);
    static_cast<Page*>(stack_->currentWidget())->activated();
    shareLead();
    banner_->setPage(id == "home", page(id)->editsDraft());
    shelf_->makeRoom();
    actions_.setUsable(action::kBack, trail_.canGo(-1), tr("No page was shown before this one"));
    actions_.setUsable(action::kForward, trail_.canGo(1), tr("You have not gone back"));
    if (help_ != nullptr && help_->isVisible()) {
        help_->explain(id, pageTitle(id), nullptr);
    }
    paceNews();
}

void MainWindow::shareLead() {
    const bool leads = static_cast<Page*>(stack_->currentWidget())->leads();
    toolbar_->setLeading(!leads);
    banner_->setWaysOnShown(leads && currentPage() == "train");
}

void MainWindow::paceNews() {
    const auto* shown = static_cast<Page*>(stack_->currentWidget());
    studio_.link().setWatched(!isMinimized() && shown->followsSteps());
}

QString MainWindow::currentPage() const {
    return page_ids_.value(stack_->currentIndex());
}

QString MainWindow::pageTitle(const QString& id) const {
    return titleOf(*allPages()[static_cast<std::size_t>(page_index_.value(id))]);
}

Page* MainWindow::page(const QString& id) const {
    return page_index_.contains(id) ? static_cast<Page*>(stack_->widget(page_index_.value(id)))
                                    : nullptr;
}

void MainWindow::open(const QString& path) {
    if (config_dialog_ != nullptr) {
        config_dialog_->takeTyping();
    }
    if (RunFetch::isAddress(path)) {
        showStore(path); // a word from the user starts it: the network is asked
        return;
    }
    const QString problem = studio_.opener().open(toPath(path));
    if (!problem.isEmpty()) {
        complain(problem);
    }
}

void MainWindow::sayFault(const std::exception* fault) {
    complain(tr("What was asked for could not be done: %1 Nothing that trains is touched. If it "
                "happens again, start the studio anew and report this text.")
                 .arg(fault != nullptr ? faultText(*fault) : tr("a fault without a text.")));
}

void MainWindow::complain(const QString& problem) {
    toasts_->show(widgets::MessageKind::Error, problem, nullptr, stack_->currentWidget());
}

void MainWindow::comeToFront() {
    setWindowState(windowState() & ~Qt::WindowMinimized);
    show();
    raise();
    activateWindow();
}

void MainWindow::saveAs() {
    const bool as_text = config_dialog_ != nullptr && config_dialog_->isVisible();
    files_->saveAs(as_text ? config_dialog_ : nullptr);
}

void MainWindow::start() {
    const StartResult result = studio_.control().startDraft();
    if (!result.started) {
        complain(result.problem);
        lower_->showProblems();
    }
}

void MainWindow::showProblem(int row) {
    const Problem& problem = problems_->row(row);
    if (problem.line > 0) {
        showField(problem.pointer);
    } else {
        showPage("train");
    }
}

void MainWindow::showField(const QString& pointer) {
    for (const QString& id : std::as_const(page_ids_)) {
        if (page(id)->showField(pointer.toStdString())) {
            showPage(id);
            page(id)->showField(pointer.toStdString()); // now that there is something to scroll
            return;
        }
    }
    showText(pointer);
}

void MainWindow::showText(const QString& pointer) {
    if (config_dialog_ == nullptr) {
        config_dialog_ = new ConfigDialog(studio_.draft(), this);
        connect(config_dialog_, &ConfigDialog::saveAsRequested, this, &MainWindow::saveAs);
    }
    config_dialog_->showField(pointer);
}

void MainWindow::extendRun() {
    bool chosen = false;
    const int steps = QInputDialog::getInt(
        this, tr("Train longer"), tr("Steps to train beyond the planned length:"),
        static_cast<int>(std::clamp<std::int64_t>(studio_.run().totalSteps() / 5, 1, 1000000)), 1,
        std::numeric_limits<int>::max(), 1, &chosen);
    if (!chosen) {
        return;
    }
    const StartResult result = studio_.control().extendRun(steps);
    if (!result.started) {
        complain(result.problem);
    }
}

void MainWindow::showCompare() {
    auto* dialog = new DraftCompareDialog(studio_.draft(), studio_.run(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    const bool compact = width() < kMainWindowCompactWidth;
    toolbar_->setCompact(compact);
    if (!rail_chosen_) {
        const QSignalBlocker blocker(rail_);
        rail_->setCollapsed(compact);
    }
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::WindowStateChange) {
        paceNews();
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!widgets::localPaths(event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    studio_.opener().openDropped(widgets::localPaths(event->mimeData()));
}

} // namespace weft::ui
