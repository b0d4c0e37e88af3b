// SPDX-License-Identifier: Apache-2.0
// A model of ours as a graph of ONNX operators.
#pragma once

#include "core/ir/program.h"
#include "core/onnx/onnx.h"

namespace weft::onnx {

/// The graph of a model's program, state ports as weights under their names. An ONNX graph takes
/// any number of samples and a program one: the extents that grow with the samples are those that
/// differ between the model for two and the model for three. `two` and `three` have the same ops.
/// Throws weft::Error{usage} that lists every op without a translation, with its layers.
Graph from_program(const ir::Program& two, const ir::Program& three);

} // namespace weft::onnx
