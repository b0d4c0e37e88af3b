// SPDX-License-Identifier: GPL-3.0-or-later
// The window: menus, run toolbar, page rail and pages, docks, status bar. It arranges; pages and
// actions do the work.
#pragma once

#include "ui/actions.h"
#include "ui/pages/page.h"
#include "ui/shell/page_trail.h"
#include "ui/studio.h"
#include "widgets/controls/command_palette.h"
#include "widgets/look/theme_controller.h"

#include <QMainWindow>

#include <functional>

class QStackedWidget;

namespace weft::widgets {
class NavRail;
class Shelf;
class ToastHost;
} // namespace weft::widgets

namespace weft::ui {

class ConfigDialog;
class DraftFiles;
class HelpDialog;
class LowerDocks;
class ProblemModel;
class RunBanner;
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
    /// What GuardedApplication caught.
    void sayFault(const std::exception* fault);
    Page* page(const QString& id) const;
    Actions& actions() { return actions_; }

    /// What a close request does while a run trains; tests replace the dialog by an answer.
    enum class CloseChoice { KeepTraining, StopAndSave, Cancel };
    std::function<CloseChoice()> askBeforeClose;

protected:
    bool focusNextPrevChild(bool next) override;
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void paceNews();
    void shareLead();
    void createPages();
    void createMenus();
    void connectActions();
    void connectStudio();
    void takeDesignedSize();
    void restoreLayout();
    QVariantMap keptLayout() const;
    void saveLayout();
    /// The page before in the order in which they were looked at (-1), or after (1).
    void walkPages(int steps);
    void bringUp(const QString& id);
    QString pageTitle(const QString& id) const;
    void complain(const QString& problem);
    void saveAs();
    void start();
    /// Goes where a problem can be solved: the field in the text, or the run with its ways on.
    void showProblem(int row);
    /// On the page that has the field, else in the text.
    void showField(const QString& pointer);
    void showText(const QString& pointer);
    void showCompare();
    void extendRun();
    void updateTitle();
    void applySettings();
    void changeSettings(const std::function<void(Preferences&)>& edit);
    SettingsDialog& settingsDialog();
    void showNewRun();
    void showStore(const QString& address);
    void showHelp();
    void showAbout();
    CloseChoice closeDialog();
    /// Closes the window once the run has ended; it stays when "stop" is refused, control of the
    /// run is lost or another run is shown.
    void closeWhenEnded();
    void closeAfterRun();

    Studio& studio_;
    widgets::ThemeController& theme_;
    Actions actions_;
    ProblemModel* problems_;
    RunToolbar* toolbar_;
    widgets::NavRail* rail_;
    QMainWindow* docks_;
    QStackedWidget* stack_;
    widgets::Shelf* shelf_; // the pages, and the banner below them
    RunBanner* banner_;
    StatusBar* status_;
    LowerDocks* lower_;
    DraftFiles* files_;
    ConfigDialog* config_dialog_ = nullptr;     // made when first asked for
    SettingsDialog* settings_dialog_ = nullptr; // made when first asked for
    HelpDialog* help_ = nullptr;                // made when first asked for
    widgets::CommandPalette* palette_;
    std::unique_ptr<QObject> palette_recent_; // owns what the palette lists beside the actions
    widgets::ToastHost* toasts_;
    QHash<QString, int> page_index_;
    QStringList page_ids_;
    QVariantMap kept_layout_; // what this window has read or written of the file
    PageTrail trail_;
    bool closing_ = false;
    bool rail_chosen_ = false; // the user folded or unfolded it: size no longer decides
};

} // namespace weft::ui
