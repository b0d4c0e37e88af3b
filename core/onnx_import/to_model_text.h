// SPDX-License-Identifier: Apache-2.0
// Any program's ONNX graph as model text (core/ir/model_text.h), which trains here.
#pragma once

#include "core/ir/type.h"
#include "core/onnx_import/read_onnx.h"

namespace weft::onnx_import {

/// A graph in our ops. Weights keep their names, shapes and numbers: what the file calls
/// "fc.weight" [out, in] is the state "fc.weight" here, whichever way an op takes it.
struct TextOfGraph {
    std::string text;
    ir::Type input;                    // of one sample: pictures with channels last, tokens as i32
    std::int64_t outputs = 0;          // extent of the last dimension of the result
    std::vector<std::string> warnings; // what trains otherwise than its author may think
};

/// What is trained: tensors of floats of the file with more than one element, all finite, as ops
/// read them; running statistics of a batch normalisation follow the batches. Tensors of one
/// element, of other types and those that nodes hold stay as they are, of which `warnings` names
/// those of floats. Pictures [N, C, H, W] are read from samples [H, W, C]. Dropout drops where its
/// training_mode is true; a batch normalisation takes the statistics of the batch in training and
/// the running ones otherwise, whatever its training_mode says.
/// `positions`: of tokens [N, positions] where the file leaves their number open; 0: nobody said.
/// Throws weft::Error{usage} that lists every node that has no translation, with its name and why.
TextOfGraph to_model_text(const StoredModel& model, std::int64_t positions = 0);

} // namespace weft::onnx_import
