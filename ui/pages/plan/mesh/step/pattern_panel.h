// SPDX-License-Identifier: GPL-3.0-or-later
// How a collective works, on small numbers: to play, and to go through step by step, with Page Up
// and Page Down wherever the focus is in the panel.
#pragma once

#include "widgets/mesh/pattern_view.h"

#include <QTimer>
#include <QWidget>

class QPushButton;

namespace weft::widgets {
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class PatternPanel : public QWidget {
    Q_OBJECT
public:
    explicit PatternPanel(QWidget* parent = nullptr);

    /// Stands at its beginning.
    void setPattern(widgets::Pattern pattern);
    widgets::PatternView* view() const { return view_; }

public slots:
    void play();
    void pause();
    void stepOn();
    void stepBack();

protected:
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* createControls();
    void go(int step, bool moving);
    void renew();
    int stepMs() const;

    widgets::PatternView* view_;
    QPushButton* back_;
    QPushButton* play_;
    QPushButton* on_;
    widgets::SegmentedControl* speed_;
    widgets::TextLabel* text_;
    QTimer pause_; // between the steps of a play
    bool playing_ = false;
};

} // namespace weft::ui
