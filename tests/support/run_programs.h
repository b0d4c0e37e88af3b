// SPDX-License-Identifier: Apache-2.0
// Runs the programs of a configuration through the interpreter on the reference kernels: state by slot
// name, arguments and results by port name.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/exec/interpreter.h"

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::test {

using Arrays = std::map<std::string, exec::Tensor>;

/// A configuration that must be right; throws with every diagnostic otherwise. "data.train" is filled in
/// when the text leaves it out.
inline compile::RunConfig checked_config(const std::string& text,
                                         const std::vector<std::string>& overrides = {}) {
    config::Checked parsed = config::parse_json(text, "test");
    if (parsed.ok() && !parsed.value.contains("data")) {
        parsed.value["data"] = {{"train", {{"type", "idx"}, {"path", "unused"}}}};
    }
    for (const std::string& assignment : overrides) {
        config::apply_override(parsed.value, assignment);
    }
    compile::CheckedRun checked = compile::read_run_config(parsed.value, {});
    std::string problems;
    for (const auto& diagnostic : parsed.diagnostics) {
        problems += config::to_text(diagnostic) + "\n";
    }
    for (const auto& diagnostic : checked.diagnostics) {
        problems += config::to_text(diagnostic) + "\n";
    }
    if (!checked.ok() || !parsed.ok()) {
        throw std::runtime_error(problems);
    }
    return checked.config;
}

/// What a data source would deliver.
inline data::SampleInfo sample_of(ir::Type input, ir::Type target, std::int64_t classes) {
    data::SampleInfo info;
    info.input = input;
    info.target = target;
    info.classes = classes;
    return info;
}

inline data::SampleInfo features_sample(std::int64_t features, std::int64_t classes) {
    return sample_of({ir::DType::f32, {features}}, {ir::DType::i32, {}}, classes);
}

inline data::SampleInfo text_sample(std::int64_t positions, std::int64_t vocab) {
    return sample_of({ir::DType::i32, {positions}}, {ir::DType::i32, {positions}}, vocab);
}

template <class T> exec::Tensor tensor(ir::DType dtype, ir::Shape shape, std::vector<T> values) {
    exec::Tensor out({dtype, shape});
    const auto to = out.span<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = values.at(i);
    }
    return out;
}

inline exec::Tensor f32(ir::Shape shape, std::vector<float> values) {
    return tensor<float>(ir::DType::f32, shape, std::move(values));
}

inline exec::Tensor i32(ir::Shape shape, std::vector<std::int32_t> values) {
    return tensor<std::int32_t>(ir::DType::i32, shape, std::move(values));
}

inline exec::Tensor i64(ir::Shape shape, std::vector<std::int64_t> values) {
    return tensor<std::int64_t>(ir::DType::i64, shape, std::move(values));
}

/// Smooth, irregular numbers in (-1, 1).
inline std::vector<float> wave(std::int64_t count, double phase) {
    std::vector<float> out;
    for (std::int64_t i = 0; i < count; ++i) {
        out.push_back(static_cast<float>(std::sin(phase + 1.7 * static_cast<double>(i) +
                                                  0.3 * static_cast<double>(i * i % 11))));
    }
    return out;
}

/// The programs of one run and its state.
class Run {
public:
    Run(const compile::RunConfig& config, const data::SampleInfo& sample)
        : set_(compile::build_programs(config, sample)) {
        Arrays none;
        none["random"] = i64({3}, {static_cast<std::int64_t>(config.seed), 0, 0});
        run("init", std::move(none));
    }

    const compile::ProgramSet& set() const { return set_; }

    const ir::Program& program(const std::string& name) const {
        for (const ir::Program& candidate : set_.programs) {
            if (candidate.name == name) {
                return candidate;
            }
        }
        throw std::runtime_error("no program " + name);
    }

    bool has(const std::string& name) const {
        for (const ir::Program& candidate : set_.programs) {
            if (candidate.name == name) {
                return true;
            }
        }
        return false;
    }

