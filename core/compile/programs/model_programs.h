// SPDX-License-Identifier: Apache-2.0
// Shared by the files that build the programs of a run: the model with its variables, the optimizer
// groups, slot names. Internal to core/compile.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/nn/layers/lora.h"
#include "core/nn/loss_def.h"
#include "core/nn/models/model_list.h"
#include "core/nn/reduction.h"
#include "core/optim/groups.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft::compile {

/// nn::SlopeOf.
ir::ValueId forward_slope(ops::Builder& b, ir::ValueId output, ir::ValueId by);

/// Everything that the programs of one run have in common.
struct RunModel {
    const RunConfig* config = nullptr;
    nn::DataShape data;
    const nn::ModelDef* model = nullptr;
    const nn::LossDef* loss = nullptr;
    config::Json loss_settings;                    // with what follows from the data
    std::vector<const nn::MetricDef*> metrics;     // sums of terms
    std::vector<const nn::MetricDef*> set_metrics; // of a whole evaluation set
    std::vector<optim::Group> groups;
    std::vector<nn::Variable> parameters; // in order of first use
    std::vector<nn::Variable> statistics;
    std::vector<nn::Variable> caches; // language models
    std::vector<nn::Variable> carries; // models that hold samples: [1, ...]

    std::set<std::string> matrices; // parameters that multiply in products
    std::optional<nn::Lora> lora;   // init.lora
    bool mixes_classes = false;     // data.mix gives training samples a second class

    /// What every program of the run provides around the model.
    nn::Surroundings surroundings(nn::Mode mode) const {
        return {
            .mode = mode, .data = data, .lora = lora ? &*lora : nullptr, .slope = forward_slope};
    }
    bool trainable(const nn::Variable& parameter) const;
    /// The element type of its slot: f32, and bf16 of a matrix that stays as it is below low-rank
    /// factors while products read it in bf16.
    ir::DType kept_as(const nn::Variable& parameter) const;
    const optim::Group& group(const nn::Variable& parameter) const;
    /// What updates this parameter: its group's settings, with the weight decay that reaches it.
    config::Json update_settings(const nn::Variable& parameter) const;
    bool takes_labels() const {
        return model->takes_labels && data.classes > 0 && data.target.shape.rank() == 0;
    }
    /// Whether there is an average of the parameter, which is trained.
    bool averaged(const nn::Variable& parameter) const {
        return !parameter.by_row &&
               (config->ema_decay.has_value() || group(parameter).optimizer->averages);
    }
    bool holds_samples() const { return model->holds_samples; }
    const config::Json& model_settings() const { return config->section("model"); }
};

/// What a built model gives to loss and metrics.
nn::Prediction prediction_of(const RunModel& run, const nn::ModelContext& context,
                             ir::ValueId inputs, ir::ValueId output, ir::ValueId targets);

/// Builds the model once to learn its variables. Throws weft::Error{usage} when data, model and
/// loss do not fit.
RunModel declare_run(const RunConfig& config, const data::SampleInfo& sample);

/// f32[]: 1 from the first update on whose loss or gradient was not finite. It is in no checkpoint:
/// what is saved are good states.
inline constexpr std::string_view kHaltedSlot = "training.halted";

/// Of models that hold samples, by name of the batch's array: what each row works on, [n, B, ...].
inline constexpr std::array<std::string_view, 3> kHeldArrays = {"inputs", "targets", "weights"};
/// f32[n, B]: 1 where a row takes another sample in the next step; in the first one all do.
inline constexpr std::string_view kHeldDoneSlot = "held.done";

std::string held_slot(std::string_view array);
std::string optimizer_slot(std::string_view state, std::string_view parameter);
std::string average_slot(std::string_view parameter);
/// What the outputs of this loss mean: probabilities, or the numbers themselves.
ir::ValueId meaning_of(const RunModel& run, ops::Builder& b, ir::ValueId output);
/// The prediction as metrics of terms see it: numbers as they are meant, logits of classes.
nn::Prediction for_metrics(const RunModel& run, ops::Builder& b, nn::Prediction prediction);
const nn::ReductionDef& reduction_of(const nn::MetricDef& metric);
/// "blocks.3.mlp.up.weight" -> "blocks.3.mlp.up"
std::string layer_of(std::string_view variable);
/// [leading..., sample's own extents]
ir::Type batched(const ir::Type& sample, std::initializer_list<std::int64_t> leading);

/// The argument of a parameter's slot, as f32.
ir::ValueId parameter_argument(const RunModel& run, ops::Builder& b, const nn::Variable& parameter);
/// Lets the parameters of an evaluating program be what is kept of them, or the averaged copies
/// where the run asks for it.
void bind_parameters(const RunModel& run, ops::Builder& b, nn::ModelContext& context);

std::vector<plan::StateSlot> make_slots(const RunModel& run);
/// `restores`: a checkpoint is read right after it, so that nothing is drawn for what it must have.
ir::Program build_init(const RunModel& run, const std::vector<plan::StateSlot>& slots,
                       bool restores = false);
ir::Program build_train_step(const RunModel& run, const BatchPlan& batch);
/// The training step as far as losses and metrics: which layers there are, and what they cost.
ir::Program build_forward(const RunModel& run, const BatchPlan& batch);
ir::Program build_evaluate(const RunModel& run, const BatchPlan& batch);
ir::Program build_predict(const RunModel& run, const BatchPlan& batch);
/// Models that make samples.
ir::Program build_make(const RunModel& run, const BatchPlan& batch);
/// Of a model that is not trained any more: what "decode" reads of the weights in the compute type
/// alone it finds so, in slots that a program of their own fills. A token reads every weight once,
/// and nothing else in memory counts beside that. On one device; nothing in f32.
void hold_weights(const RunConfig& config, ProgramSet& set);

/// Language models: `positions` tokens at once ("prefill") or one ("decode").
ir::Program build_generate(const RunModel& run, std::string name, std::int64_t positions);

} // namespace weft::compile
