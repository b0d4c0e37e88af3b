// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/profiler/timeline_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/short_spin_box.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"
#include "widgets/views/event_timeline.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <limits>

namespace weft::ui {

TimelinePanel::TimelinePanel(QWidget* parent) : Surface(widgets::Role::Surface, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("One step"));
    legend_ = new widgets::EventLegend;
    header_->addControl(legend_);
    previous_ = widgets::iconButton("chevron-left", "profilePrevious", tr("The step before"));
    header_->addControl(previous_);
    number_ = new widgets::ShortSpinBox(5);
    number_->setObjectName("profileStep");
    number_->setAccessibleName(tr("Recorded step"));
    number_->setToolTip(tr("The recorded step that is shown"));
    number_->setKeyboardTracking(false);
    widgets::setCompact(number_);
    header_->addControl(number_);
    next_ = widgets::iconButton("chevron-right", "profileNext", tr("The next step"));
    header_->addControl(next_);
    median_ = new QPushButton(tr("Median"));
    median_->setObjectName("profileMedian");
    median_->setToolTip(tr("The step in the middle of all by its time"));
    widgets::setCompact(median_);
    header_->addControl(median_);
    auto* trace = new QPushButton(widgets::icon("export"), tr("Perfetto trace…"));
    trace->setObjectName("profileTrace");
    trace->setToolTip(tr("Write all recorded steps to a file for ui.perfetto.dev"));
    widgets::setCompact(trace);
    header_->addControl(trace);
    column->addWidget(header_);
    timeline_ = new widgets::EventTimeline;
    timeline_->setObjectName("profileTimeline");
    column->addWidget(timeline_, 1);
    connect(trace, &QPushButton::clicked, this, &TimelinePanel::traceRequested);
    connect(previous_, &QPushButton::clicked, this, [this] { showStep(step_ - 1, true); });
    connect(next_, &QPushButton::clicked, this, [this] { showStep(step_ + 1, true); });
    connect(median_, &QPushButton::clicked, this, [this] { showStep(open_->median_step, true); });
    connect(number_, &QSpinBox::valueChanged, this, [this](int number) {
        if (open_) {
            showStep(static_cast<std::size_t>(number - number_->minimum()), true);
        }
    });
    connect(timeline_, &widgets::PaintedView::itemActivated, this, [this](int item) {
        const int label = timeline_->spanOf(item).label;
        if (open_ && label < static_cast<int>(open_->recording.calls.size())) {
            emit callChosen(label);
        }
    });
}

void TimelinePanel::setRecording(const std::shared_ptr<const OpenRecording>& open) {
    open_ = open;
    marked_.clear();
    if (!open_) {
        timeline_->setData({});
        return;
    }
    const auto& steps = open_->recording.steps;
    const QSignalBlocker quiet(number_);
    number_->setRange(static_cast<int>(std::min<std::int64_t>(steps.front().step,
                                                              std::numeric_limits<int>::max() / 2)),
                      static_cast<int>(std::min<std::int64_t>(
                          steps.back().step, std::numeric_limits<int>::max() / 2)));
    showStep(open_->median_step, false);
}

void TimelinePanel::setMarked(std::vector<bool> calls) {
    marked_ = std::move(calls);
    timeline_->setMarked(marked_);
    timeline_->showMarked();
}

void TimelinePanel::showStep(std::size_t step, bool keep_time) {
    if (!open_ || step >= open_->recording.steps.size()) {
        return;
    }
    step_ = step;
    widgets::EventTimelineData data = timelineOf(*open_, step);
    marked_.resize(data.labels.size(), false);
    legend_->setData(data);
    timeline_->setData(std::move(data), keep_time);
    timeline_->setMarked(marked_);
    describe();
}

void TimelinePanel::describe() {
    const auto& steps = open_->recording.steps;
    const QSignalBlocker quiet(number_);
    number_->setValue(number_->minimum() + static_cast<int>(step_));
    previous_->setEnabled(step_ > 0);
    next_->setEnabled(step_ + 1 < steps.size());
    median_->setEnabled(step_ != open_->median_step);
    const QString ms = QString::number(steps[step_].wall_us() / 1e3, 'f', 2);
    header_->setSubtitle(
        step_ == open_->median_step
            ? tr("%1 ms, the median of %2").arg(ms, formatCount(static_cast<qint64>(steps.size())))
            : tr("%1 ms").arg(ms));
}

} // namespace weft::ui
