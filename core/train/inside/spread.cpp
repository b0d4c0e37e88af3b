// SPDX-License-Identifier: Apache-2.0
#include "core/train/inside/spread.h"

#include "kernels/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::train {
namespace {

constexpr int kLanes = 8;
constexpr std::int64_t kBlock = 512;
constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kExponent = 0x7f800000U;
constexpr std::int32_t kBias = 127;
constexpr int kBinShift = 23 - 2; // two bits of the mantissa: kBinsAnOctave

int side_bin(std::uint32_t size) {
    const auto part = static_cast<std::int32_t>(size >> kBinShift);
    return std::clamp(part - (kBias + kLowestOctave) * kBinsAnOctave, 0, kSideBins - 1);
}

int bin_of_bits(std::uint32_t bits) {
    const std::uint32_t size = bits & ~kSign;
    if (size == 0) {
        return kZeroBin;
    }
    const int side = side_bin(size);
    return (bits & kSign) != 0 ? kZeroBin - 1 - side : kZeroBin + 1 + side;
}

std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

bool all_finite(const float* values, std::int64_t count) {
    bool bad = false;
    for (std::int64_t i = 0; i < count; ++i) {
        bad |= (bits_of(values[i]) & kExponent) == kExponent;
    }
    return !bad;
}

template <typename Stored>
void widen(const std::byte* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        Stored stored;
        std::memcpy(&stored, from + static_cast<std::size_t>(i) * sizeof stored, sizeof stored);
        if constexpr (std::is_arithmetic_v<Stored>) {
            to[i] = static_cast<float>(stored);
        } else {
            to[i] = kernels::to_float(stored);
        }
    }
}

void widen(ir::DType dtype, const std::byte* from, std::int64_t count, float* to) {
    switch (dtype) {
    case ir::DType::f32:
        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof *to);
        return;
    case ir::DType::f64: return widen<double>(from, count, to);
    case ir::DType::bf16: return widen<kernels::bf16>(from, count, to);
    case ir::DType::f16: return widen<kernels::f16>(from, count, to);
    default: WEFT_CHECK(false, "a spread is of floats");
    }
}

} // namespace

int bin_of(float value) {
    return bin_of_bits(bits_of(value));
}

double lower_edge(int bin) {
    const int part = bin - kZeroBin - 1;
    const double within = 1.0 + double(part % kBinsAnOctave) / kBinsAnOctave;
    return std::ldexp(within, kLowestOctave + part / kBinsAnOctave);
}

void Spread::add(ir::DType dtype, const void* data, std::int64_t elements, Bins how) {
    const auto* bytes = static_cast<const std::byte*>(data);
    const std::int64_t size = ir::dtype_bytes(dtype);
    std::array<float, kBlock> block;
    for (std::int64_t first = 0; first < elements; first += kBlock) {
        const std::int64_t here = std::min(kBlock, elements - first);
        widen(dtype, bytes + first * size, here, block.data());
        add_block(block.data(), here, how);
    }
}

void Spread::add_block(const float* values, std::int64_t here, Bins how) {
    std::array<float, kBlock> good;
    if (!train::all_finite(values, here)) {
        const float* end = std::copy_if(values, values + here, good.begin(),
                                        [](float value) { return std::isfinite(value); });
        const std::int64_t left = end - good.data();
        count += here - left;
        not_finite += here - left;
        values = good.data();
        here = left;
    }
    if (here == 0) {
        return;
    }
    // In lanes, which the compiler takes together.
    std::array<double, kLanes> sums{}, square_sums{};
    std::array<float, kLanes> lows, highs;
    std::array<std::int32_t, kLanes> none{};
    lows.fill(values[0]);
    highs.fill(values[0]);
    std::int64_t i = 0;
    for (; i + kLanes <= here; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const float value = values[i + static_cast<std::int64_t>(lane)];
            sums[lane] += double(value);
            square_sums[lane] += double(value) * double(value);
            lows[lane] = value < lows[lane] ? value : lows[lane];
            highs[lane] = value > highs[lane] ? value : highs[lane];
            none[lane] += value == 0.0F ? 1 : 0;
        }
    }
    for (; i < here; ++i) {
        sums[0] += double(values[i]);
        square_sums[0] += double(values[i]) * double(values[i]);
        lows[0] = std::min(lows[0], values[i]);
        highs[0] = std::max(highs[0], values[i]);
        none[0] += values[i] == 0.0F ? 1 : 0;
    }
    const double least = double(*std::min_element(lows.begin(), lows.end()));
    const double most = double(*std::max_element(highs.begin(), highs.end()));
    low = finite() == 0 ? least : std::min(low, least);
    high = finite() == 0 ? most : std::max(high, most);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        sum += sums[lane];
        squares += square_sums[lane];
        zeros += none[lane];
    }
    count += here;
    for (std::int64_t at = 0; how == Bins::count && at < here; ++at) {
        ++bins[static_cast<std::size_t>(bin_of_bits(bits_of(values[at])))];
    }
}

void Spread::add(const Spread& other) {
    if (other.finite() > 0) {
        low = finite() == 0 ? other.low : std::min(low, other.low);
        high = finite() == 0 ? other.high : std::max(high, other.high);
    }
    count += other.count;
    zeros += other.zeros;
    not_finite += other.not_finite;
    sum += other.sum;
    squares += other.squares;
    std::transform(bins.begin(), bins.end(), other.bins.begin(), bins.begin(), std::plus<>());
}

void Spread::divide(double divisor) {
    sum /= divisor;
    squares /= divisor * divisor;
    low /= divisor;
    high /= divisor;
    const int by = static_cast<int>(std::lround(std::log2(divisor) * kBinsAnOctave));
    const auto before = bins;
    bins.fill(0);
    for (int side = 0; side < kSideBins; ++side) {
        const int to = std::clamp(side - by, 0, kSideBins - 1);
        bins[std::size_t(kZeroBin + 1 + to)] += before[std::size_t(kZeroBin + 1 + side)];
        bins[std::size_t(kZeroBin - 1 - to)] += before[std::size_t(kZeroBin - 1 - side)];
    }
    bins[kZeroBin] = before[kZeroBin];
}

double Spread::norm() const {
    return std::sqrt(squares);
}

double Spread::mean() const {
    return finite() == 0 ? 0 : sum / double(finite());
}

double Spread::deviation() const {
    const double middle = mean();
    return finite() == 0 ? 0
                         : std::sqrt(std::max(0.0, squares / double(finite()) - middle * middle));
}

} // namespace weft::train
