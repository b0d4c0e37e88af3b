// SPDX-License-Identifier: Apache-2.0
// Muon (Jordan et al. 2024) for matrices, as PyTorch has it: the momentum of the gradient, made
// nearly orthogonal.
//   velocity = momentum velocity + (1 - momentum) g
//   x = momentum velocity + (1 - momentum) g (nesterov), else velocity
//   x = x / (|x| + eps), then five times: a = x x^T, x = 3.4445 x + (-4.775 a + 2.0315 a a) x
//   theta -= rate (sqrt(max(1, out / in)) x + weight_decay theta)
// Everything is f32 here, where PyTorch takes the products in bf16. Weights are [in, out]; what is
// taller than wide is turned first, so that a is the smaller of the two squares.
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

#include <algorithm>
#include <cmath>

namespace weft::optim {
namespace {

using config::Json;

constexpr double kOfX = 3.4445, kOfA = -4.775, kOfSquare = 2.0315; // of the quintic
constexpr int kRounds = 5;
constexpr double kSmallest = 1e-7;

config::FieldTable muon_fields() {
    return {config::real_field("momentum", 0.95, "Share of the velocity that is kept.")
                .range(0.0, 0.9999),
            config::boolean_field("nesterov", true, "Looks one step ahead along the velocity."),
            config::real_field("weight_decay", 0.1, "Pull towards zero, times the learning rate.")
                .at_least(0.0)};
}

std::vector<std::string> muon_state(const Json&) {
    return {"velocity"};
}

ir::ValueIds muon_scalars(ops::Builder&, const Json&, ir::ValueId learning_rate, ir::ValueId) {
    return {learning_rate};
}

/// Nearly x with all singular values 1, by Newton and Schulz's iteration.
ir::ValueId orthogonal(ops::Builder& b, ir::ValueId x) {
    const ir::Shape shape = b.shape(x);
    const bool turned = shape[0] > shape[1];
    if (turned) {
        x = ops::transpose(b, x, {1, 0});
    }
    const ir::ValueId length = b.emit("sqrt", {b.emit("sum_squares", {x})});
    x = ops::div(b, x, ops::affine(b, length, 1.0, kSmallest));
    for (int i = 0; i < kRounds; ++i) {
        const ir::ValueId a = ops::matmul(b, x, x, false, true);
        const ir::ValueId both =
            ops::add(b, ops::affine(b, a, kOfA), ops::affine(b, ops::matmul(b, a, a), kOfSquare));
        x = ops::add(b, ops::affine(b, x, kOfX), ops::matmul(b, both, x));
    }
    return turned ? ops::transpose(b, x, {1, 0}) : x;
}

UpdateResult muon_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto momentum = settings.at("momentum").get<double>();
    const auto mixed = [&](ir::ValueId velocity) {
        return ops::add(b, ops::affine(b, velocity, momentum),
                        ops::affine(b, in.gradient, 1.0 - momentum));
    };
    const ir::ValueId velocity = mixed(in.state[0]);
    const ir::ValueId x =
        orthogonal(b, settings.at("nesterov").get<bool>() ? mixed(velocity) : velocity);
    const ir::Shape shape = b.shape(x);
    const double wide =
        static_cast<double>(shape[1]) / static_cast<double>(std::max<std::int64_t>(1, shape[0]));
    const ir::ValueId step = ops::affine(b, x, std::sqrt(std::max(1.0, wide)));
    return {decayed_step(b, settings, in, step, in.scalars[0]), {velocity}};
}

} // namespace

const OptimizerDef kMuon = {.name = "muon",
                            .help = "Momentum made orthogonal, for matrices inside a network: give "
                                    "the rest another optimizer by a group.",
                            .default_learning_rate = 0.02,
                            .fields = muon_fields,
                            .check = nullptr,
                            .state = muon_state,
                            .prepare = muon_scalars,
                            .update = muon_update,
                            .matrices_only = true};

} // namespace weft::optim
