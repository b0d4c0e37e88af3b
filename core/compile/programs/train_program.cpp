// SPDX-License-Identifier: Apache-2.0
// The training step, in the fixed order of ARCHITECTURE.md section 4: per microstep forward,
// backward, accumulate in f32; then global norm, clip, update, average. An update whose loss or
// norm is not finite is computed and not taken, nor is any that follows it; with a loss scale the
// next ones are, until the scale would have to be smaller than allowed.
#include "core/compile/programs/model_programs.h"

#include "core/autodiff/gradients.h"
#include "core/base/text.h"
#include "core/compile/programs/loss_scale.h"

#include <algorithm>
#include <map>

namespace weft::compile {
namespace {

using ir::ValueId;

using ir::ValueIds;

class TrainStep {
public:
    TrainStep(const RunModel& run, const BatchPlan& batch)
        : run_(run), batch_(batch), builder_(program_, program_.body) {
        program_.name = "train_step";
    }

    /// With nothing to train: a microstep is what it computes before its gradients.
    ir::Program forward() {
        add_arguments();
        run_microsteps();
        return std::move(program_);
    }

    ir::Program build() {
        for (const nn::Variable& parameter : run_.parameters) {
            if (run_.trainable(parameter) && parameter.by_row) {
                tables_.push_back({.variable = &parameter});
            } else if (run_.trainable(parameter)) {
                trained_.push_back({&parameter, {}, {}, {}, {}});
            }
        }
        add_arguments();
        run_microsteps();
        builder_.set_phase(ir::Phase::update);
        builder_.set_path("update");
        measure();
        update_parameters();
        take_statistics();
        take_rows();
        take_loss_scale();
        program_.add_result(ir::Role::output, "loss", loss_);
        program_.add_result(ir::Role::output, "grad_norm", norm_);
        program_.add_result(ir::Role::state, std::string(kHaltedSlot), halts_);
        program_.add_result(ir::Role::output, "finite", ops::affine(builder_, halts_, -1.0, 1.0));
        for (std::size_t i = 0; i < run_.metrics.size(); ++i) {
            program_.add_result(ir::Role::output, std::string(run_.metrics[i]->name), metrics_[i]);
        }
        if (run_.holds_samples()) {
            program_.add_result(ir::Role::output, "rows_dropped", rows_dropped_);
        }
        return std::move(program_);
    }

private:
    /// A parameter with what belongs to it; `gradient` is summed over the global batch.
    struct Trained {
        const nn::Variable* variable;
        ValueId value, gradient, average;
        ValueIds state;
    };

    /// A table of which the rows that were read are updated, [n, B] of them: no array of its shape
    /// is made.
    struct Table {
        const nn::Variable* variable;
        ValueId value{};
        ValueId read{};            // rows in the microstep
        ValueId ids{}, gradient{}; // i32[n, B], [n, B, C]
        ValueId firsts{}, sums{};  // of all rows of an id, where it stands first
    };

    ValueId state_argument(const std::string& name, const ir::Shape& shape,
                           ir::DType dtype = ir::DType::f32) {
        return program_.add_argument(ir::Role::state, name, {dtype, shape});
    }

    ValueId scalar(const std::string& name, ir::Type type = {}) {
        return program_.add_argument(ir::Role::scalar, name, type);
    }

