// SPDX-License-Identifier: Apache-2.0
// Adafactor (Shazeer and Stern 2018) as PyTorch has it: of the second moment of a matrix only the
// means of its rows and columns are kept. With k = t^-decay_exponent, n elements and g the
// gradient:
//   row    += k (mean over columns of g^2 - row)
//   column += k (mean over rows of g^2 - column)
//   v       = row column / max(mean of row, eps);  of vectors v += k (g^2 - v)
//   u       = g / sqrt(max(v, eps^2))
//   theta   = theta (1 - rate weight_decay)
//             - min(rate, 1 / sqrt(t)) max(smallest_size, |theta| / sqrt(n)) u
//               / max(1, |u| / (sqrt(n) clip))
// Of more than two dimensions the last two are the matrix's.
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::optim {
namespace {

/// eps^2 as a number of f32 whose root has a reciprocal.
double least_square(double eps) {
    return std::max(eps * eps, static_cast<double>(std::numeric_limits<float>::min()));
}

using config::Json;

config::FieldTable adafactor_fields() {
    return {
        config::real_field("decay_exponent", 0.8,
                           "How fast the second moment forgets less and less.")
            .range(0.0, 1.0)
            .above(0.0),
        config::real_field("eps", 1.1920929e-7, "Smallest root of the second moment.").above(0.0),
        config::real_field("smallest_size", 1e-3,
                           "Steps are relative to the parameter's root mean square, or to this "
                           "where that is smaller.")
            .above(0.0),
        config::real_field("clip", 1.0, "Largest root mean square of a step, before it is scaled.")
            .at_least(1.0),
        config::real_field("weight_decay", 0.0, "Pull towards zero, times the learning rate.")
            .at_least(0.0)};
}

std::vector<StateArray> adafactor_arrays(const Json&, const ir::Shape& parameter) {
    if (parameter.rank() < 2) {
        return {{"v", parameter}};
    }
    ir::Shape row;
    ir::Shape column;
    for (int dim = 0; dim < parameter.rank(); ++dim) {
        if (dim + 1 != parameter.rank()) {
            row.push_back(parameter[dim]);
        }
        if (dim + 2 != parameter.rank()) {
            column.push_back(parameter[dim]);
        }
    }
    return {{"row", row}, {"column", column}};
}

/// The rate; the share of the newest moment; the rate as far as the step number allows it.
ir::ValueIds adafactor_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                               ir::ValueId step) {
    constexpr ir::DType kWide = ir::DType::f64;
    const ir::ValueId t = ops::affine(b, ops::cast(b, step, kWide), 1.0, 1.0);
    const auto power = [&](double exponent) {
        return ops::cast(b, b.emit("pow", {t, ops::constant(b, exponent, {}, kWide)}),
                         ir::DType::f32);
    };
    const ir::ValueId newest = power(-settings.at("decay_exponent").get<double>());
    return {learning_rate, newest, ops::minimum(b, learning_rate, power(-0.5))};
}

/// Moves a moment towards what is seen now.
ir::ValueId moved(ops::Builder& b, ir::ValueId moment, ir::ValueId seen, ir::ValueId share) {
    return ops::add(b, moment, ops::mul(b, ops::sub(b, seen, moment), share));
}

UpdateResult adafactor_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const ir::Shape shape = b.shape(in.parameter);
    const auto eps = settings.at("eps").get<double>();
    const auto limit = [&](double value) { return ops::constant(b, value); };
    const ir::ValueId squares = b.emit("square", {in.gradient});
    ir::ValueIds state;
    ir::ValueId v;
    if (shape.rank() < 2) {
        v = moved(b, in.state[0], squares, in.scalars[1]);
        state = {v};
    } else {
        const std::int64_t last = shape.rank() - 1;
        const ir::ValueId row =
            moved(b, in.state[0], ops::reduce_mean(b, squares, {last}), in.scalars[1]);
        const ir::ValueId column =
            moved(b, in.state[1], ops::reduce_mean(b, squares, {last - 1}), in.scalars[1]);
        const ir::ValueId mean =
            ops::maximum(b, ops::reduce_mean(b, row, {last - 1}, true), limit(eps));
        ir::Shape upright = b.shape(row);
        upright.push_back(1);
        ir::Shape flat = b.shape(column);
        flat.push_back(flat.back());
        flat[flat.rank() - 2] = 1;
        v = ops::mul(b, ops::reshape(b, ops::div(b, row, mean), upright),
                     ops::reshape(b, column, flat));
        state = {row, column};
    }
    const ir::ValueId root = b.emit("rsqrt", {ops::maximum(b, v, limit(least_square(eps)))});
    const ir::ValueId u = ops::mul(b, root, in.gradient);
    // Of the whole parameter, wherever its parts lie.
    const double per_element = 1.0 / std::sqrt(static_cast<double>(shape.elements()));
    const auto size = [&](ir::ValueId x, double scale) {
        return ops::affine(b, b.emit("sqrt", {b.emit("sum_squares", {x})}), per_element * scale);
    };
    const ir::ValueId own =
        ops::maximum(b, size(in.parameter, 1.0), limit(settings.at("smallest_size").get<double>()));
    const ir::ValueId above =
        ops::maximum(b, size(u, 1.0 / settings.at("clip").get<double>()), limit(1.0));
    const ir::ValueId rate = ops::div(b, ops::mul(b, in.scalars[2], own), above);
    ir::ValueId theta = in.parameter;
    if (const auto decay = settings.at("weight_decay").get<double>(); decay > 0.0) {
        theta = ops::mul(b, theta, ops::affine(b, in.scalars[0], -decay, 1.0));
    }
    return {ops::sub(b, theta, ops::mul(b, u, rate)), state};
}

} // namespace

const OptimizerDef kAdafactor = {
    .name = "adafactor",
    .help = "Second moments of rows and columns alone: next to no memory beside the weights.",
    .default_learning_rate = 1e-2,
    .fields = adafactor_fields,
    .check = nullptr,
    .state = nullptr,
    .prepare = adafactor_scalars,
    .update = adafactor_update,
    .arrays = adafactor_arrays};

} // namespace weft::optim
