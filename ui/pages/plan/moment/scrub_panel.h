// SPDX-License-Identifier: GPL-3.0-or-later
// The step scrubber: one handle over the ops of a training step that moves all that a page shows of
// it, by mouse, by keys, or played. Before it is touched there is no moment: pages show the peak.
#pragma once

#include "ui/bridge/plan/step_moment.h"
#include "ui/pages/plan/plan_panel.h"

#include <QElapsedTimer>
#include <QTimer>

#include <memory>
#include <optional>

class QPushButton;

namespace weft::widgets {
class ElidedLabel;
class MemoryFigures;
class MemoryTimeline;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class MomentLine;

class ScrubPanel : public PlanPanel {
    Q_OBJECT
public:
    explicit ScrubPanel(QWidget* parent = nullptr);

    /// In low windows only the line and the shape of the profile.
    void setLow(bool low);
    /// Not where the page itself shows memory over the step.
    void setProfileShown(bool shown);

    /// Among the executions of ops in the step; -1: not begun. Whatever the user moves the moment
    /// by pauses the playing.
    int position() const { return moment_.position; }
    void setPosition(int position); // and plays on
    /// The execution of an op of the digest's program that is in the present microstep.
    void setOp(int op);
    /// The start of an action of a pipeline's stage: its first op, or that time on other stages.
    void setAction(int stage, int action);
    /// Not valid before it is begun.
    const StepMoment& moment() const { return moment_; }
    const StepMoments* moments() const { return moments_.get(); }

    bool isPlaying() const { return playing_; }
    void setPlaying(bool playing);

public slots:
    /// Plays on by so many milliseconds of the viewer's time.
    void advance(double ms);

signals:
    void momentChanged(const weft::ui::StepMoment& moment);

protected:
    /// A moment of another plan becomes the same share of this one's step.
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createControls();
    void moveTo(const StepMoment& moment);
    void tick();
    void arrange();
    void showProfile();
    double speed() const;

    std::shared_ptr<const StepMoments> moments_;
    StepMoment moment_;
    QPushButton* back_;
    QPushButton* play_;
    QPushButton* step_;
    MomentLine* line_;
    widgets::MemoryFigures* figures_;
    widgets::SegmentedControl* speed_;
    QPushButton* fold_;
    widgets::MemoryTimeline* profile_;
    bool has_profile_ = true;
    bool playing_ = false;
    bool showing_ = false; // the profile's cursor follows, and chooses nothing
    double rest_ms_ = 0;   // of the viewer's time, towards the next phase with reduced motion
    QTimer timer_;
    QElapsedTimer since_; // the last tick
};

} // namespace weft::ui
