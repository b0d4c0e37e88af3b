// SPDX-License-Identifier: Apache-2.0
#include "core/compile/programs/programs.h"

#include "core/base/error.h"
#include "core/compile/mesh/batch_advice.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/mesh/stage_config.h"
#include "core/compile/programs/model_programs.h"
#include "core/memory/arena.h"
#include "core/optim/schedule.h"

#include <cmath>
#include <set>

namespace weft::compile {
namespace {

/// What a snapshot for a checkpoint holds.
std::int64_t saved_bytes(const std::vector<plan::StateSlot>& slots) {
    std::int64_t bytes = 0;
    for (const plan::StateSlot& slot : slots) {
        bytes += slot.saved ? memory::align(slot.type.bytes()) : 0;
    }
    return bytes;
}

/// What the configuration and the programs say of how to plan.
void add_settings(const RunConfig& config, const ProgramSet& programs,
                  std::optional<std::int64_t> limit_bytes, PipelineOptions& options) {
    options.compute_dtype = config.compute_dtype();
    options.operands = config.operands();
    const bool copies = config.checkpoint_async || options.device != "cpu";
    options.host.staging_bytes = copies ? saved_bytes(programs.state_slots) : 0;
    if (config.recompute == "blocks") {
        options.recompute.mode = passes::Recompute::blocks;
    } else if (config.recompute == "auto" && (config.memory_budget || limit_bytes)) {
        const bool given =
            config.memory_budget && (!limit_bytes || *config.memory_budget <= *limit_bytes);
        options.budget = MemoryBudget{given ? *config.memory_budget : *limit_bytes, given};
    }
    options.placement = placement_of(config.section("mesh"));
    options.stages = stage_choice(config);
}

/// Without the slots that no program takes; parameters stay, averages may begin as they.
void leave_unread(ProgramSet& set) {
    std::set<std::string> read;
    for (const ir::Program& program : set.programs) {
        for (const ir::Port& port : program.arguments) {
            if (port.role == ir::Role::state) {
                read.insert(port.name);
            }
        }
    }
    std::erase_if(set.state_slots, [&](const plan::StateSlot& slot) {
        return slot.category != plan::Category::parameters && !read.contains(slot.name);
    });
}

} // namespace

BatchPlan plan_batch(const RunConfig& config) {
    const std::int64_t global = config.global_batch_size;
    const std::int64_t ranks = data_ranks(config.section("mesh"));
    const std::int64_t share = (global + ranks - 1) / ranks;
    const std::int64_t micro = config.micro_batch_size.value_or(share);
    const std::int64_t rows = config.micro_batch_size ? micro * ranks : global;
    WEFT_CHECK(micro > 0 && global % rows == 0, "micro_batch_size divides global_batch_size");
    return {global, micro, global / rows, ranks, rows};
}

ProgramSet build_programs(const RunConfig& config, const data::SampleInfo& sample, Scope scope) {
    const RunModel run = declare_run(config, sample);
    const BatchPlan batch = plan_batch(config);
    ProgramSet out;
    out.state_slots = make_slots(run);
    if (stage_choice(config)) {
        out.forward = build_forward(run, batch);
    }
    const bool uses = scope == Scope::run || scope == Scope::rest || scope == Scope::use;
    if (scope == Scope::run || scope == Scope::rest) {
        out.programs.push_back(build_init(run, out.state_slots));
    }
    if (scope == Scope::run || scope == Scope::step || scope == Scope::compare) {
        out.programs.push_back(build_train_step(run, batch));
    }
    if (!uses) {
        return out;
    }
    out.programs.push_back(build_evaluate(run, batch));
    if (!run.loss->of_input || run.model->reconstructs) {
        out.programs.push_back(build_predict(run, batch));
    }
    if (run.model->make != nullptr) {
        out.programs.push_back(build_make(run, batch));
    }
    const bool per_position = run.data.classes > 0 && run.data.target.shape.rank() == 1;
    if (per_position && run.model->language_model(run.model_settings())) {
        out.programs.push_back(build_generate(run, "prefill", config.context()));
        if (run.model->decodes) {
            out.programs.push_back(build_generate(run, "decode", 1));
        }
    }
    if (scope == Scope::use) {
        leave_unread(out);
        hold_weights(config, out);
        out.programs.insert(out.programs.begin(), build_init(run, out.state_slots, true));
    }
    return out;
}

std::int64_t count_parameters(const RunConfig& config, const data::SampleInfo& sample) {
    std::int64_t count = 0;
    const RunModel run = declare_run(config, sample);
    for (const nn::Variable& parameter : run.parameters) {
        count += run.trainable(parameter) && !parameter.by_row ? parameter.shape.elements() : 0;
    }
    return count;
}

plan::ExecutionPlan compile_run(const RunConfig& config, const data::SampleInfo& sample,
                                PipelineOptions options, Scope scope,
                                std::optional<std::int64_t> limit_bytes) {
    ProgramSet programs = build_programs(config, sample, scope);
    add_settings(config, programs, limit_bytes, options);
    plan::ExecutionPlan plan = scope == Scope::layout ? build_layout(std::move(programs), options)
                                                      : build_plan(std::move(programs), options);
    plan.strategy = config.section("mesh").at("strategy").get<std::string>();
    if (options.cost != nullptr && scope != Scope::layout && scope != Scope::rest &&
        scope != Scope::use) {
        plan.batch_advice = advise_batch(plan, plan_batch(config), *options.cost);
    }
    return plan;
}

bool holds_samples(const plan::ExecutionPlan& plan) {
    return plan.find_slot(kHeldDoneSlot) != nullptr;
}

std::vector<LearningRate> learning_rates(const RunConfig& config) {
    const config::Json& schedule = config.section("lr_schedule");
    const auto groups = optim::resolve_groups(config.section("optimizer"));
    std::vector<LearningRate> out = {{"learning_rate", groups.back().learning_rate, schedule}};
    for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
        if (!groups[i].lr_schedule.is_null()) {
            out.push_back({"learning_rate/" + std::to_string(i), groups[i].learning_rate,
                           groups[i].lr_schedule});
        }
    }
    return out;
}