    void add_arguments() {
        for (const nn::Variable& parameter : run_.parameters) {
            parameters_[parameter.name] = parameter_argument(run_, builder_, parameter);
        }
        for (const nn::Variable& statistic : run_.statistics) {
            statistics_.push_back(state_argument(statistic.name, statistic.shape));
        }
        for (Trained& trained : trained_) {
            add_state(trained);
        }
        for (Table& table : tables_) {
            table.value = parameters_.at(table.variable->name);
        }
        if (trains()) {
            halted_ = state_argument(std::string(kHaltedSlot), {});
        }
        if (trains() && run_.config->loss_scale) {
            for (std::size_t i = 0; i < LossScaleSlot::count; ++i) {
                scaling_.at(i) = state_argument(std::string(kLossScaleSlots.at(i)), {});
            }
            scale_ = scaling_[LossScaleSlot::scale];
        }
        const std::int64_t n = batch_.accumulation_steps;
        const std::int64_t samples = batch_.rows;
        const auto data = [&](const char* name, const ir::Type& of_sample) {
            data_.push_back(
                program_.add_argument(ir::Role::batch, name, batched(of_sample, {n, samples})));
        };
        data("inputs", run_.data.input);
        data("targets", run_.data.target);
        data("weights", {ir::DType::f32, {}});
        if (run_.mixes_classes) {
            data("others", run_.data.target);
            data("shares", {ir::DType::f32, {}});
        }
        for (const LearningRate& rate : learning_rates(*run_.config)) {
            rates_[rate.port] = scalar(rate.port);
        }
        for (const Trained& trained : trained_) {
            add_frozen(*trained.variable);
        }
        for (const Table& table : tables_) {
            add_frozen(*table.variable);
        }
        for (std::size_t group = 0; group < run_.groups.size(); ++group) {
            steps_.push_back(scalar(step_port(group, run_.groups.size()), {ir::DType::i64, {}}));
        }
        random_ = scalar("random", {ir::DType::i64, {3}});
        if (run_.holds_samples()) {
            hold_samples();
        } else {
            inverse_count_ = scalar("inverse_count");
        }
        if (std::any_of(run_.metrics.begin(), run_.metrics.end(), [](const nn::MetricDef* metric) {
                return reduction_of(*metric).per_sample;
            })) {
            inverse_samples_ = inverse_of(data_[kWeights]);
        }
    }

    void add_frozen(const nn::Variable& parameter) {
        const std::string layer = frozen_with(parameter);
        if (run_.config->freezable && !frozen_.contains(layer)) {
            frozen_[layer] = scalar(frozen_port(layer));
        }
    }

    /// The layer that a parameter is frozen with: a parameter of the model itself is its own.
    static std::string frozen_with(const nn::Variable& parameter) {
        const std::string layer = layer_of(parameter.name);
        return layer.empty() ? parameter.name : layer;
    }

    bool trains() const { return !trained_.empty() || !tables_.empty(); }

    // Rows that have done with their sample take the one that comes; the others keep theirs, and
    // what comes for them is dropped. How many loss terms there are then, nobody knows before.
    void hold_samples() {
        builder_.set_path("held");
        const std::int64_t n = batch_.accumulation_steps;
        const std::int64_t rows = batch_.rows;
        const ValueId done = state_argument(std::string(kHeldDoneSlot), {n, rows});
        for (std::size_t i = 0; i < kHeldArrays.size(); ++i) {
            const ir::Type type = program_.type(data_[i]);
            const ValueId old = state_argument(held_slot(kHeldArrays.at(i)), type.shape);
            ir::Shape rank{n, rows};
            while (rank.rank() < type.shape.rank()) {
                rank.push_back(1);
            }
            const ValueId held = ops::select(builder_, ops::reshape(builder_, done, rank),
                                             ops::cast(builder_, data_[i], ir::DType::f32), old);
            rows_.push_back({held_slot(kHeldArrays.at(i)), old, held});
            data_[i] = ops::cast(builder_, held, type.dtype);
        }
        rows_.push_back({std::string(kHeldDoneSlot), done, {}});
        for (const nn::Variable& carry : run_.carries) {
            const ir::Type type =
                batched({ir::DType::f32, ir::Shape(carry.shape.span().subspan(1))}, {n, rows});
            rows_.push_back({carry.name, state_argument(carry.name, type.shape), {}});
        }
        ValueId terms = data_[kWeights];
        if (run_.data.classes > 0) {
            terms = nn::counted_targets(builder_, data_[kTargets]);
            const bool each = builder_.shape(terms).rank() == 3;
            const ValueId weights =
                each ? ops::reshape(builder_, data_[kWeights], {n, rows, 1}) : data_[kWeights];
            terms = ops::mul(builder_, terms, weights);
        }
        inverse_count_ = inverse_of(terms);
        const ValueId taken = ops::reduce_sum(builder_, done, {0, 1});
        rows_dropped_ = ops::affine(builder_, taken, -1.0 / static_cast<double>(n * rows), 1.0);
        builder_.set_path("");
    }

