// SPDX-License-Identifier: Apache-2.0
// The record of a family of models of another program that is one of ours: what its tensors are
// called, and how its config.json becomes our settings and back. Listed in family_list.h.
#pragma once

#include "core/config/field.h"
#include "core/foreign/layout.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::foreign {

using config::Json;

/// A tensor here and there. `*` stands for a number, the same ones in the same order in each name.
struct TensorPair {
    std::string ours;
    std::vector<std::string> theirs; // several: ours is these, joined along its last dimension
    Layout layout = Layout::same;    // of each
};
using TensorPairs = std::vector<TensorPair>;

/// Reads the members of a config.json, which may be anybody's, and notes what it cannot have.
class ConfigReader {
public:
    ConfigReader(const Json& json, config::Diagnostics& problems)
        : json_(json), problems_(problems) {}

    /// Null, or absent: `otherwise`.
    std::int64_t whole(const char* key, std::int64_t otherwise) const;
    double real(const char* key, double otherwise) const;
    bool flag(const char* key, bool otherwise) const;
    std::string text(const char* key, const std::string& otherwise) const;
    /// A list of whole numbers; empty where there is none.
    std::vector<std::int64_t> wholes(const char* key) const;
    /// The object of this name; an empty one where there is none.
    const Json& object(const char* key) const;
    bool has(const char* key) const;
    /// It must be there: a problem, and 0, where it is not.
    std::int64_t needed(const char* key) const;

    /// A model that cannot be had here.
    void refuse(const char* key, const std::string& text) const;
    /// One that can, but not in full.
    void warn(const char* key, const std::string& text) const;

private:
    const Json* member(const char* key) const;
    void expect(const char* key, const char* what) const;

    const Json& json_;
    config::Diagnostics& problems_;
};

/// A model that somebody else's config.json describes.
struct Described {
    Json model; // the "model" section of a run
    Json data;  // "data.train": samples of its shape that are made up
    /// What makes other numbers of the same weights there, and cannot be had here.
    std::vector<std::string> otherwise = {};
    std::int64_t window = 0; // positions over which attention slides there; 0: it sees all
};

/// What a model here needs beside its settings to be described there.
struct Facts {
    Json settings;            // with a number wherever there can be one
    std::int64_t vocab = 0;   // of language models
    std::int64_t classes = 0; // of classifiers
    std::int64_t channels = 0;
    std::int64_t positions = 0; // rows of the table of positions; 0: none
};

struct Family {
    std::string_view name;  // as `model_type` in config.json
    std::string_view as;    // whose names they are: "huggingface", "torchvision", "timm"
    std::string_view model; // our model type
    std::string_view help;
    TensorPairs (*tensors)();
    /// The first part of their names, which files of the model without its head lack.
    std::string_view prefix = "";
    /// Patterns of arrays that say nothing: masks, counters, tables that follow from settings.
    std::vector<std::string_view> idle = {};
    /// Whether modules of the program are called as their tensors are, in each of its versions.
    bool named_modules = true;
    /// Whether a model with these settings can be written as one of the family; else why not.
    std::string (*refuses)(const Json& settings) = nullptr;
    /// Null where the family has no config.json.
    Described (*describe)(const ConfigReader& theirs) = nullptr;
    Json (*config)(const Facts& ours) = nullptr;
};

} // namespace weft::foreign
