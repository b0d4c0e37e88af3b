// SPDX-License-Identifier: Apache-2.0
#include "kernels/weft_kernels.h"
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

struct AttentionSizes {
    std::int64_t n, t, s, h, k, d;
    bool causal;
    double rate;
    std::int64_t longest = 0; // sequence of those that are packed into a sample; 0: none are
};
constexpr AttentionSizes kAttentionSizes[] = {
    {1, 1, 1, 1, 1, 1, false, 0.0},          {2, 5, 7, 3, 1, 4, false, 0.0},
    {1, 64, 64, 2, 2, 32, true, 0.0},        {2, 65, 65, 4, 2, 16, true, 0.3},
    {1, 130, 130, 2, 2, 33, true, 0.0},      {1, 3, 70, 2, 2, 64, false, 0.5},
    {1, 10, 100, 2, 1, 8, true, 0.2},        {3, 127, 129, 1, 1, 20, false, 0.1},
    {2, 48, 48, 4, 2, 16, true, 0.0},        {1, 20, 36, 6, 2, 24, false, 0.0},
    {1, 200, 200, 2, 2, 64, true, 0.1},      {1, 256, 256, 2, 1, 80, false, 0.0},
    {2, 65, 65, 4, 2, 16, true, 0.0, 3},     {2, 200, 200, 2, 1, 64, true, 0.0, 90},
    {1, 300, 300, 2, 2, 32, true, 0.2, 140},
};

std::vector<Attribute> options(const AttentionSizes& s) {
    return {flag("causal", s.causal), real("scale", 0.4), real("rate", s.rate),
            flag("packed", s.longest > 0), text("stream", "blocks.0.attention")};
}

/// Sequences of longest, longest - 1, ... 1, longest, ... positions, the next sample's one step on.
Tensor packed_positions(const AttentionSizes& s) {
    Tensor out(type_of(WEFT_I32, {s.n, s.t}));
    for (std::int64_t n = 0; n < s.n; ++n) {
        for (std::int64_t t = 0, i = n; t < s.t; ++i) {
            for (std::int64_t at = 0; at < s.longest - i % s.longest && t < s.t; ++at, ++t) {
                out.set(n * s.t + t, static_cast<double>(at));
            }
        }
    }
    return out;
}

/// What stands behind the operands that are always there.
void add_optional(Call& call, const AttentionSizes& s) {
    if (s.longest > 0) {
        call.inputs.push_back(packed_positions(s));
    }
    if (s.rate > 0) {
        call.inputs.push_back(integers({3}, {77, 5, 1000}));
    }
}

/// Products in bf16 round probabilities and gradients of scores to 8 bits. Both are below 1 here,
/// or 2 after dropout, and meet numbers below 1: `units` of 2^-9 for each that counts in a sum.
double absolute_error(weft_dtype dtype, double wide, int units) {
    return dtype == WEFT_BF16 ? units * 0x1p-9 : wide;
}

/// The gradient's case takes out and logsumexp from the reference, as a training step would.
void add_attention(std::vector<Case>& cases, weft_dtype dtype, const AttentionSizes& s) {
    const Shape query{s.n, s.t, s.h, s.d};
    const Shape key{s.n, s.s, s.k, s.d};
    Call forward{
        "attention",
        {noise(dtype, query, 81, -2, 2), noise(dtype, key, 82, -2, 2), noise(dtype, key, 83)},
        {type_of(dtype, query), type_of(WEFT_F32, {s.n, s.h, s.t})},
        options(s),
        {},
        {}};
    add_optional(forward, s);
    const Result saved = run(weft_reference_backend(), forward);
    if (saved.status == WEFT_OK) {
        Call backward{"attention_grad",
                      {forward.inputs[0], forward.inputs[1], forward.inputs[2], saved.outputs[0],
                       saved.outputs[1], noise(dtype, query, 84)},
                      {type_of(dtype, query), type_of(dtype, key), type_of(dtype, key)},
                      options(s),
                      {},
                      {}};
        add_optional(backward, s);
        // Scores of size 2 D pass through an exponential (their f32 error becomes relative), then
        // sums of T terms.
        cases.push_back({"attention_grad",
                         std::move(backward),
                         {relative_error(dtype, 2e-5), absolute_error(dtype, 2e-5, 4)}});
    }
    cases.push_back({"attention",
                     std::move(forward),
                     {relative_error(dtype, 1e-5), absolute_error(dtype, 1e-5, 2)}});
}

/// f32 angles would lose digits at far positions; both back ends take them in double.
void add_rotary(std::vector<Case>& cases, weft_dtype dtype, const Shape& shape,
                std::int64_t position) {
    Call call{"rotary",
              {noise(dtype, shape, 90, -2, 2)},
              {type_of(dtype, shape)},
              {real("theta", 1e4), flag("inverse", position > 5)},
              {},
              {}};
    if (position > 0) {
        call.inputs.push_back(integers({}, {position}));
    }
    cases.push_back({"rotary", std::move(call), {relative_error(dtype, 2e-6), 1e-6}});
}

} // namespace

void add_attention_cases(std::vector<Case>& cases) {
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const AttentionSizes& s : kAttentionSizes) {
            add_attention(cases, dtype, s);
        }
        add_rotary(cases, dtype, {1, 1, 1, 2}, 0);
        add_rotary(cases, dtype, {2, 37, 3, 10}, 0);
        add_rotary(cases, dtype, {1, 1, 4, 64}, 5);
        add_rotary(cases, dtype, {3, 40, 4, 64}, 100000);
        for (const std::int64_t position : {0, 9, 60}) {
            cases.push_back(
                {"attention_cached",
                 {"attention_cached",
                  {noise(dtype, {2, 3, 4, 24}, 85, -2, 2), noise(dtype, {2, 64, 2, 24}, 86, -2, 2),
                   noise(dtype, {2, 64, 2, 24}, 87), integers({}, {position})},
                  {type_of(dtype, {2, 3, 4, 24})},
                  {real("scale", 0.2)},
                  {},
                  {}},
                 {relative_error(dtype, 1e-5), 1e-5}});
            cases.push_back({"cache_write",
                             {"cache_write",
                              {noise(dtype, {2, 64, 2, 5}, 88), noise(dtype, {2, 3, 2, 5}, 89),
                               integers({}, {position})},
                              {type_of(dtype, {2, 64, 2, 5})},
                              {},
                              {},
                              {}},
                             {0.0, 0.0}});
        }
    }
}

} // namespace weft::test
