// SPDX-License-Identifier: Apache-2.0
#include "core/cost/roofline.h"

#include "core/base/check.h"

#include <algorithm>

namespace weft::cost {
namespace {

/// Seconds of each resource.
struct Times {
    double products, arithmetic, memory;
};

Times times_of(const Work& work, const Limits& limits) {
    WEFT_CHECK(limits.bf16_flops > 0 && limits.f32_flops > 0 && limits.bandwidth > 0,
               "a roofline needs positive limits");
    return {work.product_flops / product_rate(work.dtype, work.operands, limits),
            (work.flops - work.product_flops) / limits.f32_flops, work.bytes / limits.bandwidth};
}

} // namespace

double product_rate(ir::DType dtype, ir::Operands operands, const Limits& limits) {
    if (operands == ir::Operands::fp8 && limits.fp8_flops > 0) {
        return limits.fp8_flops;
    }
    if (operands == ir::Operands::tf32 && limits.tf32_flops > 0) {
        return limits.tf32_flops;
    }
    if (dtype == ir::DType::f16 && limits.f16_flops > 0) {
        return limits.f16_flops;
    }
    return dtype == ir::DType::bf16 ? limits.bf16_flops : limits.f32_flops;
}

Bound bound_of(const Work& work, const Limits& limits) {
    const Times times = times_of(work, limits);
    if (times.memory >= times.products + times.arithmetic) {
        return Bound::memory;
    }
    return times.products >= times.arithmetic ? Bound::products : Bound::arithmetic;
}

double roofline_s(const Work& work, const Limits& limits) {
    const Times times = times_of(work, limits);
    return limits.overhead_s + std::max(times.products + times.arithmetic, times.memory);
}

} // namespace weft::cost
