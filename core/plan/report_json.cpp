// SPDX-License-Identifier: Apache-2.0
// The document of `weft plan --json` and of plan.json. The members of INTERFACES.md come first;
// what follows them is ours: ops, passes, programs, the recompute curve.
#include "core/ir/text.h"
#include "core/plan/device_memory.h"
#include "core/plan/frozen.h"
#include "core/plan/op_table.h"
#include "core/plan/sections.h"

namespace weft::plan {
namespace {

using config::Json;

Json or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json alternative_json(const Alternative& alternative) {
    return {{"change", alternative.change},
            {"peak_bytes", alternative.peak_bytes},
            {"predicted_step_ms", or_null(alternative.predicted_step_ms)},
            {"overrides", alternative.overrides},
            {"activation_bytes", alternative.activation_bytes},
            {"fits", alternative.fits},
            {"on_front", alternative.on_front},
            {"communication_ms",
             alternative.predicted_step_ms ? Json(alternative.communication_ms) : Json(nullptr)}};
}

/// "0-3", "0-1,4-5": the devices of a stage.
std::string ids_of(const ExecutionPlan& plan, int stage) {
    std::string out;
    const std::int64_t devices = plan.mesh.devices();
    for (std::int64_t first = 0; first < devices; ++first) {
        if (plan.stage_of(first) != stage) {
            continue;
        }
        std::int64_t last = first;
        while (last + 1 < devices && plan.stage_of(last + 1) == stage) {
            ++last;
        }
        out += (out.empty() ? "" : ",") + std::to_string(first) +
               (last > first ? "-" + std::to_string(last) : "");
        first = last;
    }
    return out;
}

Json device_json(const ExecutionPlan& plan, int stage) {
    const PlannedProgram* program = largest_program(plan, stage);
    const std::int64_t arena = plan.stages[static_cast<std::size_t>(stage)].arena_bytes;
    // What stays the same through a step on top of the arena.
    const std::int64_t beside = plan.device_bytes() - plan.arena_bytes;
    Json device{
        {"ids", ids_of(plan, stage)},    {"kind", plan.device},
        {"peak_bytes", arena + beside},  {"peak_op", program == nullptr ? "" : peak_op(*program)},
        {"by_category", Json::object()}, {"timeline", Json::array()}};
    std::int64_t holes = arena + beside;
    const auto bytes = device_bytes_by_category(plan, stage);
    for (int i = 0; i < kCategories; ++i) {
        const std::int64_t amount = bytes[static_cast<std::size_t>(i)];
        device["by_category"][std::string(category_name(static_cast<Category>(i)))] = amount;
        holes -= amount;
    }
    if (program != nullptr) {
        for (const auto& [position, alive] : program->timeline) {
            device["timeline"].push_back({position, alive + beside});
        }
        device["program"] = program->name;
    }
    device["hardware"] = plan.device_title;
    device["arena_bytes"] = arena;
    device["holes_bytes"] = holes;
    return device;
}

Json collective_json(const Collective& collective, bool predicted) {
    return {{"number", collective.number},
            {"kind", collective.kind},
            {"axes", collective.axes},
            {"bytes", collective.array_bytes},
            {"count", collective.count},
            {"cause", collective.cause},
            {"overlaps", collective.overlaps.empty() ? Json() : Json(collective.overlaps)},
            {"predicted_ms", predicted ? Json(collective.predicted_ms) : Json(nullptr)},
            {"sent_bytes", collective.sent_bytes},
            {"index", collective.position},
            {"what", collective.what},
            {"why", collective.why},
            {"tensor", collective.tensor},
            {"path", collective.path},
            {"phase", ir::phase_name(collective.phase)}};
}

/// Sums over all executions in one call; `share` of the predicted time.
Json ops_json(const PlannedProgram& program) {
    Json out = Json::array();
    for (const OpRow& row : op_rows(program)) {
        const bool predicted = program.predicted_ms > 0;
        const auto if_predicted = [&](double value) { return predicted ? Json(value) : Json(); };
        out.push_back({{"index", row.position},
                       {"name", row.step->op.kind},
                       {"path", row.step->op.path},
                       {"phase", ir::phase_name(row.step->op.phase)},
                       {"kernel", row.step->kernel},
                       {"times", row.times},
                       {"flops", row.flops},
                       {"bytes", row.bytes},
                       {"predicted_ms", if_predicted(row.predicted_ms)},
                       {"share", if_predicted(row.predicted_ms / program.predicted_ms)}});
    }
    return out;
}

Json programs_json(const ExecutionPlan& plan) {
    Json out = Json::array();
    for (const PlannedProgram& program : plan.programs) {
        Json segments = Json::array();
        for (const Segment& segment : program.segments) {
            segments.push_back({{"name", segment.name},
                                {"repeat", segment.repeat},
                                {"first_op", segment.first_step},
                                {"ops", segment.steps}});
        }
        out.push_back({{"name", program.name},
                       {"stage", program.stage},
                       {"peak_bytes", program.peak_bytes},
                       {"peak_op", peak_op(program)},
                       {"flops", program.flops},
                       {"segments", std::move(segments)}});
    }
    return out;
}

Json devices_json(const ExecutionPlan& plan) {
    Json out = Json::array();
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
        out.push_back(device_json(plan, static_cast<int>(stage)));
        if (plan.pipeline) {
            out.back()["stage"] = stage;
            out.back()["layers"] = plan.stages[stage].layers;
        }
    }
    return out;
}

Json pipeline_json(const ExecutionPlan& plan) {
    if (!plan.pipeline) {
        return nullptr;
    }
    const Pipeline& pipeline = *plan.pipeline;
    Json out{{"stages", pipeline.stages},
             {"microbatches", pipeline.microbatches},
             {"schedule", pipeline.schedule},
             {"bubble_fraction", pipeline.bubble_fraction},
             {"even_bubble_fraction", pipeline.even_bubble_fraction},
             {"chunks", pipeline.chunks},
             {"actions", pipeline.actions},
             {"times", Json::array()}};
    for (const auto& stage : pipeline.times) {
        Json row = Json::array();
        for (const ActionTime& time : stage) {
            row.push_back({time.action, time.start_ms, time.end_ms});
        }
        out["times"].push_back(std::move(row));
    }
    return out;
}

Json pass_times_json(const ExecutionPlan& plan) {
    Json out = Json::array();
    for (const PassTime& time : plan.pass_times) {
        out.push_back({{"program", time.program}, {"pass", time.pass}, {"ms", time.ms}});
    }
    return out;
}

Json fixes_json(const sharding::Finding& finding) {
    Json out = Json::array();
    for (const sharding::FindingFix& fix : finding.fixes) {
        out.push_back({{"change", fix.change}, {"overrides", fix.overrides}});
    }
    return out;
}

/// Slower kernels are no mistake of the configuration: they point to no setting.
Json diagnostics_json(const ExecutionPlan& plan) {
    Json out = Json::array();
    for (const std::string& line : plan.fallbacks) {
        out.push_back({{"pointer", ""}, {"severity", "note"}, {"message", line}, {"hint", ""}});
    }
    for (const sharding::Finding& finding : plan.findings) {
        out.push_back({{"pointer", finding.pointer},
                       {"severity", finding.matters() ? "warning" : "note"},
                       {"message", finding.array + " " + sharding::message_of(finding)},
                       {"hint", sharding::hint_of(finding)},
                       {"tensor", finding.array},
                       {"bytes", finding.bytes},
                       {"fixes", fixes_json(finding)}});
    }
    for (const std::string& line : batch_advice_lines(plan)) {
        out.push_back({{"pointer", "/training/global_batch_size"},
                       {"severity", "note"},
                       {"message", line},
                       {"hint", ""}});
    }
    return out;
}

} // namespace

