// SPDX-License-Identifier: Apache-2.0
// A model of ours as another program reads it: by its names, in its layout, with its configuration.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/foreign/arrays.h"
#include "core/foreign/family.h"

#include <functional>
#include <string_view>
#include <vector>

namespace weft::foreign {

/// A tensor under the name that it has there, with its numbers in the order that they have there.
struct Outgoing {
    std::string name;
    ir::Shape shape;
    std::function<std::vector<float>()> values; // reads them
};

/// All tensors of a model of ours. Throws weft::Error{usage} for one that has no name there.
/// `source` must outlive what is returned.
std::vector<Outgoing> outgoing(const Arrays& source, const TensorPairs& pairs);

/// What the arrays tell of a model with these settings (the "model" section of a run).
Facts facts_of(const Arrays& source, const Json& model);

/// What an element becomes on the way out.
enum class StoredAs : std::uint8_t { f32, f16, bf16, q8_0 };
constexpr std::string_view kStoredNames[] = {"f32", "f16", "bf16", "q8_0"};

/// The element type of every kind but q8_0.
ir::DType dtype_of(StoredAs stored);
/// The bytes of these numbers as f32, f16 or bf16.
std::vector<std::byte> as_stored(const std::vector<float>& values, ir::DType dtype);
/// Text for people, written beside and renamed into place.
void write_json(const std::filesystem::path& file, const Json& json);

/// A folder that transformers loads: config.json, model.safetensors and, of a language model,
/// generation_config.json. `stored` is no q8_0. Throws weft::Error{usage} for a model that the
/// family cannot hold, weft::Error{checkpoint} where it cannot be written.
void write_huggingface(const std::filesystem::path& folder, const Family& family,
                       const Arrays& source, const Json& model, StoredAs stored,
                       const checkpoint::Progress& progress = {});

/// tokenizer.json or tokenizer.model, as it is, and tokenizer_config.json, which makes
/// AutoTokenizer take it for a model with these settings.
void write_tokenizer(const std::filesystem::path& folder, const std::string& document,
                     const Json& model);

/// One file of safetensors by the names of the family.
void write_named(const std::filesystem::path& file, const Family& family, const Arrays& source,
                 StoredAs stored, const checkpoint::Progress& progress = {});

} // namespace weft::foreign
