// SPDX-License-Identifier: Apache-2.0
// Evaluation sums over a batch with a mask, and predictions.
#include "core/compile/programs/model_programs.h"

#include <algorithm>

namespace weft::compile {
namespace {

using ir::ValueId;

constexpr std::int64_t kMadeAtOnce = 16;
constexpr std::int64_t kTracedAtOnce = 32;

ValueId run_model(const RunModel& run, ops::Builder& b, ValueId inputs) {
    nn::ModelContext context(b, run.surroundings(nn::Mode::evaluate));
    bind_parameters(run, b, context);
    return run.model->build(context, run.model_settings(), inputs);
}

/// Values of samples in the shape that the data gives them.
ValueId as_samples(const RunModel& run, ops::Builder& b, ValueId values) {
    return ops::reshape(b, values, batched(run.data.input, {b.shape(values)[0]}).shape);
}

ValueId add_inputs(const RunModel& run, ir::Program& program, std::int64_t rows) {
    return program.add_argument(ir::Role::batch, "inputs", batched(run.data.input, {rows}));
}

/// Predictions of a model that holds samples, after every cycle.
void add_trace(const RunModel& run, ops::Builder& b, ValueId inputs) {
    nn::Surroundings around = run.surroundings(nn::Mode::evaluate);
    around.traces = true;
    nn::ModelContext context(b, around);
    bind_parameters(run, b, context);
    run.model->build(context, run.model_settings(), inputs);
    const nn::Trace& trace = context.traced();
    WEFT_CHECK(trace.outputs.valid() && trace.verdicts.valid(),
               "a model that holds samples can be followed");
    b.set_path("prediction");
    b.program().add_result(ir::Role::output, "cycles", meaning_of(run, b, trace.outputs));
    b.program().add_result(ir::Role::output, "verdicts", trace.verdicts);
}

/// Loss terms in a batch: samples, or positions whose target is not ignored.
ValueId count_terms(const RunModel& run, ops::Builder& b, ValueId targets, ValueId weights) {
    return run.data.classes > 0 ? nn::weighted_sum(b, nn::counted_targets(b, targets), weights)
                                : ops::reduce_sum(b, weights, {0});
}

} // namespace

ir::Program build_evaluate(const RunModel& run, const BatchPlan& batch) {
    ir::Program program;
    program.name = "evaluate";
    const ValueId inputs = add_inputs(run, program, batch.rows);
    const ValueId targets =
        program.add_argument(ir::Role::batch, "targets", batched(run.data.target, {batch.rows}));
    const ValueId weights =
        program.add_argument(ir::Role::batch, "weights", {ir::DType::f32, {batch.rows}});
    nn::Surroundings around = run.surroundings(nn::Mode::evaluate);
    if (run.model->draws) {
        around.random = program.add_argument(ir::Role::scalar, "random", {ir::DType::i64, {3}});
    }
    around.labels = run.takes_labels() ? targets : ValueId();
    ops::Builder b(program, program.body);
    nn::ModelContext context(b, around);
    bind_parameters(run, b, context);
    const ValueId said = run.model->build(context, run.model_settings(), inputs);
    const nn::Prediction prediction = prediction_of(run, context, inputs, said, targets);
    b.set_path("loss");
    const ValueId terms = run.loss->build(b, run.loss_settings, prediction);
    const std::vector<EvaluatedMetric> outputs = evaluated_metrics(*run.config);
    program.add_result(ir::Role::output, outputs[0].port,
                       outputs[0].reduction->of_terms(b, terms, weights));
    b.set_path("metrics");
    nn::Prediction judged = for_metrics(run, b, prediction);
    for (std::size_t i = 0; i < run.metrics.size(); ++i) {
        const EvaluatedMetric& output = outputs[i + 1];
        b.set_path("metrics." + output.name);
        const ValueId scores = run.metrics[i]->build(b, judged);
        program.add_result(ir::Role::output, output.port,
                           output.reduction->of_terms(b, scores, weights));
    }
    if (!run.set_metrics.empty() && run.data.classes > 0) {
        b.set_path("metrics");
        judged.meaning = meaning_of(run, b, judged.output);
    }
    for (const nn::MetricDef* metric : run.set_metrics) {
        b.set_path("metrics." + std::string(metric->name));
        program.add_result(ir::Role::output, rows_port(*metric), metric->row(b, judged));
    }
    b.set_path("count");
    program.add_result(ir::Role::output, "count", count_terms(run, b, targets, weights));
    if (std::any_of(outputs.begin(), outputs.end(),
                    [](const EvaluatedMetric& output) { return output.reduction->per_sample; })) {
        program.add_result(ir::Role::output, "samples", ops::reduce_sum(b, weights, {0}));
    }
    return program;
}

ir::Program build_predict(const RunModel& run, const BatchPlan& batch) {
    ir::Program program;
    program.name = "predict";
    const std::int64_t rows =
        run.holds_samples() ? std::min(batch.rows, kTracedAtOnce) : batch.rows;
    const ValueId inputs = add_inputs(run, program, rows);
    ops::Builder b(program, program.body);
    if (run.holds_samples()) {
        add_trace(run, b, inputs);
        return program;
    }
    ValueId output = run_model(run, b, inputs);
    if (run.loss->of_input) {
        b.set_path("reconstruction");
        output = as_samples(run, b, meaning_of(run, b, output));
        program.add_result(ir::Role::output, "reconstruction", output);
        return program;
    }
    b.set_path("prediction");
    if (run.data.symbols > 0) {
        program.add_result(ir::Role::output, kPathPort,
                           ops::cast(b, b.emit("argmax", {output}), ir::DType::f32));
        return program;
    }
    const ir::Shape shape = b.shape(output);
    if (shape.rank() == 3) { // [B, T, V]: what follows the last token
        output = ops::slice(b, output, {0, shape[1] - 1, 0}, {shape[0], 1, shape[2]});
        output = ops::reshape(b, output, {shape[0], shape[2]});
    }
    program.add_result(ir::Role::output, run.data.point > 0 ? kPointPort : "prediction",
                       meaning_of(run, b, output));
    return program;
}

ir::Program build_make(const RunModel& run, const BatchPlan& batch) {
    ir::Program program;
    program.name = "make";
    const std::int64_t rows = std::min(batch.rows, kMadeAtOnce);
    const ir::Type latent{ir::DType::f32, run.model->latent(run.data, run.model_settings())};
    const ValueId latents =
        program.add_argument(ir::Role::batch, "latents", batched(latent, {rows}));
    nn::Surroundings around = run.surroundings(nn::Mode::evaluate);
    if (run.takes_labels()) {
        around.labels = program.add_argument(ir::Role::batch, "labels", {ir::DType::i32, {rows}});
    }
    ops::Builder b(program, program.body);
    nn::ModelContext context(b, around);
    bind_parameters(run, b, context);
    const ValueId made = run.model->make(context, run.model_settings(), latents);
    b.set_path("samples");
    program.add_result(ir::Role::output, "samples", as_samples(run, b, meaning_of(run, b, made)));
    return program;
}

} // namespace weft::compile
