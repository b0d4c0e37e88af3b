// SPDX-License-Identifier: Apache-2.0
#include "core/exec/find_nonfinite.h"

#include <cstring>

namespace weft::exec {
namespace {

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

} // namespace weft::exec
