// SPDX-License-Identifier: Apache-2.0
// Which block of the model an op belongs to, read off its layer path. Private to recompute.
#pragma once

#include "core/ir/program.h"

#include <string_view>
#include <vector>

namespace weft::passes {

/// The part of a layer path that names a block of the model: up to the end of its first run of
/// numbers, "blocks.3" of "blocks.3.mlp.up" and "stages.1.2" of "stages.1.2.conv"; the copies of a
/// repeat layer count one by one, "layers.2.copies.0". Without a number: the first component,
/// "stem" of "stem.norm".
std::string_view block_of_path(std::string_view path);

/// The block of the model of every op, numbered in order of appearance. Layers of one list without
/// a weight matrix (activations, norms, pooling, dropout) belong to the layer before them.
/// `weights[v]`: the value depends on state slots only, or comes from outside the block.
std::vector<int> number_blocks(const ir::Program& program, const ir::Block& block,
                               const std::vector<bool>& weights);

} // namespace weft::passes
