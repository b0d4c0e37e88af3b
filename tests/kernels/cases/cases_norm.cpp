// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

void add_layer_norms(std::vector<Case>& cases, weft_dtype dtype, const Shape& rows,
                     std::int64_t width) {
    Shape shape = rows;
    shape.push_back(width);
    const Tensor x = noise(dtype, shape, 61, -2, 3);
    const Tensor dy = noise(dtype, shape, 62);
    const Tensor scale = noise(WEFT_F32, {width}, 63, 0.5, 1.5);
    const Tensor shift = noise(WEFT_F32, {width}, 64);
    const Tensor mean = noise(WEFT_F32, rows, 65, 0, 1);
    const Tensor rstd = noise(WEFT_F32, rows, 66, 0.5, 1.0);
    std::int64_t count = 1;
    for (const std::int64_t size : rows) {
        count *= size;
    }
    const weft_tensor_type out = type_of(dtype, shape);
    const weft_tensor_type row = type_of(WEFT_F32, rows);
    const weft_tensor_type channel = type_of(WEFT_F32, {width});
    // A row of width 1 has no variance: 1 / sqrt(eps) = 316 multiplies the rounding of x - mean.
    Tolerance forward = sum_tolerance(dtype, width);
    forward.absolute += 2e-6;
    cases.push_back(
        {"layer_norm",
         {"layer_norm", {x, scale, shift}, {out, row, row}, {real("eps", 1e-5)}, {}, {}},
         forward});
    cases.push_back({"layer_norm_input_grad",
                     {"layer_norm_input_grad", {x, scale, mean, rstd, dy}, {out}, {}, {}, {}},
                     {relative_error(dtype, 1e-5), 1e-5}});
    cases.push_back({"layer_norm_param_grad",
                     {"layer_norm_param_grad", {x, mean, rstd, dy}, {channel, channel}, {}, {}, {}},
                     {1e-5, 3 * sum_tolerance(WEFT_F32, count).absolute}});
}

void add_rms_norms(std::vector<Case>& cases, weft_dtype dtype, const Shape& rows,
                   std::int64_t width) {
    Shape shape = rows;
    shape.push_back(width);
    const Tensor x = noise(dtype, shape, 161, -2, 3);
    const Tensor dy = noise(dtype, shape, 162);
    const Tensor scale = noise(WEFT_F32, {width}, 163, 0.5, 1.5);
    const Tensor rstd = noise(WEFT_F32, rows, 164, 0.5, 1.0);
    std::int64_t count = 1;
    for (const std::int64_t size : rows) {
        count *= size;
    }
    const weft_tensor_type out = type_of(dtype, shape);
    cases.push_back(
        {"rms_norm",
         {"rms_norm", {x, scale}, {out, type_of(WEFT_F32, rows)}, {real("eps", 1e-5)}, {}, {}},
         sum_tolerance(dtype, width)});
    cases.push_back({"rms_norm_input_grad",
                     {"rms_norm_input_grad", {x, scale, rstd, dy}, {out}, {}, {}, {}},
                     {relative_error(dtype, 1e-5), 1e-5}});
    cases.push_back(
        {"rms_norm_param_grad",
         {"rms_norm_param_grad", {x, rstd, dy}, {type_of(WEFT_F32, {width})}, {}, {}, {}},
         {1e-5, 3 * sum_tolerance(WEFT_F32, count).absolute}});
}

void add_batch_norms(std::vector<Case>& cases, weft_dtype dtype, const Shape& shape,
                     bool weighted) {
    const std::int64_t width = shape.back();
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
        count *= size;
    }
    const Tensor x = noise(dtype, shape, 71, -2, 3);
    const Tensor scale = noise(WEFT_F32, {width}, 72, 0.5, 1.5);
    const weft_tensor_type channel = type_of(WEFT_F32, {width});
    Call forward{"batch_norm",
                 {x, scale, noise(WEFT_F32, {width}, 73)},
                 {type_of(dtype, shape), channel, channel},
                 {real("eps", 1e-3)},
                 {},
                 {}};
    Call backward{"batch_norm_grad",
                  {x, scale, noise(WEFT_F32, {width}, 74), noise(WEFT_F32, {width}, 75, 0.5, 2.0),
                   noise(dtype, shape, 76)},
                  {type_of(dtype, shape), channel, channel},
                  {real("eps", 1e-3)},
                  {},
                  {}};
    if (weighted) { // the last samples are padding
        Tensor weights = noise(WEFT_F32, {shape[0]}, 77, 1.0, 1.0);
        weights.set(shape[0] - 1, 0.0);
        forward.inputs.push_back(weights);
        backward.inputs.push_back(weights);
    }
    cases.push_back({"batch_norm_inference",
                     {"batch_norm_inference",
                      {x, scale, noise(WEFT_F32, {width}, 73), noise(WEFT_F32, {width}, 74),
                       noise(WEFT_F32, {width}, 75, 0.5, 2.0)},
                      {type_of(dtype, shape)},
                      {real("eps", 1e-3)},
                      {},
                      {}},
                     {relative_error(dtype, 1e-5), 1e-5}});
    const double sums = 3 * sum_tolerance(WEFT_F32, count / width).absolute;
    if (dtype == WEFT_F32) { // far from zero: a difference of squares would say nothing
        Call far = forward;
        far.inputs[0] = noise(dtype, shape, 78, 1000, 1003);
        cases.push_back({"batch_norm far from zero", std::move(far), {1e-6, 1e-3}});
    }
    cases.push_back({"batch_norm", std::move(forward), {relative_error(dtype, 1e-5), 1e-5 + sums}});
    cases.push_back(
        {"batch_norm_grad", std::move(backward), {relative_error(dtype, 1e-5), 1e-5 + sums}});
}

} // namespace

void add_norm_cases(std::vector<Case>& cases) {
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        add_layer_norms(cases, dtype, {5}, 3);
        add_layer_norms(cases, dtype, {2, 67}, 129);
        add_layer_norms(cases, dtype, {300}, 384);
        add_rms_norms(cases, dtype, {5}, 1);
        add_rms_norms(cases, dtype, {2, 67}, 129);
        add_rms_norms(cases, dtype, {300}, 384);
        add_batch_norms(cases, dtype, {5, 3}, false);
        for (const bool weighted : {false, true}) {
            add_batch_norms(cases, dtype, {6, 7, 9, 13}, weighted);
            add_batch_norms(cases, dtype, {300, 33}, weighted);
        }
    }
}

} // namespace weft::test
