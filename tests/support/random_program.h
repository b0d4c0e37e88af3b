// SPDX-License-Identifier: Apache-2.0
// Random small programs, legal by construction, for tests that compare two ways of running one.
// Made from a seed: element-wise ops, broadcasting, products, reductions, shapes, loops in loops,
// and state slots that are swapped, kept or updated.
#pragma once

#include "core/ops/builder.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace weft::test {

class RandomProgram {
public:
    explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

    ir::Program make() {
        program_.name = "random";
        ops::Builder builder(program_, program_.body);
        ir::ValueIds pool;
        for (int i = 0; i < 3; ++i) {
            pool.push_back(
                program_.add_argument(ir::Role::state, "slot" + std::to_string(i), kType));
        }
        pool.push_back(program_.add_argument(ir::Role::batch, "x", kType));
        row_ = program_.add_argument(ir::Role::batch, "row", {ir::DType::f32, {kWidth}});
        scalar_ = program_.add_argument(ir::Role::scalar, "scalar", {ir::DType::f32, {}});
        grow(builder, pool, 4 + pick(12), 2);
        builder.set_phase(ir::Phase::update);
        grow(builder, pool, pick(6), 0);
        for (int i = 0; i < 3; ++i) {
            program_.add_result(ir::Role::state, "slot" + std::to_string(i), any(pool));
        }
        for (int i = 0; i < 2; ++i) {
            program_.add_result(ir::Role::output, "out" + std::to_string(i), any(pool));
        }
        return std::move(program_);
    }

private:
    static constexpr std::int64_t kWidth = 4;
    static inline const ir::Type kType{ir::DType::f32, {kWidth, kWidth}};

    int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
    ir::ValueId any(const ir::ValueIds& pool) {
        return pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))];
    }

    void grow(ops::Builder& b, ir::ValueIds& pool, int count, int loops) {
        for (int i = 0; i < count; ++i) {
            if (loops > 0 && pick(5) == 0) {
                loop(b, pool, loops - 1);
            } else {
                pool.push_back(one(b, pool));
            }
        }
    }

    ir::ValueId one(ops::Builder& b, const ir::ValueIds& pool) {
        const ir::ValueId x = any(pool);
        const ir::ValueId y = any(pool);
        switch (pick(18)) {
        case 0: return ops::add(b, x, y);
        case 1: return ops::sub(b, x, y);
        case 2: return b.emit("tanh", {ops::mul(b, x, y)});
        case 3: return ops::maximum(b, x, row_);
        case 4: return ops::mul(b, x, scalar_);
        case 5: return b.emit("relu", {x});
        case 6: return ops::affine(b, x, 0.5, 0.25);
        case 7: return b.emit("tanh", {ops::matmul(b, x, y, pick(2) == 0, pick(2) == 0)});
        case 8: return ops::transpose(b, x, {1, 0});
        case 9: return ops::add(b, y, ops::affine(b, ops::reduce_sum(b, x, {1}, true), 0.1));
        case 10:
            return ops::reshape(b, ops::affine(b, ops::reshape(b, x, {kWidth * kWidth}), 0.9),
                                {kWidth, kWidth});
        case 11: return ops::add(b, x, ops::constant(b, pick(2), {}));
        case 12: return ops::mul(b, x, ops::constant(b, pick(2) == 0 ? 1.0 : 0.75, {}));
        case 13: return ops::select(b, b.emit("less", {x, y}), x, row_matrix(b));
        case 14: return b.emit("softmax", {x});
        case 15: return padded_halves(b, x, y);
        case 16: return b.emit("relu_grad", {x, b.emit("relu", {pick(2) == 0 ? x : y})});
        default: return ops::add(b, ops::constant(b, 0.0, {kWidth, kWidth}), x);
        }
    }

    /// The gradient of two slices: padded pieces, which may overlap or leave a gap.
    ir::ValueId padded_halves(ops::Builder& b, ir::ValueId x, ir::ValueId y) {
        const std::int64_t cut = 1 + pick(2);
        const std::int64_t second = cut + pick(2) - pick(2);
        const auto pad = [&](ir::ValueId value, std::int64_t start, std::int64_t size) {
            const auto part = ops::slice(b, value, {0, 0}, {kWidth, size});
            return b.emit("pad", {part},
                          {{"low", std::vector<std::int64_t>{0, start}},
                           {"high", std::vector<std::int64_t>{0, kWidth - start - size}},
                           {"value", 0.0}});
        };
        return ops::add(b, pad(x, second, kWidth - second), pad(y, 0, cut));
    }

    ir::ValueId row_matrix(ops::Builder& b) {
        return b.emit("broadcast", {row_}, {{"shape", std::vector<std::int64_t>{kWidth, kWidth}}});
    }

    /// repeat with two carried values, one per-iteration input and one or two stacked outputs.
    void loop(ops::Builder& b, ir::ValueIds& pool, int loops) {
        const std::int64_t count = 1 + pick(3);
        ir::Op op;
        op.kind = "repeat";
        op.path = "loop";
        op.phase = b.phase();
        op.attributes = {{"count", count}, {"carried", std::int64_t{2}}, {"reverse", pick(2) == 0}};
        const ir::ValueId zeros = ops::constant(b, 0.0, {kWidth, kWidth});
        op.inputs = {any(pool), pick(2) == 0 ? zeros : any(pool), stack(b, any(pool), count)};
        ir::Block body;
        ir::ValueIds inner = pool;
        for (int i = 0; i < 3; ++i) {
            body.arguments.push_back(program_.add_value(kType));
            inner.push_back(body.arguments.back());
        }
        ops::Builder inside(program_, body);
        inside.set_phase(b.phase());
        grow(inside, inner, 1 + pick(5), loops);
        body.results = {any(inner), ops::add(inside, body.arguments[1], any(inner)), any(inner)};
        if (pick(2) == 0) {
            body.results.push_back(any(inner));
        }
        for (std::size_t i = 0; i < body.results.size(); ++i) {
            op.outputs.push_back(program_.add_value(
                i < 2 ? kType : ir::Type{ir::DType::f32, {count, kWidth, kWidth}}));
        }
        op.body.push_back(std::move(body));
        const auto outputs = op.outputs;
        b.append(std::move(op));
        pool.push_back(outputs[0]);
        pool.push_back(outputs[1]);
        for (std::size_t i = 2; i < outputs.size(); ++i) {
            pool.push_back(b.emit("tanh", {ops::reduce_sum(b, outputs[i], {0})}));
        }
    }

    /// [count, W, W] of different slices.
    ir::ValueId stack(ops::Builder& b, ir::ValueId x, std::int64_t count) {
        ir::ValueIds slices;
        for (std::int64_t i = 0; i < count; ++i) {
            const double scale = 1.0 / static_cast<double>(i + 2);
            slices.push_back(ops::reshape(b, ops::affine(b, x, scale), {1, kWidth, kWidth}));
        }
        return b.emit("concat", slices, {{"dim", std::int64_t{0}}});
    }

    std::mt19937_64 random_;
    ir::Program program_;
    ir::ValueId row_;
    ir::ValueId scalar_;
};

/// Numbers in [-1, 1) for a buffer of f32.
inline void fill_random(std::span<float> values, std::uint64_t seed) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    for (float& value : values) {
        value = static_cast<float>(random() % 2000) / 1000.0F - 1.0F;
    }
}

/// Equal numbers; NaN equals NaN, -0 equals 0.
inline bool same_numbers(std::span<const float> a, std::span<const float> b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i] && !(a[i] != a[i] && b[i] != b[i])) {
            return false;
        }
    }
    return a.size() == b.size();
}

} // namespace weft::test
