// SPDX-License-Identifier: GPL-3.0-or-later
// The window: menus, run toolbar, page rail and pages, docks, status bar. It arranges; pages and
// actions do the work.
#pragma once

#include "ui/actions.h"
#include "ui/screens/screen.h"
#include "ui/studio.h"
#include "widgets/command_palette.h"
#include "widgets/theme_controller.h"

#include <QMainWindow>

#include <functional>

class QDockWidget;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
enum class MessageKind;
class Banner;
class LogView;
class NavRail;
class ToastHost;
} // namespace weft::widgets

namespace weft::ui {

class ConfigDialog;
class ProblemModel;
class RunToolbar;
class SettingsDialog;
class StatusBar;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(Studio& studio, widgets::ThemeController& theme);
    ~MainWindow() override;

    void showPage(const QString& id);
    QString currentPage() const;
    /// Opens a configuration, run folder or checkpoint; says what is wrong with it.
    void open(const QString& path);
    void comeToFront();
    Screen* page(const QString& id) const;
    Actions& actions() { return actions_; }

    /// What a close request does while a run trains; tests replace the dialog by an answer.
    enum class CloseChoice { KeepTraining, StopAndSave, Cancel };
    std::function<CloseChoice()> askBeforeClose;

protected:
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void createPages();
    void createDocks();
    void createMenus();
    void connectActions();
    void connectStudio();
    void restoreLayout();
    void saveLayout() const;
    void openFileDialog();
    void openFolderDialog();
    /// Presets are never written to: they ask for a place of their own, as a draft without one does.
    void save();
    void saveAs();
    void start();
    /// Goes where a problem can be solved: the field in the text, or the run with its ways on.
    void showProblem(int row);
    /// On the page that has the field, else in the text.
    void showField(const QString& pointer);
    void showText(const QString& pointer);
    void showDifferences();
    void updateBanner();
    /// What is wrong with the run on screen and what one can do about it; false when nothing is.
    bool showRunBanner();
    void say(const QString& icon, widgets::MessageKind kind, const QString& what,
             const QString& detail);
    void extendRun();
    void updateTitle();
    void applySettings();
    void changeSettings(const std::function<void(Preferences&)>& edit);
    SettingsDialog& settingsDialog();
    void showAbout();
    CloseChoice closeDialog();
    /// Closes the window once the run has ended.
    void closeWhenEnded();

    Studio& studio_;
    widgets::ThemeController& theme_;
    Actions actions_;
    ProblemModel* problems_;
    RunToolbar* toolbar_;
    widgets::NavRail* rail_;
    QMainWindow* docks_;
    QStackedWidget* stack_;
    widgets::Banner* banner_;
    StatusBar* status_;
    widgets::LogView* log_ = nullptr;
    QDockWidget* console_dock_ = nullptr;
    QDockWidget* problems_dock_ = nullptr;
    ConfigDialog* config_dialog_ = nullptr;     // made when first asked for
    SettingsDialog* settings_dialog_ = nullptr; // made when first asked for
    widgets::CommandPalette* palette_;
    widgets::ToastHost* toasts_;
    QHash<QString, int> page_index_;
    QStringList page_ids_;
    bool closing_ = false;
    bool stopping_ = false; // to close then
    QString interruption_;  // why the run on screen lost its process
    bool rail_chosen_ = false; // the user folded or unfolded it: size no longer decides
};

} // namespace weft::ui