    /// 1 / sum of all, at most 1.
    ValueId inverse_of(ValueId terms) {
        std::vector<std::int64_t> dims;
        for (int dim = 0; dim < builder_.shape(terms).rank(); ++dim) {
            dims.push_back(dim);
        }
        const ValueId one = ops::constant(builder_, 1.0);
        return ops::div(builder_, one,
                        ops::maximum(builder_, ops::reduce_sum(builder_, terms, dims), one));
    }

    void add_state(Trained& trained) {
        const nn::Variable& parameter = *trained.variable;
        trained.value = parameters_.at(parameter.name);
        const optim::Group& group = run_.group(parameter);
        for (const optim::StateArray& state :
             optim::arrays_of(*group.optimizer, group.settings, parameter.shape)) {
            trained.state.push_back(state_argument(optimizer_slot(state.name, parameter.name),
                                                   state.shape, state.dtype));
        }
        if (run_.averaged(parameter)) {
            trained.average = state_argument(average_slot(parameter.name), parameter.shape);
        }
    }

    // The loop over microsteps. Carried: gradient sums, loss, metrics, statistics, random key.
    void run_microsteps() {
        ValueIds carried;
        for (const Trained& trained : trained_) {
            builder_.set_path(layer_of(trained.variable->name));
            carried.push_back(ops::constant(builder_, 0.0, trained.variable->shape));
        }
        builder_.set_path("");
        carried.push_back(ops::constant(builder_, 0.0)); // loss
        for (const nn::MetricDef* metric : run_.metrics) {
            carried.push_back(ops::constant(builder_, reduction_of(*metric).start));
        }
        carried.insert(carried.end(), statistics_.begin(), statistics_.end());
        carried.push_back(random_);

        ir::Op loop;
        loop.kind = "repeat";
        loop.path = "microstep";
        loop.attributes = {{"count", batch_.accumulation_steps},
                           {"carried", static_cast<std::int64_t>(carried.size())},
                           {"reverse", false}};
        loop.inputs = carried;
        loop.inputs.insert(loop.inputs.end(), data_.begin(), data_.end());
        for (std::size_t i = kHeldArrays.size(); i < rows_.size(); ++i) {
            loop.inputs.push_back(rows_[i].old);
        }
        loop.body.push_back(microstep(carried));
        for (const ValueId value : carried) {
            loop.outputs.push_back(program_.add_value(ir::Type(program_.type(value))));
        }
        for (std::size_t i = kHeldArrays.size(); i < rows_.size(); ++i) {
            rows_[i].updated = program_.add_value(ir::Type(program_.type(rows_[i].old)));
            loop.outputs.push_back(rows_[i].updated);
        }
        for (std::size_t i = 0; i < tables_.size(); ++i) {
            const ir::Block& body = loop.body.front();
            const auto stacked = [&](std::size_t result) {
                const ir::Type each = program_.type(body.results[result]);
                loop.outputs.push_back(
                    program_.add_value(batched(each, {batch_.accumulation_steps})));
                return loop.outputs.back();
            };
            const std::size_t first = body.results.size() - 2 * (tables_.size() - i);
            tables_[i].ids = stacked(first);
            tables_[i].gradient = stacked(first + 1);
        }
        take_outputs(loop.outputs);
        builder_.append(std::move(loop));
    }

