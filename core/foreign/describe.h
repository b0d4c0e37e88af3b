// SPDX-License-Identifier: Apache-2.0
// A model that somebody else's config.json describes, as a run of ours: its architecture, samples
// of its shape, and the weights beside it.
#pragma once

#include "core/foreign/family.h"

#include <filesystem>
#include <optional>

namespace weft::foreign {

/// An ONNX file, or a config.json of Hugging Face's kind: the file, or a folder or file of weights
/// that it lies beside. Nullopt: there is none of that kind (a run's config.json has no
/// "model_type").
std::optional<std::filesystem::path> foreign_config(const std::filesystem::path& path);

struct ForeignModel {
    const Family* family = nullptr; // null: none of ours, or a graph of ONNX
    Described here;
    config::Diagnostics problems; // by its members; errors: it cannot be had here
    /// What makes tokens of text, beside it; empty: there is none, or it reads no text.
    std::filesystem::path tokenizer;
};
/// Reads a path that foreign_config gave. `positions`: model.context where somebody set it, which
/// an ONNX graph of tokens can need. Never throws for what the file says.
ForeignModel read_foreign_config(const std::filesystem::path& config, std::int64_t positions = 0);

/// Why texts cannot be read with model.tokenizer; empty: they can, or there is none. Reads it.
std::string tokenizer_problem(const ForeignModel& model);

/// A "model" section with every setting, and a number wherever there can be one.
Json resolved(const Json& model);

/// What makes other numbers of the same weights there than in a run with the model section `ours`:
/// settings that differ ("model.rope_theta is 10000.0, 500000.0 there"), and what cannot be had.
std::vector<std::string> differences(const Json& ours, const ForeignModel& theirs);

/// Where the weights of a model are looked for whose description is there: the folder of a
/// config.json, an ONNX file itself.
std::filesystem::path model_place(const std::filesystem::path& config);

/// The document of a run with that model, from random weights where `weights` is empty. Its
/// data.tokenizer is the model's, one that cannot be read too: text is refused then.
Json run_of(const ForeignModel& model, const std::string& name,
            const std::filesystem::path& weights);

} // namespace weft::foreign
