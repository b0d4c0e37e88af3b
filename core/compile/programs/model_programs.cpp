// SPDX-License-Identifier: Apache-2.0
#include "core/compile/programs/model_programs.h"

#include "core/autodiff/gradients.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/mesh/stage_config.h"
#include "core/compile/programs/loss_scale.h"
#include "core/data/transforms/mixing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace weft::compile {
namespace {

using ir::ValueId;

void check_loss_fits(const nn::LossDef& loss, const nn::DataShape& data) {
    if (loss.of_input || loss.takes_either) {
        return; // targets are not read, or whatever they are
    }
    if (loss.point != nullptr && data.target.shape.rank() > 0) {
        throw Error(ErrorKind::usage, "/loss/type",
                    std::string(loss.name) +
                        " compares samples by their labels, but the data "
                        "delivers " +
                        ir::to_text(data.target),
                    "Use cross_entropy, or data with a class per sample.");
    }
    if (loss.needs_classes && (data.classes == 0 || data.target.dtype != ir::DType::i32)) {
        throw Error(ErrorKind::usage, "/loss/type",
                    std::string(loss.name) + " needs classes as targets, but the data delivers " +
                        ir::to_text(data.target),
                    "Use mse.");
    }
    if (!loss.needs_classes && data.classes > 0) {
        throw Error(ErrorKind::usage, "/loss/type",
                    std::string(loss.name) + " needs numbers as targets, but the data has " +
                        std::to_string(data.classes) + " classes",
                    "Use cross_entropy.");
    }
}

constexpr std::int64_t kMostScores = 1000; // of a term, which the host keeps over a whole set

/// What the configuration alone does not know: a loss may take classes and numbers alike.
void check_metric_fits(const nn::MetricDef& metric, std::size_t index, const nn::DataShape& data) {
    const std::string where = "/metrics/" + std::to_string(index);
    if (!metric.part_of.empty()) {
        return; // of no target
    }
    if (!metric.takes_either && metric.needs_classes != (data.classes > 0)) {
        throw Error(ErrorKind::usage, where,
                    "metric " + std::string(metric.name) + " needs " +
                        (metric.needs_classes ? "classes" : "numbers") +
                        " as targets, but the data delivers " +
                        (data.classes > 0 ? std::to_string(data.classes) + " classes"
                                          : ir::to_text(data.target)),
                    metric.needs_classes ? "Use binary_accuracy." : "Use accuracy.");
    }
    if (metric.row_of_all_values && data.classes > 0 && data.target.shape.rank() > 0) {
        throw Error(ErrorKind::usage, where,
                    std::string(metric.name) + " keeps the scores of a whole set, and a text has "
                                               "as many at each position",
                    "Use accuracy or top5_accuracy.");
    }
    if (metric.row_of_all_values && data.outputs() > kMostScores) {
        throw Error(ErrorKind::usage, where,
                    std::string(metric.name) + " keeps the scores of a whole set, and " +
                        std::to_string(data.outputs()) + " of a sample are more than " +
                        std::to_string(kMostScores),
                    metric.of_points ? "Lower dimensions of the loss." : "Use top5_accuracy.");
    }
}

void check_metrics_fit(const RunConfig& config, const nn::DataShape& data) {
    const config::Json& names = config.section("metrics");
    for (std::size_t i = 0; i < names.size(); ++i) {
        check_metric_fits(*nn::find_metric(names[i].get<std::string>()), i, data);
    }
}

struct DeclaredModel {
    ir::Program program;
    std::vector<nn::Variable> variables;
};

/// The model when built for one sample in this mode.
DeclaredModel declare_model(const RunModel& run, nn::Mode mode) {
    DeclaredModel out;
    ir::Program& scratch = out.program;
    const ValueId inputs =
        scratch.add_argument(ir::Role::batch, "inputs", batched(run.data.input, {1}));
    nn::Surroundings around = run.surroundings(mode);
    if (run.takes_labels()) {
        around.labels = scratch.add_argument(ir::Role::batch, "labels", {ir::DType::i32, {1}});
    }
    if (mode == nn::Mode::decode) {
        around.position = scratch.add_argument(ir::Role::scalar, "position", {ir::DType::i64, {}});
    } else if (mode == nn::Mode::train) {
        around.random = scratch.add_argument(ir::Role::scalar, "random", {ir::DType::i64, {3}});
        around.weights = scratch.add_argument(ir::Role::batch, "weights", {ir::DType::f32, {1}});
        around.fresh = scratch.add_argument(ir::Role::state, "fresh", {ir::DType::f32, {1}});
    }
    ops::Builder builder(scratch, scratch.body);
    nn::ModelContext context(builder, around);
    run.model->build(context, run.model_settings(), inputs);
    out.variables = context.variables();
    return out;
}

/// The parameters that weight decay is for: those of two dimensions or more that products read, as
/// they are or as views. Tables whose rows are looked up are none, even where the output multiplies
/// by them as well.
std::set<std::string> matrices_of(const DeclaredModel& model) {
    std::map<ValueId, std::string> names; // parameters and their views
    for (const nn::Variable& variable : model.variables) {
        if (variable.kind == nn::Variable::Kind::parameter && variable.shape.rank() >= 2) {
            names.emplace(variable.value, variable.name);
        }
    }
    std::set<std::string> out;
    std::set<std::string> looked_up;
    const std::function<void(const ir::Block&)> visit = [&](const ir::Block& block) {
        for (const ir::Op& op : block.ops) {
            if (op.is_loop()) {
                visit(op.body.front());
                continue;
            }
            const ops::OpCost cost = ops::cost_of({model.program, op});
            const bool by_index = std::any_of(op.inputs.begin(), op.inputs.end(), [&](ValueId id) {
                return !ir::is_float(model.program.type(id).dtype);
            });
            for (const ValueId input : op.inputs) {
                const auto name = names.find(input);
                if (name == names.end()) {
                    continue;
                }
                if (by_index) {
                    looked_up.insert(name->second);
                } else if (cost.products > 0) {
                    out.insert(name->second);
                } else if (op.inputs.size() == 1 && cost.flops <= 0) {
                    names.emplace(op.outputs[0], name->second);
                }
            }
        }
    };
    visit(model.program.body);
    for (const std::string& table : looked_up) {
        out.erase(table);
    }
    return out;
}

std::vector<nn::Variable> of_kind(const std::vector<nn::Variable>& all, nn::Variable::Kind kind) {
    std::vector<nn::Variable> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [&](const nn::Variable& variable) { return variable.kind == kind; });
    return out;
}

