// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the desktop what a run needs of it: to stay awake while it trains, and a note when it has
// ended or waits for something to be mended, and nobody looks. The settings switch both.
#pragma once

#include "ui/bridge/desktop.h"

#include <QObject>

namespace weft::ui {

class Studio;

class DesktopLink : public QObject {
    Q_OBJECT
public:
    DesktopLink(Studio& studio, Desktop& desktop, QObject* parent = nullptr);

private:
    void update();
    void onTrainingChanged();
    void tellOfPause();
    void tell(const QString& title, const QString& text, bool urgent);

    Studio& studio_;
    Desktop& desktop_;
    bool was_training_ = false;
    bool paused_itself_ = false; // and that was told
};

} // namespace weft::ui
