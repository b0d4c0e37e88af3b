// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include "ui/bridge/convert.h"
#include "ui/models/problem_model.h"
#include "ui/screens/screen_list.h"
#include "ui/settings/settings_dialog.h"
#include "ui/shell/config_dialog.h"
#include "ui/shell/differences_dialog.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/status_bar.h"
#include "widgets/card.h"
#include "widgets/icon.h"
#include "widgets/log_view.h"
#include "widgets/messages.h"
#include "widgets/nav_rail.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDateTime>
#include <QDockWidget>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace weft::ui {
namespace {

constexpr int kLayoutVersion = 2;
constexpr int kDockHeight = 220;
constexpr QSize kFrame{16, 48}; // about what a window manager adds around a window
constexpr int kCompactWidth = 1200;
constexpr QSize kDesignedSize{1440, 900};
constexpr QSize kSmallestSize{960, 600};
constexpr double kTextStep = 0.1;
constexpr double kSmallestText = 0.8;
constexpr double kLargestText = 1.5;

QSettings layoutSettings(const StudioPaths& paths) {
    return QSettings(pathText(paths.state / "layout.ini"), QSettings::IniFormat);
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
    auto* page_column = new QVBoxLayout;
    page_column->setSpacing(0);
    banner_ = new widgets::Banner(widgets::MessageKind::Info);
    banner_->setVisible(false);
    page_column->addWidget(banner_);
    // A window in the window: docks belong to the pages, the status bar stays below everything.
    docks_ = new QMainWindow;
    docks_->setWindowFlags(Qt::Widget);
    stack_ = new QStackedWidget;
    docks_->setCentralWidget(stack_);
    page_column->addWidget(docks_, 1);
    row->addLayout(page_column, 1);
    column->addLayout(row, 1);
    setCentralWidget(central);
    status_ = new StatusBar(studio_, actions_);
    column->addWidget(status_);

    toasts_ = new widgets::ToastHost(this);
    palette_ = new widgets::CommandPalette(this);
    createPages();
    createDocks();
    createMenus();
    connectActions();
    connectStudio();
    applySettings();
    showPage("home");
    restoreLayout();
    stack_->setFocusPolicy(Qt::StrongFocus);
    stack_->setFocus(); // no control looks chosen before the user chose one
}

MainWindow::~MainWindow() = default;

void MainWindow::createPages() {
    int number = 1;
    for (const ScreenRecord* record : allScreens()) {
        const QString id = QString::fromLatin1(record->id);
        const QString title = tr(record->title);
        const QKeySequence keys(QString("Ctrl+%1").arg(number++));
        QAction* action = actions_.add("page." + id, tr("Go to %1").arg(title), record->icon, keys,
                                       tr("Show the page %1").arg(title));
        connect(action, &QAction::triggered, this, [this, id] { showPage(id); });
        Screen* screen = record->create(studio_, actions_);
        screen->setObjectName("page." + id);
        const int index = rail_->addPage(record->icon, title, title + " (" + keys.toString() + ")");
        stack_->addWidget(screen);
        page_index_.insert(id, index);
        page_ids_.append(id);
        connect(screen, &Screen::navStateChanged, this,
                [this, screen, index] { rail_->setPageState(index, screen->navState()); });
        connect(screen, &Screen::pageRequested, this, &MainWindow::showPage);
        connect(screen, &Screen::fieldRequested, this,
                [this](const std::string& pointer) { showField(toQString(pointer)); });
        connect(screen, &Screen::toastRequested, this,
                [this](int kind, const QString& text, QAction* offered) {
                    toasts_->show(static_cast<widgets::MessageKind>(kind), text, offered);
                });
        rail_->setPageState(index, screen->navState());
    }
    connect(rail_, &widgets::NavRail::currentPageChanged, this,
            [this](int index) { showPage(page_ids_.value(index)); });
    connect(rail_, &widgets::NavRail::collapsedChanged, this, [this] { rail_chosen_ = true; });
}

void MainWindow::createDocks() {
    const auto dock = [this](const QString& title, const QString& name, QWidget* content) {
        auto* created = new QDockWidget(title, docks_);
        created->setObjectName(name);
        created->setWidget(content);
        docks_->addDockWidget(Qt::BottomDockWidgetArea, created);
        return created;
    };
    log_ = new widgets::LogView;
    console_dock_ = dock(tr("Console"), "consoleDock", log_);
    auto* table = new QTableView;
    table->setTabKeyNavigation(false); // Tab leaves the table
    table->setObjectName("problemsTable");
    table->setAccessibleName(tr("Problems"));
    table->setModel(problems_);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setMinimumSectionSize(widgets::size::kRowHeight);
    table->verticalHeader()->setDefaultSectionSize(widgets::size::kRowHeight);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeader()->setSectionResizeMode(ProblemModel::SourceColumn,
                                                    QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(ProblemModel::WhereColumn,
                                                    QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(ProblemModel::LineColumn,
                                                    QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(ProblemModel::MessageColumn,
                                                    QHeaderView::Stretch);
    table->horizontalHeader()->setSectionResizeMode(ProblemModel::HintColumn, QHeaderView::Stretch);
    connect(table, &QTableView::activated, this,
            [this](const QModelIndex& index) { showProblem(index.row()); });
    auto* none = new widgets::TextLabel(tr("No problems in the draft or the run on screen"),
                                        widgets::TextStyle::Body, widgets::Role::Muted);
    none->setAlignment(Qt::AlignCenter);
    auto* pages = new QStackedWidget;
    pages->addWidget(none);
    pages->addWidget(table);
    problems_dock_ = dock(tr("Problems"), "problemsDock", pages);
    docks_->tabifyDockWidget(problems_dock_, console_dock_);
    for (QTabBar* tabs : docks_->findChildren<QTabBar*>()) {
        tabs->setFocusPolicy(Qt::NoFocus); // unseen with both docks closed; each has its shortcut
    }
    docks_->resizeDocks({problems_dock_}, {kDockHeight}, Qt::Vertical);
    console_dock_->hide();
    problems_dock_->hide();
    const auto count = [this, pages] {
        status_->setProblemCount(problems_->errors(), problems_->warnings());
        pages->setCurrentIndex(problems_->rowCount() > 0 ? 1 : 0);
    };
    connect(problems_, &ProblemModel::countChanged, this, count);
    count();
}

void MainWindow::createMenus() {
    const auto fill = [this](QMenu* menu, std::initializer_list<const char*> ids) {
        for (const char* id : ids) {
            id == nullptr ? menu->addSeparator() : (menu->addAction(actions_.get(id)), nullptr);
        }
    };
    fill(menuBar()->addMenu(tr("&File")), {action::kNewRun, action::kOpenFile, action::kOpenFolder,
                                           nullptr, action::kSave, action::kSaveAs,
                                           action::kEditConfig, nullptr, action::kSettings,
                                           nullptr, action::kQuit});
    fill(menuBar()->addMenu(tr("&Edit")), {action::kUndo, action::kRedo});
    fill(menuBar()->addMenu(tr("&Run")),
         {action::kStart, action::kPause, action::kStep, action::kCheckpoint, nullptr,
          action::kStopAndSave, action::kStopNow, nullptr, action::kExtend});
    QMenu* view = menuBar()->addMenu(tr("&View"));
    for (const QString& id : std::as_const(page_ids_)) {
        view->addAction(actions_.get(("page." + id).toLatin1().constData()));
    }
    view->addSeparator();
    fill(view, {action::kRail, action::kConsole, action::kProblems, nullptr, action::kThemeSystem,
                action::kThemeLight, action::kThemeDark, nullptr, action::kTextLarger,
                action::kTextSmaller, action::kTextReset, nullptr, action::kResetLayout});
    fill(menuBar()->addMenu(tr("&Help")), {action::kPalette, action::kShortcuts, action::kAbout});
}

void MainWindow::connectActions() {
    const auto on = [this](const char* id, auto handler) {
        connect(actions_.get(id), &QAction::triggered, this, handler);
    };
    on(action::kOpenFile, [this] { openFileDialog(); });
    on(action::kOpenFolder, [this] { openFolderDialog(); });
    on(action::kSave, [this] { save(); });
    on(action::kSaveAs, [this] { saveAs(); });
    on(action::kEditConfig, [this] { showText({}); });
    on(action::kQuit, [this] { close(); });
    on(action::kStart, [this] { start(); });
    on(action::kExtend, [this] { extendRun(); });
    on(action::kPalette, [this] {
        palette_->setActions(actions_.all());
        palette_->open();
    });
    on(action::kRail, [this] { rail_->setCollapsed(!rail_->isCollapsed()); });
    const auto toggle = [](QDockWidget* dock) {
        dock->setVisible(!dock->isVisible());
        if (dock->isVisible()) {
            dock->raise();
        }
    };
    on(action::kConsole, [this, toggle] { toggle(console_dock_); });
    on(action::kProblems, [this, toggle] { toggle(problems_dock_); });
    on(action::kSettings, [this] { settingsDialog().showSection(SettingsDialog::General); });
    using Mode = widgets::ThemeController::Mode;
    const auto theme = [this](Mode mode) {
        changeSettings([mode](Preferences& values) { values.theme = mode; });
    };
    on(action::kThemeSystem, [theme] { theme(Mode::System); });
    on(action::kThemeLight, [theme] { theme(Mode::Light); });
    on(action::kThemeDark, [theme] { theme(Mode::Dark); });
    const auto scale = [this](double step) {
        changeSettings([step](Preferences& values) {
            values.font_scale =
                step == 0 ? 1.0 : std::clamp(values.font_scale + step, kSmallestText, kLargestText);
        });
    };
    on(action::kTextLarger, [scale] { scale(kTextStep); });
    on(action::kTextSmaller, [scale] { scale(-kTextStep); });
    on(action::kTextReset, [scale] { scale(0); });
    on(action::kResetLayout, [this] {
        console_dock_->hide();
        problems_dock_->hide();
        rail_chosen_ = false;
        resize(kDesignedSize.boundedTo(screen()->availableSize() - kFrame));
    });
    on(action::kShortcuts, [this] { settingsDialog().showSection(SettingsDialog::Shortcuts); });
    on(action::kAbout, [this] { showAbout(); });
    addActions(actions_.all()); // shortcuts work without the menu too
}

void MainWindow::connectStudio() {
    connect(toolbar_, &RunToolbar::runChosen, this, &MainWindow::open);
    connect(status_, &StatusBar::pageRequested, this, &MainWindow::showPage);
    connect(&studio_, &Studio::logged, this,
            [this](int level, const QString& source, const QString& text, qint64 step) {
                log_->append(widgets::LogLine{QDateTime::currentMSecsSinceEpoch(),
                                              static_cast<widgets::LogLevel>(level), source, text,
                                              step});
            });
    connect(&studio_, &Studio::troubled, this, [this](const QString& problem) {
        toasts_->show(widgets::MessageKind::Error, problem);
    });
    connect(&studio_, &Studio::configOpened, this, [this] {
        showPage("home");
        if (!studio_.draft().isValid()) {
            problems_dock_->show();
            problems_dock_->raise();
        }
    });
    connect(&studio_, &Studio::runShown, this, [this] { showPage("train"); });
    connect(&studio_, &Studio::checkpointOpened, this, [this] { showPage("checkpoints"); });
    connect(&studio_, &Studio::weightsOpened, this, [this] { showPage("checkpoints"); });
    connect(&studio_, &Studio::trainingChanged, this, &MainWindow::updateBanner);
    connect(&studio_, &Studio::controlChanged, this, &MainWindow::updateBanner);
    connect(&studio_.run(), &RunModel::reset, this, [this] {
        interruption_.clear();
        updateBanner();
    });
    connect(&studio_, &Studio::interrupted, this, [this](const QString& why) {
        interruption_ = why;
        updateBanner();
    });
    connect(&studio_.draft(), &Draft::changed, this, &MainWindow::updateBanner);
    connect(&studio_.run(), &RunModel::changed, this, &MainWindow::updateTitle);
    connect(&studio_, &Studio::trainingChanged, this, &MainWindow::updateTitle);
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
    const auto found = page_index_.constFind(id);
    if (found == page_index_.constEnd()) {
        return;
    }
    if (rail_->currentPage() != *found) {
        const QSignalBlocker blocker(rail_);
        rail_->setCurrentPage(*found);
    }
    stack_->setCurrentIndex(*found);
    static_cast<Screen*>(stack_->currentWidget())->activated();
    updateBanner();
}

QString MainWindow::currentPage() const {
    return page_ids_.value(stack_->currentIndex());
}

Screen* MainWindow::page(const QString& id) const {
    return page_index_.contains(id) ? static_cast<Screen*>(stack_->widget(page_index_.value(id)))
                                    : nullptr;
}

void MainWindow::open(const QString& path) {
    const QString problem = studio_.openPath(toPath(path));
    if (!problem.isEmpty()) {
        toasts_->show(widgets::MessageKind::Error, problem);
    }
}

void MainWindow::comeToFront() {
    setWindowState(windowState() & ~Qt::WindowMinimized);
    show();
    raise();
    activateWindow();
}

void MainWindow::openFileDialog() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open configuration"),
                                                      pathText(studio_.paths().presets),
                                                      tr("Run configurations (*.json)"));
    if (!path.isEmpty()) {
        open(path);
    }
}

void MainWindow::openFolderDialog() {
    const QString path = QFileDialog::getExistingDirectory(this, tr("Open run or checkpoint"),
                                                           pathText(studio_.paths().runs_root));
    if (!path.isEmpty()) {
        open(path);
    }
}

void MainWindow::save() {
    const std::filesystem::path path = studio_.draft().path();
    if (path.empty() || path.parent_path() == studio_.paths().presets) {
        saveAs();
        return;
    }
    const QString problem = studio_.draft().save(path);
    if (problem.isEmpty()) {
        toasts_->show(widgets::MessageKind::Success, tr("Saved %1").arg(pathText(path.filename())));
    } else {
        toasts_->show(widgets::MessageKind::Error, problem);
    }
}

void MainWindow::saveAs() {
    const Draft& draft = studio_.draft();
    const bool has_place =
        !draft.path().empty() && draft.path().parent_path() != studio_.paths().presets;
    const QString proposal = has_place ? pathText(draft.path()) : draft.name() + ".json";
    const QString path = QFileDialog::getSaveFileName(
        config_dialog_ != nullptr && config_dialog_->isVisible()
            ? static_cast<QWidget*>(config_dialog_)
            : this,
        tr("Save configuration"), proposal, tr("Run configurations (*.json)"));
    if (path.isEmpty()) {
        return;
    }
    const QString problem = studio_.draft().save(toPath(path));
    if (!problem.isEmpty()) {
        toasts_->show(widgets::MessageKind::Error, problem);
    }
}

void MainWindow::start() {
    const StartResult result = studio_.startDraft();
    if (!result.started) {
        toasts_->show(widgets::MessageKind::Error, result.problem);
        problems_dock_->show();
        problems_dock_->raise();
    }
}

void MainWindow::showProblem(int row) {
    const Problem& problem = problems_->problem(row);
    if (problem.line > 0) {
        showField(problem.where);
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

void MainWindow::say(const QString& icon, widgets::MessageKind kind, const QString& what,
                     const QString& detail) {
    banner_->clearButtons();
    banner_->setKind(kind);
    banner_->setIconName(icon);
    banner_->setText(what, detail);
    banner_->setVisible(true);
}

// Home has a banner of its own for runs that were cut off.
bool MainWindow::showRunBanner() {
    const QString name = studio_.run().name();
    using Who = RunControlState::Who;
    const Who who = studio_.link().control().who;
    if (stopping_) {
        say("stop", widgets::MessageKind::Info, tr("Stopping %1").arg(name),
            tr("the window closes when the checkpoint is written"));
    } else if (studio_.isTraining() && (who == Who::Other || who == Who::Unreachable)) {
        say("lock", widgets::MessageKind::Info, tr("%1 is read-only here").arg(name),
            toQString(studio_.link().control().why));
        if (who == Who::Other) {
            QPushButton* take = banner_->addButton(tr("Take over"));
            take->setObjectName("takeOver");
            connect(take, &QPushButton::clicked, &studio_, &Studio::takeOver);
        }
    } else if (!studio_.isTraining() && !interruption_.isEmpty() && currentPage() != "home") {
        const bool saved = !studio_.run().checkpoints().empty();
        say("warning", widgets::MessageKind::Warning, tr("%1 was interrupted").arg(name),
            saved ? interruption_ : tr("%1 · before its first checkpoint").arg(interruption_));
        if (saved) {
            QPushButton* resume = banner_->addButton(tr("Resume"));
            resume->setObjectName("resumeInterrupted");
            connect(resume, &QPushButton::clicked, this, [this] {
                const StartResult result = studio_.resumeRun(studio_.run().folder());
                if (!result.started) {
                    toasts_->show(widgets::MessageKind::Error, result.problem);
                }
            });
        }
    } else {
        return false;
    }
    return true;
}

// The draft and the run are two things: while both exist, the pages that show the draft say so.
void MainWindow::updateBanner() {
    if (showRunBanner()) {
        return;
    }
    const bool relevant = studio_.isTraining() && studio_.draft().isValid() &&
                          page(currentPage())->editsDraft();
    const auto differences =
        relevant ? studio_.draft().differencesFrom(studio_.run().config()).size() : 0;
    banner_->setVisible(false);
    if (relevant && differences > 0) {
        say("fork", widgets::MessageKind::Info, tr("Draft %1").arg(studio_.draft().name()),
            tr("edits here never touch the running %1 · %n field(s) differ", nullptr,
               static_cast<int>(differences))
                .arg(studio_.run().name()));
        QPushButton* show = banner_->addButton(tr("Show differences"), true);
        show->setObjectName("showDifferences");
        connect(show, &QPushButton::clicked, this, &MainWindow::showDifferences);
    }
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
    const StartResult result = studio_.extendRun(steps);
    if (!result.started) {
        toasts_->show(widgets::MessageKind::Error, result.problem);
    }
}

void MainWindow::showDifferences() {
    DifferencesDialog dialog(studio_.draft(), studio_.run(), this);
    dialog.exec();
}

void MainWindow::restoreLayout() {
    resize(kDesignedSize.boundedTo(screen()->availableSize() - kFrame));
    QSettings settings = layoutSettings(studio_.paths());
    restoreGeometry(settings.value("geometry").toByteArray());
    // Another screen may be smaller than the one at which the window was left.
    resize(size().boundedTo(screen()->availableSize() - kFrame));
    docks_->restoreState(settings.value("docks").toByteArray(), kLayoutVersion);
    if (studio_.settings().values().open_last_page) {
        showPage(settings.value("page").toString());
    }
}

void MainWindow::saveLayout() const {
    QSettings settings = layoutSettings(studio_.paths());
    settings.setValue("geometry", saveGeometry());
    settings.setValue("docks", docks_->saveState(kLayoutVersion));
    settings.setValue("page", currentPage());
}

void MainWindow::closeEvent(QCloseEvent* event) {
    // Closing leaves alone what another studio controls.
    if (!studio_.isTraining() || closing_ || !studio_.controlProblem().isEmpty()) {
        saveLayout();
        event->accept();
        return;
    }
    event->ignore();
    switch (askBeforeClose()) {
    case CloseChoice::KeepTraining:
        saveLayout();
        event->accept();
        break;
    case CloseChoice::StopAndSave:
        studio_.stopAndSave();
        closeWhenEnded();
        break;
    case CloseChoice::Cancel: break;
    }
}

void MainWindow::closeWhenEnded() {
    stopping_ = true;
    updateBanner();
    connect(&studio_, &Studio::trainingChanged, this, [this] {
        if (!studio_.isTraining()) {
            closing_ = true;
            close();
        }
    });
}

MainWindow::CloseChoice MainWindow::closeDialog() {
    QMessageBox box(this);
    box.setObjectName("closeDialog");
    box.setIcon(QMessageBox::NoIcon);
    box.setWindowTitle(tr("A run is training"));
    box.setText(
        tr("%1 is at step %2.").arg(studio_.run().name(), formatCount(studio_.run().step())));
    box.setInformativeText(tr("In the background it trains on in its own process, and the studio "
                              "shows it again at the next start. Stop and save writes a "
                              "checkpoint; Home then offers to resume exactly there."));
    QPushButton* keep = box.addButton(tr("Keep training in background"), QMessageBox::AcceptRole);
    QPushButton* save = box.addButton(tr("Stop and save"), QMessageBox::AcceptRole);
    QPushButton* cancel = box.addButton(tr("Cancel"), QMessageBox::RejectRole);
    keep->setObjectName("keepTraining");
    save->setObjectName("stopAndSave");
    widgets::setButtonKind(keep, widgets::ButtonKind::Primary);
    box.setDefaultButton(keep);
    box.setEscapeButton(cancel);
    box.exec();
    return box.clickedButton() == keep   ? CloseChoice::KeepTraining
           : box.clickedButton() == save ? CloseChoice::StopAndSave
                                         : CloseChoice::Cancel;
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    const bool compact = width() < kCompactWidth;
    toolbar_->setCompact(compact);
    if (!rail_chosen_) {
        const QSignalBlocker blocker(rail_);
        rail_->setCollapsed(compact);
    }
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::WindowStateChange) {
        studio_.link().setVisible(!isMinimized());
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!widgets::localPaths(event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    studio_.openDropped(widgets::localPaths(event->mimeData()));
}

void MainWindow::applySettings() {
    const Preferences& values = studio_.settings().values();
    theme_.setMode(values.theme);
    theme_.setFontScale(values.font_scale);
    theme_.setSeries(values.series);
    theme_.setReducedMotion(values.reduced_motion);
    actions_.setShortcuts(values.shortcuts);
}

void MainWindow::changeSettings(const std::function<void(Preferences&)>& edit) {
    Preferences values = studio_.settings().values();
    edit(values);
    const QString problem = studio_.settings().set(values);
    if (!problem.isEmpty()) {
        toasts_->show(widgets::MessageKind::Warning, problem);
    }
}

SettingsDialog& MainWindow::settingsDialog() {
    if (settings_dialog_ == nullptr) {
        settings_dialog_ =
            new SettingsDialog(studio_.settings(), actions_, studio_.paths(), this);
        connect(settings_dialog_, &SettingsDialog::failed, &studio_, &Studio::troubled);
    }
    return *settings_dialog_;
}

void MainWindow::showAbout() {
    QMessageBox box(
        QMessageBox::NoIcon, tr("About Weft Studio"),
        tr("<h3>Weft Studio %1</h3><p>Trains neural networks and says beforehand what "
           "every device will hold.</p><p>Engine: Apache-2.0. Studio: GPL-3.0-or-later "
           "(it links QCustomPlot). Back ends: see <code>weft doctor</code>. No network "
           "is used.</p>")
            .arg(QApplication::applicationVersion()),
        QMessageBox::Close, this);
    box.exec();
}

} // namespace weft::ui
