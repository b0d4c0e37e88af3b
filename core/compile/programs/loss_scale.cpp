// SPDX-License-Identifier: Apache-2.0
#include "core/compile/programs/loss_scale.h"

namespace weft::compile {

using ir::ValueId;

std::array<double, LossScaleSlot::count> first_loss_scale(const LossScale& settings) {
    return {settings.initial, 0.0, static_cast<double>(settings.hysteresis), 0.0};
}

LossScaleUpdate update_loss_scale(ops::Builder& b, const LossScale& settings,
                                  const LossScaleState& state, ValueId finite) {
    const auto number = [&b](double value) { return ops::constant(b, value); };
    const ValueId scale = state[LossScaleSlot::scale];
    const ValueId overflowed = ops::affine(b, finite, -1.0, 1.0);

    const ValueId one_less = ops::affine(b, state[LossScaleSlot::allowed], 1.0, -1.0);
    const ValueId left = ops::maximum(b, one_less, number(0));
    const ValueId shrinks = ops::mul(b, overflowed, b.emit("equal", {left, number(0)}));
    const ValueId smaller = ops::affine(b, scale, settings.backoff);
    const ValueId below = b.emit("less", {smaller, number(settings.minimum)});

    const ValueId one_more = ops::affine(b, state[LossScaleSlot::taken], 1.0, 1.0);
    const ValueId in_a_row = ops::mul(b, one_more, finite);
    const ValueId interval = number(static_cast<double>(settings.growth_interval));
    const ValueId grows = b.emit("equal", {in_a_row, interval});
    const ValueId larger =
        ops::minimum(b, ops::affine(b, scale, settings.growth), number(settings.maximum));

    LossScaleUpdate out;
    out.next[LossScaleSlot::scale] =
        ops::select(b, grows, larger, ops::select(b, shrinks, smaller, scale));
    out.next[LossScaleSlot::taken] = ops::select(b, grows, number(0), in_a_row);
    out.next[LossScaleSlot::allowed] =
        ops::select(b, overflowed, left, number(static_cast<double>(settings.hysteresis)));
    out.next[LossScaleSlot::skipped] = ops::add(b, state[LossScaleSlot::skipped], overflowed);
    out.fails = ops::mul(b, shrinks, below);
    return out;
}

} // namespace weft::compile
