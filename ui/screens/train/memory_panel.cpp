// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/train/memory_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/card.h"
#include "widgets/memory_bar.h"
#include "widgets/painting.h"

#include <QVBoxLayout>

namespace weft::ui {

MemoryPanel::MemoryPanel(RunModel& run, QWidget* parent) : QWidget(parent), run_(run) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 8);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Memory"));
    column->addWidget(header_);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(12, 0, 12, 0);
    bar_ = new widgets::MemoryBar;
    inner->addWidget(bar_);
    column->addLayout(inner);
    connect(&run_, &RunModel::planChanged, this, &MemoryPanel::updatePlan);
    connect(&run_, &RunModel::reset, this, &MemoryPanel::updatePlan);
    updatePlan();
}

void MemoryPanel::updatePlan() {
    const auto plan = run_.plan();
    setVisible(plan != nullptr);
    if (!plan) {
        return;
    }
    bar_->setMeasured(memorySegments(*plan), tr("planned"));
    header_->setSubtitle(tr("planned, by category, at the peak of the training step"));
    const plan::PlannedProgram* step = plan->find("train_step");
    header_->setTrailing(
        tr("%1 parameters · %2 in one arena")
            .arg(formatCount(plan->parameters), widgets::formatMemory(step ? step->peak_bytes : 0)));
}

} // namespace weft::ui