    void take_outputs(const ValueIds& outputs) {
        auto next = outputs.begin();
        for (Trained& trained : trained_) {
            trained.gradient = *next++;
            program_.value(trained.gradient).name = "gradient/" + trained.variable->name;
        }
        loss_ = *next++;
        for (std::size_t i = 0; i < run_.metrics.size(); ++i) {
            metrics_.push_back(*next++);
        }
        for (std::size_t i = 0; i < run_.statistics.size(); ++i) {
            new_statistics_.push_back(*next++);
        }
    }

    ir::Block microstep(const ValueIds& carried) {
        ir::Block body;
        for (const ValueId value : carried) {
            body.arguments.push_back(program_.add_value(ir::Type(program_.type(value))));
        }
        const auto data = [&](const ir::Type& of_sample) {
            body.arguments.push_back(program_.add_value(batched(of_sample, {batch_.rows})));
            return body.arguments.back();
        };
        const ValueId inputs = data(run_.data.input);
        const ValueId targets = data(run_.data.target);
        const ValueId weights = data({ir::DType::f32, {}});
        const ValueId others = run_.mixes_classes ? data(run_.data.target) : ValueId();
        const ValueId shares = run_.mixes_classes ? data({ir::DType::f32, {}}) : ValueId();

        ops::Builder b(program_, body);
        const ValueId random = carried_argument(body, carried.size() - 1);
        nn::Surroundings around = run_.surroundings(nn::Mode::train);
        around.random = random;
        around.weights = weights;
        around.labels = run_.takes_labels() ? targets : ValueId();
        std::vector<ValueId> carries;
        if (run_.holds_samples()) {
            around.fresh = data({ir::DType::f32, {}});
            for (const nn::Variable& carry : run_.carries) {
                carries.push_back(data({ir::DType::f32, ir::Shape(carry.shape.span().subspan(1))}));
            }
        }
        nn::ModelContext context(b, around);
        bind_variables(context, body);
        for (std::size_t i = 0; i < carries.size(); ++i) {
            context.bind(run_.carries[i].name, carries[i]);
        }
        const ValueId output = run_.model->build(context, run_.model_settings(), inputs);
        find_read_rows(context);
        nn::Prediction prediction = prediction_of(run_, context, inputs, output, targets);
        prediction.other = others;
        prediction.share = shares;
        if (prediction.verdict.weight > 0.0) {
            b.set_path("loss");
            context.penalise(
                ops::affine(b, nn::verdict_loss(b, prediction), prediction.verdict.weight));
        }
        add_results(b, body, prediction, weights, context.penalty());
        add_statistics(context, body);
        b.set_phase(ir::Phase::forward);
        b.set_path("microstep");
        body.results.push_back(next_random(b, random));
        add_rows(context, body);
        body.results.insert(body.results.end(), row_gradients_.begin(), row_gradients_.end());
        return body;
    }

    void find_read_rows(const nn::ModelContext& context) {
        for (Table& table : tables_) {
            const auto is_of = [&](const nn::RowReading& one) {
                return one.table == table.variable->name;
            };
            const auto& all = context.readings();
            const auto reading = std::find_if(all.begin(), all.end(), is_of);
            WEFT_CHECK(std::count_if(all.begin(), all.end(), is_of) == 1,
                       "a table is read once in a microstep");
            table.ids = reading->ids;
            table.read = reading->rows;
        }
    }

    // What rows are left with, in the order of their slots.
    void add_rows(const nn::ModelContext& context, ir::Block& body) const {
        if (!run_.holds_samples()) {
            return;
        }
        WEFT_CHECK(context.finished().valid(), "a model that holds samples finishes them");
        body.results.push_back(context.finished());
        for (const nn::Variable& carry : run_.carries) {
            const auto updated =
                std::find_if(context.updates().begin(), context.updates().end(),
                             [&](const auto& update) { return update.first == carry.name; });
            WEFT_CHECK(updated != context.updates().end(), "a carry is updated in every step");
            body.results.push_back(updated->second);
        }
    }