void check_something_trains(const RunModel& run) {
    const bool any = std::any_of(run.parameters.begin(), run.parameters.end(),
                                 [&](const nn::Variable& p) { return run.trainable(p); });
    if (!any) {
        throw Error(ErrorKind::usage, "/init/trainable", "no parameter is trained",
                    run.parameters.empty()
                        ? "The model has no parameters: add a linear layer."
                        : "Use patterns that match, e.g. \"" + run.parameters.back().name + "\".");
    }
}

/// Of a table an update sees some rows: nothing is kept of the others.
void check_updates_rows(const optim::Group& group, const nn::Variable& table) {
    const optim::OptimizerDef& optimizer = *group.optimizer;
    const bool keeps = !optim::arrays_of(optimizer, group.settings, table.shape).empty();
    if (!keeps && !optimizer.averages && !optimizer.matrices_only) {
        return;
    }
    throw Error(ErrorKind::usage, "/optimizer",
                std::string(optimizer.name) + " keeps arrays of every weight, but of " +
                    table.name + ", which is " + ir::to_text(table.shape) +
                    ", an update sees only the rows of its batch",
                "Put {\"match\": \"" + table.name +
                    "\", \"type\": \"sign_sgd\"} first in optimizer.groups; sgd without momentum "
                    "is possible, too.");
}

void check_optimizers_fit(const RunModel& run) {
    for (const nn::Variable& parameter : run.parameters) {
        const optim::Group& group = run.group(parameter);
        if (run.trainable(parameter) && group.optimizer->matrices_only &&
            parameter.shape.rank() != 2) {
            const std::string name(group.optimizer->name);
            throw Error(ErrorKind::usage, "/optimizer",
                        name + " updates matrices, but " + parameter.name + " is " +
                            ir::to_text(parameter.shape),
                        "Put a group before it with a match for such parameters and another type, "
                        "or use " +
                            name + " in a group for the matrices alone.");
        }
        if (run.trainable(parameter) && parameter.by_row) {
            check_updates_rows(group, parameter);
        }
    }
}

