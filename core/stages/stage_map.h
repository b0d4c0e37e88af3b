// SPDX-License-Identifier: Apache-2.0
// Which layers of a model make up which part of a pipeline. A layer is what a numbered path names:
// "blocks.3", "layers.0", "stages.1.0". What stands before the first layer (embeddings, a stem)
// goes with it, what comes behind the last (final norm, head, loss) with that.
#pragma once

#include "core/ir/program.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::stages {

/// "blocks.3" of "blocks.3.mlp.up"; "embedding" of "embedding.tokens".
std::string_view layer_of_path(std::string_view path);

struct Layer {
    std::string path;
    double flops = 0; // of a forward pass, with those of what goes with it
};

/// The layers of a training step, or of its forward pass alone, in the order of the forward pass,
/// with what goes with them.
struct LayerList {
    std::vector<Layer> layers;
    std::map<std::string, int, std::less<>> with; // unnumbered paths: index of the layer
};
LayerList list_layers(const ir::Program& program);

/// Contiguous groups, none empty, whose dearest is as cheap as can be. At least `parts` layers
/// (programmer fault).
std::vector<int> balance(const std::vector<Layer>& layers, int parts);

class StageMap {
public:
    /// `counts`: layers of each part, in model order; they add up to all layers.
    StageMap(const LayerList& list, const std::vector<int>& counts);

    int parts() const { return static_cast<int>(ranges_.size()); }
    /// The part that a layer path or the name of a state slot ("optimizer.m/blocks.3.norm.bias")
    /// belongs to; -1: no layer's.
    int part_of(std::string_view path) const;
    /// "blocks.0 to blocks.2"
    const std::string& layers_text(int part) const {
        return ranges_[static_cast<std::size_t>(part)];
    }

private:
    std::map<std::string, int, std::less<>> parts_; // by layer path
    std::vector<std::string> ranges_;
};

} // namespace weft::stages
