// SPDX-License-Identifier: Apache-2.0
// What model text may say, and the text of any model: what the model `graph` reads.
#pragma once

#include "core/ir/model_text.h"
#include "core/nn/models/model_def.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::nn {

/// How a weight of model text starts: {init="normal", scale=0.02, axes="embed mlp"}. Without init:
/// uniform by fan-in from two dimensions on, else zeros. Axes: one logical axis per dimension, "-"
/// for none. {trained=false}: a running statistic, which a batch_norm of five operands keeps.
struct StateStart {
    Init init;
    std::vector<std::string> axes;
    bool trained = true;
};
/// Throws weft::Error{usage} at the port's place.
StateStart start_of(const ir::WrittenPort& port);

/// Which operand of an op is the random key that drops values while training; none: it has none.
std::optional<std::size_t> random_operand(std::string_view op, const ir::Attributes& attributes);

/// Whether a line normalises by running statistics, its operands 3 and 4: batch_norm(x, scale,
/// shift, mean, variance) {eps, momentum}. One of fewer operands has none.
bool keeps_statistics(const ir::WrittenOp& op);

/// Whether it can be a model, as far as can be said without data. Throws weft::Error{usage} at the
/// place of the first thing wrong.
void check_model_text(const ir::ModelText& text);

/// The model as text that `graph` trains to the same numbers. Throws weft::Error{usage} for models
/// that text cannot express: with running statistics, loops, or penalties beside the loss.
std::string text_of_model(const ModelDef& model, const config::Json& settings,
                          const DataShape& data);

} // namespace weft::nn