/// "blocks.11.mlp.up.weight" -> "blocks.*.mlp.up.weight"
std::string without_numbers(const std::string& name) {
    std::vector<std::string> parts = split(name, '.');
    for (std::string& part : parts) {
        if (part.find_first_not_of("0123456789") == std::string::npos) {
            part = "*";
        }
    }
    return join(parts, ".");
}

/// The names that a target may have, those of alike layers as one.
std::string possible_targets(const RunModel& run) {
    std::set<std::string> names;
    for (const nn::Variable& parameter : run.parameters) {
        if (parameter.shape.rank() == 2 && run.matrices.contains(parameter.name) &&
            !nn::adapted_by(parameter.name)) {
            names.insert(without_numbers(parameter.name));
        }
    }
    return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

/// Every pattern is for a layer, and every layer is larger than its factors.
void check_adapters(const RunModel& run) {
    for (const std::string& pattern : run.lora->targets) {
        const bool any = std::any_of(
            run.parameters.begin(), run.parameters.end(), [&](const nn::Variable& parameter) {
                const auto weight = nn::adapted_by(parameter.name);
                return weight && glob_match(pattern, *weight);
            });
        if (!any) {
            const std::string names = possible_targets(run);
            throw Error(ErrorKind::usage, "/init/lora/targets",
                        "no linear layer's weight is called '" + pattern + "'",
                        names.empty() ? "The model has no linear layers: leave init.lora out."
                                      : "Use a pattern for some of these: " + names + ".");
        }
    }
    for (const nn::Variable& parameter : run.parameters) {
        const auto weight = nn::adapted_by(parameter.name);
        const std::int64_t rank = run.lora->rank;
        if (!weight || std::min(parameter.shape[0], parameter.shape[1]) == rank) {
            continue;
        }
        const std::string least =
            std::to_string(std::min(parameter.shape[0], parameter.shape[1]));
        throw Error(ErrorKind::usage, "/init/lora/rank",
                    "rank " + std::to_string(rank) + " is more than an extent of " + *weight +
                        ", which is " + least,
                    "Use at most " + least + ", or leave the layer out of init.lora.targets.");
    }
}

/// The stages of a pipeline go forward once, and back the way they came.
void check_stages_can_be_cut(const RunModel& run, const DeclaredModel& model) {
    if (!stage_choice(*run.config)) {
        return;
    }
    const std::vector<ir::Op>& ops = model.program.body.ops;
    const auto loop =
        std::find_if(ops.begin(), ops.end(), [](const ir::Op& op) { return op.is_loop(); });
    if (loop != ops.end()) {
        throw Error(ErrorKind::usage, "/mesh/strategy",
                    std::string(loop->path) + " is a loop, which no pipeline cuts",
                    "Use data_parallel or fsdp.");
    }
    if (run.loss->objectives != nullptr) {
        throw Error(ErrorKind::usage, "/mesh/strategy",
                    std::string(run.model->name) +
                        " trains parts of itself on different losses, which no pipeline does",
                    "Use data_parallel or fsdp.");
    }
    if (run.loss->of_input && stage_choice(*run.config)) {
        throw Error(ErrorKind::usage, "/mesh/strategy",
                    std::string(run.model->name) +
                        " is no row of layers that the stages of a pipeline could share",
                    "Use data_parallel or fsdp.");
    }
}

void check_rows_are_held(const RunModel& run) {
    if (stage_choice(*run.config)) {
        throw Error(ErrorKind::usage, "/mesh/strategy",
                    std::string(run.model->name) +
                        " goes through its layers again and again, which no pipeline does",
                    "Use data_parallel or fsdp.");
    }
    if (run.mixes_classes) {
        throw Error(ErrorKind::usage, "/data/mix",
                    std::string(run.model->name) + " works on a sample for several steps, and "
                                                   "mixed ones last for one",
                    "Leave data.mix out.");
    }
}

/// Of the loss, with weights of classes in place of the wish for them (King and Zeng 2001).
config::Json with_balance(config::Json settings, const data::SampleInfo& sample) {
    if (!settings.value("balance_classes", false)) {
        return settings;
    }
    if (sample.class_counts.empty()) {
        throw Error(ErrorKind::usage, "/loss/balance_classes",
                    "how many samples each class has is known of images, idx, arrays and of tables "
                    "that stay in memory, but not of this data",
                    "Set loss.class_weights.");
    }
    const std::int64_t samples =
        std::accumulate(sample.class_counts.begin(), sample.class_counts.end(), std::int64_t{0});
    const double share = static_cast<double>(samples) / static_cast<double>(sample.classes);
    config::Json weights = config::Json::array();
    for (const std::int64_t count : sample.class_counts) {
        weights.push_back(count > 0 ? share / static_cast<double>(count) : 0.0);
    }
    settings["class_weights"] = std::move(weights);
    return settings;
}

/// Of something that every row of a batch [n, B] keeps, each of this shape.
plan::StateSlot row_slot(std::string name, const ir::Shape& each, const BatchPlan& batch) {
    plan::StateSlot slot;
    slot.name = std::move(name);
    slot.category = plan::Category::state;
    slot.type = batched({ir::DType::f32, each}, {batch.accumulation_steps, batch.rows});
    slot.logical_axes.resize(static_cast<std::size_t>(slot.type.shape.rank()));
    slot.logical_axes[1] = "batch";
    slot.trainable = false;
    return slot;
}

plan::StateSlot slot_of(const nn::Variable& variable, std::string name, plan::Category category) {
    plan::StateSlot slot;
    slot.name = std::move(name);
    slot.category = category;
    slot.type = {ir::DType::f32, variable.shape};
    slot.logical_axes = variable.logical_axes;
    slot.trainable = false;
    return slot;
}

} // namespace

