// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/memory/verdict_panel.h"

#include "core/plan/frozen.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_preview.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/memory_bar.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr std::int64_t kShownHoles = 1 << 20; // less is not worth a line

QString verdictText(const plan::ExecutionPlan& plan) {
    const auto memory = [](std::int64_t bytes) { // a unit stays with its number
        return widgets::formatMemory(bytes).replace(QLatin1Char(' '), QChar::Nbsp);
    };
    const QString need = memory(plan.memory_bytes());
    if (!plan.limit_bytes) {
        return QObject::tr("Needs %1").arg(need);
    }
    const QString limit = memory(*plan.limit_bytes);
    return plan.fits() ? QObject::tr("Fits: %1 of %2").arg(need, limit)
                       : QObject::tr("Does not fit: %1 of %2").arg(need, limit);
}

/// The parts of what is needed: the scrubber shows the arena of one device.
QString partsText(const plan::ExecutionPlan& plan) {
    const bool on_host = plan.device == "cpu";
    if ((on_host ? plan.host.bytes() : plan.memory_bytes() - plan.arena_bytes) == 0) {
        return {};
    }
    const QString arenas =
        widgets::formatMemory(on_host ? plan.all_arena_bytes() : plan.arena_bytes);
    const auto devices = on_host ? static_cast<int>(plan.mesh.devices()) : 1;
    const QString inside =
        devices == 1
            ? QObject::tr("%1 in the arena").arg(arenas)
            : QObject::tr("%1 in the arenas of %n device(s)", nullptr, devices).arg(arenas);
    QStringList beside;
    const auto add = [&](const QString& name, std::int64_t bytes) {
        if (bytes > 0) {
            beside.append(QStringLiteral("%1 %2").arg(name, widgets::formatMemory(bytes)));
        }
    };
    if (on_host) {
        add(QObject::tr("data set"), plan.host.data_cache_bytes);
        add(QObject::tr("batches read ahead"), plan.host.prefetch_bytes);
        add(QObject::tr("checkpoint being written"), plan.host.staging_bytes);
        add(QObject::tr("looks inside"), plan.host.inside_bytes);
        add(QObject::tr("libraries"), plan.host.library_bytes);
    } else {
        beside = besideArena(plan.landing_bytes(), plan.beside);
    }
    return QObject::tr("%1; beside it: %2").arg(inside, beside.join(", "));
}

} // namespace

QWidget* alternativeRow(const plan::Alternative& alternative, std::optional<double> now_ms,
                        const QString& button, const std::function<void()>& apply) {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 2, 0, 2);
    row->setSpacing(widgets::space::kControl);
    row->addWidget(new widgets::ElidedLabel(toQString(alternative.change), TextStyle::Body), 1);
    row->addWidget(new widgets::TextLabel(widgets::formatMemory(alternative.peak_bytes),
                                          TextStyle::MonoSmall));
    if (alternative.predicted_step_ms) {
        const double percent =
            now_ms && *now_ms > 0 ? (*alternative.predicted_step_ms / *now_ms - 1) * 100 : 0;
        row->addWidget(new widgets::TextLabel(
            now_ms ? withSign(std::round(percent),
                              QStringLiteral("%1 %").arg(std::abs(percent), 0, 'f', 0))
                   : formatMilliseconds(*alternative.predicted_step_ms) + " ms",
            TextStyle::MonoSmall, Role::Muted));
    }
    auto* push = new QPushButton(button);
    push->setObjectName("apply." + toQString(alternative.change));
    push->setAccessibleName(QObject::tr("%1: %2").arg(button, toQString(alternative.change)));
    widgets::setCompact(push);
    QObject::connect(push, &QPushButton::clicked, line, apply);
    row->addWidget(push);
    return line;
}

VerdictPanel::VerdictPanel(PlanPreview& preview, QWidget* parent)
    : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kGroup, widgets::space::kGroup,
                               widgets::space::kGroup, widgets::space::kGroup);
    column->setSpacing(widgets::space::kControl);
    auto* head = new QHBoxLayout;
    head->setSpacing(widgets::space::kControl);
    icon_ = new widgets::IconLabel({}, Role::Text, 20);
    head->addWidget(icon_, 0, Qt::AlignTop);
    verdict_ = new widgets::TextLabel({}, TextStyle::Title);
    verdict_->setObjectName("verdict");
    verdict_->setWordWrap(true);
    head->addWidget(verdict_, 1);
    column->addLayout(head);
    bar_ = new widgets::MemoryBar;
    bar_->setAccessibleName(tr("Memory needed, by category"));
    bar_->setLegendVisible(false);
    column->addWidget(bar_);
    const auto line = [&](const char* name, Role role) {
        auto* label = new widgets::TextLabel({}, TextStyle::Caption, role);
        label->setObjectName(name);
        label->setWordWrap(true);
        column->addWidget(label);
        return label;
    };
    room_ = line("room", Role::Muted);
    time_ = new widgets::TextLabel({}, TextStyle::Strong);
    time_->setObjectName("stepTime");
    time_->setWordWrap(true);
    column->addWidget(time_);
    basis_ = line("basis", Role::Muted);
    fixes_title_ = new widgets::TextLabel({}, TextStyle::Strong);
    fixes_title_->setWordWrap(true);
    column->addWidget(fixes_title_);
    fixes_ = new QVBoxLayout;
    fixes_->setSpacing(0);
    column->addLayout(fixes_);
    connect(&preview_, &PlanPreview::changed, this, &VerdictPanel::update);
    connect(&preview_, &PlanPreview::alternativesChanged, this, &VerdictPanel::updateFixes);
    update();
}

