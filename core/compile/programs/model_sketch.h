// SPDX-License-Identifier: Apache-2.0
// The model of a run alone, as it is written: for looking at it. Also where data and layers do not
// fit: as far as they do.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/data/dataset.h"
#include "core/ir/program.h"

#include <string>
#include <vector>

namespace weft::compile {

struct SketchedParameter {
    std::string name; // "layers.0.weight"
    ir::Shape shape;
};

struct ModelSketch {
    /// Forward ops in training mode for one sample, by layer path. Argument 0 is the sample.
    ir::Program program;
    std::vector<SketchedParameter> parameters; // in order of first use; tied ones once
    std::vector<double> flops;                 // of each op of the body, loops included
};

/// Builds into `sketch`. Throws weft::Error{usage} at the path of the layer that does not fit; what
/// was built before it is then in `sketch`.
void sketch_model(const RunConfig& config, const data::SampleInfo& sample, ModelSketch& sketch);

/// The model in evaluation mode on so many samples: "inputs" -> what the loss takes, "logits" of
/// classes, else "values". Parameters and running statistics are state ports by their names. Throws
/// weft::Error{usage} as sketch_model does.
ir::Program model_program(const RunConfig& config, const data::SampleInfo& sample,
                          std::int64_t samples);

/// The field of the layer at a path: "/model/layers/3/branches/0" of "layers.3.branches.0"; that of
/// the text for a place in a model's text; a pointer stays.
std::string pointer_of_layer(const std::string& path);

/// The model as text that the model `graph` trains to the same numbers. Throws weft::Error{usage}
/// for one that text cannot express.
std::string text_of_model(const RunConfig& config, const data::SampleInfo& sample);

} // namespace weft::compile
