// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

struct WindowSizes {
    std::int64_t n, h, w, c, o, kh, kw, stride;
    Shape padding;
};
const WindowSizes kConvolutions[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, {0, 0, 0, 0}},
    {2, 28, 28, 1, 16, 3, 3, 1, {1, 1, 1, 1}},
    {3, 14, 14, 16, 32, 3, 3, 1, {1, 1, 1, 1}},
    {2, 9, 7, 5, 3, 3, 3, 2, {1, 1, 1, 1}},
    {2, 8, 8, 17, 33, 1, 1, 1, {0, 0, 0, 0}},
    {1, 11, 10, 4, 8, 5, 3, 2, {2, 0, 1, 2}},
    // Strides that leave a rest, as in ResNet: on 3x3 with padding, on 1x1 without, on the stem.
    {8, 12, 12, 2, 4, 3, 3, 2, {1, 1, 1, 1}},
    {8, 12, 12, 2, 4, 1, 1, 2, {0, 0, 0, 0}},
    {8, 3, 3, 8, 16, 1, 1, 2, {0, 0, 0, 0}},
    {2, 14, 14, 32, 64, 1, 1, 2, {0, 0, 0, 0}},
    {1, 20, 20, 3, 16, 7, 7, 2, {3, 3, 3, 3}},
    // The patches of a vision transformer.
    {2, 14, 14, 1, 24, 7, 7, 7, {0, 0, 0, 0}},
    {2, 50, 48, 3, 60, 8, 8, 8, {0, 0, 0, 0}},
    // Large enough for matrix tiles: on all pixels, and on every other.
    {3, 11, 7, 90, 62, 1, 1, 1, {0, 0, 0, 0}},
    {3, 15, 11, 90, 126, 1, 1, 2, {0, 0, 0, 0}},
    // More numbers in a window, and more windows, than a block of vectors sums up at once.
    {1, 17, 31, 60, 20, 3, 3, 1, {1, 1, 1, 1}},
    {1, 30, 25, 20, 36, 3, 3, 2, {1, 0, 1, 1}},
};
const WindowSizes kPools[] = {
    {2, 28, 28, 16, 16, 2, 2, 2, {0, 0, 0, 0}},
    {3, 9, 7, 5, 5, 3, 3, 2, {1, 1, 1, 1}},
    {1, 5, 5, 1, 1, 3, 2, 1, {0, 1, 2, 0}},
    {2, 7, 7, 33, 33, 7, 7, 1, {0, 0, 0, 0}},
};

std::int64_t out_size(std::int64_t size, std::int64_t window, std::int64_t stride,
                      std::int64_t before, std::int64_t after) {
    return (size + before + after - window) / stride + 1;
}

Shape result_shape(const WindowSizes& s) {
    return {s.n, out_size(s.h, s.kh, s.stride, s.padding[0], s.padding[2]),
            out_size(s.w, s.kw, s.stride, s.padding[1], s.padding[3]), s.o};
}

void add_convolution(std::vector<Case>& cases, weft_dtype dtype, weft_dtype grad,
                     const WindowSizes& s) {
    const Shape image{s.n, s.h, s.w, s.c};
    const Shape weight{s.kh, s.kw, s.c, s.o};
    const Shape result = result_shape(s);
    const std::vector<Attribute> window = {list("stride", {s.stride, s.stride}),
                                           list("padding", s.padding)};
    auto with = [&](Attribute extra) {
        std::vector<Attribute> all = window;
        all.push_back(std::move(extra));
        return all;
    };
    // Libraries add one product after another: what rounds is the sum on the way,
    // which grows as the number of terms does.
    cases.push_back({"conv2d",
                     {"conv2d",
                      {noise(dtype, image, 91), noise(dtype, weight, 92)},
                      {type_of(dtype, result)},
                      window,
                      {},
                      {}},
                     sum_tolerance(dtype, 4 * s.kh * s.kw * s.c)});
    cases.push_back({"conv2d_input_grad",
                     {"conv2d_input_grad",
                      {noise(dtype, result, 93), noise(dtype, weight, 94)},
                      {type_of(dtype, image)},
                      with(list("shape", image)),
                      {},
                      {}},
                     sum_tolerance(dtype, 4 * s.kh * s.kw * s.o)});
    cases.push_back({"conv2d_weight_grad",
                     {"conv2d_weight_grad",
                      {noise(dtype, image, 95), noise(dtype, result, 96)},
                      {type_of(grad, weight)},
                      with(list("kernel", {s.kh, s.kw})),
                      {},
                      {}},
                     sum_tolerance(grad, 4 * result[0] * result[1] * result[2])});
}

/// Values on a coarse grid, so that windows hold equal maxima.
Tensor grid(weft_dtype dtype, const Shape& shape, unsigned seed) {
    Tensor t = noise(dtype, shape, seed, 0.0, 4.0);
    for (std::int64_t i = 0; i < t.count(); ++i) {
        t.set(i, static_cast<double>(static_cast<int>(t.get(i))));
    }
    return t;
}

void add_pool(std::vector<Case>& cases, weft_dtype dtype, const WindowSizes& s) {
    const Shape image{s.n, s.h, s.w, s.c};
    const Shape result = result_shape(s);
    const std::vector<Attribute> window = {list("window", {s.kh, s.kw}),
                                           list("stride", {s.stride, s.stride}),
                                           list("padding", s.padding)};
    const Tensor x = grid(dtype, image, 97);
    const Call max{"max_pool", {x}, {type_of(dtype, result)}, window, {}, {}};
    const Result y = run(weft_reference_backend(), max);
    cases.push_back({"max_pool", max, {0.0, 0.0}});
    if (y.status == WEFT_OK) {
        cases.push_back({"max_pool_grad",
                         {"max_pool_grad",
                          {x, y.outputs[0], noise(dtype, result, 98)},
                          {type_of(dtype, image)},
                          window,
                          {},
                          {}},
                         sum_tolerance(dtype, s.kh * s.kw)});
    }
    for (const bool inside_only : {false, true}) {
        std::vector<Attribute> forward = window;
        if (inside_only) {
            forward.push_back(flag("exclude_padding"));
        }
        std::vector<Attribute> backward = forward;
        backward.push_back(list("shape", image));
        cases.push_back({"avg_pool",
                         {"avg_pool", {x}, {type_of(dtype, result)}, forward, {}, {}},
                         sum_tolerance(dtype, s.kh * s.kw)});
        cases.push_back({"avg_pool_grad",
                         {"avg_pool_grad",
                          {noise(dtype, result, 99)},
                          {type_of(dtype, image)},
                          backward,
                          {},
                          {}},
                         sum_tolerance(dtype, s.kh * s.kw)});
    }
}

} // namespace

void add_convolution_cases(std::vector<Case>& cases) {
    for (const WindowSizes& s : kConvolutions) {
        add_convolution(cases, WEFT_F32, WEFT_F32, s);
        add_convolution(cases, WEFT_BF16, WEFT_F32, s);
        add_convolution(cases, WEFT_BF16, WEFT_BF16, s);
        add_convolution(cases, WEFT_F16, WEFT_F32, s);
        add_convolution(cases, WEFT_F16, WEFT_F16, s);
    }
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const WindowSizes& s : kPools) {
            add_pool(cases, dtype, s);
        }
    }
}

} // namespace weft::test
