// SPDX-License-Identifier: Apache-2.0
// The plan as a document for programs and as a page for people.
#include "core/base/text.h"
#include "core/ir/text.h"
#include "core/plan/plan.h"

#include <algorithm>
#include <cstdio>

namespace weft::plan {
namespace {

using Json = nlohmann::ordered_json;

/// The program that needs most memory: it sizes the arena.
const PlannedProgram* largest(const ExecutionPlan& plan) {
    const auto found = std::max_element(plan.programs.begin(), plan.programs.end(),
                                        [](const PlannedProgram& a, const PlannedProgram& b) {
                                            return a.peak_bytes < b.peak_bytes;
                                        });
    return found == plan.programs.end() ? nullptr : &*found;
}

std::string op_text(const Step* step) {
    if (step == nullptr) {
        return "";
    }
    return step->op.path.empty() ? step->op.kind : step->op.kind + " at " + step->op.path;
}

std::int64_t host_bytes(const ExecutionPlan& plan) {
    return plan.host.data_cache_bytes + plan.host.prefetch_bytes + plan.host.staging_bytes;
}

/// Arena at its peak, with the host's buffers: data under batch, snapshots under staging.
std::vector<std::int64_t> all_bytes(const ExecutionPlan& plan, const PlannedProgram& program) {
    auto bytes = bytes_by_category(plan, program.name);
    bytes[static_cast<std::size_t>(Category::batch)] +=
        plan.host.data_cache_bytes + plan.host.prefetch_bytes;
    bytes[static_cast<std::size_t>(Category::staging)] += plan.host.staging_bytes;
    return bytes;
}

Json device_json(const ExecutionPlan& plan) {
    Json device{{"ids", "0"}, {"kind", "cpu"}};
    const PlannedProgram* program = largest(plan);
    if (program == nullptr) {
        device["peak_bytes"] = host_bytes(plan);
        return device;
    }
    device["peak_bytes"] = plan.arena_bytes + host_bytes(plan);
    device["peak_op"] = op_text(step_at(*program, program->peak_step));
    const auto bytes = all_bytes(plan, *program);
    for (int i = 0; i < kCategories; ++i) {
        device["by_category"][std::string(category_name(static_cast<Category>(i)))] =
            bytes[static_cast<std::size_t>(i)];
    }
    device["timeline"] = Json::array();
    for (const auto& [position, alive] : program->timeline) {
        device["timeline"].push_back({position, alive});
    }
    return device;
}

Json tensor_json(const StateSlot& slot) {
    const Json shape(std::vector<std::int64_t>(slot.type.shape.begin(), slot.type.shape.end()));
    return {{"name", slot.name},     {"kind", category_name(slot.category)},
            {"global_shape", shape}, {"local_shape", shape},
            {"spec", "P()"},         {"replicas", 1},
            {"padding_bytes", 0}};
}

std::string fixed(double value, int digits) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
    return buffer;
}

std::string row(const std::string& name, const std::string& value) {
    return "  " + name + std::string(name.size() < 24 ? 24 - name.size() : 1, ' ') + value + "\n";
}

std::string memory_text(const ExecutionPlan& plan) {
    const PlannedProgram* program = largest(plan);
    if (program == nullptr) {
        return "";
    }
    std::string out = "Memory at the peak of " + program->name + "\n";
    const auto bytes = all_bytes(plan, *program);
    for (int i = 0; i < kCategories; ++i) {
        if (const std::int64_t amount = bytes[static_cast<std::size_t>(i)]; amount > 0) {
            out += row(std::string(category_name(static_cast<Category>(i))), format_bytes(amount));
        }
    }
    out += row("arena", format_bytes(plan.arena_bytes));
    return out + row("peak op", op_text(step_at(*program, program->peak_step)));
}

std::string programs_text(const ExecutionPlan& plan) {
    std::string out = "Programs\n";
    for (const PlannedProgram& program : plan.programs) {
        std::string segments;
        for (const Segment& segment : program.segments) {
            segments += (segments.empty() ? "" : ", ") + segment.name;
            if (segment.repeat > 1) {
                segments += " x " + std::to_string(segment.repeat);
            }
        }
        out += row(program.name, fixed(program.flops / 1e9, 3) + " GFLOP, " +
                                     format_bytes(program.peak_bytes) + ": " + segments);
    }
    return out;
}

/// Time of each pass over all programs, in the order of work.
std::string times_text(const ExecutionPlan& plan) {
    std::vector<std::pair<std::string, double>> sums;
    for (const PassTime& time : plan.pass_times) {
        const auto found = std::find_if(sums.begin(), sums.end(),
                                        [&](const auto& sum) { return sum.first == time.pass; });
        if (found == sums.end()) {
            sums.emplace_back(time.pass, time.ms);
        } else {
            found->second += time.ms;
        }
    }
    std::string out = sums.empty() ? "" : "Passes over all programs\n";
    for (const auto& [pass, ms] : sums) {
        out += row(pass, fixed(ms, 2) + " ms");
    }
    return out;
}

std::string lines_text(const std::string& title, const std::vector<std::string>& lines) {
    std::string out = lines.empty() ? "" : title + "\n";
    for (const std::string& line : lines) {
        out += "  " + line + "\n";
    }
    return out;
}

} // namespace

nlohmann::ordered_json to_json(const ExecutionPlan& plan) {
    Json document{{"parameters", plan.parameters},
                  {"flops_per_step", plan.flops_per_step},
                  {"compile_ms", plan.compile_ms},
                  {"predicted_step_ms", nullptr},
                  {"fits", true},
                  {"limit_bytes", nullptr},
                  {"fixes", Json::array()},
                  {"assumptions", plan.assumptions},
                  {"devices", Json::array({device_json(plan)})},
                  {"tensors", Json::array()},
                  {"collectives", Json::array()},
                  {"pipeline", nullptr},
                  {"diagnostics", Json::array()}};
    for (const StateSlot& slot : plan.state_slots) {
        document["tensors"].push_back(tensor_json(slot));
    }
    for (const std::string& line : plan.fallbacks) {
        document["diagnostics"].push_back(
            {{"pointer", ""}, {"severity", "note"}, {"message", line}, {"hint", ""}});
    }
    return document;
}

std::string to_text(const ExecutionPlan& plan) {
    std::string out = row("parameters", format_thousands(plan.parameters));
    out += row("FLOPs per step", fixed(plan.flops_per_step / 1e9, 3) + " GFLOP");
    out += row("compiled in", fixed(plan.compile_ms, 1) + " ms");
    out += memory_text(plan) + programs_text(plan);
    out += times_text(plan);
    out += lines_text("Assumptions", plan.assumptions);
    return out + lines_text("Slower than could be", plan.fallbacks);
}

} // namespace weft::plan
