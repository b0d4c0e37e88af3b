// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/memory/what_if_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_preview.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

int figureWidth(const QString& sample) {
    return static_cast<int>(std::ceil(
        widgets::textWidth(widgets::Theme::current().font(TextStyle::MonoSmall), sample)));
}

TextLabel* figure(TextStyle style, Role role, const QString& text = {}) {
    auto* label = new TextLabel(text, style, role);
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return label;
}

QString bytesDifference(std::int64_t from, std::int64_t to) {
    return withSign(static_cast<double>(to - from), widgets::formatMemory(std::abs(to - from)));
}

const QString kMemorySample = QStringLiteral("+999.9 MiB");
const QString kCostSample = QStringLiteral("+9,999 ms");

} // namespace

WhatIfPanel::WhatIfPanel(PlanPreview& preview, QWidget* parent)
    : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("What if"));
    header->setSubtitle(tr("re-plans as you click"));
    column->addWidget(header);
    auto* body = new QVBoxLayout;
    body->setContentsMargins(widgets::space::kGroup, widgets::space::kTight, widgets::space::kGroup,
                             widgets::space::kGroup);
    body->setSpacing(widgets::space::kTight);
    auto* titles = new QHBoxLayout;
    titles->addStretch(1);
    memory_title_ = figure(TextStyle::Caption, Role::Muted, tr("peak"));
    titles->addWidget(memory_title_);
    cost_title_ = figure(TextStyle::Caption, Role::Muted);
    titles->addWidget(cost_title_);
    body->addLayout(titles);
    rows_layout_ = new QVBoxLayout;
    rows_layout_->setSpacing(2);
    body->addLayout(rows_layout_);
    body->addSpacing(widgets::space::kTight);
    comparison_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    comparison_->setObjectName("comparison");
    comparison_->setWordWrap(true);
    body->addWidget(comparison_);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(widgets::space::kControl);
    adopt_ = new QPushButton(tr("Adopt"));
    adopt_->setObjectName("adopt");
    adopt_->setToolTip(tr("Change the draft to what is switched on"));
    buttons->addWidget(adopt_);
    clear_ = new QPushButton(tr("Clear"));
    clear_->setObjectName("clearWhatIf");
    clear_->setToolTip(tr("Switch everything off"));
    buttons->addWidget(clear_);
    buttons->addStretch(1);
    body->addLayout(buttons);
    column->addLayout(body);
    connect(adopt_, &QPushButton::clicked, this, &WhatIfPanel::adopt);
    connect(clear_, &QPushButton::clicked, this, [this] { preview_.clearChosen(); });
    connect(&preview_, &PlanPreview::changed, this, &WhatIfPanel::update);
    connect(&preview_, &PlanPreview::outcomesChanged, this, &WhatIfPanel::update);
    connect(&preview_, &PlanPreview::whatIfChanged, this, &WhatIfPanel::update);
    update();
}

// Rows that stay keep their widgets, so that the focus stays too.
void WhatIfPanel::rebuild() {
    const auto& changes = preview_.changes();
    const bool same =
        changes.size() == rows_.size() &&
        std::equal(changes.begin(), changes.end(), rows_.begin(),
                   [](const PlanChange& change, const Row& row) { return change.id == row.id; });
    if (same) {
        return;
    }
    rows_.clear();
    widgets::clearLayout(*rows_layout_);
    for (const PlanChange& change : changes) {
        auto* line = new QWidget;
        auto* layout = new QHBoxLayout(line);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(widgets::space::kControl);
        auto* toggle = new widgets::ToggleSwitch(change.label);
        toggle->setObjectName("whatif." + change.id);
        toggle->setProperty("isData", true); // a field and its value
        toggle->setAccessibleName(tr("What if: %1").arg(change.label));
        Row row{change.id, toggle, figure(TextStyle::MonoSmall, Role::Text),
                figure(TextStyle::MonoSmall, Role::Muted)};
        layout->addWidget(toggle, 0, Qt::AlignLeft);
        layout->addStretch(1);
        layout->addWidget(row.memory);
        layout->addWidget(row.cost);
        rows_layout_->addWidget(line);
        connect(toggle, &QAbstractButton::toggled, this,
                [this, id = change.id](bool on) { preview_.setChosen(id, on); });
        rows_.push_back(row);
    }
    alignFigures();
}

