// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of the run: planned by category, at the peak or over one step, and what the system counts
// beside it.
#pragma once

#include "ui/bridge/run/run_model.h"
#include "widgets/look/theme.h"

#include <QWidget>

namespace weft::widgets {
class MemoryBar;
class MemoryTimeline;
class SectionHeader;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class MemoryPanel : public QWidget {
    Q_OBJECT
public:
    explicit MemoryPanel(RunModel& run, QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void updatePlan();
    void updateMeasured();
    void sayMeasured();
    QString besideText() const;
    void showForm();

    RunModel& run_;
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* form_;
    widgets::MemoryBar* bar_;
    widgets::MemoryTimeline* timeline_;
    widgets::TextLabel* beside_;
    std::shared_ptr<const plan::ExecutionPlan> shown_plan_; // what the bar shows
    bool shown_said_ = false; // and whether the run had said its memory
    qint64 planned_ = 0;
    QString measured_; // in words, and in fewer
    QString measured_short_;
    widgets::Role measured_role_ = widgets::Role::Muted;
};

} // namespace weft::ui
