// SPDX-License-Identifier: Apache-2.0
#include "core/compile/programs/loss_curve.h"

#include "core/autodiff/gradients.h"
#include "core/base/error.h"
#include "core/exec/interpreter.h"
#include "core/nn/loss_def.h"

#include <algorithm>

namespace weft::compile {
namespace {

using config::Json;

constexpr std::int64_t kSomeClasses = 3;
constexpr std::int64_t kManyValues = 64; // for expressions of numbered outputs

/// Each row of the batch is a place of the curve.
LossCurve drawn(const nn::LossDef& loss, const Json& settings, const LossProbe& probe,
                bool of_classes, std::int64_t values) {
    const std::int64_t rows = probe.points;
    ir::Program program;
    program.name = "loss";
    const ir::Type outputs{ir::DType::f32, {rows, values}};
    const ir::Type targets = of_classes ? ir::Type{ir::DType::i32, {rows}} : outputs;
    const ir::ValueId output = program.add_argument(ir::Role::batch, "outputs", outputs);
    const ir::ValueId target = program.add_argument(ir::Role::batch, "targets", targets);
    ops::Builder b(program, program.body);
    const ir::ValueId terms = loss.build(b, settings, {output, target});
    program.add_result(ir::Role::output, "loss", terms);
    const std::vector<ir::ValueId> by = {output};
    program.add_result(
        ir::Role::output, "slope",
        autodiff::append_gradients(b, ops::reduce_sum(b, terms, {0}), ops::constant(b, 1.0), by)
            .front());
    std::vector<exec::Tensor> arguments = {exec::Tensor(outputs), exec::Tensor(targets)};
    LossCurve out;
    out.of_classes = of_classes;
    for (std::int64_t row = 0; row < rows; ++row) {
        const double share = static_cast<double>(row) / static_cast<double>(rows - 1);
        out.y.push_back(probe.low + (probe.high - probe.low) * share);
        arguments[0].span<float>()[static_cast<std::size_t>(row * values)] =
            static_cast<float>(out.y.back());
    }
    if (!of_classes) {
        const auto numbers = arguments[1].span<float>();
        std::fill(numbers.begin(), numbers.end(), static_cast<float>(probe.target));
    }
    const auto found = exec::interpret(program, arguments);
    for (std::int64_t row = 0; row < rows; ++row) {
        out.loss.push_back(
            static_cast<double>(found[0].span<float>()[static_cast<std::size_t>(row)]));
        out.slope.push_back(
            static_cast<double>(found[1].span<float>()[static_cast<std::size_t>(row * values)]));
    }
    return out;
}

std::int64_t classes_of(const Json& settings) {
    const auto weights = settings.find("class_weights");
    return weights != settings.end() && weights->is_array() && !weights->empty()
               ? std::ssize(*weights)
               : kSomeClasses;
}

} // namespace

std::optional<LossCurve> loss_curve(const Json& settings, const LossProbe& probe) {
    const nn::LossDef* loss = nn::find_loss(settings.at("type").get<std::string>());
    if (loss == nullptr || loss->symbols != nullptr) { // of positions, not of an output
        return std::nullopt;
    }
    for (const bool of_classes : {false, true}) {
        for (const std::int64_t values :
             {of_classes ? classes_of(settings) : std::int64_t{1}, kManyValues}) {
            if (!nn::takes(*loss, of_classes)) {
                continue;
            }
            try {
                return drawn(*loss, settings, probe, of_classes, values);
            } catch (const Error&) {
                continue; // of other data, perhaps
            }
        }
    }
    return std::nullopt;
}

} // namespace weft::compile