    static ValueId carried_argument(const ir::Block& body, std::size_t index) {
        return body.arguments[index];
    }

    std::size_t first_statistic() const { return trained_.size() + 1 + run_.metrics.size(); }

    void bind_variables(nn::ModelContext& context, const ir::Block& body) {
        for (const auto& [name, value] : parameters_) {
            context.bind(name, value);
        }
        for (std::size_t i = 0; i < run_.statistics.size(); ++i) {
            context.bind(run_.statistics[i].name, carried_argument(body, first_statistic() + i));
        }
    }

    // Loss, metrics and gradients of one microbatch, added to what came before.
    void add_results(ops::Builder& b, ir::Block& body, const nn::Prediction& prediction,
                     ValueId weights, ValueId penalty) {
        b.set_path("loss");
        std::vector<nn::Objective> objectives =
            nn::objectives_of(*run_.loss, b, run_.loss_settings, prediction);
        ValueId loss;
        for (nn::Objective& objective : objectives) {
            objective.terms =
                ops::mul(b, nn::weighted_sum(b, objective.terms, weights), inverse_count_);
            loss = loss.valid() ? ops::add(b, loss, objective.terms) : objective.terms;
        }
        ValueIds sums = {ops::add(b, carried_argument(body, trained_.size()), loss)};
        b.set_path("metrics");
        const nn::Prediction judged =
            run_.metrics.empty() ? prediction : for_metrics(run_, b, prediction);
        for (std::size_t i = 0; i < run_.metrics.size(); ++i) {
            b.set_path("metrics." + std::string(run_.metrics[i]->name));
            const ValueId scores = run_.metrics[i]->build(b, judged);
            const nn::ReductionDef& how = reduction_of(*run_.metrics[i]);
            ValueId own = how.of_terms(b, scores, weights);
            own = how.per_term     ? ops::mul(b, own, inverse_count_)
                  : how.per_sample ? ops::mul(b, own, inverse_samples_)
                                   : own;
            sums.push_back(how.join(b, carried_argument(body, trained_.size() + 1 + i), own));
        }
        b.set_path("loss");
        if (penalty.valid()) {
            WEFT_CHECK(objectives.size() == 1, "a penalty is a part of the one objective");
            objectives[0].terms = penalised(b, loss, penalty, weights);
        }
        add_gradients(b, body, objectives);
        body.results.insert(body.results.end(), sums.begin(), sums.end());
    }

    // The loss and what the layers add to it [B], which stands for each term of a sample.
    ValueId penalised(ops::Builder& b, ValueId loss, ValueId penalty, ValueId weights) {
        const ir::Shape& target = run_.data.target.shape;
        const auto terms = static_cast<double>(run_.data.classes > 0 ? target.elements() : 1);
        const ValueId sum = ops::affine(b, nn::weighted_sum(b, penalty, weights), terms);
        return ops::add(b, loss, ops::mul(b, sum, inverse_count_));
    }

    // Of every objective, whose terms are summed, by the parameters that it trains.
    void add_gradients(ops::Builder& b, ir::Block& body,
                       const std::vector<nn::Objective>& objectives) {
        b.set_phase(ir::Phase::backward);
        const ValueId seed = scale_.valid() ? scale_ : ops::constant(b, 1.0);
        std::vector<std::pair<std::string, ValueId>> by_name; // tables behind the others
        for (const Trained& trained : trained_) {
            by_name.emplace_back(trained.variable->name, trained.value);
        }
        for (const Table& table : tables_) {
            by_name.emplace_back(table.variable->name, table.read);
        }
        ValueIds gradients(by_name.size());
        for (const nn::Objective& objective : objectives) {
            std::vector<std::size_t> places;
            ValueIds wanted;
            for (std::size_t i = 0; i < by_name.size(); ++i) {
                if (!gradients[i].valid() && glob_match(objective.match, by_name[i].first)) {
                    places.push_back(i);
                    wanted.push_back(by_name[i].second);
                }
            }
            const auto own = autodiff::append_gradients(b, objective.terms, seed, wanted);
            for (std::size_t i = 0; i < places.size(); ++i) {
                gradients[places[i]] = own[i];
            }
        }
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            WEFT_CHECK(gradients[i].valid(), "nothing trains " + by_name[i].first);
            if (i < trained_.size()) {
                b.set_path(layer_of(by_name[i].first));
                body.results.push_back(ops::add(b, carried_argument(body, i), gradients[i]));
            } else {
                row_gradients_.push_back(tables_[i - trained_.size()].ids);
                row_gradients_.push_back(gradients[i]);
            }
        }
    }

