// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong with the run on screen, below every page, with what one can do about it. While a
// run trains, pages that show the draft say instead that the two are different things.
#pragma once

#include "ui/bridge/run/self_pause.h"
#include "widgets/controls/messages.h"

namespace weft::ui {

class Studio;

class RunBanner : public widgets::Banner {
    Q_OBJECT
public:
    explicit RunBanner(Studio& studio, QWidget* parent = nullptr);

    /// The page above. Home has a banner of its own for runs that were cut off.
    void setPage(bool home, bool edits_draft);
    /// While it is on, the page above has the ways on of the run on screen, which stand once.
    void setWaysOnShown(bool on);
    /// While it is on, the window only waits for the run to end.
    void setStopping(bool on);

signals:
    void failed(const QString& problem);
    void compareRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void update();
    /// False when nothing is wrong.
    bool showRun();
    bool showInterruption();
    bool showSelfPause();
    void followPause();
    void showDraft();
    void resume();
    void say(const QString& icon, widgets::MessageKind kind, const QString& what,
             const QString& detail);

    Studio& studio_;
    bool home_ = false;
    bool edits_draft_ = false;
    bool ways_on_shown_ = false;
    bool stopping_ = false;
    std::optional<SelfPause> pause_; // also while a checkpoint is saved during it
    QString interruption_;           // why the run on screen lost its process
};

} // namespace weft::ui
