// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/step/pipeline_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kMostCost = 9;
constexpr int kShareLeast = 320; // narrower, the head does not say it; at text size 1
enum PipelineSheet { PipelineEmptySheet, ChartSheet };

} // namespace

PipelinePanel::PipelinePanel(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    header_ = new widgets::SectionHeader(tr("Pipeline"));
    badge_ = new widgets::Badge(tr("preview"));
    badge_->setObjectName("pipelinePreview");
    badge_->setToolTip(tr("The plan has no pipeline; this is the one that it could have"));
    header_->setBadge(badge_);
    times_ = new widgets::SegmentedControl({tr("Predicted"), tr("Even"), tr("Measured")});
    times_->setObjectName("pipelineTimes");
    times_->setCompact(true);
    times_->setAccessibleName(tr("Times of the pipeline: predicted, of even stages, or measured"));
    connect(times_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int chosen) {
        wanted_ = static_cast<Times>(chosen);
        refresh();
    });
    header_->addControl(times_);
    use_ = new QPushButton(tr("Use"));
    use_->setObjectName("pipelineUse");
    use_->setAccessibleName(tr("Use this pipeline in the draft"));
    widgets::setCompact(use_);
    connect(use_, &QPushButton::clicked, this,
            [this] { emit useRequested(QStringLiteral("pipeline=%1").arg(schedule_->stages)); });
    header_->addControl(use_);
    inner->addWidget(header_);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState;
    empty_->setObjectName("pipelineMessage");
    empty_->setTitle(tr("Nothing to put in a pipeline"));
    empty_->setText(tr("A pipeline gives each device some of the layers; the model and the devices "
                       "have to divide into two stages at least."));
    stack_->addWidget(empty_);
    stack_->addWidget(createChart());
    inner->addWidget(stack_, 1);
    refresh();
}

QWidget* PipelinePanel::createChart() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    chart_ = new widgets::GanttView;
    chart_->setObjectName("pipelineChart");
    connect(chart_, &widgets::PaintedView::itemActivated, this, [this](int item) {
        if (!preview_) {
            const int stage = chart_->rowOf(item);
            emit actionChosen(stage, item - chart_->itemOf(stage, 0));
        }
    });
    column->addWidget(chart_, 1);
    column->addWidget(createLegend());
    return page;
}

QWidget* PipelinePanel::createLegend() {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(widgets::space::kGroup, 2, widgets::space::kGroup, 6);
    row->setSpacing(widgets::space::kControl);
    legend_ = new widgets::GanttLegend;
    row->addWidget(legend_);
    basis_ = new widgets::ElidedLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    basis_->setObjectName("pipelineBasis");
    basis_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(basis_, 1);
    costs_ = new QWidget;
    auto* costs = new QHBoxLayout(costs_);
    costs->setContentsMargins(0, 0, 0, 0);
    costs->setSpacing(widgets::space::kTight);
    costs->addStretch(1);
    const QString marks[] = {tr("F"), tr(": I"), tr(": W")};
    const QString names[] = {tr("Cost of a forward"), tr("Cost of the input gradients"),
                             tr("Cost of the weight gradients")};
    const char* const ids[] = {"costForward", "costInputGradient", "costWeightGradient"};
    for (std::size_t i = 0; i < cost_.size(); ++i) {
        costs->addWidget(
            new widgets::TextLabel(marks[i], widgets::TextStyle::Caption, widgets::Role::Muted));
        cost_[i] = new QSpinBox;
        cost_[i]->setObjectName(ids[i]);
        cost_[i]->setRange(1, kMostCost);
        cost_[i]->setButtonSymbols(QAbstractSpinBox::NoButtons);
        cost_[i]->setAlignment(Qt::AlignHCenter);
        cost_[i]->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
        cost_[i]->setAccessibleName(names[i]);
        cost_[i]->setToolTip(names[i]);
        widgets::setCompact(cost_[i]);
        connect(cost_[i], &QSpinBox::valueChanged, this, &PipelinePanel::refresh);
        costs->addWidget(cost_[i]);
    }
    row->addSpacing(widgets::space::kTight);
    row->addWidget(costs_);
    return line;
}

EvenCost PipelinePanel::cost() const {
    return {cost_[0]->value(), cost_[1]->value(), cost_[2]->value()};
}

void PipelinePanel::planChanged(const ShownPlan&) {
    schedule_.reset();
    preview_ = digest_ && !digest_->plan->pipeline;
    if (digest_) {
        schedule_ = preview_ ? possibleSchedule(*digest_->plan) : std::optional(*digest_->schedule);
    }
    refresh();
}

