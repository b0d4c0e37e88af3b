// SPDX-License-Identifier: Apache-2.0
// Builds the set of programs of a run over one set of state slots.
//
// init:       "random" i64[3] = {seed, 0, 0} -> every slot's start value
// train_step: state, batch "inputs" [n, B, ...], "targets" [n, B, ...], "weights" f32[n, B];
//             where data.mix mixes classes also "others" i32[n, B], the classes of the smaller
//             shares, and "shares" f32[n, B], those of the targets; scalars
//             "learning_rate" f32[] (and "learning_rate/<i>" for group i with a schedule of its
//             own: see learning_rates), where layers may be frozen "frozen/<layer>" f32[], "step"
//             i64[] (0-based count before this update), "random" i64[3] = {seed, step, first sample
//             of the batch} (the program moves it on by B per microstep), "inverse_count" f32[] = 1
//             / global loss terms; n = accumulation steps, B = micro batch
//             -> state; outputs "loss" (mean over the global batch), "grad_norm" (before clipping),
//             "finite" (1 when loss and norm are finite and always were; else 0, and the update is
//             not taken) and one "<metric>" per configured metric (reduced over the global batch as
//             its record says). In f16 also "loss_scale" (that the gradients of this update had)
//             and "skipped" (updates of the run that were not taken); "finite" is then 0 only when
//             the scale would have to be below its minimum.
//             The structured op at path "microstep" runs forward and backward n times and
//             accumulates.
//             A model that holds samples has slots "held.*" and "carry.*" [n, B, ...] of its rows,
//             and counts its loss terms itself: there is no "inverse_count". Its output
//             "rows_dropped" is the share of rows that go on with their sample: what comes for them
//             is dropped.
// evaluate:   state, "inputs" [B, ...], "targets", "weights", and "random" i64[3] of a model that
//             draws -> "loss_sum", "<metric>_sum" (or _max, _min, as evaluated_metrics says),
//             "<metric>_rows" f32[B, ..., R] of each metric of a whole set, "count" (f32; the host
//             joins batches in f64) and, where a metric is of samples, "samples" (f32); uses the
//             EMA copy when there is one and it is asked for
// predict:    state, "inputs" [B, ...] -> "prediction": probabilities [B, classes] or values
//             [B, K], "point" where the loss asks for points, "path" f32[B, T] where it is of
//             symbols in order: the likeliest class at each position; of language models
//             probabilities of the token after the last, [B, vocab]. Of models that hold samples
//             "cycles" f32[S, C, B, ..., classes], the same after each of C cycles of each of S
//             steps, and "verdicts" f32[S, C, B] in its place. Where the loss is of the input
//             "reconstruction" [B, input...] in its place, or there is no such program.
// make:       of models that make samples: state, "latents" f32[n, ...], and "labels" i32[n] where
//             they are of a class -> "samples" [n, input...]
// prefill, decode (language models): state + key/value cache slots (not saved), "tokens"
//             i32[1, T or 1], "position" i64[] -> "logits" f32[T or 1, V]; T = context, and a
//             prefill is at position 0. Rows of a prefill past the prompt are written over by the
//             decodes that follow.
// hold:       where the scope is `use` and computation is not in f32: weights -> "compute/<name>",
//             the same in the compute type, which decode reads; to be run once they are there
#pragma once

#include "core/compile/config/run_config.h"
#include "core/compile/pipeline.h"
#include "core/data/dataset.h"
#include "core/nn/reduction.h"

namespace weft::nn {
struct DataShape; // core/nn/model_context.h
struct MetricDef; // core/nn/loss_def.h
} // namespace weft::nn

