// SPDX-License-Identifier: GPL-3.0-or-later
// What was opened lately, as a menu and as commands: one entry each, grey where it is gone.
#pragma once

#include "ui/bridge/recent_paths.h"

#include <QMenu>

namespace weft::ui {

class Studio;

/// Which words an entry has: in a menu that says what it is, or among all commands.
enum class RecentWords { InMenu, AmongCommands };
/// Actions that open the entries; they belong to `parent`. Problems come as Studio::troubled.
QList<QAction*> recentActions(Studio& studio, RecentWords words, QObject* parent);

class RecentMenu : public QMenu {
    Q_OBJECT
public:
    /// `clear`: the action that empties the list, below the entries.
    RecentMenu(Studio& studio, QAction* clear, QWidget* parent = nullptr);

private:
    void rebuild();

    Studio& studio_;
    QAction* clear_;
};

} // namespace weft::ui
