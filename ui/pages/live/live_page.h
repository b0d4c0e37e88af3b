// SPDX-License-Identifier: GPL-3.0-or-later
// Train: the run on screen, live or replayed. Five numbers, the curves, memory, samples; before the
// first point the phases with their times; after a failure the ways on.
#pragma once

#include "core/train/record/event.h"
#include "ui/pages/page.h"

class QStackedWidget;

namespace weft::widgets {
class NumberStrip;
class PhaseList;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class BoardSamples;
class CurvePanel;
class CurveRuns;
class DivergencePanel;
class FailureCard;
class InsidePanel;
class LookPanel;
class MemoryPanel;
class SamplePictures;
class SummaryCard;
class SuspectsPanel;
class TrialHost;
class TryPanel;

class LivePage : public Page {
    Q_OBJECT
public:
    LivePage(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;
    bool followsSteps() const override { return true; }
    bool leads() const override;
    void showStep(std::int64_t step) override;

private:
    QWidget* createEmptyPage(Actions& actions);
    QWidget* createPhasePage();
    QWidget* createRunPage(Actions& actions);
    QWidget* createViews(QWidget* curves);
    QWidget* createSide(Actions& actions);
    void updateViews();
    void showCheckpoint(std::int64_t step);
    void takeWayOn(const train::WayOn& way);
    void showLiveSettings();
    void showFitting();
    void updateNumbers();
    void updatePhases();
    void updateReading();
    void updateOutcome();

    Studio& studio_;
    QStackedWidget* stack_;
    FailureCard* failure_;
    SummaryCard* summary_;
    CurveRuns* curve_runs_;
    SamplePictures* pictures_;
    BoardSamples* boards_;
    TrialHost* trials_;
    widgets::NumberStrip* numbers_;
    widgets::PhaseList* phases_;
    widgets::TextLabel* reading_;
    CurvePanel* curves_;
    MemoryPanel* memory_;
    widgets::SegmentedControl* view_;
    InsidePanel* inside_;
    SuspectsPanel* suspects_;
    DivergencePanel* divergence_;
    LookPanel* look_;
    TryPanel* try_;
    QStackedWidget* sample_pages_;
};

} // namespace weft::ui
