// SPDX-License-Identifier: Apache-2.0
#include "core/plan/frozen.h"

namespace weft::plan {

Frozen frozen_part(const ExecutionPlan& plan) {
    Frozen out;
    std::int64_t trained = 0;
    std::int64_t kept_bytes = 0;
    for (const StateSlot& slot : plan.state_slots) {
        if (slot.category == Category::optimizer) {
            kept_bytes += slot.whole.bytes();
        } else if (slot.category == Category::parameters && !slot.by_row) {
            (slot.trainable ? trained : out.parameters) += slot.whole.shape.elements();
        }
    }
    if (trained > 0) {
        const double each = static_cast<double>(ir::dtype_bytes(ir::DType::f32)) +
                            static_cast<double>(kept_bytes) / static_cast<double>(trained);
        out.spared_bytes = static_cast<std::int64_t>(each * static_cast<double>(out.parameters));
    }
    return out;
}

} // namespace weft::plan
