// SPDX-License-Identifier: Apache-2.0
// What optimizers with two moments of the gradient share (Kingma and Ba 2015). With t counted from
// 1:
//   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2
#pragma once

#include "core/optim/optimizer_def.h"

namespace weft::optim {

/// betas, eps, weight_decay.
config::FieldTable moment_fields(double beta2, double decay, const char* decay_help);
/// Slots "m" and "v".
std::vector<std::string> moment_state(const config::Json& settings);

/// The scalars of an update in f64: 1 - 0.999 has only three good digits in f32.
class MomentScalars {
public:
    MomentScalars(ops::Builder& builder, const config::Json& settings, ir::ValueId step);

    ir::ValueId constant(double value) const;
    /// The number of this update, from 1.
    ir::ValueId t() const { return t_; }
    /// b^(t + ahead) of moment 0 or 1.
    ir::ValueId power(std::size_t moment, double ahead = 0) const;
    /// 1 - power.
    ir::ValueId correction(std::size_t moment, double ahead = 0) const;
    ir::ValueId in_f32(ir::ValueId value) const;

private:
    ops::Builder& b_;
    const config::Json& settings_;
    ir::ValueId t_;
};

/// m and v behind the update.
struct Moments {
    ir::ValueId m, v;
};
Moments next_moments(ops::Builder& builder, const config::Json& settings,
                     const UpdateInputs& inputs, ir::ValueId gradient);

/// The learning rate, 1 / (1 - b1^t) and 1 / sqrt(1 - b2^t): f32[] each.
ir::ValueIds corrected_scalars(ops::Builder& builder, const config::Json& settings,
                               ir::ValueId learning_rate, ir::ValueId step);
/// (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps), with those scalars.
ir::ValueId corrected_step(ops::Builder& builder, const config::Json& settings,
                           const UpdateInputs& inputs, const Moments& moments);

/// theta - rate (step + weight_decay theta).
ir::ValueId decayed_step(ops::Builder& builder, const config::Json& settings,
                         const UpdateInputs& inputs, ir::ValueId step, ir::ValueId rate);

} // namespace weft::optim