    void add_statistics(const nn::ModelContext& context, ir::Block& body) {
        for (std::size_t i = 0; i < run_.statistics.size(); ++i) {
            ValueId value = carried_argument(body, first_statistic() + i);
            for (const auto& [name, updated] : context.updates()) {
                value = name == run_.statistics[i].name ? updated : value;
            }
            body.results.push_back(value);
        }
    }

    // {seed, step, first sample + B}. Integers have no arithmetic of their own; f64 counts samples
    // exactly up to 2^53.
    ValueId next_random(ops::Builder& b, ValueId random) {
        const ValueId first = ops::cast(b, ops::slice(b, random, {2}, {1}), ir::DType::f64);
        const ValueId moved = ops::affine(b, first, 1.0, static_cast<double>(batch_.rows));
        return b.emit("concat",
                      {ops::slice(b, random, {0}, {2}), ops::cast(b, moved, ir::DType::i64)},
                      {{"dim", std::int64_t{0}}});
    }

    // Global norm before clipping, the flag that lets the update happen, the clipping factor. The
    // flag goes down for good: whoever reads it a step late still finds the last good state.
    void measure() {
        ops::Builder& b = builder_;
        ValueId squares;
        for (const Trained& trained : trained_) {
            b.set_path(layer_of(trained.variable->name));
            const ValueId own = b.emit("sum_squares", {trained.gradient});
            squares = squares.valid() ? ops::add(b, squares, own) : own;
        }
        for (Table& table : tables_) {
            b.set_path(layer_of(table.variable->name));
            const ValueIds summed = b.emit_all("sum_rows", {table.ids, table.gradient});
            table.firsts = summed[0];
            table.sums = summed[1];
            const ValueId own = b.emit("sum_squares", {table.sums});
            squares = squares.valid() ? ops::add(b, squares, own) : own;
        }
        b.set_path("update");
        const ValueId one = ops::constant(b, 1.0);
        const ValueId inverse = scale_.valid() ? ops::div(b, one, scale_) : ValueId();
        norm_ = b.emit("sqrt", {squares});
        norm_ = inverse.valid() ? ops::mul(b, norm_, inverse) : norm_;
        decide(ops::mul(b, b.emit("is_finite", {loss_}), b.emit("is_finite", {norm_})));
        factor_ = inverse;
        if (run_.config->max_grad_norm) {
            const ValueId limit = ops::constant(b, *run_.config->max_grad_norm);
            const ValueId clip =
                ops::select(b, b.emit("less", {norm_, limit}), one, ops::div(b, limit, norm_));
            factor_ = inverse.valid() ? ops::mul(b, clip, inverse) : clip;
        }
    }

    // Whether this update is taken, and whether any after it may be.
    void decide(ValueId finite) {
        ops::Builder& b = builder_;
        const ValueId overflowed = ops::affine(b, finite, -1.0, 1.0);
        if (!scale_.valid()) {
            halts_ = stays_ = ops::maximum(b, halted_, overflowed);
            return;
        }
        const LossScaleUpdate scaling =
            update_loss_scale(b, *run_.config->loss_scale, scaling_, finite);
        new_scaling_ = scaling.next;
        halts_ = ops::maximum(b, halted_, scaling.fails);
        stays_ = ops::maximum(b, halts_, overflowed);
    }

