// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/cases.h"

#include <cmath>

namespace weft::test {
namespace {

Call transpose(weft_dtype dtype, const Shape& shape, const Shape& order) {
    Shape out;
    for (const std::int64_t d : order) {
        out.push_back(shape[static_cast<std::size_t>(d)]);
    }
    return {"transpose",
            {noise(dtype, shape, 31, 0, 200)},
            {type_of(dtype, out)},
            {list("permutation", order)},
            {},
            {}};
}

/// Numbers of all decades in blocks, one of which is 0, with and without what is kept.
void add_quantize_cases(std::vector<Case>& cases) {
    struct Row {
        Shape shape;
        std::int64_t block;
    };
    for (const Row& row :
         {Row{{16}, 16}, Row{{3, 70}, 70}, Row{{33, 768}, 256}, Row{{2, 9, 40}, 20}}) {
        Shape scales = row.shape;
        scales.back() /= row.block;
        for (const bool has_sign : {false, true}) {
            Tensor x = noise(WEFT_F32, row.shape, 51, has_sign ? -1.0 : 0.0, 1.0);
            for (std::int64_t i = 0; i < x.count(); ++i) {
                const double decade = std::pow(10.0, -static_cast<double>(i % 9));
                x.set(i, i < row.block ? 0.0 : x.get(i) * decade);
            }
            const std::vector<Attribute> attributes = {integer("block", row.block),
                                                       flag("has_sign", has_sign)};
            const Tensor codes = noise(WEFT_U8, row.shape, 52, 0, 256);
            const Tensor old = noise(WEFT_F32, scales, 53, 0, 2);
            for (const double keep : {0.0, 1.0}) {
                cases.push_back({"quantize",
                                 {"quantize",
                                  {x, tensor(WEFT_F32, {}, {keep}), codes, old},
                                  {codes.type(), old.type()},
                                  attributes,
                                  {},
                                  {}},
                                 kExact});
            }
            cases.push_back({"dequantize",
                             {"dequantize", {codes, old}, {x.type()}, attributes, {}, {}},
                             kExact});
        }
    }
}

} // namespace

void add_structure_cases(std::vector<Case>& cases) {
    add_quantize_cases(cases);
    auto add = [&](const char* name, Call call) {
        cases.push_back({name, std::move(call), kExact});
    };
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16, WEFT_I32, WEFT_U8, WEFT_F64}) {
        const auto any = [&](const Shape& shape, unsigned seed) {
            return noise(dtype, shape, seed, 0.0, 200.0);
        };
        add("copy", {"copy", {any({100003}, 1)}, {type_of(dtype, {100003})}, {}, {}, {}});
        add("stop_gradient", {"stop_gradient", {any({33}, 1)}, {type_of(dtype, {33})}, {}, {}, {}});
        add("reshape", {"reshape",
                        {any({6, 5}, 2)},
                        {type_of(dtype, {2, 15})},
                        {list("shape", {2, 15})},
                        {},
                        {}});
        add("transpose", transpose(dtype, {67, 129}, {1, 0}));
        add("transpose", transpose(dtype, {3, 5, 7, 9}, {0, 2, 1, 3}));
        add("transpose", transpose(dtype, {3, 5, 7, 9}, {3, 1, 2, 0}));
        add("transpose", transpose(dtype, {2, 33, 1, 40}, {0, 3, 2, 1}));
        add("transpose", transpose(dtype, {5}, {0}));
        add("broadcast", {"broadcast",
                          {any({3, 1, 5}, 3)},
                          {type_of(dtype, {2, 3, 4, 5})},
                          {list("shape", {2, 3, 4, 5})},
                          {},
                          {}});
        add("broadcast",
            {"broadcast", {any({}, 4)}, {type_of(dtype, {1001})}, {list("shape", {1001})}, {}, {}});
        add("broadcast", {"broadcast",
                          {any({17, 1}, 5)},
                          {type_of(dtype, {17, 33})},
                          {list("shape", {17, 33})},
                          {},
                          {}});
        add("slice", {"slice",
                      {any({6, 7, 8}, 6)},
                      {type_of(dtype, {2, 7, 3})},
                      {list("starts", {3, 0, 5}), list("sizes", {2, 7, 3})},
                      {},
                      {}});
        add("slice", {"slice",
                      {any({6}, 7)},
                      {type_of(dtype, {0})},
                      {list("starts", {2}), list("sizes", {0})},
                      {},
                      {}});
        add("pad", {"pad",
                    {any({3, 4}, 8)},
                    {type_of(dtype, {6, 9})},
                    {list("low", {1, 2}), list("high", {2, 3}), real("value", 7.0)},
                    {},
                    {}});
        add("concat", {"concat",
                       {any({2, 3, 4}, 9), any({2, 1, 4}, 10), any({2, 5, 4}, 11)},
                       {type_of(dtype, {2, 9, 4})},
                       {integer("dim", 1)},
                       {},
                       {}});
        add("constant", {"constant", {}, {type_of(dtype, {333})}, {real("value", 3.25)}, {}, {}});
    }
}

} // namespace weft::test
