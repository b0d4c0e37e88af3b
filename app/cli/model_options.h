// SPDX-License-Identifier: Apache-2.0
// The options with which eval, predict and generate name a saved model, and the file for what its
// layers make.
#pragma once

#include "app/cli/command_line.h"
#include "app/cli/context.h"
#include "core/train/engine.h"
#include "core/train/sample_look/sample_look.h"

#include <string>

namespace weft::cli {

struct ModelOptions {
    std::string path; // run folder or checkpoint
    std::string from = "best";
    std::string data; // a configuration whose data section is used instead; may be empty
};
void add_model_options(Command command, ModelOptions& options);

/// Loads the model; says on stderr which checkpoint it is. Throws weft::Error.
train::LoadedModel load(const ModelOptions& options, const Context& context);

/// "train", "validation" or "test" of the model's data. Throws weft::Error{usage} when there is
/// none.
std::shared_ptr<const data::Source> split_of(const train::LoadedModel& model,
                                             const std::string& split);

/// Of --inside: the name of a file that will be a .npz; "" where none is asked for. Throws
/// weft::Error{usage}.
void check_look_file(const std::string& file);
/// "inside.npz: 12 layers, 16 attention heads", once it is written.
std::string look_line(const train::SampleLook& look, const std::string& file);

} // namespace weft::cli
