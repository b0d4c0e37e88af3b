// SPDX-License-Identifier: Apache-2.0
// The page of `weft plan` for people: the verdict first, then where memory and time go.
#include "core/base/text.h"
#include "core/plan/frozen.h"
#include "core/plan/op_table.h"
#include "core/plan/sections.h"

#include <algorithm>
#include <map>

namespace weft::plan {
namespace {

constexpr std::size_t kMostOps = 8;

/// "1.24 TFLOP"
std::string flop_text(double flops) {
    constexpr const char* kUnits[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
    std::size_t unit = 0;
    while (flops >= 1000 && unit + 1 < std::size(kUnits)) {
        flops /= 1000;
        ++unit;
    }
    return fixed(flops, unit == 0 ? 0 : 2) + " " + kUnits[unit];
}

void write_memory(Page& page, const ExecutionPlan& plan) {
    const PlannedProgram* program = largest_program(plan);
    if (program == nullptr) {
        return;
    }
    page.heading("Memory",
                 (plan.pipeline ? "of stage " + std::to_string(program->stage) + ", " : "") +
                     "at the peak of " + program->name + ", " + peak_op(*program));
    const auto bytes = bytes_by_category(plan);
    const std::int64_t most =
        std::max<std::int64_t>(1, *std::max_element(bytes.begin(), bytes.end()));
    std::int64_t holes = plan.device_bytes();
    for (int i = 0; i < kCategories; ++i) {
        const std::int64_t amount = bytes[static_cast<std::size_t>(i)];
        holes -= amount;
        if (amount > 0) {
            page.row(std::string(category_name(static_cast<Category>(i))), format_bytes(amount),
                     page.bar(static_cast<double>(amount) / static_cast<double>(most),
                              Page::kNameColumns + Page::kNumberColumns + 4));
        }
    }
    if (holes > 0) {
        page.row("holes", format_bytes(holes), "between buffers of the arena");
    }
    const bool shared = plan.memory_bytes() != plan.device_bytes();
    page.row("all", format_bytes(plan.device_bytes()),
             plan.mesh.single() ? ""
             : plan.pipeline    ? "the largest device and the host"
             : shared           ? "one device and the host"
                                : "on each device");
    if (shared) {
        page.row(std::to_string(plan.mesh.devices()) + " devices",
                 format_bytes(plan.memory_bytes()), "and the host");
    }
}

/// "blocks.3.mlp.up.weight" -> "blocks.*.mlp.up.weight"
std::string without_numbers(const std::string& name) {
    std::string out;
    for (const std::string& part : split(name, '.')) {
        const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
        out += (out.empty() ? "" : ".") + (number ? std::string("*") : part);
    }
    return out;
}

void write_decay(Page& page, const ExecutionPlan& plan) {
    struct Decayed {
        std::int64_t parameters = 0;
        std::vector<std::string> names;
    };
    std::map<double, Decayed> by_rate;
    for (const StateSlot& slot : plan.state_slots) {
        if (slot.weight_decay > 0) {
            Decayed& one = by_rate[slot.weight_decay];
            one.parameters += slot.whole.shape.elements();
            const std::string name = without_numbers(slot.name);
            if (std::find(one.names.begin(), one.names.end(), name) == one.names.end()) {
                one.names.push_back(name);
            }
        }
    }
    if (by_rate.empty()) {
        page.row("weight decay", "none");
    }
    for (const auto& [rate, one] : by_rate) {
        page.row("weight decay", config::Json(rate).dump(),
                 "pulls " + format_thousands(one.parameters) + " parameters:");
        page.sentence(join(one.names, ", "), Page::kNameColumns + 3, Page::kNameColumns + 3);
    }
}

void write_step(Page& page, const ExecutionPlan& plan) {
    page.heading("Step");
    page.row("parameters", format_count(plan.parameters), format_thousands(plan.parameters));
    for (const StateSlot& slot : plan.state_slots) {
        if (slot.by_row) {
            page.row("and rows", format_count(slot.whole.shape.elements()),
                     slot.name + ", " + format_thousands(slot.whole.shape[0]) +
                         ", of which an update changes those of its batch");
        }
    }
    if (const Frozen frozen = frozen_part(plan); frozen.parameters > 0) {
        page.row("not trained", format_count(frozen.parameters),
                 "without gradients and optimizer state, which would be " +
                     format_bytes(frozen.spared_bytes));
    }
    write_decay(page, plan);
    page.row("work", flop_text(plan.flops_per_step));
    page.row("predicted", plan.predicted_step_ms ? milliseconds(*plan.predicted_step_ms) : "-",
             plan.predicted_step_ms ? "give or take " + fixed(plan.predicted_error * 100, 0) + " %"
                                    : std::string());
    if (plan.predicted_step_ms && !plan.mesh.single()) {
        page.row("of these", milliseconds(plan.communication_ms),
                 "exchanges, " + fixed(100 * plan.communication_ms / *plan.predicted_step_ms, 0) +
                     " %");
    }
    if (!plan.prediction_basis.empty()) {
        page.sentence(plan.prediction_basis, 2, 2);
    }
    for (const PlannedProgram& program : plan.programs) {
        std::string segments;
        for (const Segment& segment : program.segments) {
            segments += (segments.empty() ? "" : ", ") + segment.name;
            segments += segment.repeat > 1 ? " x " + std::to_string(segment.repeat) : "";
        }
        if (program.name == "train_step" && !plan.pipeline) {
            page.row("made of", std::to_string(program.segments.size()) + " parts", segments);
        }
    }
}

void write_ops(Page& page, const ExecutionPlan& plan) {
    const auto programs = plan.all_stages("train_step");
    if (programs.empty()) {
        return;
    }
    const bool timed = programs.front()->predicted_ms > 0;
    const auto groups = op_groups(programs);
    const auto weight = [&](const OpGroup& group) {
        return timed ? group.predicted_ms : group.flops;
    };
    double sum = 0;
    for (const OpGroup& group : groups) {
        sum += weight(group);
    }
    page.heading("Heaviest ops", timed ? "share of the predicted time" : "share of the FLOPs");
    const std::size_t shown = std::min(kMostOps, groups.size());
    std::size_t kernel = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        kernel = std::max(kernel, std::min<std::size_t>(groups[i].kernel.size(), 26));
    }
    const std::size_t room = page.columns() - 2 - 7 - 2 - 9 - 2 - kernel;
    for (std::size_t i = 0; i < shown && sum > 0; ++i) {
        const OpGroup& group = groups[i];
        const std::string calls = fixed(group.calls, 0) + " x";
        page.line("  " + right(fixed(weight(group) / sum * 100, 1) + " %", 7) + "  " +
                  left(cut(group.name, room), room) + right(calls, 9) + "  " +
                  cut(group.kernel, kernel));
    }
}

/// Two columns of passes, in the order of work down the first, then the second.
void write_passes(Page& page, const ExecutionPlan& plan) {
    const auto sums = pass_sums(plan);
    if (sums.empty()) {
        return;
    }
    page.heading("Compiled", "in " + milliseconds(plan.compile_ms) + ", all programs together");
    const std::size_t rows = (sums.size() + 1) / 2;
    const auto cell = [&](std::size_t i) {
        return i < sums.size() ? left(sums[i].first, 20) + right(milliseconds(sums[i].second), 10)
                               : std::string();
    };
    for (std::size_t i = 0; i < rows; ++i) {
        page.line("  " + cell(i) + (i + rows < sums.size() ? "    " + cell(i + rows) : ""));
    }
}

void write_lines(Page& page, const std::string& title, const std::vector<std::string>& lines) {
    if (!lines.empty()) {
        page.heading(title);
    }
    for (const std::string& text : lines) {
        page.sentence(text, 2, 4);
    }
}

} // namespace

std::string to_text(const ExecutionPlan& plan, const PageStyle& style) {
    Page page(style);
    write_verdict(page, plan);
    write_mesh(page, plan);
    write_pipeline(page, plan);
    write_memory(page, plan);
    write_step(page, plan);
    write_batch_advice(page, plan);
    write_curve(page, plan);
    write_ops(page, plan);
    write_tensors(page, plan);
    write_exchanges(page, plan);
    write_findings(page, plan);
    write_lines(page, "Slower than could be", plan.fallbacks);
    write_lines(page, "Assumed", plan.assumptions);
    write_passes(page, plan);
    return page.text();
}

} // namespace weft::plan
