// SPDX-License-Identifier: Apache-2.0
// What devices of a mesh run on their parts: parts of random arrays, of attention heads and of
// classes, and the ops that only meshes need.
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

void add_mesh_ops(std::vector<Case>& cases) {
    cases.push_back({"mesh_index",
                     {"mesh_index",
                      {integers({3}, {1, 2, 3})},
                      {type_of(WEFT_I64, {2})},
                      {list("strides", {100, 10, 1, 0, 7, 0}), list("base", {0, 5})},
                      {},
                      {}},
                     kExact});
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const std::int64_t index : {0, 2}) {
            cases.push_back({"pick",
                             {"pick",
                              {noise(dtype, {5, 3, 67}, 1), integers({1}, {index})},
                              {type_of(dtype, {5, 67})},
                              {integer("dim", 1)},
                              {},
                              {}},
                             kExact});
        }
        for (const std::int64_t first : {0, 4, 90}) {
            for (const double value : {-0.5, -1e30}) {
                cases.push_back({"mask",
                                 {"mask",
                                  {noise(dtype, {3, 9, 33}, 2), integers({1}, {first})},
                                  {type_of(dtype, {3, 9, 33})},
                                  {integer("dim", 1), integer("extent", 8), real("value", value)},
                                  {},
                                  {}},
                                 kExact});
            }
        }
    }
}

void add_parts_of_random(std::vector<Case>& cases) {
    const Attribute stream = text("stream", "blocks.3.dropout");
    const Tensor key = integers({6}, {7, 3, 5, /* origin */ 4, 2, 600});
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        cases.push_back({"dropout",
                         {"dropout",
                          {noise(dtype, {3, 5, 700}, 101), key},
                          {type_of(dtype, {3, 5, 700})},
                          {real("rate", 0.3), stream, list("extents", {16, 8, 2100})},
                          {},
                          {}},
                         {relative_error(dtype, 2e-7), 0.0}});
        cases.push_back({"random_normal",
                         {"random_normal",
                          {key},
                          {type_of(dtype, {2, 3, 5})},
                          {list("shape", {2, 3, 5}), real("mean", 0.5), real("stddev", 0.02),
                           stream, list("extents", {8, 6, 1000})},
                          {},
                          {}},
                         kExact});
    }
}

void add_parts_of_classes(std::vector<Case>& cases) {
    constexpr std::int64_t kRows = 37;
    constexpr std::int64_t kClasses = 19;
    Tensor labels = indices({kRows}, 111, kClasses + 1); // the last is a class elsewhere
    labels.set(3, -1.0);
    for (const double smoothing : {0.0, 0.1}) {
        const std::vector<Attribute> attributes = {real("label_smoothing", smoothing),
                                                   integer("of_classes", 3 * kClasses)};
        const Tensor logits = noise(WEFT_F32, {kRows, kClasses}, 112, -5, 5);
        const weft_tensor_type row = type_of(WEFT_F32, {kRows});
        cases.push_back({"cross_entropy",
                         {"cross_entropy", {logits, labels}, {row, row}, attributes, {}, {}},
                         {4e-6, 4e-6}});
        cases.push_back({"cross_entropy_grad",
                         {"cross_entropy_grad",
                          {logits, labels, noise(WEFT_F32, {kRows}, 113, 4, 8),
                           noise(WEFT_F32, {kRows}, 114, 0, 1)},
                          {type_of(WEFT_F32, {kRows, kClasses})},
                          attributes,
                          {},
                          {}},
                         {1e-5, 1e-6}});
    }
}

void add_parts_of_attention(std::vector<Case>& cases) {
    const Shape q{2, 9, 4, 8};
    const Shape k{2, 9, 2, 8};
    const Tensor key = integers({5}, {7, 3, 5, /* first sample and key head */ 4, 2});
    cases.push_back({"attention",
                     {"attention",
                      {noise(WEFT_F32, q, 1), noise(WEFT_F32, k, 2), noise(WEFT_F32, k, 3), key},
                      {type_of(WEFT_F32, q), type_of(WEFT_F32, {2, 4, 9})},
                      {flag("causal", true), real("scale", 0.4), real("rate", 0.3),
                       text("stream", "a"), list("extents", {12})},
                      {},
                      {}},
                     sum_tolerance(WEFT_F32, 64)});
}

/// Three devices of 70 positions each, of which 200 are real: the middle one and its neighbours.
/// Packed: sequences of 90 positions.
void add_ring_of_attention(std::vector<Case>& cases, bool packed) {
    constexpr std::int64_t kRows = 70;
    const Shape q{2, kRows, 4, 8};
    const Shape k{2, kRows, 2, 8};
    const Shape row{2, 4, kRows};
    const Tensor random = integers({5}, {7, 3, 5, 0, 0});
    for (const std::int64_t first : {kRows, 2 * kRows}) {
        for (const std::int64_t step : {0, 1, 2}) {
            for (const bool causal : {false, true}) {
                if (packed && !causal) {
                    continue;
                }
                const std::vector<Attribute> attributes = {
                    flag("packed", packed),           flag("causal", causal), real("scale", 0.4),
                    real("rate", causal ? 0.3 : 0.0), text("stream", "a"),    list("extents", {4}),
                    list("ring", {200, step, 3})};
                Call forward{"attention",
                             {noise(WEFT_F32, q, 1), noise(WEFT_F32, k, 2), noise(WEFT_F32, k, 3)},
                             {type_of(WEFT_F32, q), type_of(WEFT_F32, row)},
                             attributes,
                             {},
                             {}};
                Call backward{"attention_grad",
                              {noise(WEFT_F32, q, 1), noise(WEFT_F32, k, 2), noise(WEFT_F32, k, 3),
                               noise(WEFT_F32, q, 4), noise(WEFT_F32, row, 5, 3, 5),
                               noise(WEFT_F32, q, 6)},
                              {type_of(WEFT_F32, q), type_of(WEFT_F32, k), type_of(WEFT_F32, k)},
                              attributes,
                              {},
                              {}};
                for (Call* call : {&forward, &backward}) {
                    if (packed) {
                        Tensor positions(type_of(WEFT_I32, {2, kRows}));
                        for (std::int64_t i = 0; i < 2 * kRows; ++i) {
                            positions.set(i, static_cast<double>((first + i % kRows) % 90));
                        }
                        call->inputs.push_back(std::move(positions));
                    }
                    if (causal) {
                        call->inputs.push_back(random);
                    }
                    call->inputs.push_back(integers({1}, {first}));
                }
                cases.push_back({"attention", std::move(forward), sum_tolerance(WEFT_F32, kRows)});
                cases.push_back({"attention_grad", std::move(backward), {2e-5, 2e-5}});
            }
        }
    }
}

} // namespace

void add_shard_cases(std::vector<Case>& cases) {
    add_mesh_ops(cases);
    add_parts_of_random(cases);
    add_parts_of_classes(cases);
    add_parts_of_attention(cases);
    add_ring_of_attention(cases, false);
    add_ring_of_attention(cases, true);
}

} // namespace weft::test
