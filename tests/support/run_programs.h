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
