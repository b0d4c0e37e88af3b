// SPDX-License-Identifier: Apache-2.0
#include "core/exec/find_nonfinite.h"

#include "kernels/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::exec {
namespace {

void add_value(ValueRange& range, double value, std::int64_t at) {
    if (!std::isfinite(value)) {
        ++(std::isnan(value) ? range.nan : range.infinite);
        range.first_bad = range.first_bad < 0 ? at : range.first_bad;
        return;
    }
    if (range.finite == 0 || value < range.low) {
        range.low = value;
        range.lowest_at = at;
    }
    if (range.finite == 0 || value > range.high) {
        range.high = value;
        range.highest_at = at;
    }
    ++range.finite;
}

template <typename Stored, typename Read, typename See>
void each_of(const void* data, std::int64_t count, Read read, See see) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::int64_t i = 0; i < count; ++i) {
        Stored stored;
        std::memcpy(&stored, bytes + static_cast<std::size_t>(i) * sizeof stored, sizeof stored);
        see(read(stored), i);
    }
}

/// Calls see(value, element) for every element.
template <typename See>
void each_value(const ir::Type& type, const void* data, See see) {
    const std::int64_t count = type.shape.elements();
    const auto plain = [](auto value) { return static_cast<double>(value); };
    const auto widened = [](auto value) { return static_cast<double>(kernels::to_float(value)); };
    switch (type.dtype) {
    case ir::DType::f32: return each_of<float>(data, count, plain, see);
    case ir::DType::f64: return each_of<double>(data, count, plain, see);
    case ir::DType::bf16: return each_of<kernels::bf16>(data, count, widened, see);
    case ir::DType::f16: return each_of<kernels::f16>(data, count, widened, see);
    case ir::DType::i32: return each_of<std::int32_t>(data, count, plain, see);
    case ir::DType::i64: return each_of<std::int64_t>(data, count, plain, see);
    case ir::DType::u8: return each_of<std::uint8_t>(data, count, plain, see);
    }
}

/// Infinities and NaN have every exponent bit set.
template <typename Bits>
bool exponents_below(const void* data, std::int64_t count, Bits exponent) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::int64_t i = 0; i < count; ++i) {
        Bits bits;
        std::memcpy(&bits, bytes + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
        if ((bits & exponent) == exponent) {
            return false;
        }
    }
    return true;
}

} // namespace

bool all_finite(const ir::Type& type, const void* data) {
    const std::int64_t count = type.shape.elements();
    switch (type.dtype) {
    case ir::DType::f32: return exponents_below<std::uint32_t>(data, count, 0x7f800000U);
    case ir::DType::bf16: return exponents_below<std::uint16_t>(data, count, 0x7f80);
    case ir::DType::f16: return exponents_below<std::uint16_t>(data, count, 0x7c00);
    case ir::DType::f64: return exponents_below<std::uint64_t>(data, count, 0x7ff0000000000000ULL);
    default: return true;
    }
}

ValueRange range_of(const ir::Type& type, const void* data) {
    ValueRange out;
    each_value(type, data, [&](double value, std::int64_t at) { add_value(out, value, at); });
    return out;
}

std::vector<std::int64_t> histogram_of(const ir::Type& type, const void* data,
                                       const ValueRange& range) {
    if (range.finite == 0 || range.low == range.high) {
        return {};
    }
    std::vector<std::int64_t> out(static_cast<std::size_t>(kHistogramBins), 0);
    // Halves: the whole width may be beyond what a double holds.
    const double half_width = range.high / 2 - range.low / 2;
    each_value(type, data, [&](double value, std::int64_t) {
        if (std::isfinite(value)) {
            const double share = (value / 2 - range.low / 2) / half_width;
            const auto bin = static_cast<std::int64_t>(share * double(kHistogramBins));
            ++out[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, kHistogramBins - 1))];
        }
    });
    return out;
}

double sum_of_squares(const ir::Type& type, const void* data) {
    double out = 0;
    each_value(type, data, [&](double value, std::int64_t) { out += value * value; });
    return out;
}

} // namespace weft::exec
