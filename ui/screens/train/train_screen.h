// SPDX-License-Identifier: GPL-3.0-or-later
// Train: the run on screen, live or replayed. Five numbers, the curves, memory, samples; before the
// first point the phases with their times; after a failure the ways on.
#pragma once

#include "ui/screens/screen.h"

class QStackedWidget;

namespace weft::widgets {
class Banner;
class NumberStrip;
class PhaseList;
} // namespace weft::widgets

namespace weft::ui {

class CurvePanel;
class MemoryPanel;
class SamplePanel;

class TrainScreen : public Screen {
    Q_OBJECT
public:
    TrainScreen(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;

private:
    QWidget* createEmptyPage(Actions& actions);
    QWidget* createPhasePage();
    QWidget* createRunPage();
    void showFitting();
    void updateNumbers();
    void updatePhases();
    void updateOutcome();
    void addWaysOn();

    Studio& studio_;
    QStackedWidget* stack_;
    widgets::Banner* outcome_;
    widgets::NumberStrip* numbers_;
    widgets::PhaseList* phases_;
    CurvePanel* curves_;
    MemoryPanel* memory_;
    SamplePanel* samples_;
};

} // namespace weft::ui