Json to_json(const std::vector<Alternative>& alternatives) {
    Json out = Json::array();
    for (const Alternative& alternative : alternatives) {
        out.push_back(alternative_json(alternative));
    }
    return out;
}

Json on_device_json(std::int64_t landing_bytes, const DeviceMemory& beside) {
    return {{"landing_bytes", landing_bytes},
            {"context_bytes", beside.context_bytes},
            {"library_bytes", beside.library_bytes},
            {"exchange_bytes", beside.exchange_bytes}};
}

Json to_json(const ExecutionPlan& plan) {
    Json document{{"parameters", plan.parameters},
                  {"flops_per_step", plan.flops_per_step},
                  {"compile_ms", plan.compile_ms},
                  {"predicted_step_ms", or_null(plan.predicted_step_ms)},
                  {"fits", plan.fits()},
                  {"limit_bytes", plan.limit_bytes ? Json(*plan.limit_bytes) : Json(nullptr)},
                  {"fixes", to_json(plan.fixes)},
                  {"assumptions", plan.assumptions},
                  {"devices", devices_json(plan)},
                  {"tensors", Json::array()},
                  {"collectives", Json::array()},
                  {"pipeline", pipeline_json(plan)},
                  {"diagnostics", diagnostics_json(plan)}};
    for (const StateSlot& slot : plan.state_slots) {
        document["tensors"].push_back(tensor_row_json(plan, slot));
        if (slot.category == Category::parameters) {
            document["tensors"].back()["weight_decay"] = slot.weight_decay;
            document["tensors"].back()["by_row"] = slot.by_row;
        }
    }
    for (const Tensor& tensor : batch_tensors(plan)) {
        document["tensors"].push_back(tensor_row_json(plan, tensor));
    }
    for (const Activation& activation : plan.activations) {
        document["tensors"].push_back(tensor_row_json(plan, activation));
    }
    for (const PlannedProgram& program : plan.programs) {
        for (const Collective& collective :
             program.name == "train_step" ? collectives(program) : std::vector<Collective>()) {
            document["collectives"].push_back(
                collective_json(collective, program.predicted_ms > 0));
            if (plan.pipeline) {
                document["collectives"].back()["stage"] = program.stage;
            }
        }
    }
    document["mesh"] = Json::array();
    for (const sharding::Axis& axis : plan.mesh.axes) {
        document["mesh"].push_back({axis.name, axis.size});
    }
    document["strategy"] = plan.strategy;
    document["rules"] = Json::array();
    for (const sharding::Rule& rule : plan.rules) {
        document["rules"].push_back({rule.logical, rule.axes});
    }
    document["zero_stage"] = plan.zero_stage;
    const Frozen frozen = frozen_part(plan);
    document["frozen_parameters"] = frozen.parameters;
    document["spared_bytes"] = frozen.spared_bytes;
    document["memory_bytes"] = plan.memory_bytes();
    document["communication_ms"] =
        plan.predicted_step_ms ? Json(plan.communication_ms) : Json(nullptr);
    document["limit_basis"] = plan.limit_basis;
    document["predicted_error"] =
        plan.predicted_step_ms ? Json(plan.predicted_error) : Json(nullptr);
    document["prediction_basis"] = plan.prediction_basis;
    document["host"] = {{"data_cache_bytes", plan.host.data_cache_bytes},
                        {"prefetch_bytes", plan.host.prefetch_bytes},
                        {"staging_bytes", plan.host.staging_bytes},
                        {"inside_bytes", plan.host.inside_bytes},
                        {"library_bytes", plan.host.library_bytes}};
    document["on_device"] = on_device_json(plan.landing_bytes(), plan.beside);
    document["programs"] = programs_json(plan);
    if (const PlannedProgram* step = plan.find("train_step")) {
        document["ops"] = ops_json(*step);
    }
    document["pass_times"] = pass_times_json(plan);
    document["recompute_curve"] = to_json(plan.recompute_curve);
    return document;
}

} // namespace weft::plan
