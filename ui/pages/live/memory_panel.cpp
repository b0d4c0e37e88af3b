// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/memory_panel.h"

#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_digest.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/memory_bar.h"
#include "widgets/views/memory_timeline.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace weft::ui {
namespace {

constexpr int kTimelineHeight = 200;
constexpr int kAllWordsWidth = 520;      // at text size 1
constexpr qint64 kSlackBytes = 16 << 20; // smaller differences are no news
constexpr double kSlackShare = 0.05;
enum MemoryForm { PeakForm, StepForm };

/// Of the event, whose names are the plan's.
std::vector<widgets::MemorySegment> segments(const config::Json& by_category) {
    std::vector<widgets::MemorySegment> result;
    for (int i = 0; i < plan::kCategories; ++i) {
        const auto category = static_cast<plan::Category>(i);
        const auto bytes =
            by_category.value(std::string(plan::category_name(category)), std::int64_t{0});
        if (bytes > 0) {
            result.push_back({toWidget(category), bytes});
        }
    }
    return result;
}

} // namespace

MemoryPanel::MemoryPanel(RunModel& run, QWidget* parent) : QWidget(parent), run_(run) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 8);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Memory"));
    form_ = new widgets::SegmentedControl({tr("At the peak"), tr("Over a step")});
    form_->setObjectName("memoryForm");
    form_->setCompact(true);
    form_->setAccessibleName(tr("Show memory"));
    header_->addControl(form_);
    column->addWidget(header_);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(12, 8, 12, 0);
    bar_ = new widgets::MemoryBar;
    inner->addWidget(bar_);
    timeline_ = new widgets::MemoryTimeline;
    timeline_->setObjectName("runTimeline");
    timeline_->setFixedHeight(kTimelineHeight);
    inner->addWidget(timeline_);
    beside_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    beside_->setObjectName("memoryBeside");
    beside_->setWordWrap(true);
    inner->addWidget(beside_);
    column->addLayout(inner);
    connect(form_, &widgets::SegmentedControl::currentIndexChanged, this, &MemoryPanel::showForm);
    connect(&run_, &RunModel::planChanged, this, &MemoryPanel::updatePlan);
    connect(&run_, &RunModel::reset, this, &MemoryPanel::updatePlan);
    connect(&run_, &RunModel::changed, this, &MemoryPanel::updateMeasured);
    updatePlan();
}

void MemoryPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    sayMeasured();
}

// Large text in a small window has room for the difference alone.
void MemoryPanel::sayMeasured() {
    const bool wide = width() >= kAllWordsWidth * widgets::Theme::current().fontScale();
    header_->setTrailing(wide ? measured_ : measured_short_, measured_role_);
}

void MemoryPanel::updatePlan() {
    timeline_->setData({});
    if (const auto plan = run_.plan()) {
        runInBackground(
            this, [plan] { return digestPlan(plan); },
            [this](const std::shared_ptr<const PlanDigest>& digest) {
                if (digest->plan == run_.plan()) {
                    timeline_->setData(digest->timeline);
                    showForm();
                }
            });
    }
    showForm();
    updateMeasured();
}

// A run that is only read has no plan at hand, but its events say what was planned at the peak.
void MemoryPanel::updateMeasured() {
    const config::Json& said = run_.memory();
    const auto plan = run_.plan();
    setVisible(plan != nullptr || !said.is_null());
    if (!isVisibleTo(parentWidget())) {
        return;
    }
    if (plan != shown_plan_ || said.is_null() == shown_said_) {
        shown_plan_ = plan;
        shown_said_ = !said.is_null();
        planned_ = plan ? plan->memory_bytes() : said.value("planned_bytes", std::int64_t{0});
        bar_->setMeasured(plan ? memorySegments(*plan) : segments(said.at("planned_by_category")),
                          tr("planned"));
        header_->setSubtitle(
            plan ? tr("planned, by category · %1 parameters").arg(formatCount(plan->parameters))
                 : tr("planned, by category"));
    }
    const QString beside = besideText();
    beside_->setVisible(!beside.isEmpty());
    beside_->setText(beside);
    const std::int64_t last = run_.lastStep().memory_bytes;
    // What the process takes of the host is not what was planned for a GPU.
    const bool comparable = plan == nullptr || plan->device == "cpu";
    const std::int64_t measured = !comparable ? 0
                                  : last > 0 || said.is_null()
                                      ? last
                                      : said.value("resident_bytes", std::int64_t{0});
    if (measured <= 0) {
        measured_.clear();
        measured_short_.clear();
        sayMeasured();
        timeline_->setMeasured(std::nullopt);
        return;
    }
    const qint64 over = measured - planned_;
    const double percent =
        planned_ > 0 ? 100.0 * static_cast<double>(over) / static_cast<double>(planned_) : 0;
    const bool close =
        std::abs(over) <=
        std::max(kSlackBytes, static_cast<qint64>(kSlackShare * static_cast<double>(planned_)));
    const QString share = QString::number(std::abs(percent), 'f', 1);
    const QString where = over >= 0 ? tr("over") : tr("under");
    measured_ = tr("measured %1, %2 % %3 plan").arg(widgets::formatMemory(measured), share, where);
    measured_short_ = tr("%1 % %2").arg(share, where);
    measured_role_ = close      ? widgets::Role::Success
                     : over < 0 ? widgets::Role::Muted
                                : widgets::Role::Warning;
    sayMeasured();
    timeline_->setMeasured(measured, tr("measured %1").arg(widgets::formatMemory(measured)));
}

/// Of what is planned beside the arena: what the run has found of it, on its GPUs or on the host.
QString MemoryPanel::besideText() const {
    const config::Json& said = run_.memory();
    const auto bytes = [](const config::Json& of, const char* name) {
        return of.value(name, std::int64_t{0});
    };
    if (said.contains("on_device")) {
        const config::Json& told = said.at("on_device");
        const plan::DeviceMemory beside{bytes(told, "context_bytes"), bytes(told, "library_bytes"),
                                        bytes(told, "exchange_bytes")};
        return tr("beside the arena of each GPU, as measured: %1")
            .arg(besideArena(bytes(told, "landing_bytes"), beside).join(", "));
    }
    const std::int64_t library = said.is_null() ? 0 : bytes(said, "library_bytes");
    return library > 0 ? tr("libraries keep %1 for themselves, as measured")
                             .arg(widgets::formatMemory(library))
                       : QString();
}

void MemoryPanel::showForm() {
    const bool known = timeline_->stepCount() > 0;
    form_->setSegmentEnabled(StepForm, known,
                             known ? QString()
                                   : tr("The plan is at hand while the run is trained here"));
    const bool over_step = known && form_->currentIndex() == StepForm;
    timeline_->setVisible(over_step);
    bar_->setVisible(!over_step);
}

} // namespace weft::ui