// Without the other programs of the run, what is shown of it is not certain.
bool VerdictPanel::isCurrent() const {
    return !preview_.isStale() && preview_.isComplete();
}

void VerdictPanel::update() {
    const auto digest = preview_.digest();
    const bool stale = !isCurrent();
    setEnabled(!stale);
    if (!digest) {
        return;
    }
    const plan::ExecutionPlan& plan = *digest->plan;
    const Role role = !plan.limit_bytes ? Role::Muted : plan.fits() ? Role::Success : Role::Error;
    icon_->setIcon(plan.fits() ? "check" : "error", stale ? Role::Faint : role);
    verdict_->setText(verdictText(plan));
    verdict_->setRole(stale ? Role::Faint : plan.fits() ? Role::Text : Role::Error);
    bar_->setMeasured(memorySegments(plan), tr("planned"));
    bar_->setLimit(plan.limit_bytes ? std::optional<qint64>(*plan.limit_bytes) : std::nullopt);
    const std::int64_t left = plan.limit_bytes ? *plan.limit_bytes - plan.memory_bytes() : 0;
    QString room = !plan.limit_bytes ? QString()
                   : left >= 0       ? tr("%1 free at the peak").arg(widgets::formatMemory(left))
                                     : tr("%1 too much").arg(widgets::formatMemory(-left));
    if (!plan.limit_basis.empty()) {
        room += tr(" · limit: %1").arg(toQString(plan.limit_basis));
    }
    if (const QString parts = partsText(plan); !parts.isEmpty()) {
        room += "\n" + parts;
    }
    const plan::PlannedProgram* largest = plan::largest_program(plan);
    if (largest != nullptr) {
        room += tr("\npeak at %1 of %2")
                    .arg(toQString(plan::peak_op(*largest)), toQString(largest->name));
    }
    std::int64_t named = 0;
    for (const std::int64_t bytes : plan::memory_by_category(plan)) {
        named += bytes;
    }
    if (const std::int64_t holes = plan.memory_bytes() - named; holes >= kShownHoles) {
        room += tr("\n%1 of it are holes between buffers").arg(widgets::formatMemory(holes));
    }
    if (const plan::Frozen frozen = plan::frozen_part(plan); frozen.parameters > 0) {
        room += tr("\n%1 parameters are not trained, which spares %2 of gradients and optimizer "
                   "state")
                    .arg(formatCount(frozen.parameters),
                         widgets::formatMemory(frozen.spared_bytes));
    }
    if (plan.device != "cpu") { // of other devices less is known
        for (const std::string& line : plan.assumptions) {
            room += '\n' + toQString(line);
        }
    }
    room_->setText(room);
    room_->setRole(stale ? Role::Faint : Role::Muted);
    updateTime(*digest);
    updateFixes();
}

void VerdictPanel::updateTime(const PlanDigest& digest) {
    const plan::ExecutionPlan& plan = *digest.plan;
    const bool stale = !isCurrent();
    time_->setRole(stale ? Role::Faint : Role::Text);
    basis_->setRole(stale ? Role::Faint : Role::Muted);
    if (plan.predicted_step_ms) {
        time_->setText(tr("A step takes %1 ms ± %2 %")
                           .arg(formatMilliseconds(*plan.predicted_step_ms))
                           .arg(plan.predicted_error * 100, 0, 'f', 0));
    } else {
        time_->setText(tr("Step time not predicted"));
    }
    basis_->setText(toQString(plan.prediction_basis).remove('`')); // commands, for terminals
    basis_->setVisible(!plan.prediction_basis.empty());
}

void VerdictPanel::updateFixes() {
    widgets::clearLayout(*fixes_);
    const auto digest = preview_.digest();
    const bool needed = digest && !digest->plan->fits();
    fixes_title_->setVisible(needed);
    if (!needed) {
        return;
    }
    const auto& fixes = preview_.fixes();
    fixes_title_->setText(!preview_.fixesKnown() ? tr("Looking for what would make it fit…")
                          : fixes.empty()
                              ? tr("No change of batch, precision or recompute makes it "
                                   "fit: use a smaller model or more memory.")
                              : tr("What makes it fit"));
    for (const plan::Alternative& fix : fixes) {
        fixes_->addWidget(
            alternativeRow(fix, digest->plan->predicted_step_ms, tr("Apply"),
                           [this, fix] { emit adopted(fix.overrides, toQString(fix.change)); }));
    }
}

} // namespace weft::ui