    void take_loss_scale() {
        if (!scale_.valid()) {
            return;
        }
        builder_.set_path("update");
        LossScaleState taken;
        for (std::size_t i = 0; i < LossScaleSlot::count; ++i) {
            taken.at(i) = ops::select(builder_, halts_, scaling_.at(i), new_scaling_.at(i));
            program_.add_result(ir::Role::state, std::string(kLossScaleSlots.at(i)), taken.at(i));
        }
        program_.add_result(ir::Role::output, "loss_scale", scale_);
        program_.add_result(ir::Role::output, "skipped", taken[LossScaleSlot::skipped]);
    }

    // The group's rate from the argument that carries its schedule.
    ValueId rate_of(std::size_t index) {
        const optim::Group& group = run_.groups[index];
        if (!group.lr_schedule.is_null()) {
            return rates_.at("learning_rate/" + std::to_string(index));
        }
        const double base = run_.groups.back().learning_rate;
        const ValueId rate = rates_.at("learning_rate");
        return group.learning_rate == base
                   ? rate
                   : ops::affine(builder_, rate, group.learning_rate / base);
    }

    const ValueIds& scalars_of(std::size_t index) {
        const auto [at, added] = scalars_.try_emplace(index);
        if (added) {
            const optim::Group& group = run_.groups[index];
            at->second = group.optimizer->prepare(builder_, group.settings, rate_of(index),
                                                  taken_updates(steps_[index]));
        }
        return at->second;
    }

    // Without the updates that were skipped, which no optimizer state has seen.
    ValueId taken_updates(ValueId steps) {
        if (!scale_.valid()) {
            return steps;
        }
        const ValueId skipped =
            ops::cast(builder_, scaling_[LossScaleSlot::skipped], ir::DType::f64);
        return ops::cast(builder_,
                         ops::sub(builder_, ops::cast(builder_, steps, ir::DType::f64), skipped),
                         ir::DType::i64);
    }

    void update_parameters() {
        for (const Trained& trained : trained_) {
            const std::size_t index = optim::group_of(run_.groups, trained.variable->name);
            builder_.set_path("update");
            const auto& scalars = scalars_of(index);
            builder_.set_path(layer_of(trained.variable->name));
            update(trained, *run_.groups[index].optimizer, scalars);
        }
        for (const Table& table : tables_) {
            update(table);
        }
    }

    // Each row by the rule of a parameter; those whose id has stood before are not written.
    void update(const Table& table) {
        ops::Builder& b = builder_;
        const std::string& name = table.variable->name;
        const std::size_t index = optim::group_of(run_.groups, name);
        b.set_path("update");
        const ValueIds& scalars = scalars_of(index);
        b.set_path(layer_of(name));
        const ValueId rows = b.emit("read_rows", {table.value, table.ids});
        const ValueId gradient = factor_.valid() ? ops::mul(b, table.sums, factor_) : table.sums;
        const optim::UpdateResult updated = run_.groups[index].optimizer->update(
            b, run_.update_settings(*table.variable), {rows, gradient, {}, scalars, {}});
        const ValueId taken = ops::select(b, stays_of(*table.variable), rows, updated.parameter);
        program_.add_result(ir::Role::state, name,
                            b.emit("write_rows", {table.value, table.firsts, taken}));
    }

