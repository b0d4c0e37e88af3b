// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

/// A range of inputs on which the op is defined and does not overflow.
std::pair<double, double> domain(const std::string& op, weft_dtype dtype) {
    if (op == "log" || op == "sqrt" || op == "rsqrt") {
        return {1e-3, 50.0};
    }
    if (op == "exp") {
        return {-20.0, dtype == WEFT_F16 ? 11.0 : 20.0}; // e^11 = 59874
    }
    if (op == "pow") {
        return {0.1, 3.0};
    }
    if (op == "tanh_grad" || op == "sigmoid_grad") {
        return {0.0, 1.0};
    }
    return {-6.0, 6.0};
}

weft_elementwise_step step(std::int32_t opcode, weft_dtype dtype, int a, int b = -1, int c = -1,
                           float scale = 1.0f, float shift = 0.0f) {
    return {opcode, dtype, {a, b, c}, scale, shift};
}

void add_single_ops(std::vector<Case>& cases) {
    unsigned seed = 1;
    for (const auto& op : kernels::kElementwiseNames) {
        const std::string kind = op.name;
        for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
            for (const std::int64_t size : {1, 7, 1023, 1025, 40961}) {
                Call call{kind, {}, {type_of(dtype, {size})}, {}, {}, {}};
                const auto [low, high] = domain(kind, dtype);
                for (int i = 0; i < op.arity; ++i) {
                    call.inputs.push_back(noise(dtype, {size}, seed++, low, high));
                }
                if (kind == "affine") {
                    call.attributes = {real("scale", 1.7), real("shift", -0.3)};
                }
                if (kind == "select" || kind == "equal") { // both answers must occur
                    for (std::int64_t i = 0; i < size; i += 2) {
                        call.inputs[0].set(i, kind == "select" ? 0.0 : call.inputs[1].get(i));
                    }
                }
                cases.push_back({kind, std::move(call), elementwise_tolerance(dtype)});
            }
        }
    }
}

void add_broadcasts(std::vector<Case>& cases) {
    const std::vector<std::pair<Shape, Shape>> shapes = {
        {{37, 10}, {10}},    {{129, 17}, {129, 1}},
        {{5, 6, 7}, {6, 1}}, {{4, 3, 2, 9}, {4, 1, 2, 1}},
        {{300, 300}, {}},    {{2, 2000}, {1, 2000}},
        {{3000, 3}, {3}},    {{2, 5, 1}, {1, 1}},
        {{4000, 16}, {16}}};
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const auto& [large, small] : shapes) {
            for (const bool swap : {false, true}) {
                Call call{"sub", {}, {type_of(dtype, large)}, {}, {}, {}};
                call.inputs.push_back(noise(dtype, swap ? small : large, 3));
                call.inputs.push_back(noise(dtype, swap ? large : small, 4));
                cases.push_back(
                    {"sub broadcasting", std::move(call), elementwise_tolerance(dtype)});
            }
        }
    }
    Call both{"mul", {}, {type_of(WEFT_F32, {30, 40})}, {}, {}, {}};
    both.inputs = {noise(WEFT_F32, {30, 1}, 5), noise(WEFT_F32, {40}, 6)};
    cases.push_back({"mul broadcasting both", std::move(both), elementwise_tolerance(WEFT_F32)});
}

void add_casts(std::vector<Case>& cases) {
    for (const weft_dtype from : {WEFT_F32, WEFT_BF16, WEFT_F16, WEFT_I32, WEFT_U8}) {
        for (const weft_dtype to : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
            Call call{"cast", {noise(from, {3001}, 9, 0.0, 200.0)}, {type_of(to, {3001})}, {}, {},
                      {}};
            cases.push_back({"cast", std::move(call), {0.0, 0.0}}); // one rounding: exact
        }
    }
}

/// AdamW-like: several outputs, scalars, shared registers, an output over an input.
Call optimizer_group(weft_dtype dtype, std::int64_t size) {
    Call call{"fused", {}, {}, {}, {}, {}};
    call.inputs = {noise(WEFT_F32, {size}, 11), noise(dtype, {size}, 12),
                   noise(WEFT_F32, {size}, 13), noise(WEFT_F32, {size}, 14, 0.0, 1.0),
                   tensor(WEFT_F32, {}, {1e-3})};
    call.outputs = {type_of(WEFT_F32, {size}), type_of(WEFT_F32, {size}), type_of(WEFT_F32, {size}),
                    type_of(WEFT_BF16, {size})};
    const weft_dtype f = WEFT_F32;
    call.steps = {step(WEFT_EW_AFFINE, f, 2, -1, -1, 0.9f),
                  step(WEFT_EW_AFFINE, f, 1, -1, -1, 0.1f),
                  step(WEFT_EW_ADD, f, 5, 6), // 7: first moment
                  step(WEFT_EW_SQUARE, f, 1), // 8
                  step(WEFT_EW_AFFINE, f, 8, -1, -1, 0.001f),
                  step(WEFT_EW_AFFINE, f, 3, -1, -1, 0.999f),
                  step(WEFT_EW_ADD, f, 9, 10), // 11: second moment
                  step(WEFT_EW_SQRT, f, 11),   // 12
                  step(WEFT_EW_AFFINE, f, 12, -1, -1, 1.0f, 1e-8f),
                  step(WEFT_EW_DIV, f, 7, 13),
                  step(WEFT_EW_MUL, f, 14, 4),
                  step(WEFT_EW_SUB, f, 0, 15), // 16: parameter
                  step(WEFT_EW_CAST, WEFT_BF16, 16)};
    call.output_registers = {16, 7, 11, 17};
    return call;
}

