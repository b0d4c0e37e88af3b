// SPDX-License-Identifier: GPL-3.0-or-later
// Where the scrubber is, on one line that stays in its place while it changes: which op, the phase,
// its time, what is computed.
#pragma once

#include "ui/bridge/plan/step_moment.h"

#include <QWidget>

namespace weft::ui {

class MomentLine : public QWidget {
    Q_OBJECT
public:
    explicit MomentLine(QWidget* parent = nullptr);

    /// Before there is a moment it says what one can do. `moments` null: nothing.
    void setMoment(const StepMoments* moments, const StepMoment& moment);
    void setStale(bool stale);
    /// "op 90 of 278 · backward 1 of 2 · 12.3 ms · blocks.2.mlp.up gradient, all-reduce over model"
    QString text() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {80, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString place_;
    QString widest_place_; // of this step
    QString phase_;
    QString time_;
    QString title_;
    bool stale_ = false;
};

} // namespace weft::ui
