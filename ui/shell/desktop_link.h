// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the desktop what a run needs of it: to stay awake while it trains, and a note when it has
// ended and nobody looks. Two actions of the menu View switch it.
#pragma once

#include "ui/bridge/desktop.h"

#include <QAction>

namespace weft::ui {

class Actions;
class Studio;

class DesktopLink : public QObject {
    Q_OBJECT
public:
    DesktopLink(Studio& studio, Actions& actions, Desktop& desktop, QObject* parent = nullptr);

private:
    void update();
    void onTrainingChanged();
    void tell(const QString& title, const QString& text, bool urgent);

    Studio& studio_;
    Desktop& desktop_;
    QAction* keep_awake_;
    QAction* notify_;
    bool was_training_ = false;
};

} // namespace weft::ui
