// SPDX-License-Identifier: GPL-3.0-or-later
// What the menus of the window offer, and what each action of it does.
#include "ui/bridge/convert.h"
#include "ui/pages/page_list.h"
#include "ui/recent_menu.h"
#include "ui/settings/settings_dialog.h"
#include "ui/shell/draft_files.h"
#include "ui/shell/help_dialog.h"
#include "ui/shell/kept_views.h"
#include "ui/shell/log_recipe_dialog.h"
#include "ui/shell/lower_docks.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_box.h"
#include "ui/shell/new_run_dialog.h"
#include "ui/shell/store_dialog.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/nav_rail.h"

#include <QApplication>
#include <QMenuBar>
#include <QMessageBox>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr double kTextStep = 0.1;

} // namespace

void MainWindow::createMenus() {
    const auto fill = [this](QMenu* menu, std::initializer_list<const char*> ids) {
        for (const char* id : ids) {
            id == nullptr ? menu->addSeparator() : (menu->addAction(actions_.get(id)), nullptr);
        }
    };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    fill(file, {action::kNewRun, action::kOpenFile, action::kOpenFolder, action::kOpenStore,
                action::kLogRecipe});
    auto* recent = new RecentMenu(studio_, actions_.get(action::kClearRecent), file);
    recent->setObjectName("openRecent");
    file->addMenu(recent);
    fill(file, {nullptr, action::kSave, action::kSaveAs, action::kKeepConfig, action::kEditConfig,
                nullptr, action::kSettings, nullptr, action::kQuit});
    fill(menuBar()->addMenu(tr("&Edit")), {action::kUndo, action::kRedo});
    fill(menuBar()->addMenu(tr("&Run")),
         {action::kStart, action::kPause, action::kStep, action::kCheckpoint, nullptr,
          action::kStopAndSave, action::kStopNow, nullptr, action::kLiveSettings, action::kExtend,
          action::kTry});
    QMenu* view = menuBar()->addMenu(tr("&View"));
    for (const QString& id : std::as_const(page_ids_)) {
        view->addAction(actions_.get(("page." + id).toLatin1().constData()));
    }
    view->addSeparator();
    fill(view, {action::kBack, action::kForward, nullptr, action::kRail, action::kConsole,
                action::kProblems, action::kSystem, nullptr, action::kThemeSystem,
                action::kThemeLight, action::kThemeDark, nullptr, action::kTextLarger,
                action::kTextSmaller, action::kTextReset, nullptr, action::kResetLayout});
    fill(menuBar()->addMenu(tr("&Tools")), {action::kMeasure});
    fill(menuBar()->addMenu(tr("&Help")),
         {action::kHelp, action::kPalette, action::kShortcuts, action::kAbout});
}

