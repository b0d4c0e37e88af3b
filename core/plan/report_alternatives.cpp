// SPDX-License-Identifier: Apache-2.0
// The verdict on a run, and what else it could be: fixes, advice, the recompute curve.
#include "core/base/text.h"
#include "core/plan/sections.h"

#include <algorithm>
#include <functional>

namespace weft::plan {
namespace {

void write_alternatives(Page& page, const std::vector<Alternative>& alternatives,
                        const std::function<std::string(const Alternative&)>& name,
                        const std::function<std::string(const Alternative&)>& remark) {
    std::int64_t most = 1;
    std::size_t widest = Page::kNameColumns;
    for (const Alternative& alternative : alternatives) {
        most = std::max(most, alternative.peak_bytes);
        widest = std::max(widest, name(alternative).size());
    }
    const std::size_t beside = 2 + widest + 2 * Page::kNumberColumns + 4;
    for (const Alternative& alternative : alternatives) {
        const std::string step = alternative.predicted_step_ms
                                     ? milliseconds(*alternative.predicted_step_ms)
                                     : std::string("-");
        const std::string note = remark(alternative);
        page.line("  " + left(name(alternative), widest) +
                  right(format_bytes(alternative.peak_bytes), Page::kNumberColumns) +
                  right(step, Page::kNumberColumns) + "  " +
                  page.bar(static_cast<double>(alternative.peak_bytes) / static_cast<double>(most),
                           beside + note.size()) +
                  (note.empty() ? "" : "  " + note));
    }
}

std::string settings_of(const Alternative& alternative) {
    std::string out;
    for (const std::string& assignment : alternative.overrides) {
        out += (out.empty() ? "--set " : " --set ") + assignment;
    }
    return out;
}

} // namespace

void write_verdict(Page& page, const ExecutionPlan& plan) {
    const std::string place = plan.device_title.empty() ? "this machine" : plan.device_title;
    const bool shared = plan.memory_bytes() != plan.device_bytes();
    const std::string each = plan.mesh.single() || shared ? "needs " : "each device needs ";
    const std::string need =
        each + format_bytes(plan.memory_bytes()) +
        (shared ? " for " + std::to_string(plan.mesh.devices()) + " simulated devices"
                : std::string());
    if (!plan.limit_bytes) {
        page.line(page.painted("Planned", "1") + " for " + place + ": " + need);
        return;
    }
    const std::int64_t spare = *plan.limit_bytes - plan.memory_bytes();
    const std::string of =
        " of " + format_bytes(*plan.limit_bytes) + " (" + plan.limit_basis + "), ";
    if (spare >= 0) {
        page.sentence(page.painted("Fits", "1;32") + " on " + place + ": " + need + of +
                          format_bytes(spare) + " to spare",
                      0, 2);
        return;
    }
    page.sentence(page.painted("Does not fit", "1;31") + " on " + place + ": " + need + of +
                      format_bytes(-spare) + " too much",
                  0, 2);
    if (plan.fixes.empty()) {
        page.sentence("No change of batch, precision or recompute makes it fit: use a smaller "
                      "model or a machine with more memory.",
                      2, 2);
        return;
    }
    page.heading("What makes it fit", "peak memory, predicted step");
    write_alternatives(page, plan.fixes, settings_of, [](const Alternative&) { return ""; });
}

void write_curve(Page& page, const ExecutionPlan& plan) {
    if (plan.recompute_curve.size() < 2) { // nothing to trade, or not asked for
        return;
    }
    page.heading("Recompute", "peak memory, predicted step");
    write_alternatives(
        page, plan.recompute_curve, [](const Alternative& point) { return point.change; },
        [&](const Alternative& point) {
            return point.fits ? std::string() : std::string("does not fit");
        });
}

std::string advice_text(const ExecutionPlan& plan, const std::vector<Alternative>& advice,
                        const PageStyle& style) {
    Page page(style);
    write_verdict(page, plan);
    const bool predicted = plan.predicted_step_ms.has_value();
    page.heading("Ways to run it", predicted
                                       ? "peak memory, predicted step; * nothing is better in both"
                                       : "peak memory; " + plan.prediction_basis);
    write_alternatives(
        page, advice,
        [&](const Alternative& way) {
            return (predicted && way.on_front ? "* " : "  ") + way.change;
        },
        [](const Alternative& way) {
            return way.fits ? std::string() : std::string("does not fit");
        });
    return page.text();
}

std::string mesh_advice_text(const ExecutionPlan& plan, const std::vector<Alternative>& advice,
                             const Rejections& others, const PageStyle& style) {
    Page page(style);
    write_verdict(page, plan);
    page.heading("Meshes for " + format_thousands(plan.mesh.devices()) + " devices",
                 "memory of each, predicted step, exchanges' share; fastest first");
    if (advice.empty()) {
        page.sentence("None fits.", 2, 2);
    }
    std::size_t widest = 0;
    for (const Alternative& way : advice) {
        widest = std::max(widest, way.change.size());
    }
    for (const Alternative& way : advice) {
        const double step_ms = way.predicted_step_ms.value_or(0);
        page.line(
            "  " + left(way.change, widest) +
            right(format_bytes(way.peak_bytes), Page::kNumberColumns) +
            right(step_ms > 0 ? milliseconds(step_ms) : "-", Page::kNumberColumns) +
            right(step_ms > 0 ? fixed(100 * way.communication_ms / step_ms, 0) + " %" : "-", 7));
        page.sentence(settings_of(way), 4, 6);
    }
    if (!others.empty()) {
        page.heading("The others", "how many, and why not");
    }
    for (const auto& [reason, count] : others) {
        page.sentence(right(std::to_string(count), 5) + "  " + reason, 2, 9);
    }
    return page.text();
}

} // namespace weft::plan
