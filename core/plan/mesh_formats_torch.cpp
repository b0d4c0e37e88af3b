// SPDX-License-Identifier: Apache-2.0
// A job file for torchtitan (its TOML keys) and flags for Megatron-LM. Both count devices by what
// they do, not by the axes of a mesh.
#include "core/base/text.h"
#include "core/plan/mesh_formats_internal.h"

#include <algorithm>

namespace weft::plan {
namespace {

struct Degrees {
    std::int64_t replicate, shard, expert, context, pipeline, tensor;
    std::int64_t data() const { return replicate * shard * expert; }
    std::int64_t devices() const { return data() * context * pipeline * tensor; }
};

Degrees degrees_of(const MeshRecipe& recipe) {
    const auto of = [&](AxisRole role) { return degree_of(recipe.placement, role); };
    return {of(AxisRole::replicate), of(AxisRole::shard),    of(AxisRole::expert),
            of(AxisRole::context),   of(AxisRole::pipeline), of(AxisRole::tensor)};
}

/// The sequence of what stands between layers is split over the tensor ranks.
bool sequence_parallel(const MeshRecipe& recipe) {
    const std::vector<int> axes = recipe.placement.axes_of("sequence");
    return std::any_of(axes.begin(), axes.end(), [&](int axis) {
        return role_of(recipe.placement, axis) == AxisRole::tensor;
    });
}

std::string number(std::int64_t value) {
    return std::to_string(value);
}

std::string stage_layers(const ExecutionPlan& plan) {
    std::vector<std::string> out;
    for (const Stage& stage : plan.stages) {
        out.push_back(stage.layers);
    }
    return join(out, " | ");
}

/// Lines of "key = value" and of comments.
class Lines {
public:
    explicit Lines(std::string indent = {}) : indent_(std::move(indent)) {}
    void raw(const std::string& text) { text_ += text + "\n"; }
    void comment(const std::string& text) { raw(indent_ + "# " + text); }
    void say(const std::string& text) { raw(indent_ + text); }
    std::string text() const { return text_; }

private:
    std::string indent_;
    std::string text_;
};

/// torchtitan's name of a schedule, or the nearest.
std::string titan_schedule(const std::string& schedule, Lines& out) {
    if (schedule == "gpipe") {
        return "GPipe";
    }
    if (schedule == "interleaved_1f1b") {
        return "Interleaved1F1B";
    }
    if (schedule != "1f1b") {
        out.comment("The plan's schedule is " + schedule +
                    ", which torchtitan has not; the nearest is:");
    }
    return "1F1B";
}

void titan_data(const ExecutionPlan& plan, const Degrees& degrees, Lines& out) {
    const std::int64_t shard = degrees.shard * degrees.expert;
    if (plan.zero_stage == 0 && degrees.expert > 1) {
        out.comment(
            "The plan keeps what is no expert whole on each device; torchtitan lends expert "
            "ranks from those that shard.");
    }
    if (plan.zero_stage == 1 || plan.zero_stage == 2) {
        out.comment("ZeRO " + number(plan.zero_stage) +
                    " keeps parameters whole; torchtitan splits them and, with \"never\", gathers "
                    "them once a step.");
    }
    out.say("data_parallel_replicate_degree = " + number(degrees.replicate));
    out.say("data_parallel_shard_degree = " + number(shard));
    if (shard > 1) {
        out.say(std::string("fsdp_reshard_after_forward = ") +
                (plan.zero_stage == 3 ? "\"always\"" : "\"never\""));
    }
    if (degrees.context > 1 && plan.zero_stage < 3) {
        out.comment("torchtitan splits parameters over context ranks too.");
    }
}

void titan_pipeline(const ExecutionPlan& plan, const MeshRecipe& recipe, Lines& out) {
    if (!plan.pipeline) {
        return;
    }
    out.say("pipeline_parallel_schedule = \"" + titan_schedule(plan.pipeline->schedule, out) +
            "\"");
    out.say("pipeline_parallel_microbatch_size = " + number(recipe.micro_batch_size));
    if (const auto layers = even_layers(plan, recipe)) {
        out.say("pipeline_parallel_layers_per_stage = " + number(*layers));
    }
    out.comment("stages of the plan: " + stage_layers(plan));
}

void megatron_zero(const ExecutionPlan& plan, const Degrees& degrees, Lines& out) {
    if (plan.zero_stage == 0) {
        return;
    }
    out.say("--use-distributed-optimizer");
    if (plan.zero_stage >= 2) {
        out.say("--use-megatron-fsdp");
        out.say(std::string("--data-parallel-sharding-strategy ") +
                (plan.zero_stage == 2 ? "optim_grads" : "optim_grads_params"));
        out.say("--ckpt-format fsdp_dtensor");
    }
    if (degrees.replicate > 1) {
        out.say("--num-distributed-optimizer-instances " + number(degrees.replicate));
    }
}

void megatron_pipeline(const ExecutionPlan& plan, const MeshRecipe& recipe, Lines& out) {
    if (!plan.pipeline) {
        return;
    }
    const std::string& schedule = plan.pipeline->schedule;
    if (plan.pipeline->chunks > 1) {
        if (const auto layers = even_layers(plan, recipe)) {
            out.say("--num-layers-per-virtual-pipeline-stage " + number(*layers));
        } else {
            out.comment(number(plan.pipeline->chunks) +
                        " chunks a stage of unequal layers: Megatron wants as many in each.");
        }
    }
    if (schedule != "1f1b" && schedule != "interleaved_1f1b") {
        out.comment("The plan's schedule is " + schedule + "; Megatron runs 1f1b.");
    }
    out.comment("stages of the plan: " + stage_layers(plan));
}

void megatron_recompute(const MeshRecipe& recipe, Lines& out) {
    if (recipe.recompute == "blocks") {
        out.say("--recompute-granularity full");
        out.say("--recompute-method uniform");
        out.say("--recompute-num-layers 1");
    } else if (recipe.recompute == "auto") {
        out.comment("The plan computes again as little as its memory asks for; the nearest is:");
        out.say("--recompute-granularity selective");
    }
}

} // namespace

std::string mesh_as_torchtitan(const ExecutionPlan& plan, const MeshRecipe& recipe) {
    const Degrees degrees = degrees_of(recipe);
    Lines out;
    out.comment("The mesh of " + shown(recipe.name) + ": " + plan.mesh.to_text() + ", " +
                number(plan.mesh.devices()) + " devices.");
    for (const std::string& line :
         unsaid(recipe, "torchtitan",
                {AxisRole::pipeline, AxisRole::replicate, AxisRole::shard, AxisRole::expert,
                 AxisRole::context, AxisRole::tensor})) {
        out.comment(line);
    }
    out.comment(recipe.sequence_length > 0
                    ? "[model] and its size are not said here: torchtitan has flavours of its own."
                    : "torchtitan trains language models, and this is a model of type " +
                          shown(recipe.model) + ".");
    out.raw("\n[parallelism]");
    titan_data(plan, degrees, out);
    out.say("tensor_parallel_degree = " + number(degrees.tensor));
    if (degrees.tensor > 1 && !sequence_parallel(recipe)) {
        out.comment(
            "The plan has no rule [\"sequence\", ...] for these ranks; torchtitan splits the "
            "sequence between layers over them.");
    }
    out.say("pipeline_parallel_degree = " + number(degrees.pipeline));
    titan_pipeline(plan, recipe, out);
    out.say("context_parallel_degree = " + number(degrees.context));
    out.say("expert_parallel_degree = " + number(degrees.expert));
    out.raw("\n[training]");
    // A pipeline cuts the local batch into its microbatches; else each is a step of accumulation.
    out.say("local_batch_size = " + number(plan.pipeline ? recipe.global_batch_size / degrees.data()
                                                         : recipe.micro_batch_size));
    out.say("global_batch_size = " + number(recipe.global_batch_size));
    if (recipe.sequence_length > 0) {
        out.say("seq_len = " + number(recipe.sequence_length));
    }
    if (recipe.precision == "f16") {
        out.comment("The plan computes in f16; torchtitan scales no loss, and the nearest is:");
    } else if (recipe.precision == "fp8") {
        out.comment("Linear layers multiply in fp8: add torchtitan's float8 converter.");
    } else if (recipe.precision == "tf32") {
        out.comment("torch.set_float32_matmul_precision(\"high\") gives tf32 products.");
    }
    out.say(std::string("mixed_precision_param = ") +
            (recipe.precision.ends_with("f32") ? "\"float32\"" : "\"bfloat16\""));
    out.raw("\n[activation_checkpoint]");
    if (recipe.recompute == "auto") {
        out.comment("The plan computes again as little as its memory asks for; the nearest is:");
    }
    out.say(std::string("mode = ") + (recipe.recompute == "blocks" ? "\"full\""
                                      : recipe.recompute == "auto" ? "\"selective\""
                                                                   : "\"none\""));
    return out.text();
}

std::string mesh_as_megatron(const ExecutionPlan& plan, const MeshRecipe& recipe) {
    const Degrees degrees = degrees_of(recipe);
    const std::vector<AxisRole> usual = {AxisRole::pipeline, AxisRole::replicate, AxisRole::shard,
                                         AxisRole::expert,   AxisRole::context,   AxisRole::tensor};
    const std::vector<AxisRole> data_first = {AxisRole::replicate, AxisRole::shard,
                                              AxisRole::pipeline,  AxisRole::expert,
                                              AxisRole::context,   AxisRole::tensor};
    const bool mapped =
        !placed_like(recipe.placement, usual) && placed_like(recipe.placement, data_first);
    Lines out("    ");
    out.raw("# The mesh of " + shown(recipe.name) + ": " + plan.mesh.to_text() + ", " +
            number(plan.mesh.devices()) + " devices.");
    out.raw("# torchrun pretrain_gpt.py \"${MESH_ARGS[@]}\" ... on as many processes.");
    out.raw("MESH_ARGS=(");
    for (const std::string& line : unsaid(recipe, "Megatron", mapped ? data_first : usual)) {
        out.comment(line);
    }
    if (recipe.sequence_length == 0) {
        out.comment("Megatron trains language models, and this is a model of type " +
                    shown(recipe.model) + ".");
    }
    out.say("--tensor-model-parallel-size " + number(degrees.tensor));
    if (sequence_parallel(recipe)) {
        out.say("--sequence-parallel");
    }
    out.say("--pipeline-model-parallel-size " + number(degrees.pipeline));
    megatron_pipeline(plan, recipe, out);
    out.say("--context-parallel-size " + number(degrees.context));
    out.say("--expert-model-parallel-size " + number(degrees.expert));
    if (mapped) {
        out.say("--use-tp-pp-dp-mapping");
    }
    out.comment("data parallel size " + number(degrees.data()) + " = " + number(degrees.devices()) +
                " devices / (tensor x pipeline x context)");
    megatron_zero(plan, degrees, out);
    out.say("--micro-batch-size " + number(recipe.micro_batch_size));
    out.say("--global-batch-size " + number(recipe.global_batch_size));
    if (recipe.sequence_length > 0) {
        out.say("--seq-length " + number(recipe.sequence_length));
    }
    if (recipe.precision == "bf16" || recipe.precision == "fp8") {
        out.say("--bf16");
    }
    if (recipe.precision == "fp8") {
        out.say("--fp8-format hybrid");
        out.say("--fp8-recipe tensorwise");
    }
    if (recipe.loss_scale) {
        out.say("--fp16");
        out.say("--initial-loss-scale " + config::Json(recipe.loss_scale->initial).dump());
        out.say("--loss-scale-window " + number(recipe.loss_scale->growth_interval));
        out.say("--hysteresis " + number(recipe.loss_scale->hysteresis));
        out.say("--min-loss-scale " + config::Json(recipe.loss_scale->minimum).dump());
    }
    if (recipe.max_grad_norm) {
        out.say("--clip-grad " + config::Json(*recipe.max_grad_norm).dump());
    }
    megatron_recompute(recipe, out);
    out.raw(")");
    return out.text();
}

} // namespace weft::plan