    /// Runs a program: state comes from and goes back to `state`, outputs are returned.
    Arrays run(const std::string& name, Arrays arguments) {
        const ir::Program& called = program(name);
        std::vector<exec::Tensor> inputs;
        for (const ir::Port& port : called.arguments) {
            inputs.push_back(port.role == ir::Role::state ? state.at(port.name)
                                                          : arguments.at(port.name));
        }
        std::vector<exec::Tensor> results = exec::interpret(called, inputs);
        Arrays out;
        for (std::size_t i = 0; i < results.size(); ++i) {
            const ir::Port& port = called.results[i];
            (port.role == ir::Role::state ? state : out)[port.name] = std::move(results[i]);
        }
        return out;
    }

    Arrays state;

private:
    compile::ProgramSet set_;
};

inline float scalar_of(const exec::Tensor& array) {
    return array.span<float>()[0];
}

inline ir::Shape batch_shape(std::vector<std::int64_t> leading, const ir::Shape& sample) {
    leading.insert(leading.end(), sample.begin(), sample.end());
    return ir::Shape(std::span<const std::int64_t>(leading));
}

/// Inputs, targets and weights of one global batch of the sample's kind.
inline Arrays batch_of(const data::SampleInfo& sample, std::vector<std::int64_t> leading) {
    Arrays out;
    const ir::Shape inputs = batch_shape(leading, sample.input.shape);
    if (sample.input.dtype == ir::DType::f32) {
        out["inputs"] = f32(inputs, wave(inputs.elements(), 0.4));
    } else {
        std::vector<std::int32_t> tokens;
        for (std::int64_t i = 0; i < inputs.elements(); ++i) {
            tokens.push_back(static_cast<std::int32_t>(i * 7 % sample.classes));
        }
        out["inputs"] = i32(inputs, tokens);
    }
    const ir::Shape targets = batch_shape(leading, sample.target.shape);
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < targets.elements(); ++i) {
        labels.push_back(static_cast<std::int32_t>((i * 5 + 1) % sample.classes));
    }
    out["targets"] = i32(targets, labels);
    const ir::Shape weights = batch_shape(leading, {});
    out["weights"] =
        f32(weights, std::vector<float>(static_cast<std::size_t>(weights.elements()), 1.0F));
    return out;
}

/// One global batch with what a training step is told beside it: `count` loss terms, rate, step.
inline Arrays with_scalars(Arrays batch, double count, double rate = 1.0, std::int64_t step = 0) {
    batch["learning_rate"] = f32({}, {static_cast<float>(rate)});
    // Of the optimizer and of its groups.
    for (const char* port : {"step", "step/0", "step/1"}) {
        batch[port] = i64({}, {step});
    }
    batch["random"] = i64({3}, {3, step, 100});
    batch["inverse_count"] = f32({}, {static_cast<float>(1.0 / count)});
    return batch;
}

/// The mean loss of the evaluate program.
inline double evaluated_loss(Run& run, const Arrays& batch) {
    const Arrays out = run.run("evaluate", batch);
    return static_cast<double>(scalar_of(out.at("loss_sum"))) /
           static_cast<double>(scalar_of(out.at("count")));
}

/// Weights of a size at which a step of a finite difference is small: fresh ones are nearly zero.
inline void make_curved(Run& run) {
    double phase = 0.3;
    for (const plan::StateSlot& slot : run.set().state_slots) {
        if (slot.category == plan::Category::parameters) {
            const auto values = wave(slot.type.shape.elements(), phase += 0.9);
            const auto to = run.state.at(slot.name).span<float>();
            for (std::size_t i = 0; i < to.size(); ++i) {
                to[i] += 0.4F * values[i];
            }
        }
    }
}

/// Largest absolute difference of two f32 arrays of one shape.
inline double distance(const exec::Tensor& a, const exec::Tensor& b) {
    const auto x = a.span<float>();
    const auto y = b.span<float>();
    if (x.size() != y.size()) {
        return std::numeric_limits<double>::infinity();
    }
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
        most = difference <= most ? most : difference; // NaN counts as a difference
    }
    return most;
}

} // namespace weft::test
