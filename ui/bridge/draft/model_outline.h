// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of a model: what they hold, compute and put out, as a tree and as a graph of any one
// level. From the engine's own building of the model; where layers do not fit, as far as they do.
// Made off the GUI thread; immutable.
#pragma once

#include "core/compile/programs/model_sketch.h"
#include "widgets/views/graph_layout.h"

#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::ui {

/// A layer path and all below it.
struct ModelBlock {
    std::string path;              // "layers.3", "blocks.0.attention"
    std::string kind;              // of a layer in a list of layers: "conv2d"; else empty
    std::string ops;               // kinds of the ops directly in it: "matmul, add, relu"
    std::int64_t parameters = 0;   // below it; tied ones at their first use
    double flops = 0;              // forward, of one sample
    std::int64_t output_bytes = 0; // of all that its ops put out for one sample, as f32 or tokens
    std::string shape;             // of what it gives on, without the sample: "[28, 28, 32]"
    std::vector<std::string> children;
};

struct ModelOutline {
    compile::ModelSketch sketch;
    std::map<std::string, ModelBlock> blocks; // "" is the model
    std::string input;                        // shape of a sample
    // Where the model does not fit; empty: it does.
    std::string problem_path;
    QString problem;
    QString hint;

    const ModelBlock* find(const std::string& path) const;
};

/// Never throws for a model that does not fit: the outline says it. Throws weft::Error where the
/// data cannot be looked at.
std::shared_ptr<const ModelOutline> outlineModel(const compile::RunConfig& config,
                                                 const data::SampleInfo& sample);

/// The part of a path one level below `parent`, with its number: "layers.3" of "layers.3.conv";
/// empty when `path` is not below.
std::string childOf(const std::string& path, const std::string& parent);

/// The blocks one level below `parent` with what flows between them; `paths` gets the block of each
/// node, empty for what comes from outside. Of five and more equal blocks in a row one is shown.
widgets::Graph blockGraph(const ModelOutline& outline, const std::string& parent,
                          std::vector<std::string>& paths);

/// "[32, 14, 14]" of a type with a leading sample.
std::string sampleShape(const ir::Type& type);

} // namespace weft::ui
