// SPDX-License-Identifier: Apache-2.0
// A two-layer perceptron with gradient accumulation and plain gradient descent, as `train_step` and
// `init` over four state slots: the smallest program with everything that training needs.
#pragma once

#include "core/autodiff/gradients.h"
#include "core/compile/pipeline.h"

namespace weft::test {

struct TinyTraining {
    std::int64_t microsteps = 2;
    std::int64_t batch = 8;
    std::int64_t features = 16;
    std::int64_t hidden = 32;
    std::int64_t classes = 4;

    std::vector<std::pair<std::string, ir::Shape>> parameters() const {
        return {{"0.weight", {features, hidden}},
                {"0.bias", {hidden}},
                {"1.weight", {hidden, classes}},
                {"1.bias", {classes}}};
    }

    compile::ProgramSet programs() const {
        compile::ProgramSet out;
        for (const auto& [name, shape] : parameters()) {
            plan::StateSlot slot;
            slot.name = name;
            slot.type = {ir::DType::f32, shape};
            out.state_slots.push_back(slot);
        }
        out.programs = {init(), train_step()};
        return out;
    }

    ir::Program init() const {
        ir::Program program;
        program.name = "init";
        ops::Builder b(program, program.body);
        const auto random = program.add_argument(ir::Role::scalar, "random", {ir::DType::i64, {3}});
        for (const auto& [name, shape] : parameters()) {
            const ir::ValueId start =
                shape.rank() == 1
                    ? ops::constant(b, 0.0, shape)
                    : b.emit("random_normal", {random},
                             {{"shape", std::vector<std::int64_t>(shape.begin(), shape.end())},
                              {"mean", 0.0},
                              {"stddev", 0.3},
                              {"stream", name}});
            program.add_result(ir::Role::state, name, start);
        }
        return program;
    }

    ir::Program train_step() const {
        ir::Program program;
        program.name = "train_step";
        ir::ValueIds weights;
        for (const auto& [name, shape] : parameters()) {
            weights.push_back(program.add_argument(ir::Role::state, name, {ir::DType::f32, shape}));
        }
        const auto inputs = program.add_argument(ir::Role::batch, "inputs",
                                                 {ir::DType::f32, {microsteps, batch, features}});
        const auto targets =
            program.add_argument(ir::Role::batch, "targets", {ir::DType::i32, {microsteps, batch}});
        const auto rate =
            program.add_argument(ir::Role::scalar, "learning_rate", {ir::DType::f32, {}});
        ops::Builder b(program, program.body);
        const auto sums = microstep_loop(program, b, weights, inputs, targets);
        b.set_phase(ir::Phase::update);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            b.set_path(parameters()[i].first);
            program.add_result(ir::Role::state, parameters()[i].first,
                               ops::sub(b, weights[i], ops::mul(b, sums[i], rate)));
        }
        program.add_result(ir::Role::output, "loss", sums.back());
        return program;
    }

private:
    /// Gradient sums of every weight, then the loss.
    ir::ValueIds microstep_loop(ir::Program& program, ops::Builder& b, const ir::ValueIds& weights,
                                ir::ValueId inputs, ir::ValueId targets) const {
        ir::Op loop;
        loop.kind = "repeat";
        ir::Block body;
        for (const ir::ValueId weight : weights) {
            loop.inputs.push_back(ops::constant(b, 0.0, b.shape(weight)));
            body.arguments.push_back(program.add_value(ir::Type(b.type(weight))));
        }
        loop.inputs.push_back(ops::constant(b, 0.0));
        body.arguments.push_back(program.add_value({ir::DType::f32, {}}));
        loop.inputs.push_back(inputs);
        loop.inputs.push_back(targets);
        const auto x = program.add_value({ir::DType::f32, {batch, features}});
        const auto labels = program.add_value({ir::DType::i32, {batch}});
        body.arguments.push_back(x);
        body.arguments.push_back(labels);
        ops::Builder inside(program, body);
        inside.set_path("0");
        const auto h = inside.emit("relu", {ops::linear(inside, x, weights[0], weights[1])});
        inside.set_path("1");
        const auto logits = ops::linear(inside, h, weights[2], weights[3]);
        inside.set_path("loss");
        const auto losses =
            inside.emit_all("cross_entropy", {logits, labels}, {{"label_smoothing", 0.0}});
        const double share = 1.0 / static_cast<double>(batch * microsteps);
        const auto loss = ops::affine(inside, ops::reduce_sum(inside, losses[0], {0}), share);
        inside.set_phase(ir::Phase::backward);
        const auto gradients =
            autodiff::append_gradients(inside, loss, ops::constant(inside, 1.0), weights);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            body.results.push_back(ops::add(inside, body.arguments[i], gradients[i]));
        }
        body.results.push_back(ops::add(inside, body.arguments[weights.size()], loss));
        for (const ir::ValueId result : body.results) {
            loop.outputs.push_back(program.add_value(ir::Type(program.type(result))));
        }
        loop.attributes = {{"count", microsteps},
                           {"carried", static_cast<std::int64_t>(body.results.size())},
                           {"reverse", false}};
        loop.body.push_back(std::move(body));
        const auto outputs = loop.outputs;
        b.append(std::move(loop));
        return outputs;
    }
};

} // namespace weft::test