// The ops belong to the forward part: what comes of them is differentiated in turn.
ir::ValueId forward_slope(ops::Builder& b, ValueId output, ValueId by) {
    const std::size_t first = b.block().ops.size();
    const ir::Phase phase = b.phase();
    const ir::ValueId seed = ops::constant(b, 1.0, b.shape(output), b.type(output).dtype);
    const ir::ValueIds wanted = {by};
    const ir::ValueIds out = autodiff::append_gradients(b, output, seed, wanted);
    for (std::size_t i = first; i < b.block().ops.size(); ++i) {
        b.block().ops[i].phase = phase;
    }
    return out.front();
}

bool RunModel::trainable(const nn::Variable& parameter) const {
    if (lora && nn::adapted_by(parameter.name)) {
        return true;
    }
    const config::Json& patterns = config->section("init").at("trainable");
    if (patterns.is_null()) {
        return !lora;
    }
    return std::any_of(patterns.begin(), patterns.end(), [&](const config::Json& pattern) {
        return glob_match(pattern.get_ref<const std::string&>(), parameter.name);
    });
}

ir::DType RunModel::kept_as(const nn::Variable& parameter) const {
    const bool low = lora && !trainable(parameter) && parameter.shape.rank() >= 2 &&
                     config->compute_dtype() == ir::DType::bf16;
    return low ? ir::DType::bf16 : ir::DType::f32;
}

const optim::Group& RunModel::group(const nn::Variable& parameter) const {
    return groups[optim::group_of(groups, parameter.name)];
}

config::Json RunModel::update_settings(const nn::Variable& parameter) const {
    const optim::Group& own = group(parameter);
    config::Json out = own.settings;
    if (!own.decays_all && !matrices.contains(parameter.name)) {
        out["weight_decay"] = 0.0;
    }
    return out;
}

nn::DataShape data_shape(const RunConfig& config, const data::SampleInfo& sample) {
    const config::Json& settings = config.section("loss");
    const nn::LossDef* loss = nn::find_loss(settings.at("type").get<std::string>());
    const bool of_points = loss != nullptr && loss->point != nullptr;
    const bool of_symbols = loss != nullptr && loss->symbols != nullptr;
    return {sample.input,
            sample.target,
            sample.classes,
            of_points ? loss->point(settings) : 0,
            of_symbols ? loss->symbols(settings) : 0,
            sample.identifiers};
}