void PipelinePanel::refresh() {
    stack_->setCurrentIndex(schedule_ ? ChartSheet : PipelineEmptySheet);
    badge_->setVisible(schedule_ && preview_);
    use_->setVisible(schedule_ && preview_);
    const bool predictable = schedule_ && !preview_ && !digest_->plan->pipeline->times.empty();
    std::optional<PipelineChart> measured;
    if (schedule_ && !preview_ && told_) {
        measured = measuredChart(*told_, *digest_->plan->pipeline, *schedule_);
    }
    times_->setVisible(predictable || measured);
    times_->setSegmentEnabled(static_cast<int>(Times::Predicted), predictable,
                              predictable ? QString() : tr("This machine has not been measured"));
    times_->setSegmentEnabled(static_cast<int>(Times::Measured), measured.has_value(),
                              measured ? tr("As the run on screen did it, above what was planned")
                                       : tr("The run on screen has another pipeline, or none"));
    if (!schedule_) {
        header_->setSubtitle({});
        header_->setTrailing({});
        chart_->setData({});
        return;
    }
    const Times now = times(predictable, measured.has_value());
    {
        const QSignalBlocker quiet(times_);
        times_->setCurrentIndex(static_cast<int>(now));
    }
    PipelineChart shown = now == Times::Measured ? std::move(*measured)
                          : now == Times::Predicted
                              ? predictedChart(*digest_->plan->pipeline, *schedule_)
                              : evenChart(*schedule_, cost());
    if (!preview_) {
        for (std::size_t stage = 0;
             stage < std::min(shown.data.rows.size(), digest_->plan->stages.size()); ++stage) {
            shown.data.rows[stage].note = toQString(digest_->plan->stages[stage].layers);
        }
    }
    describe(shown, now);
    legend_->setData(shown.data);
    chart_->setData(std::move(shown.data));
    mark();
    arrange();
}

/// What was chosen, else what there is.
PipelinePanel::Times PipelinePanel::times(bool predictable, bool measured) const {
    const bool there = wanted_ == Times::Measured ? measured : predictable;
    return wanted_ == Times::Even || there ? wanted_ : predictable ? Times::Predicted : Times::Even;
}

void PipelinePanel::setMeasured(const std::optional<train::DevicesEvent>& told) {
    const bool matters = told.has_value() != told_.has_value() || wanted_ == Times::Measured;
    told_ = told;
    if (matters) { // zoom and cursor stay else
        refresh();
    }
}

void PipelinePanel::setMoment(const StepMoment& moment) {
    place_ = moment.valid() ? std::optional(moment.place) : std::nullopt;
    mark();
}

void PipelinePanel::mark() {
    chart_->setMark(place_ && schedule_ && !preview_
                        ? std::optional(chartTime(chart_->data(), *place_))
                        : std::nullopt);
}

QString PipelinePanel::measuredText(const PipelineChart& shown) const {
    const QString step = formatCount(told_->step);
    return shown.data.rows.front().planned.empty()
               ? tr("measured at step %1").arg(step)
               : tr("measured at step %1, planned below").arg(step);
}

void PipelinePanel::describe(const PipelineChart& shown, Times times) {
    const QString name = toQString(schedule_->name);
    QString size = tr("%n microbatch(es)", nullptr, schedule_->microbatches);
    if (schedule_->chunks > 1) {
        size = tr("%n chunk(s) each", nullptr, schedule_->chunks) + tr(" · ") + size;
    }
    subtitle_ =
        preview_
            ? tr("pipeline=%1 · %2 · %3").arg(schedule_->stages).arg(name, size)
            : tr("%1 · %2 · %3").arg(name, tr("%n stage(s)", nullptr, schedule_->stages), size);
    share_ = tr("bubbles %1 %").arg(shown.bubbles * 100, 0, 'f', 1);
    const EvenCost even = cost();
    const double backward = static_cast<double>(even.input_grad + even.weight_grad) / even.forward;
    const QString number = QString::number(backward, 'g', 3);
    const bool even_stages = times == Times::Even;
    basis_text_ = times == Times::Measured ? measuredText(shown)
                  : !even_stages           ? tr("as predicted")
                  : backward == 1.0        ? tr("even stages, backward = 1 forward")
                                           : tr("even stages, backward = %1 forwards").arg(number);
    basis_short_ = !even_stages ? basis_text_ : tr("even stages, B = %1 F").arg(number);
    costs_->setVisible(even_stages);
    chart_->setAccessibleDescription(tr("%1, %2 stages, %3 microbatches, %4, %5")
                                         .arg(name)
                                         .arg(schedule_->stages)
                                         .arg(schedule_->microbatches)
                                         .arg(share_, basis_text_));
}

void PipelinePanel::staleChanged() {
    chart_->setStale(stale_);
    use_->setEnabled(!stale_);
    basis_->setRole(stale_ ? widgets::Role::Faint : widgets::Role::Muted);
}

void PipelinePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

// What the times rest on stands beside the legend, where there is no room shorter, else in the
// header. Whoever lacks room for the share of bubbles points at the legend.
void PipelinePanel::arrange() {
    if (!schedule_) {
        return;
    }
    const int room = width() - legend_->sizeHint().width() -
                     (costs_->isHidden() ? 0 : costs_->sizeHint().width()) -
                     2 * (widgets::space::kGroup + widgets::space::kControl) -
                     widgets::space::kTight;
    const QFont font = widgets::Theme::current().font(widgets::TextStyle::Caption);
    const auto fits = [&](const QString& text) { return widgets::textWidth(font, text) <= room; };
    basis_->setText(fits(basis_text_) ? basis_text_ : basis_short_);
    const bool beside = fits(basis_->text());
    basis_->setVisible(beside);
    legend_->setToolTip(share_ + tr(" · ") + basis_text_);
    const bool wide = width() >= kShareLeast * widgets::Theme::current().fontScale();
    header_->setTrailing(wide ? share_ : QString());
    header_->setSubtitle(beside ? subtitle_ : subtitle_ + tr(" · ") + basis_short_);
}

} // namespace weft::ui
