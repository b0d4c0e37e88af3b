// SPDX-License-Identifier: GPL-3.0-or-later
// The pipeline of the training step as a chart; of a plan without one, the pipeline that it could
// have, and a button that asks for it.
#pragma once

#include "ui/bridge/plan/pipeline_chart.h"
#include "ui/bridge/plan/step_moment.h"
#include "ui/pages/plan/plan_panel.h"

#include <array>

class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace weft::widgets {
class Badge;
class ElidedLabel;
class EmptyState;
class GanttLegend;
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class PipelinePanel : public PlanPanel {
    Q_OBJECT
public:
    explicit PipelinePanel(QWidget* parent = nullptr);

    /// What the devices of the run on screen did; shown where it is this pipeline.
    void setMeasured(const std::optional<train::DevicesEvent>& told);
    /// Marks it on the plan's own pipeline; not valid: no mark.
    void setMoment(const StepMoment& moment);
    widgets::GanttView* chart() const { return chart_; }

signals:
    /// The user wants the pipeline that is shown: "pipeline=4".
    void useRequested(QString strategy);
    /// A cell of the plan's own pipeline was chosen.
    void actionChosen(int stage, int action);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum class Times { Predicted, Even, Measured };

    QWidget* createChart();
    QWidget* createLegend();
    EvenCost cost() const;
    void refresh();
    void mark();
    Times times(bool predictable, bool measured) const;
    QString measuredText(const PipelineChart& shown) const;
    void describe(const PipelineChart& shown, Times times);
    void arrange();

    std::optional<train::DevicesEvent> told_;
    std::optional<pipeline::Schedule> schedule_; // that is shown
    bool preview_ = false;                       // it is not the plan's own
    Times wanted_ = Times::Predicted;            // shown where there are such times
    std::optional<SchedulePlace> place_;         // of the moment
    widgets::SectionHeader* header_;
    widgets::Badge* badge_;
    widgets::SegmentedControl* times_;
    QPushButton* use_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    widgets::GanttView* chart_;
    widgets::GanttLegend* legend_;
    widgets::ElidedLabel* basis_; // what the times rest on
    QString subtitle_;
    QString basis_text_;
    QString basis_short_;
    QString share_; // of bubbles
    QWidget* costs_;
    std::array<QSpinBox*, 3> cost_{}; // forward, input gradient, weight gradient
};

} // namespace weft::ui