RunModel declare_run(const RunConfig& config, const data::SampleInfo& sample) {
    RunModel run;
    run.config = &config;
    run.data = data_shape(config, sample);
    const config::Json& mix = config.section("data").at("mix");
    data::mixing_of(mix, sample, config.seed); // refuses what does not suit
    run.mixes_classes = data::mixes_classes(mix, sample);
    run.model = nn::find_model(config.model_type());
    run.loss = nn::find_loss(config.section("loss").at("type").get<std::string>());
    WEFT_CHECK(run.model != nullptr && run.loss != nullptr, "the configuration was checked");
    run.loss_settings = with_balance(config.section("loss"), sample);
    for (const config::Json& name : config.section("metrics")) {
        const nn::MetricDef* metric = nn::find_metric(name.get<std::string>());
        WEFT_CHECK(metric != nullptr, "the configuration was checked");
        if (metric->build != nullptr) {
            run.metrics.push_back(metric);
        } else if (metric->row != nullptr) {
            run.set_metrics.push_back(metric);
        }
    }
    run.lora = nn::lora_settings(config.section("init"));
    run.groups = optim::resolve_groups(config.section("optimizer"));
    check_loss_fits(*run.loss, run.data);
    check_metrics_fit(config, run.data);
    const DeclaredModel declared = declare_model(run, nn::Mode::evaluate);
    const std::vector<nn::Variable>& variables = declared.variables;
    run.matrices = matrices_of(declared);
    run.parameters = of_kind(variables, nn::Variable::Kind::parameter);
    run.statistics = of_kind(variables, nn::Variable::Kind::statistic);
    if (run.model->decodes && run.model->language_model(run.model_settings())) {
        run.caches =
            of_kind(declare_model(run, nn::Mode::decode).variables, nn::Variable::Kind::cache);
    }
    if (run.holds_samples()) {
        check_rows_are_held(run);
        run.carries =
            of_kind(declare_model(run, nn::Mode::train).variables, nn::Variable::Kind::carry);
    }
    if (run.lora) {
        check_adapters(run);
    }
    check_stages_can_be_cut(run, declared);
    check_something_trains(run);
    check_optimizers_fit(run);
    return run;
}

std::string held_slot(std::string_view array) {
    return "held." + std::string(array);
}

std::string optimizer_slot(std::string_view state, std::string_view parameter) {
    return "optimizer." + std::string(state) + "/" + std::string(parameter);
}

std::string average_slot(std::string_view parameter) {
    return "ema/" + std::string(parameter);
}

std::string layer_of(std::string_view variable) {
    const std::size_t dot = variable.rfind('.');
    return std::string(dot == std::string_view::npos ? "" : variable.substr(0, dot));
}

ir::Type batched(const ir::Type& sample, std::initializer_list<std::int64_t> leading) {
    ir::Type out{sample.dtype, ir::Shape(leading)};
    for (const std::int64_t extent : sample.shape) {
        out.shape.push_back(extent);
    }
    return out;
}

ir::ValueId meaning_of(const RunModel& run, ops::Builder& b, ir::ValueId output) {
    if (run.loss->expected != nullptr) {
        return run.loss->expected(b, run.loss_settings, output);
    }
    const bool of_classes = run.data.classes > 0 && !run.loss->of_input;
    return of_classes ? b.emit("softmax", {nn::logits_of(*run.loss, b, output)}) : output;
}

nn::Prediction for_metrics(const RunModel& run, ops::Builder& b, nn::Prediction prediction) {
    if (run.data.classes == 0 && !run.loss->of_input) {
        prediction.output = prediction.meaning = meaning_of(run, b, prediction.output);
    }
    return prediction;
}

const nn::ReductionDef& reduction_of(const nn::MetricDef& metric) {
    return nn::reduction_named(metric.reduction, "metric " + std::string(metric.name));
}

