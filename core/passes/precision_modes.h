// SPDX-License-Identifier: Apache-2.0
// Which values of a program go down to the compute type. Private to apply_precision.
#pragma once

#include "core/ops/op_def.h"

#include <vector>

namespace weft::passes {

enum class Mode : std::uint8_t {
    neutral, // f32 without an opinion: parameters, data, constants; goes down with what it meets
    low,     // in the compute type
    full,    // f32, and draws elementwise ops up to f32
};

struct PrecisionModes {
    std::vector<Mode> values;    // [value]
    std::vector<bool> wide;      // [value] outputs that get attribute wide=true
    std::vector<bool> feeds_mix; // [value] read, perhaps indirectly, by a forward op that mixes, or
                                 // that keeps its own arithmetic in f32 whatever it reads
    Mode of(ir::ValueId id) const { return values[static_cast<std::size_t>(id.index)]; }
};

PrecisionModes decide_precision(const ir::Program& program);

/// The op combines at least two float operands and is not elementwise: products, norms, attention.
bool is_mixing(const ir::Program& program, const ir::Op& op);
/// The op runs on f32 operands whatever the compute type: called full by its record or its phase,
/// or behind the last mixing op of the forward phase.
bool is_full(const PrecisionModes& modes, const ir::Program& program, const ir::Op& op);

} // namespace weft::passes