/// Groups side by side, which differ in shapes alone.
Call sweep_of(const std::vector<Call>& groups) {
    Call all = groups.front();
    all.kind = "sweep";
    all.attributes = {integer("tensors", static_cast<std::int64_t>(groups.size()))};
    for (auto group = groups.begin() + 1; group != groups.end(); ++group) {
        all.inputs.insert(all.inputs.end(), group->inputs.begin(), group->inputs.end());
        all.outputs.insert(all.outputs.end(), group->outputs.begin(), group->outputs.end());
    }
    return all;
}

/// Tensors shorter and longer than what a block, or a thread, takes at once; each has numbers of
/// its own.
void add_sweeps(std::vector<Case>& cases) {
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        std::vector<Call> groups;
        for (const std::int64_t size : {33, 1, 40000, 768, 0, 2048, 5}) {
            groups.push_back(optimizer_group(dtype, size));
            groups.back().inputs[4].set(0, 1e-3 * static_cast<double>(groups.size()));
        }
        cases.push_back({"sweep of an optimizer", sweep_of(groups), {4e-6, 1e-6}});
        groups.resize(1);
        cases.push_back({"sweep over one tensor", sweep_of(groups), {4e-6, 1e-6}});
    }
    // More tensors than a launch has room for.
    std::vector<Call> many;
    for (std::int64_t size = 1; size <= 700; ++size) {
        Call one{"fused", {}, {type_of(WEFT_F32, {size})}, {}, {}, {2}};
        one.inputs = {noise(WEFT_F32, {size}, 26), noise(WEFT_F32, {size}, 27)};
        one.steps = {step(WEFT_EW_SUB, WEFT_F32, 0, 1)};
        many.push_back(std::move(one));
    }
    cases.push_back({"sweep over 700 tensors", sweep_of(many), elementwise_tolerance(WEFT_F32)});
}

void add_groups(std::vector<Case>& cases) {
    for (const std::int64_t size : {1, 33, 2047, 65537}) {
        cases.push_back({"fused optimizer", optimizer_group(WEFT_F32, size), {4e-6, 1e-6}});
        cases.push_back({"fused optimizer", optimizer_group(WEFT_BF16, size), {4e-6, 1e-6}});
        cases.push_back({"fused optimizer", optimizer_group(WEFT_F16, size), {4e-6, 1e-6}});
    }
    // The first output is ready while its input is still needed: it must not overwrite it too
    // early.
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        Call early{"fused", {}, {type_of(dtype, {3000}), type_of(dtype, {3000})}, {}, {}, {2, 3}};
        early.inputs = {noise(dtype, {3000}, 24), noise(dtype, {3000}, 25)};
        early.steps = {step(WEFT_EW_ADD, dtype, 0, 1), step(WEFT_EW_MUL, dtype, 2, 0)};
        cases.push_back({"fused early output", std::move(early), elementwise_tolerance(dtype)});
    }
    // Residual and activation: every step rounds, as the single ops would.
    for (const weft_dtype dtype : {WEFT_BF16, WEFT_F16}) {
        for (const Shape& shape : {Shape{7, 13}, Shape{64, 384}}) {
            Call call{"fused", {}, {type_of(dtype, shape)}, {}, {}, {}};
            call.inputs = {noise(dtype, shape, 21), noise(dtype, {shape[1]}, 22),
                           noise(dtype, shape, 23)};
            call.steps = {step(WEFT_EW_ADD, dtype, 0, 1), step(WEFT_EW_GELU, dtype, 3),
                          step(WEFT_EW_ADD, dtype, 4, 2)};
            call.output_registers = {5};
            // Two roundings may differ by one unit before the sum; cancellation leaves it absolute.
            const double unit = relative_error(dtype, 0.0);
            cases.push_back({"fused bias gelu residual", std::move(call), {unit, unit}});
        }
    }
}

} // namespace

void add_elementwise_cases(std::vector<Case>& cases) {
    add_single_ops(cases);
    add_broadcasts(cases);
    add_casts(cases);
    add_groups(cases);
    add_sweeps(cases);
}

} // namespace weft::test
