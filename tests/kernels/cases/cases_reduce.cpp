// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

Call reduce(const char* kind, weft_dtype dtype, const Shape& shape, const Shape& dims,
            const Shape& out) {
    return {kind,
            {noise(dtype, shape, 41)},
            {type_of(dtype, out)},
            {list("dims", dims), flag("keep", out.size() == shape.size())},
            {},
            {}};
}

} // namespace

void add_reduce_cases(std::vector<Case>& cases) {
    struct Row {
        Shape shape, dims, out;
        std::int64_t terms;
    };
    const Row rows[] = {
        {{1}, {0}, {}, 1},
        {{9001}, {0}, {}, 9001},
        {{256, 10}, {0}, {10}, 256},
        {{300, 5000}, {0}, {5000}, 300},
        {{37, 1000}, {1}, {37}, 1000},
        {{5, 70, 6}, {1}, {5, 6}, 70},
        {{5, 70, 6}, {0, 1}, {6}, 350},
        {{5, 70, 6}, {1, 2}, {5, 1, 1}, 420},
        {{2, 3, 1, 4}, {0, 1, 2, 3}, {}, 24},
        {{4, 6}, {}, {4, 6}, 1},
        {{3, 0, 2}, {1}, {3, 2}, 0},
        {{6, 5, 7, 3}, {0, 2}, {5, 3}, 42}, // blocks that are not neighbours
        {{2, 3, 4, 5, 70}, {1, 3}, {2, 4, 70}, 15},
        {{3, 300, 5, 9}, {0, 1, 3}, {1, 1, 5, 1}, 8100},
    };
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const Row& row : rows) {
            cases.push_back({"reduce_sum",
                             reduce("reduce_sum", dtype, row.shape, row.dims, row.out),
                             sum_tolerance(dtype, row.terms)});
            Call wide = reduce("reduce_sum", dtype, row.shape, row.dims, row.out);
            wide.outputs[0].dtype = WEFT_F32;
            wide.attributes.push_back(flag("wide"));
            cases.push_back({"reduce_sum", std::move(wide), sum_tolerance(WEFT_F32, row.terms)});
            cases.push_back({"reduce_max",
                             reduce("reduce_max", dtype, row.shape, row.dims, row.out),
                             {0.0, 0.0}}); // chooses, does not compute
        }
        for (const std::int64_t size : {1, 4095, 4097, 100001}) {
            cases.push_back(
                {"sum_squares",
                 {"sum_squares", {noise(dtype, {size}, 42)}, {type_of(WEFT_F32, {})}, {}, {}, {}},
                 sum_tolerance(WEFT_F32, size)});
        }
        Call several{"sum_squares", {}, {type_of(WEFT_F32, {})}, {}, {}, {}};
        for (const std::int64_t size : {1, 5000, 0, 4096, 70001, 33}) {
            several.inputs.push_back(noise(dtype, {size}, static_cast<unsigned>(size)));
        }
        cases.push_back({"sum_squares of several", several, sum_tolerance(WEFT_F32, 79131)});
        for (int i = 0; i < 300; ++i) { // more than a launch has room for
            several.inputs.push_back(noise(dtype, {7}, static_cast<unsigned>(i)));
        }
        cases.push_back({"sum_squares of several", several, sum_tolerance(WEFT_F32, 81231)});
        for (const std::int64_t width : {1, 10, 257}) {
            Call call{
                "argmax", {noise(dtype, {129, width}, 43)}, {type_of(WEFT_I32, {129})}, {}, {}, {}};
            for (std::int64_t r = 0; r < 129; ++r) { // ties: the first maximum wins
                call.inputs[0].set(r * width + width / 2, 2.0);
                call.inputs[0].set(r * width + width - 1, 2.0);
            }
            cases.push_back({"argmax", std::move(call), {0.0, 0.0}});
        }
        for (const std::int64_t width : {1, 10, 1000}) {
            const Shape shape{65, width};
            cases.push_back(
                {"softmax",
                 {"softmax", {noise(dtype, shape, 44, -8, 8)}, {type_of(dtype, shape)}, {}, {}, {}},
                 elementwise_tolerance(dtype)});
            cases.push_back({"softmax_grad",
                             {"softmax_grad",
                              {noise(dtype, shape, 45, 0, 1), noise(dtype, shape, 46)},
                              {type_of(dtype, shape)},
                              {},
                              {},
                              {}},
                             sum_tolerance(dtype, width)});
        }
    }
}

} // namespace weft::test
