// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/retention_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_model.h"
#include "widgets/controls/card.h"
#include "widgets/views/lifeline_chart.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kRetentionPanelMostSteps = 8; // named in the box
constexpr double kUsualBest = 0.55;

} // namespace

RetentionPanel::RetentionPanel(Draft& draft, RunOutlook& outlook, RunModel& run, QWidget* parent)
    : QWidget(parent), draft_(draft), outlook_(outlook), run_(run),
      header_(new widgets::SectionHeader(tr("What will be on disk"))),
      chart_(new widgets::LifelineChart) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_->setSubtitle(tr("bars are saves · each until retention removes it"));
    column->addWidget(header_);
    chart_->setObjectName("retentionChart");
    chart_->setAccessibleName(tr("Checkpoints over the run"));
    column->addWidget(chart_, 1);
    connect(chart_, &widgets::LifelineChart::momentChanged, this, &RetentionPanel::describe);
    // The bar that arrow keys choose sets the moment.
    connect(chart_, &widgets::LifelineChart::cursorChanged, this, [this](int index) {
        if (index >= 0 && index < static_cast<int>(preview_.lives.size())) {
            chart_->setMoment(
                static_cast<double>(preview_.lives[static_cast<std::size_t>(index)].saved));
        }
    });
    connect(&outlook_, &RunOutlook::changed, this, &RetentionPanel::refresh);
    connect(&run_, &RunModel::reset, this, &RetentionPanel::refresh);
    connect(&run_, &RunModel::evaluationAdded, this, &RetentionPanel::refresh);
    refresh();
}

std::int64_t RetentionPanel::assumedBest(std::int64_t steps) {
    const compile::RunConfig& config = draft_.config();
    if (!run_.isEmpty() && run_.totalSteps() > 0) {
        const auto best = run_.bestMetric(checkpoint::goal_of(config.document));
        if (best) {
            assumption_ = tr("assumes the best at %1, as in %2")
                              .arg(formatCount(std::llround(best->step)), run_.name());
            return std::llround(best->step);
        }
    }
    const auto middle = static_cast<std::int64_t>(static_cast<double>(steps) * kUsualBest);
    assumption_ = tr("assumes that %1 improves up to step %2")
                      .arg(toQString(config.checkpoint_metric), formatCount(middle));
    return middle;
}

void RetentionPanel::refresh() {
    const std::int64_t steps = outlook_.expectedSteps();
    if (!draft_.isValid() || !outlook_.counts() || steps < 1) {
        return; // that of the last valid draft stays
    }
    const double step_ms =
        outlook_.digest() ? outlook_.digest()->plan->predicted_step_ms.value_or(0.0) : 0.0;
    job_.start([config = draft_.config(), counts = *outlook_.counts(), steps,
                best = assumedBest(steps),
                ms = step_ms] { return previewRetention(config, counts, steps, best, ms); },
               [this](RetentionPreview made) { show(std::move(made)); });
}

void RetentionPanel::show(RetentionPreview preview) {
    preview_ = std::move(preview);
    std::vector<widgets::Lifeline> lines;
    for (const CheckpointLife& life : preview_.lives) {
        const bool stays = life.removed < 0;
        const QString step = formatCount(life.saved);
        lines.push_back(
            {static_cast<double>(life.saved),
             static_cast<double>(stays ? preview_.steps : life.removed), stays, life.best, step,
             stays ? tr("step %1: stays (%2)").arg(step, toQString(life.kept_for))
                   : tr("step %1: removed at step %2").arg(step, formatCount(life.removed))});
    }
    chart_->setLifelines(std::move(lines), static_cast<double>(preview_.steps));
    if (!placed_) {
        placed_ = true;
        chart_->setMoment(std::round(static_cast<double>(preview_.steps) * 0.6));
    }
    describe();
}

void RetentionPanel::describe() {
    const std::int64_t bytes = outlook_.digest() ? checkpointBytes(*outlook_.digest()->plan) : 0;
    const auto size = [&](std::size_t count) {
        return bytes > 0 ? formatFileSize(bytes * static_cast<std::int64_t>(count))
                         : tr("size not known");
    };
    const std::size_t last = preview_.at(preview_.steps).size();
    header_->setTrailing(
        preview_.lives.empty() ? QString() : tr("at the end %1 · %2").arg(last).arg(size(last)));
    if (preview_.lives.empty()) {
        chart_->setSummary({});
        return;
    }
    const auto step = static_cast<std::int64_t>(chart_->moment());
    const std::vector<std::int64_t> there = preview_.at(step);
    QStringList names;
    for (const std::int64_t one : there) {
        if (names.size() == kRetentionPanelMostSteps) {
            names.append(tr("and %1 more").arg(there.size() - kRetentionPanelMostSteps));
            break;
        }
        names.append(formatCount(one));
    }
    QStringList lines = {tr("at step %1: %2 on disk, %3")
                             .arg(formatCount(step))
                             .arg(there.size())
                             .arg(size(there.size())),
                         names.isEmpty() ? tr("nothing yet") : names.join("  ")};
    if (preview_.best_step >= 0) {
        lines.append(assumption_);
    }
    if (preview_.cut) {
        lines.append(tr("only the first %1 saves")
                         .arg(formatCount(static_cast<qint64>(preview_.lives.size()))));
    }
    chart_->setSummary(lines);
}

} // namespace weft::ui
