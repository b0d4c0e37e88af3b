// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/advice_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_digest.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

QString percent(double share) {
    return QString::number(100 * share, 'f', share < 0.0995 ? 1 : 0) + QStringLiteral(" %");
}

/// "data=8 × model=2"; axes of one device are left out.
QString meshOf(const QString& change) {
    QStringList axes = change.section(QStringLiteral(", "), 0, 0).split(QStringLiteral(" x "));
    axes.removeIf([&](const QString& axis) { return axes.size() > 1 && axis.endsWith("=1"); });
    return axes.join(QStringLiteral(" × "));
}

AdviceRow adviceRow(const MeshWay& found, int way) {
    const QString change = toQString(found.way.change);
    AdviceRow out;
    out.mesh = meshOf(change);
    out.settings = change.section(QStringLiteral(", "), 1);
    out.bytes = found.way.peak_bytes;
    out.step_ms = found.way.predicted_step_ms;
    out.communication_ms = found.way.communication_ms;
    out.bubble = found.bubble;
    out.way = way;
    return out;
}

AdviceRow ownRow(const plan::ExecutionPlan& plan) {
    AdviceRow out;
    out.mesh = meshOf(toQString(plan.mesh.to_text()));
    out.settings =
        (plan.pipeline ? toQString(plan.pipeline->schedule) + QStringLiteral(", ") : QString()) +
        QStringLiteral("ZeRO %1").arg(plan.zero_stage);
    out.bytes = plan.memory_bytes();
    out.step_ms = plan.predicted_step_ms;
    out.communication_ms = plan.communication_ms;
    if (plan.pipeline) {
        out.bubble = plan.pipeline->even_bubble_fraction;
    }
    return out;
}

void markBest(std::vector<AdviceRow>& rows) {
    for (AdviceRow& one : rows) {
        one.best =
            one.step_ms && std::none_of(rows.begin(), rows.end(), [&](const AdviceRow& other) {
                return other.step_ms && other.bytes <= one.bytes &&
                       *other.step_ms <= *one.step_ms &&
                       (other.bytes < one.bytes || *other.step_ms < *one.step_ms);
            });
    }
}

/// Of a step.
double collectiveShare(const AdviceRow& row) {
    return row.step_ms && *row.step_ms > 0 ? row.communication_ms / *row.step_ms : 0;
}

QString markText(const AdviceRow& row) {
    return row.way < 0 ? AdviceModel::tr("draft") : row.best ? QStringLiteral("★") : QString();
}

} // namespace

AdviceModel::AdviceModel(QObject* parent) : TableModel(parent) {
    using Row = AdviceRow;
    using widgets::Role;
    using widgets::TextStyle;
    const auto collectives = [](const Row& row) {
        return row.step_ms && *row.step_ms > 0 ? percent(collectiveShare(row)) : QString();
    };
    const auto more = [this](const Row& row) {
        const auto known = difference(row);
        return known ? withSign(*known, percent(std::abs(*known))) : QString();
    };
    const auto whole = [this](const Row& row) { return sentence(row); };
    describe({{.text = markText,
               .color = Role::Muted,
               .key = [](const Row& row) { return row.way < 0 ? 0
                                                  : row.best  ? 1
                                                              : 2; },
               .spoken = whole,
               .title_tip = tr("★: no other mesh is better in memory and in time")},
              {.title = tr("mesh"),
               .text = [](const Row& row) { return row.mesh; },
               .font = TextStyle::Mono},
              {.title = tr("settings"),
               .text = [](const Row& row) { return row.settings; },
               .color = Role::Muted},
              {.title = tr("memory"),
               .text = [](const Row& row) { return widgets::formatMemory(row.bytes); },
               .number = true,
               .key = [](const Row& row) { return row.bytes; }},
              {.title = tr("bubble"),
               .text = [](const Row& row) { return row.bubble ? percent(*row.bubble) : QString(); },
               .number = true,
               .key = [](const Row& row) { return row.bubble.value_or(0); },
               .title_tip = tr("Idle time of a pipeline whose stages are all alike")},
              {.title = tr("collectives"), .text = collectives, .number = true, .key = collectiveShare},
              {.title = tr("step ms"),
               .text =
                   [this](const Row& row) {
                       return row.step_ms ? step_style_.text(*row.step_ms) : QString();
                   },
               .number = true,
               .key = [](const Row& row) { return row.step_ms.value_or(0); }},
              {.title = tr("to draft"),
               .text = more,
               .number = true,
               .key = [this](const Row& row) { return difference(row).value_or(0); }}},
             whole);
}

void AdviceModel::setWays(const std::vector<MeshWay>& ways, const plan::ExecutionPlan* plan) {
    beginResetModel();
    rows_.clear();
    if (plan != nullptr) {
        rows_.push_back(ownRow(*plan));
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
        rows_.push_back(adviceRow(ways[i], static_cast<int>(i)));
    }
    markBest(rows_);
    std::vector<double> times;
    for (const AdviceRow& row : rows_) {
        times.push_back(row.step_ms.value_or(0));
    }
    step_style_ = millisecondStyle(std::move(times));
    endResetModel();
}

std::optional<double> AdviceModel::difference(const AdviceRow& row) const {
    const bool known = row.way >= 0 && row.step_ms && rows_.front().way < 0 &&
                       rows_.front().step_ms && *rows_.front().step_ms > 0;
    return known ? std::optional(*row.step_ms / *rows_.front().step_ms - 1) : std::nullopt;
}

QString AdviceModel::sentence(const AdviceRow& shown) const {
    QString out =
        (shown.way < 0 ? tr("The draft: %1, %2") : tr("%1, %2")).arg(shown.mesh, shown.settings);
    out += tr(": %1").arg(widgets::formatMemory(shown.bytes));
    if (shown.step_ms) {
        out += tr(", %1 ms a step").arg(formatMilliseconds(*shown.step_ms));
    }
    if (const auto more = difference(shown)) {
        out += *more < 0 ? tr(", %1 less than the draft").arg(percent(-*more))
                         : tr(", %1 more than the draft").arg(percent(*more));
    }
    return shown.best ? out + tr("; none is better in both") : out;
}

} // namespace weft::ui
