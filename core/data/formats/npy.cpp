// SPDX-License-Identifier: Apache-2.0
// npy: one array of inputs and one of targets, as numpy.save writes them. Samples are read from the
// file when they are needed; arrays in Fortran order lie in memory.
#include "core/data/arrays/array_source.h"
#include "core/data/files/npy_header.h"
#include "core/data/formats/format_list.h"

#include <algorithm>
#include <array>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

/// How people call inputs and their targets.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNpyNames = {{
    {"inputs", "targets"},
    {"features", "targets"},
    {"images", "labels"},
    {"data", "labels"},
    {"data", "targets"},
    {"features", "labels"},
    {"x", "y"},
    {"X", "y"},
}};

fs::path path_in(const Json& settings, const char* field, const OpenContext& context) {
    return resolve(context.base_dir, settings.at(field).get<std::string>());
}

std::shared_ptr<const ArrayData> open_one(const fs::path& path, LoadArray load, Cache cache) {
    auto out = std::make_shared<ArrayData>(open_npy(path, load));
    if (cache == Cache::memory && load == LoadArray::yes) {
        out->keep();
    }
    return out;
}

ArrayPair open_both(const Json& settings, const OpenContext& context, LoadArray load) {
    ArrayPair out;
    const fs::path inputs = path_in(settings, "inputs", context);
    out.inputs = open_one(inputs, load, context.cache);
    out.description = inputs.filename().string();
    if (!settings.at("targets").is_null()) {
        // Those of an outline too: their values tell the classes.
        out.targets = open_one(path_in(settings, "targets", context), LoadArray::yes, Cache::none);
    }
    // In Fortran order a sample lies all over the file.
    out.streams =
        streams(out.bytes(), context.cache) && npy_memory_bytes(read_npy_header(inputs)) == 0;
    return out;
}

std::shared_ptr<const Source> open_npy_pair(const Json& settings, const OpenContext& context, Part,
                                            Notes& notes) {
    return open_arrays(open_both(settings, context, LoadArray::yes), settings, context, notes);
}

PartOutline outline_npy(const Json& settings, const OpenContext& context, Part, Files) {
    const ArrayPair pair = open_both(settings, context, LoadArray::no);
    PartOutline out = outline_arrays(pair, settings, context);
    const auto kept = [&](const char* field) {
        return npy_memory_bytes(read_npy_header(path_in(settings, field, context)));
    };
    out.cache_bytes += context.cache == Cache::memory ? pair.inputs->bytes() : kept("inputs");
    out.cache_bytes += pair.targets != nullptr ? kept("targets") : 0;
    return out;
}

Look look_at_npy(const Json& settings, const OpenContext& context) {
    return look_at_arrays(open_both(settings, context, LoadArray::no), settings, context);
}

config::FieldTable npy_fields() {
    config::FieldTable fields = {
        config::path_field("inputs", nullptr,
                           "File of numpy.save: [samples, features], [samples, height, width] or "
                           "[samples, height, width, channels].")
            .must_be_given(),
        config::path_field(
            "targets", nullptr,
            "File of numpy.save: a whole number per sample for classes, counted from "
            "0 (-1: none, nothing is learnt from the sample), or numbers to "
            "predict.")
            .or_null()};
    const config::FieldTable shared = array_fields();
    fields.insert(fields.end(), shared.begin(), shared.end());
    return fields;
}

/// The companion of an array by name: X_train.npy has y_train.npy. Empty: there is none.
fs::path targets_of(const fs::path& inputs) {
    const std::string stem = inputs.stem().string();
    for (const auto& [input, target] : kNpyNames) {
        const std::size_t at = stem.find(input);
        const bool ends = at != std::string::npos &&
                          (at + input.size() == stem.size() || stem[at + input.size()] == '_');
        if (!ends || (at != 0 && stem[at - 1] != '_')) {
            continue;
        }
        std::string name = stem;
        name.replace(at, input.size(), target);
        const fs::path path = inputs.parent_path() / (name + ".npy");
        std::error_code ignored;
        if (fs::is_regular_file(path, ignored)) {
            return path;
        }
    }
    return {};
}

/// The inputs file that a path means: itself, or the one of a folder that has targets beside it,
/// that of training first. Empty: there is none.
fs::path inputs_at(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) {
        return path.extension() == ".npy" || looks_like_npy(path) ? path : fs::path();
    }
    std::vector<fs::path> found;
    std::error_code code;
    for (fs::directory_iterator entry(path, code); !code && entry != fs::directory_iterator();
         entry.increment(code)) {
        if (entry->path().extension() == ".npy" && !targets_of(entry->path()).empty()) {
            found.push_back(entry->path());
        }
    }
    std::sort(found.begin(), found.end());
    const auto training = std::find_if(found.begin(), found.end(), [](const fs::path& file) {
        return file.stem().string().find("train") != std::string::npos;
    });
    return training != found.end() ? *training : found.empty() ? fs::path() : found.front();
}

bool sniff_npy(const fs::path& path) {
    return !inputs_at(path).empty();
}

Json pair_of(const fs::path& inputs) {
    const fs::path targets = targets_of(inputs);
    return {{"type", "npy"},
            {"inputs", inputs.string()},
            {"targets", targets.empty() ? Json() : Json(targets.string())}};
}

Json propose_npy(const fs::path& path, const OpenContext&) {
    const fs::path inputs = inputs_at(path);
    Json section = {{"train", pair_of(inputs)}, {"validation", {{"split", 0.1}}}};
    const auto other_part = [&](std::string_view part) {
        std::string stem = inputs.stem().string();
        const std::size_t at = stem.find("train");
        if (at == std::string::npos) {
            return fs::path();
        }
        const fs::path other = inputs.parent_path() / (stem.replace(at, 5, part) + ".npy");
        std::error_code ignored;
        return fs::is_regular_file(other, ignored) && !targets_of(other).empty() ? other
                                                                                 : fs::path();
    };
    for (const char* part : {"val", "valid", "validation"}) {
        if (const fs::path own = other_part(part); !own.empty()) {
            section["validation"] = pair_of(own);
        }
    }
    if (const fs::path test = other_part("test"); !test.empty()) {
        section["test"] = pair_of(test);
    }
    return section;
}

bool npy_has_test(const Json&, const OpenContext&) {
    return false;
}

Json npy_for_input(Json settings, const fs::path& path) {
    settings["inputs"] = path.string();
    settings["targets"] = nullptr;
    return settings;
}

} // namespace

const FormatDef kNpyFormat = {.name = "npy",
                              .help = "Arrays that numpy.save wrote: inputs and targets.",
                              .split_rule = SplitRule::by_class,
                              .fields = npy_fields,
                              .sniff = sniff_npy,
                              .has_test = npy_has_test,
                              .open = open_npy_pair,
                              .outline = outline_npy,
                              .outline_of_named_files = true,
                              .propose = propose_npy,
                              .look = look_at_npy,
                              .fitted = fit_arrays,
                              .for_input = npy_for_input};

} // namespace weft::data
