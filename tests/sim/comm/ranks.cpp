// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/comm/ranks.h"

#include "core/base/error.h"
#include "core/base/philox.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <thread>

namespace weft::exec::comm::test {
namespace {

/// A stored number, as a double (exact for all float types) or as the bits of an integer.
struct Number {
    double real = 0.0;
    std::int64_t integer = 0;
};

template <class T>
T at(const Bytes& data, std::int64_t index) {
    T value;
    std::memcpy(&value, data.data() + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template <class T>
void put(Bytes& data, std::int64_t index, T value) {
    std::memcpy(data.data() + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

float bf16_value(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The nearest number with 8 significant bits, ties to even: of normal numbers.
std::uint16_t bf16_bits(double value) {
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(rounded)) >>
                                      16);
}

double f16_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int units = (exponent > 0 ? 1024 : 0) + (bits & 1023);
    return std::ldexp((bits & 0x8000) != 0 ? -units : units, std::max(exponent, 1) - 25);
}

/// The nearest number with 11 significant bits, or 2^-24 as its unit, ties to even: of numbers
/// below 65520.
std::uint16_t f16_bits(double value) {
    const double size = std::fabs(value);
    const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000 : 0) + units +
                                      (exponent + 14) * 1024);
}

Number load(ir::DType dtype, const Bytes& data, std::int64_t index) {
    switch (dtype) {
    case ir::DType::f32: return {at<float>(data, index), 0};
    case ir::DType::bf16: return {bf16_value(at<std::uint16_t>(data, index)), 0};
    case ir::DType::f16: return {f16_value(at<std::uint16_t>(data, index)), 0};
    case ir::DType::f64: return {at<double>(data, index), 0};
    case ir::DType::i32: return {0.0, at<std::int32_t>(data, index)};
    case ir::DType::i64: return {0.0, at<std::int64_t>(data, index)};
    case ir::DType::u8: return {0.0, at<std::uint8_t>(data, index)};
    }
    return {};
}

void store(ir::DType dtype, Number value, Bytes& data, std::int64_t index) {
    switch (dtype) {
    case ir::DType::f32: return put(data, index, static_cast<float>(value.real));
    case ir::DType::bf16: return put(data, index, bf16_bits(value.real));
    case ir::DType::f16: return put(data, index, f16_bits(value.real));
    case ir::DType::f64: return put(data, index, value.real);
    case ir::DType::i32: return put(data, index, static_cast<std::int32_t>(value.integer));
    case ir::DType::i64: return put(data, index, value.integer);
    case ir::DType::u8: return put(data, index, static_cast<std::uint8_t>(value.integer));
    }
}

/// To the precision of the arithmetic. A double holds twice the bits of an f32, so that rounding a
/// sum or quotient of two f32 twice equals rounding it once.
double rounded(ir::DType dtype, double value) {
    return dtype == ir::DType::f64 ? value : static_cast<double>(static_cast<float>(value));
}

Number apply(ir::DType dtype, Reduction reduction, Number a, Number b) {
    const bool real = ir::is_float(dtype);
    const bool a_wins = real ? a.real > b.real : a.integer > b.integer;
    switch (reduction) {
    case Reduction::sum:
    case Reduction::mean:
        return {rounded(dtype, a.real + b.real),
                static_cast<std::int64_t>(static_cast<std::uint64_t>(a.integer) +
                                          static_cast<std::uint64_t>(b.integer))};
    case Reduction::max: return a_wins ? a : b;
    case Reduction::min: return a_wins ? b : a;
    }
    return {};
}

Number fold(ir::DType dtype, Reduction reduction, const Order& order,
            const std::vector<Bytes>& data, std::int64_t index) {
    if (order.pair.empty()) {
        return load(dtype, data[static_cast<std::size_t>(order.rank)], index);
    }
    return apply(dtype, reduction, fold(dtype, reduction, order.pair[0], data, index),
                 fold(dtype, reduction, order.pair[1], data, index));
}

Order tree_part(int first, int width, int ranks) {
    if (width == 1) {
        return {first, {}};
    }
    const int half = width / 2;
    Order left = tree_part(first, half, ranks);
    if (first + half >= ranks) {
        return left;
    }
    return {0, {left, tree_part(first + half, half, ranks)}};
}

} // namespace

std::vector<std::string> run_ranks(World& world, const std::function<void(int)>& rank_main) {
    std::vector<std::string> errors(static_cast<std::size_t>(world.size()));
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world.size(); ++rank) {
        threads.emplace_back([&, rank] {
            try {
                rank_main(rank);
            } catch (const std::exception& error) {
                errors[static_cast<std::size_t>(rank)] = error.what();
            }
        });
    }
    threads.clear();
    return errors;
}

void await_waiting(const InProcessWorld& world, int ranks) {
    while (world.waiting_ranks() != ranks) {
        std::this_thread::yield();
    }
}

Bytes drawn_data(ir::DType dtype, std::int64_t count, std::uint64_t seed) {
    const RandomStream stream(seed, "data");
    Bytes out(static_cast<std::size_t>(count * ir::dtype_bytes(dtype)));
    for (std::int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::uint64_t>(i);
        const PhiloxCounter words = stream.block(1, index);
        const double real = std::ldexp(static_cast<double>(stream.normal(0, index)),
                                       static_cast<int>(words[2] % 12) - 6);
        const auto bits = std::uint64_t{words[0]} << 32 | words[1];
        store(dtype, {real, static_cast<std::int64_t>(bits)}, out, i);
    }
    return out;
}

Order ring_order(int first, int ranks) {
    Order order{first % ranks, {}};
    for (int i = 1; i < ranks; ++i) {
        order = Order{0, {order, Order{(first + i) % ranks, {}}}};
    }
    return order;
}

Order tree_order(int ranks) {
    return tree_part(0, static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))), ranks);
}

void reduce_element(ir::DType dtype, Reduction reduction, const Order& order,
                    const std::vector<Bytes>& data, std::int64_t index, Bytes& out,
                    std::int64_t out_index) {
    Number result = fold(dtype, reduction, order, data, index);
    if (reduction == Reduction::mean) {
        result.real = rounded(dtype, result.real / static_cast<double>(data.size()));
    }
    store(dtype, result, out, out_index);
}

Bytes expected_all_reduce(ir::DType dtype, Reduction reduction, Algorithm algorithm,
                          const std::vector<Bytes>& data) {
    const int ranks = static_cast<int>(data.size());
    const auto count = static_cast<std::int64_t>(data[0].size()) / ir::dtype_bytes(dtype);
    Bytes out(data[0].size());
    const Order tree = tree_order(ranks);
    // Chunk c holds the elements from c * whole + min(c, longer): see in_process.h.
    std::int64_t index = 0;
    for (int c = 0; c < ranks; ++c) {
        const std::int64_t length = count / ranks + (c < count % ranks ? 1 : 0);
        const Order ring = ring_order(c + 1, ranks);
        for (const std::int64_t end = index + length; index < end; ++index) {
            reduce_element(dtype, reduction, algorithm == Algorithm::tree ? tree : ring, data,
                           index, out, index);
        }
    }
    return out;
}

} // namespace weft::exec::comm::test