std::string step_port(std::size_t group, std::size_t groups) {
    return group + 1 == groups ? "step" : "step/" + std::to_string(group);
}

namespace {
constexpr std::string_view kFrozenPort = "frozen/";
} // namespace

std::string frozen_port(std::string_view layer) {
    return std::string(kFrozenPort) + std::string(layer);
}

std::string frozen_layer(std::string_view port) {
    return std::string(port.starts_with(kFrozenPort) ? port.substr(kFrozenPort.size()) : "");
}

std::vector<EvaluatedMetric> evaluated_metrics(const RunConfig& config) {
    const auto evaluated = [](std::string name, const nn::ReductionDef& how) {
        std::string port = name + "_" + std::string(how.of);
        return EvaluatedMetric{std::move(name), std::move(port), &how};
    };
    std::vector<EvaluatedMetric> out = {evaluated("loss", nn::reduction_named("mean", "loss"))};
    for (const config::Json& name : config.section("metrics")) {
        const nn::MetricDef* metric = nn::find_metric(name.get<std::string>());
        if (metric != nullptr && metric->build != nullptr) {
            out.push_back(evaluated(std::string(metric->name), reduction_of(*metric)));
        }
    }
    return out;
}

std::string rows_port(const nn::MetricDef& metric) {
    return std::string(metric.name) + "_rows";
}

std::vector<const nn::MetricDef*> metrics_of_sets(const RunConfig& config) {
    std::vector<const nn::MetricDef*> out;
    for (const config::Json& name : config.section("metrics")) {
        const nn::MetricDef* metric = nn::find_metric(name.get<std::string>());
        if (metric != nullptr && metric->score != nullptr) {
            out.push_back(metric);
        }
    }
    return out;
}

std::vector<std::pair<std::string, double>> metrics_from_loss(const RunConfig& config,
                                                              double loss) {
    std::vector<std::pair<std::string, double>> out;
    for (const config::Json& name : config.section("metrics")) {
        const nn::MetricDef* metric = nn::find_metric(name.get<std::string>());
        if (metric != nullptr && metric->from_loss != nullptr) {
            out.emplace_back(metric->name, metric->from_loss(loss));
        }
    }
    return out;
}

double learning_rate_factor(const config::Json& lr_schedule, std::int64_t count,
                            std::int64_t total) {
    return optim::schedule_factor(lr_schedule, count, total);
}

} // namespace weft::compile