namespace weft::compile {

/// The batch triple and what follows from it.
struct BatchPlan {
    std::int64_t global_batch_size = 0;
    std::int64_t micro_batch_size = 0; // samples per data rank and microstep, the last may get less
    std::int64_t accumulation_steps = 0;
    std::int64_t data_ranks = 1; // devices that share a microstep's samples
    std::int64_t rows = 0;       // samples per microstep, of all ranks
};

/// micro_batch_size null = the whole share. Errors when it does not divide are diagnostics of
/// read_run_config; here they are programmer faults.
BatchPlan plan_batch(const RunConfig& config);

/// How much is planned: `step` is train_step alone, which decides memory and time of a run;
/// `compare` the same without what is there to read, to compare it with others; `rest` the other
/// programs, to go with a `step`; `use` these for a model that is not trained any more, without
/// the state that only training has; `layout` only where state lies on the mesh, without programs.
enum class Scope : std::uint8_t { run, step, compare, rest, use, layout };

/// Builds the programs. `sample` is what the data delivers. Throws weft::Error{usage} with the
/// layer path when the model does not fit the data.
ProgramSet build_programs(const RunConfig& config, const data::SampleInfo& sample,
                          Scope scope = Scope::run);

/// Trainable elements, tied ones once: ExecutionPlan::parameters before there is a plan.
std::int64_t count_parameters(const RunConfig& config, const data::SampleInfo& sample);

/// From configuration to plan: build_programs, then build_plan. Precision and recompute of
/// `options` come from the configuration, as does host.staging_bytes; `backends` empty: planning
/// only. `limit_bytes` is the memory of the machine: recompute "auto" keeps to it where the
/// configuration sets no budget.
plan::ExecutionPlan compile_run(const RunConfig& config, const data::SampleInfo& sample,
                                PipelineOptions options, Scope scope = Scope::run,
                                std::optional<std::int64_t> limit_bytes = {});

/// The data as a model sees it.
nn::DataShape data_shape(const RunConfig& config, const data::SampleInfo& sample);

/// What predict gives where the loss asks for points, in place of "prediction".
inline constexpr const char* kPointPort = "point";
/// Where it is of symbols in order.
inline constexpr const char* kPathPort = "path";

/// Fills the slots of weights in the compute type, whose names begin so.
inline constexpr const char* kHoldProgram = "hold";
inline constexpr const char* kHeldWeightPrefix = "compute/";

/// Whether samples stay for several updates, so that an update may be of others than its batch.
bool holds_samples(const plan::ExecutionPlan& plan);

/// A learning-rate argument of train_step: value = base * learning_rate_factor(schedule, count,
/// total).
struct LearningRate {
    std::string port; // "learning_rate" (of the optimizer itself), "learning_rate/0", ...
    double base = 0;
    config::Json schedule;
};
/// Every learning-rate argument; the optimizer's own comes first. Groups that change only the rate
/// have none: the program multiplies by their factor.
std::vector<LearningRate> learning_rates(const RunConfig& config);

/// The argument of train_step with the number of updates since a group's optimizer state was zero,
/// without those skipped before that (i64[]): "step" of the optimizer itself, which is the last
/// group, "step/0", ... of the others.
std::string step_port(std::size_t group, std::size_t groups);

/// Where layers may be frozen (training.freezable): the argument of train_step that keeps a layer's
/// parameters as they are where it is 1, f32[].
std::string frozen_port(std::string_view layer);
/// The layer of such an argument; empty: it is another.
std::string frozen_layer(std::string_view port);

/// What the evaluate program gives of the loss and of every metric with a graph, in this order.
struct EvaluatedMetric {
    std::string name; // "accuracy"
    std::string port; // "accuracy_sum"
    const nn::ReductionDef* reduction = nullptr;
};
std::vector<EvaluatedMetric> evaluated_metrics(const RunConfig& config);

/// What the evaluate program gives of a metric of a whole set: a row per term.
std::string rows_port(const nn::MetricDef& metric);
/// Those configured, in order; also of what models write, which has no row.
std::vector<const nn::MetricDef*> metrics_of_sets(const RunConfig& config);

/// Metrics that follow from the mean loss (perplexity, bits_per_byte), of those configured. The
/// programs give "<metric>" outputs for the others only.
std::vector<std::pair<std::string, double>> metrics_from_loss(const RunConfig& config, double loss);

/// Factor of learning_rate for the update with `count` updates done before it, of `total` in the
/// run. Sources: Optax schedules (FACTS C). One-based recipes are honoured.
double learning_rate_factor(const config::Json& lr_schedule, std::int64_t count,
                            std::int64_t total);

} // namespace weft::compile
