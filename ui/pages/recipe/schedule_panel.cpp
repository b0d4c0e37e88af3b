// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/schedule_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_model.h"
#include "ui/forms/number_text.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/curve_editor.h"

#include <QEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

using HandleKind = ScheduleHandle::Kind;

// Where neither data nor length say how long the run is, as much as shows the warm-up.
constexpr std::int64_t kUnknownSteps = 1000;

bool endless(const compile::RunConfig& config) {
    return config.length.unit == compile::Cadence::Unit::minutes;
}

/// "warm-up ends: step 200, 6e-4"
QString handleText(const ScheduleHandle& handle, const compile::RunConfig& config) {
    const config::Json& schedule = config.section("lr_schedule");
    if (handle.kind == HandleKind::End) {
        return SchedulePanel::tr("end_factor %1").arg(numberText(schedule.at("end_factor")));
    }
    if (handle.kind == HandleKind::Start) {
        return SchedulePanel::tr("start_factor %1").arg(numberText(schedule.at("start_factor")));
    }
    return SchedulePanel::tr("%1: step %2, %3")
        .arg(handle.name, formatCount(std::llround(handle.x)), rateText(handle.y));
}

/// Always as high as its lines are at its width: what gives way is the curve.
class Foot : public QWidget {
protected:
    bool event(QEvent* event) override {
        const bool done = QWidget::event(event);
        if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) {
            setMinimumHeight(layout()->totalHeightForWidth(width()));
        }
        return done;
    }
};

} // namespace

SchedulePanel::SchedulePanel(FormSource& source, RunOutlook& outlook, Draft& draft, RunModel& run,
                             QWidget* parent)
    : QWidget(parent), source_(source), outlook_(outlook), draft_(draft), run_(run),
      header_(new widgets::SectionHeader(tr("Learning rate"))), curve_(new widgets::CurveEditor),
      readout_(new widgets::TextLabel({}, widgets::TextStyle::MonoSmall, widgets::Role::Muted)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_->setSubtitle(tr("by the engine · its own schedule"));
    auto* scale = new widgets::SegmentedControl({tr("Linear"), tr("Log")});
    scale->setObjectName("scheduleScale");
    scale->setAccessibleName(tr("Scale of the learning rate"));
    scale->setCompact(true);
    connect(scale, &widgets::SegmentedControl::currentIndexChanged, curve_,
            [this](int index) { curve_->setLogarithmic(index == 1); });
    header_->addControl(scale);
    column->addWidget(header_);
    curve_->setObjectName("scheduleCurve");
    curve_->setAccessibleName(tr("Learning rate over the run"));
    connect(curve_, &widgets::CurveEditor::handleMoved, this, &SchedulePanel::moved);
    connect(curve_, &widgets::CurveEditor::handleReleased, this, [this] { source_.endMerge(); });
    column->addWidget(curve_, 1);
    auto* below = new Foot;
    auto* fields = new QVBoxLayout(below);
    fields->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                               widgets::space::kGroup, widgets::space::kGroup);
    fields->setSpacing(widgets::space::kControl);
    readout_->setObjectName("scheduleReadout");
    readout_->setWordWrap(true);
    fields->addWidget(readout_);
    fields->addWidget(new RecordForm(source_, "/lr_schedule"));
    column->addWidget(below);
    connect(&source_, &FormSource::changed, this, &SchedulePanel::refresh);
    connect(&outlook_, &RunOutlook::changed, this, &SchedulePanel::refresh);
    connect(&run_, &RunModel::reset, this, &SchedulePanel::refreshOther);
    connect(&run_, &RunModel::stateChanged, this, &SchedulePanel::refreshOther);
    refresh();
    refreshOther();
}

std::int64_t SchedulePanel::shownSteps(const compile::RunConfig& config) const {
    if (const std::int64_t expected = outlook_.expectedSteps(); expected > 0) {
        return expected;
    }
    return config.length.unit == compile::Cadence::Unit::steps ? std::llround(config.length.amount)
                                                               : kUnknownSteps;
}

void SchedulePanel::refresh() {
    curve_->setEnabled(draft_.isValid());
    if (!draft_.isValid() || draft_.isEmpty()) {
        return; // the curve of the last valid draft stays
    }
    const compile::RunConfig& config = draft_.config();
    shown_ = scheduleCurve(config, shownSteps(config), endless(config));
    std::vector<widgets::CurveHandle> handles;
    for (const ScheduleHandle& handle : shown_.handles) {
        handles.push_back({handle.x, handle.y, handle.moves_x, handle.moves_y, handle.name,
                           handleText(handle, config)});
    }
    curve_->setCurve({shown_.x, shown_.y, {}}, std::move(handles));
    QStringList steps;
    QStringList rates;
    for (const std::int64_t number : {std::int64_t{1}, shown_.steps / 5, shown_.steps * 3 / 5}) {
        if (number >= 1) {
            steps.append(formatCount(number));
            rates.append(rateText(learningRate(config, number, shown_.steps, endless(config))));
        }
    }
    const QString dot = QChar(QChar::Nbsp) + QStringLiteral("· "); // no line begins with it
    readout_->setText(tr("at steps %1:  %2").arg(steps.join(dot), rates.join(dot)));
    QString words = tr("peak %1").arg(
        rateText(shown_.y.empty() ? 0.0 : *std::max_element(shown_.y.begin(), shown_.y.end())));
    curve_->setAccessibleDescription(words + ", " + readout_->text());
    header_->setSubtitle(endless(config) ? tr("no end · the length is in minutes")
                                         : tr("by the engine · its own schedule"));
}

/// The run on screen, where it has another curve.
void SchedulePanel::refreshOther() {
    widgets::CurveLine other;
    if (!run_.isEmpty() && run_.totalSteps() > 0) {
        const ScheduleCurve curve = scheduleCurve(run_.config(), run_.totalSteps(), false);
        other = {curve.x, curve.y, run_.name()};
    }
    curve_->setOther(std::move(other));
}

void SchedulePanel::moved(int handle, double x, double y) {
    if (!draft_.isValid()) {
        return;
    }
    const ScheduleHandle& held = shown_.handles[static_cast<std::size_t>(handle)];
    draft_.edit(moveHandle(draft_.config(), shown_.steps, held, x, y),
                "scheduleHandle" + QString::number(handle));
}

} // namespace weft::ui
