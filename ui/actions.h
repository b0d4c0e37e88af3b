// SPDX-License-Identifier: GPL-3.0-or-later
// Every action of the studio, once: menus, toolbar, command palette, shortcuts and tests read this
// registry. An action that cannot be used now is disabled and its tooltip says why.
#pragma once

#include <QAction>
#include <QHash>
#include <QList>
#include <QMap>
#include <QObject>
#include <QString>

class QPushButton;

namespace weft::ui {

class Studio;

/// Ids of the actions ("run.start"); stable, used by tests and the shortcut list.
namespace action {
inline constexpr auto kNewRun = "file.new";
inline constexpr auto kOpenFile = "file.open";
inline constexpr auto kOpenFolder = "file.open_folder";
inline constexpr auto kOpenStore = "file.open_store";
inline constexpr auto kLogRecipe = "file.log_recipe";
inline constexpr auto kClearRecent = "file.clear_recent";
inline constexpr auto kSave = "file.save";
inline constexpr auto kSaveAs = "file.save_as";
inline constexpr auto kKeepConfig = "file.keep";
inline constexpr auto kEditConfig = "file.edit";
inline constexpr auto kQuit = "file.quit";
inline constexpr auto kSettings = "file.settings";
inline constexpr auto kUndo = "edit.undo";
inline constexpr auto kRedo = "edit.redo";
inline constexpr auto kStart = "run.start";
inline constexpr auto kPause = "run.pause";
inline constexpr auto kStep = "run.step";
inline constexpr auto kCheckpoint = "run.checkpoint";
inline constexpr auto kStopAndSave = "run.stop_and_save";
inline constexpr auto kStopNow = "run.stop_now";
inline constexpr auto kExtend = "run.extend";
inline constexpr auto kTry = "run.try";
inline constexpr auto kLiveSettings = "run.settings";
inline constexpr auto kPalette = "view.palette";
inline constexpr auto kBack = "view.back";
inline constexpr auto kForward = "view.forward";
inline constexpr auto kRail = "view.rail";
inline constexpr auto kConsole = "view.console";
inline constexpr auto kProblems = "view.problems";
inline constexpr auto kSystem = "view.system";
inline constexpr auto kThemeSystem = "view.theme_system";
inline constexpr auto kThemeLight = "view.theme_light";
inline constexpr auto kThemeDark = "view.theme_dark";
inline constexpr auto kTextLarger = "view.text_larger";
inline constexpr auto kTextSmaller = "view.text_smaller";
inline constexpr auto kTextReset = "view.text_reset";
inline constexpr auto kResetLayout = "view.reset_layout";
inline constexpr auto kMeasure = "tools.measure";
inline constexpr auto kHelp = "help.page";
inline constexpr auto kShortcuts = "help.shortcuts";
inline constexpr auto kAbout = "help.about";
} // namespace action

class Actions : public QObject {
    Q_OBJECT
public:
    explicit Actions(Studio& studio, QObject* parent = nullptr);

    /// The action with this id; asking for an unknown one is a programmer fault.
    QAction* get(const char* id) const;
    /// Adds one, e.g. "page.home" for each page.
    QAction* add(const QString& id, const QString& text, const QString& icon_name,
                 const QKeySequence& shortcut, const QString& status_tip);
    /// Null when there is none with this id.
    QAction* find(const QString& id) const { return by_id_.value(id, nullptr); }
    /// Enables an action, or disables it and says why.
    void setUsable(const char* id, bool usable, const QString& reason);
    /// Gives actions other keys than their defaults; the rest have the defaults.
    void setShortcuts(const QMap<QString, QString>& portable_keys_by_id);
    /// The keys that an action has unless the user chose others.
    QKeySequence defaultKeys(const QString& id) const { return default_keys_.value(id); }
    QStringList ids() const;
    /// In order of creation.
    const QList<QAction*>& all() const { return order_; }

private:
    void createFile();
    void createEdit();
    void createRun();
    void createView();
    void updateRunActions();
    void updateEditActions();

    Studio& studio_;
    QHash<QString, QAction*> by_id_;
    QHash<QString, QKeySequence> default_keys_;
    QList<QAction*> order_;
};

/// A flat button with the action's icon that is enabled, explained and triggered with it.
QPushButton* actionButton(QAction* action);

} // namespace weft::ui