nn::Prediction prediction_of(const RunModel& run, const nn::ModelContext& context,
                             ir::ValueId inputs, ir::ValueId output, ir::ValueId targets) {
    nn::Prediction out{output, targets};
    out.verdict = context.verdict();
    if (run.loss->of_input) {
        out.input = inputs;
        out.published = &context.published();
        out.settings = &run.loss_settings;
    }
    return out;
}

ir::ValueId parameter_argument(const RunModel& run, ops::Builder& b,
                               const nn::Variable& parameter) {
    const ir::ValueId kept = b.program().add_argument(ir::Role::state, parameter.name,
                                                      {run.kept_as(parameter), parameter.shape});
    const ir::Name outer = b.path();
    b.set_path(layer_of(parameter.name));
    const ir::ValueId value = ops::cast(b, kept, ir::DType::f32);
    b.set_path(outer);
    return value;
}

void bind_parameters(const RunModel& run, ops::Builder& b, nn::ModelContext& context) {
    for (const nn::Variable& parameter : run.parameters) {
        if (run.config->evaluation_use_ema && run.trainable(parameter) && run.averaged(parameter)) {
            context.bind(parameter.name,
                         b.program().add_argument(ir::Role::state, average_slot(parameter.name),
                                                  {ir::DType::f32, parameter.shape}));
        } else if (run.kept_as(parameter) != ir::DType::f32) {
            context.bind(parameter.name, parameter_argument(run, b, parameter));
        }
    }
}

std::vector<plan::StateSlot> make_slots(const RunModel& run) {
    std::vector<plan::StateSlot> out;
    for (const nn::Variable& parameter : run.parameters) {
        out.push_back(slot_of(parameter, parameter.name, plan::Category::parameters));
        out.back().type.dtype = run.kept_as(parameter);
        out.back().trainable = run.trainable(parameter);
        out.back().by_row = parameter.by_row;
        out.back().saved = out.back().trainable || !run.lora || run.lora->save_base;
        if (out.back().trainable) {
            out.back().weight_decay = run.update_settings(parameter).at("weight_decay");
        }
    }
    for (const nn::Variable& statistic : run.statistics) {
        out.push_back(slot_of(statistic, statistic.name, plan::Category::state));
    }
    for (const nn::Variable& parameter : run.parameters) {
        if (!run.trainable(parameter)) {
            continue;
        }
        const optim::Group& group = run.group(parameter);
        for (const optim::StateArray& state :
             optim::arrays_of(*group.optimizer, group.settings, parameter.shape)) {
            out.push_back(slot_of(parameter, optimizer_slot(state.name, parameter.name),
                                  plan::Category::optimizer));
            out.back().type.dtype = state.dtype;
            if (state.shape != parameter.shape) {
                out.back().type.shape = state.shape;
                out.back().logical_axes.assign(static_cast<std::size_t>(state.shape.rank()), "");
            }
        }
        if (run.averaged(parameter)) {
            out.push_back(slot_of(parameter, average_slot(parameter.name), plan::Category::state));
        }
    }
    for (const nn::Variable& cache : run.caches) {
        out.push_back(slot_of(cache, cache.name, plan::Category::state));
        out.back().type.dtype = run.config->compute_dtype();
        out.back().saved = false;
    }
    if (run.holds_samples()) {
        const BatchPlan batch = plan_batch(*run.config);
        const std::array<ir::Shape, 3> each = {run.data.input.shape, run.data.target.shape, {}};
        for (std::size_t i = 0; i < kHeldArrays.size(); ++i) {
            out.push_back(row_slot(held_slot(kHeldArrays.at(i)), each.at(i), batch));
        }
        out.push_back(row_slot(std::string(kHeldDoneSlot), {}, batch));
        for (const nn::Variable& carry : run.carries) {
            out.push_back(row_slot(carry.name, ir::Shape(carry.shape.span().subspan(1)), batch));
        }
    }
    out.push_back(slot_of({}, std::string(kHaltedSlot), plan::Category::state));
    out.back().saved = false;
    if (run.config->loss_scale) {
        for (const std::string_view name : kLossScaleSlots) {
            out.push_back(slot_of({}, std::string(name), plan::Category::state));
        }
    }
    return out;
}

} // namespace weft::compile
