// SPDX-License-Identifier: GPL-3.0-or-later
// The learning rate over the run, drawn by the engine's own schedule, with points to drag; behind
// it that of the run on screen; below it the schedule's fields.
#pragma once

#include "ui/bridge/draft/run_outlook.h"
#include "ui/bridge/draft/schedule_edit.h"
#include "ui/forms/record_form.h"

namespace weft::widgets {
class CurveEditor;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class RunModel;

class SchedulePanel : public QWidget {
    Q_OBJECT
public:
    SchedulePanel(FormSource& source, RunOutlook& outlook, Draft& draft, RunModel& run,
                  QWidget* parent = nullptr);

private:
    void refresh();
    void refreshOther();
    void moved(int handle, double x, double y);
    std::int64_t shownSteps(const compile::RunConfig& config) const;

    FormSource& source_;
    RunOutlook& outlook_;
    Draft& draft_;
    RunModel& run_;
    widgets::SectionHeader* header_;
    widgets::CurveEditor* curve_;
    widgets::TextLabel* readout_;
    ScheduleCurve shown_;
};

} // namespace weft::ui
