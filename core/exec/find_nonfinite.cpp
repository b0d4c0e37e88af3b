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
    range.low = range.finite == 0 ? value : std::min(range.low, value);
    range.high = range.finite == 0 ? value : std::max(range.high, value);
    ++range.finite;
}

template <typename Stored, typename Read>
ValueRange range_of_values(const void* data, std::int64_t count, Read read) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    ValueRange out;
    for (std::int64_t i = 0; i < count; ++i) {
        Stored stored;
        std::memcpy(&stored, bytes + static_cast<std::size_t>(i) * sizeof stored, sizeof stored);
        add_value(out, read(stored), i);
    }
    return out;
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
    const std::int64_t count = type.shape.elements();
    const auto plain = [](auto value) { return static_cast<double>(value); };
    const auto widened = [](auto value) { return static_cast<double>(kernels::to_float(value)); };
    switch (type.dtype) {
    case ir::DType::f32: return range_of_values<float>(data, count, plain);
    case ir::DType::f64: return range_of_values<double>(data, count, plain);
    case ir::DType::bf16: return range_of_values<kernels::bf16>(data, count, widened);
    case ir::DType::f16: return range_of_values<kernels::f16>(data, count, widened);
    case ir::DType::i32: return range_of_values<std::int32_t>(data, count, plain);
    case ir::DType::i64: return range_of_values<std::int64_t>(data, count, plain);
    case ir::DType::u8: return range_of_values<std::uint8_t>(data, count, plain);
    }
    return {};
}

} // namespace weft::exec