    void update(const Trained& trained, const optim::OptimizerDef& optimizer,
                const ValueIds& scalars) {
        ops::Builder& b = builder_;
        const config::Json settings = run_.update_settings(*trained.variable);
        const std::string& name = trained.variable->name;
        const ValueId gradient =
            factor_.valid() ? ops::mul(b, trained.gradient, factor_) : trained.gradient;
        const optim::UpdateResult updated = optimizer.update(
            b, settings,
            {trained.value, gradient, trained.state, scalars, trained.average, stays_});
        const ValueId stays = stays_of(*trained.variable);
        const ValueId value = take(name, updated.parameter, trained.value, stays);
        const auto arrays = optim::arrays_of(optimizer, settings, trained.variable->shape);
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const std::string slot = optimizer_slot(arrays[i].name, name);
            if (optimizer.keeps_itself) {
                program_.add_result(ir::Role::state, slot, updated.state[i]);
            } else { // of one that averages the state is of weights, too
                take(slot, updated.state[i], trained.state[i], optimizer.averages ? stays : stays_);
            }
        }
        if (optimizer.averages) {
            take(average_slot(name), updated.average, trained.average, stays);
        } else if (trained.average.valid()) {
            const double decay = *run_.config->ema_decay;
            const ValueId average = ops::add(b, ops::affine(b, trained.average, decay),
                                             ops::affine(b, value, 1.0 - decay));
            take(average_slot(name), average, trained.average, stays_);
        }
    }

    /// The slot's result: the new value, or the old one where `stays` is 1.
    ValueId take(const std::string& slot, ValueId updated, ValueId old, ValueId stays) {
        const ValueId value = ops::select(builder_, stays, old, updated);
        program_.add_result(ir::Role::state, slot, value);
        return value;
    }

    // A frozen parameter stays as it is while its optimizer goes on, as with a rate of 0 and
    // without decay.
    ValueId stays_of(const nn::Variable& parameter) {
        return run_.config->freezable
                   ? ops::maximum(builder_, stays_, frozen_.at(frozen_with(parameter)))
                   : stays_;
    }

    void take_statistics() {
        for (std::size_t i = 0; i < run_.statistics.size(); ++i) {
            builder_.set_path(layer_of(run_.statistics[i].name));
            take(run_.statistics[i].name, new_statistics_[i], statistics_[i], stays_);
        }
    }

    void take_rows() {
        builder_.set_path("held");
        for (const Row& row : rows_) {
            take(row.slot, row.updated, row.old, stays_);
        }
    }

    /// What every row of the batch keeps, [n, B, ...].
    struct Row {
        std::string slot;
        ValueId old, updated;
    };
    // Places in data_.
    static constexpr std::size_t kTargets = 1;
    static constexpr std::size_t kWeights = 2;

    const RunModel& run_;
    const BatchPlan batch_;
    ir::Program program_;
    ops::Builder builder_;
    std::map<std::string, ValueId> parameters_;
    ValueIds statistics_, new_statistics_, metrics_;
    std::vector<Trained> trained_;
    std::vector<Table> tables_;
    ValueIds row_gradients_; // in the microstep: ids and gradients of each table's rows
    std::map<std::string, ValueId> rates_;
    std::map<std::string, ValueId> frozen_;   // by layer: 1 where it is; where layers may be frozen
    std::map<std::size_t, ValueIds> scalars_; // by group
    ValueIds steps_;                          // by group: updates since its state was zero
    ValueIds data_;                           // "inputs", "targets", ...
    std::vector<Row> rows_;                   // held samples, then what the loop updates
    ValueId random_, inverse_count_;
    ValueId rows_dropped_;    // invalid where no samples are held
    ValueId inverse_samples_; // invalid where no metric is of samples
    ValueId halted_; // 1: no update is taken any more, because of one before this
    ValueId halts_;  // 1: this one is not taken, nor is any after it
    ValueId stays_;  // 1: this one is not taken
    LossScaleState scaling_, new_scaling_;
    ValueId scale_;  // of the loss; invalid where it is not scaled
    ValueId factor_; // of gradients: clipping, and what undoes the scale
    ValueId loss_, norm_;
};

} // namespace

ir::Program build_train_step(const RunModel& run, const BatchPlan& batch) {
    return TrainStep(run, batch).build();
}

ir::Program build_forward(const RunModel& run, const BatchPlan& batch) {
    return TrainStep(run, batch).forward();
}

} // namespace weft::compile