void MainWindow::connectActions() {
    const auto on = [this](const char* id, auto handler) {
        connect(actions_.get(id), &QAction::triggered, this, handler);
    };
    on(action::kNewRun, [this] { showNewRun(); });
    on(action::kOpenFile, [this] { files_->askForFile(); });
    on(action::kOpenFolder, [this] { files_->askForFolder(); });
    on(action::kOpenStore, [this] { showStore({}); });
    on(action::kLogRecipe, [this] {
        auto* recipe = new LogRecipeDialog(this);
        recipe->setAttribute(Qt::WA_DeleteOnClose);
        connect(recipe, &LogRecipeDialog::openRequested, actions_.get(action::kOpenFolder),
                &QAction::trigger);
        recipe->open();
    });
    on(action::kSave, [this] { files_->save(); });
    on(action::kSaveAs, [this] { saveAs(); });
    on(action::kKeepConfig, [this] { files_->keepRun(); });
    on(action::kEditConfig, [this] { showText({}); });
    on(action::kQuit, [this] { close(); });
    on(action::kStart, [this] { start(); });
    on(action::kExtend, [this] { extendRun(); });
    on(action::kPalette, [this] {
        QList<QAction*> offered = actions_.all();
        offered.removeOne(actions_.get(action::kPalette));
        palette_recent_ = std::make_unique<QObject>();
        offered += recentActions(studio_, RecentWords::AmongCommands, palette_recent_.get());
        palette_->setActions(offered);
        palette_->open();
    });
    on(action::kBack, [this] { walkPages(-1); });
    on(action::kForward, [this] { walkPages(1); });
    on(action::kRail, [this] { rail_->setCollapsed(!rail_->isCollapsed()); });
    on(action::kConsole, [this] { lower_->toggleConsole(); });
    on(action::kProblems, [this] { lower_->toggleProblems(); });
    on(action::kSystem, [this] { lower_->toggleSystem(); });
    on(action::kSettings, [this] { settingsDialog().showSection(SettingsDialog::General); });
    on(action::kMeasure, [this] { settingsDialog().showSection(SettingsDialog::Devices); });
    using Mode = widgets::ThemeController::Mode;
    const auto theme = [this](Mode mode) {
        changeSettings([mode](Preferences& values) { values.theme = mode; });
    };
    on(action::kThemeSystem, [theme] { theme(Mode::System); });
    on(action::kThemeLight, [theme] { theme(Mode::Light); });
    on(action::kThemeDark, [theme] { theme(Mode::Dark); });
    const auto scale = [this](double step) {
        changeSettings([step](Preferences& values) {
            values.font_scale = step == 0
                                    ? 1.0
                                    : std::clamp(values.font_scale + step, widgets::kSmallestText,
                                                 widgets::kLargestText);
        });
    };
    on(action::kTextLarger, [scale] { scale(kTextStep); });
    on(action::kTextSmaller, [scale] { scale(-kTextStep); });
    on(action::kTextReset, [scale] { scale(0); });
    on(action::kResetLayout, [this] {
        lower_->hideAll();
        resetSwitches(*this);
        rail_chosen_ = false;
        takeDesignedSize();
    });
    on(action::kShortcuts, [this] { settingsDialog().showSection(SettingsDialog::Shortcuts); });
    on(action::kHelp, [this] { showHelp(); });
    on(action::kAbout, [this] { showAbout(); });
    addActions(actions_.all()); // shortcuts work without the menu too
}

void MainWindow::applySettings() {
    const Preferences& values = studio_.settings().values();
    theme_.setMode(values.theme);
    using Mode = widgets::ThemeController::Mode;
    const char* chosen = values.theme == Mode::Light  ? action::kThemeLight
                         : values.theme == Mode::Dark ? action::kThemeDark
                                                      : action::kThemeSystem;
    actions_.get(chosen)->setChecked(true);
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
        toasts_->show(widgets::MessageKind::Warning, problem, nullptr, stack_->currentWidget());
    }
}

SettingsDialog& MainWindow::settingsDialog() {
    if (settings_dialog_ == nullptr) {
        settings_dialog_ = new SettingsDialog(studio_, actions_, this);
        connect(settings_dialog_, &SettingsDialog::failed, &studio_, &Studio::troubled);
    }
    return *settings_dialog_;
}

void MainWindow::showNewRun() {
    auto* dialog = new NewRunDialog(studio_, actions_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &NewRunDialog::chosen, this, &MainWindow::open);
    connect(dialog, &NewRunDialog::begun, this, [this] { showPage("data"); });
    dialog->open();
}

void MainWindow::showStore(const QString& address) {
    auto* dialog = new StoreDialog(studio_.paths().runs_root, address, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &StoreDialog::fetched, this,
            [this](const std::filesystem::path& run) { open(pathText(run)); });
    dialog->open();
}

void MainWindow::showHelp() {
    if (help_ == nullptr) {
        help_ = new HelpDialog(actions_, this);
    }
    help_->explain(currentPage(), pageTitle(currentPage()), focusWidget());
    help_->show();
    help_->raise();
    help_->activateWindow();
}

void MainWindow::showAbout() {
    auto* box = new QMessageBox(
        QMessageBox::NoIcon, tr("About Weft Studio"),
        tr("<h3>Weft Studio %1</h3><p>Trains neural networks and says beforehand what "
           "every device will hold.</p><p>Engine: Apache-2.0. Studio: GPL-3.0-or-later "
           "(it links QCustomPlot). Back ends: see <code>weft doctor</code>. No network "
           "is used.</p>")
            .arg(QApplication::applicationVersion()),
        QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    alignText(*box);
    box->open();
}

} // namespace weft::ui