// In columns, whatever the size of the text.
void WhatIfPanel::alignFigures() {
    const int memory = figureWidth(kMemorySample);
    const int cost = figureWidth(kCostSample);
    memory_title_->setMinimumWidth(memory);
    cost_title_->setMinimumWidth(cost);
    for (const Row& row : rows_) {
        row.memory->setMinimumWidth(memory);
        row.cost->setMinimumWidth(cost);
    }
}

void WhatIfPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        alignFigures();
    }
}

void WhatIfPanel::update() {
    rebuild();
    const auto digest = preview_.digest();
    const bool timed = digest && digest->plan->predicted_step_ms;
    cost_title_->setText(timed ? tr("step") : tr("FLOPs"));
    for (const Row& row : rows_) {
        updateRow(row, preview_.outcome(row.id));
    }
    updateComparison();
}

void WhatIfPanel::updateRow(const Row& row, const std::optional<PlanOutcome>& outcome) {
    const QSignalBlocker quiet(row.toggle);
    row.toggle->setChecked(preview_.chosen().contains(row.id));
    const bool stale = preview_.isStale();
    row.memory->setRole(stale ? Role::Faint : Role::Text);
    row.cost->setRole(stale ? Role::Faint : Role::Muted);
    const auto digest = preview_.digest();
    if (!outcome || !digest) {
        row.memory->setText(QStringLiteral("…"));
        row.cost->setText({});
        return;
    }
    row.toggle->setEnabled(outcome->problem.isEmpty());
    row.toggle->setToolTip(outcome->problem);
    if (!outcome->problem.isEmpty()) {
        row.memory->setText(tr("cannot"));
        row.cost->setText({});
        return;
    }
    row.memory->setText(bytesDifference(digest->peak_bytes, outcome->peak_bytes));
    const plan::ExecutionPlan& plan = *digest->plan;
    if (plan.predicted_step_ms && outcome->step_ms) {
        const double more = *outcome->step_ms - *plan.predicted_step_ms;
        row.cost->setText(withSign(more, formatMilliseconds(std::abs(more)) + " ms"));
    } else {
        const double percent = (outcome->flops / std::max(1.0, plan.flops_per_step) - 1) * 100;
        row.cost->setText(withSign(std::round(percent),
                                   QStringLiteral("%1 %").arg(std::abs(percent), 0, 'f', 0)));
    }
    if (!outcome->fits) {
        // Red says what a change does. Where the draft does not fit either, nothing new is wrong.
        const bool worse = digest->plan->fits();
        row.memory->setRole(stale ? Role::Faint : worse ? Role::Error : Role::Text);
        row.memory->setToolTip(tr("does not fit"));
    } else {
        row.memory->setToolTip({});
    }
}

void WhatIfPanel::updateComparison() {
    const auto now = preview_.digest();
    const auto other = preview_.whatIf();
    adopt_->setEnabled(now && other && !preview_.isStale());
    clear_->setEnabled(!preview_.chosen().isEmpty());
    if (preview_.chosen().isEmpty() || !now) {
        comparison_->setRole(Role::Muted);
        comparison_->setText(tr("Switch something on to compare it with the draft."));
        return;
    }
    if (!other) {
        const bool failed = !preview_.whatIfProblem().isEmpty();
        comparison_->setRole(failed ? Role::Error : Role::Muted);
        comparison_->setText(failed ? preview_.whatIfProblem() : tr("Planning…"));
        return;
    }
    QString text =
        tr("now → what if\npeak  %1 → %2")
            .arg(widgets::formatMemory(now->peak_bytes), widgets::formatMemory(other->peak_bytes));
    if (now->plan->predicted_step_ms && other->plan->predicted_step_ms) {
        text += tr("\nstep  %1 → %2 ms")
                    .arg(formatMilliseconds(*now->plan->predicted_step_ms),
                         formatMilliseconds(*other->plan->predicted_step_ms));
    } else {
        text += tr("\nFLOPs  %1 → %2")
                    .arg(formatFlops(now->plan->flops_per_step),
                         formatFlops(other->plan->flops_per_step));
    }
    if (!other->plan->fits()) {
        text += tr("\ndoes not fit");
    }
    comparison_->setRole(other->plan->fits() ? Role::Text : Role::Error);
    comparison_->setText(text);
}

void WhatIfPanel::adopt() {
    QStringList labels;
    for (const PlanChange& change : preview_.changes()) {
        if (preview_.chosen().contains(change.id)) {
            labels.append(change.label);
        }
    }
    const std::vector<std::string> overrides = preview_.chosenOverrides();
    preview_.clearChosen();
    emit adopted(overrides, labels.join(", "));
}

} // namespace weft::ui
