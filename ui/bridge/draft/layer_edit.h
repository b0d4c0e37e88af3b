// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of a `sequential` model as something to edit: lists of layers inside layers, by the
// JSON pointer of each. Pure; what cannot be done leaves the model as it is.
#pragma once

#include "core/config/field.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft::ui {

/// A row of the tree: a layer, or one of the branches of a layer, which is a list of layers.
struct LayerNode {
    std::string pointer; // "/model/layers/3", "/model/layers/3/branches/0"
    std::string path;    // of its ops and tensors: "layers.3", "layers.3.branches.0"
    std::string type;    // "conv2d"; of a branch: empty
    std::string summary; // its settings in short: "channels 32, kernel 5, bias false"
    std::string values;  // what of them says most, in shorter: "32, 5"
    std::vector<LayerNode> children;
};

/// Every layer of the model section of a document; empty where it is no sequential model.
std::vector<LayerNode> layerTree(const config::Json& model);

/// Whether a model section is a list of layers that can be edited.
bool isSequential(const config::Json& model);

/// A layer as a list holds it, e.g. to insert or to copy.
config::Json newLayer(const config::Field& layers, const std::string& type);

/// `model` with a layer put at `index` of the list at `list` (pointer below the model section,
/// "/layers" or "/layers/3/layers"); past the end: at the end.
config::Json withLayer(const config::Json& model, const std::string& list, std::size_t index,
                       const config::Json& layer);
config::Json withoutLayer(const config::Json& model, const std::string& layer);
/// A layer moved to `index` of a list as it is before the move. Not into itself.
config::Json withLayerMoved(const config::Json& model, const std::string& layer,
                            const std::string& list, std::size_t index);

/// List and index of a layer's pointer.
struct LayerPlace {
    std::string list;
    std::size_t index = 0;
};
std::optional<LayerPlace> placeOf(const std::string& layer);

/// The same network as a list of layers; none: the model is none that a list can be.
std::optional<config::Json> asSequential(const config::Json& model);

} // namespace weft::ui
