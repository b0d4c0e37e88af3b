// SPDX-License-Identifier: Apache-2.0
// What open_data would make, for plans: the same order of work on outlines.
#include "core/data/files/file_memory.h"
#include "core/data/files/named_files.h"
#include "core/data/files/store_files.h"
#include "core/data/formats/format_list.h"
#include "core/data/split.h"
#include "core/data/text/encode_text.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/store/local_copy.h"

#include <algorithm>

namespace weft::data {
namespace {

using config::Json;

constexpr std::size_t kMostOutlines = 32;

/// With what it was made to follow, and with, whose addresses are part of its key.
struct KeptOutline {
    PartOutline outline;
    std::shared_ptr<const Encoding> followed;
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
};

std::vector<Path> paths_of(const std::vector<NamedFile>& files) {
    std::vector<Path> out;
    for (const NamedFile& named : files) {
        out.push_back(named.path);
    }
    return out;
}

/// The outline of a part, read from its files when they are not what they were.
PartOutline outline_part(const Json& settings, const OpenContext& context, Part part, Files files) {
    static FileMemory<KeptOutline> memory(kMostOutlines);
    const FormatDef& format = format_of(settings);
    if (!format.outline_of_named_files) {
        return format.outline(settings, context, part, files);
    }
    const Json key = {settings,
                      context.base_dir.string(),
                      context.sequence_length,
                      context.targets,
                      context.cache,
                      reinterpret_cast<std::uintptr_t>(context.encoding.get()),
                      reinterpret_cast<std::uintptr_t>(context.tokenizer.get()),
                      part,
                      files};
    return memory
        .get(key.dump(), paths_of(named_files(settings, context.base_dir)),
             [&] {
                 return KeptOutline{format.outline(settings, context, part, files),
                                    context.encoding, context.tokenizer};
             })
        ->outline;
}

/// Two views of numbers into the whole: which samples are training's, which validation's.
void outline_split(double share, const PartOutline& whole, DataOutline& out) {
    const std::int64_t held_out = validation_count(whole.samples, share);
    out.has_validation = true;
    out.samples = whole.samples - held_out;
    out.cache_bytes += whole.largest_block > 0
                           ? 0
                           : whole.samples * static_cast<std::int64_t>(sizeof(std::int64_t));
}

void outline_validation(const Json& settings, const OpenContext& context, Files files,
                        const PartOutline& train, DataOutline& out) {
    if (settings.is_null()) {
        return;
    }
    if (settings.contains("type")) {
        const PartOutline own = outline_part(settings, context, Part::train, files);
        out.has_validation = true;
        out.cache_bytes += own.cache_bytes;
    } else if (const double share = settings.at("split").get<double>();
               share > 0 && train.samples > 0) {
        outline_split(share, train, out);
    }
}

/// Whether there are samples that somebody wrote: made-up tokens stand for no text.
bool names_files(const Json& section) {
    return std::any_of(section.begin(), section.end(), [](const Json& part) {
        return part.is_object() && part.contains("type") && part.at("type") != "synthetic";
    });
}

/// Which part a sample is in is known once the samples are split: the data are opened.
void outline_corrected(const Json& section, const OpenContext& context, Files files,
                       DataOutline& out) {
    if (files == Files::may_be_absent) {
        out.assumptions.emplace_back("data.corrections leaves out no sample");
        return;
    }
    const DataSet opened = open_data(section, context);
    out.sample = opened.train->info();
    out.samples = opened.train->samples();
    out.cache_bytes = opened.training_cache_bytes;
}

void outline_test(const Json& section, const OpenContext& context, Files files, DataOutline& out) {
    const bool given = !section.at("test").is_null();
    const Json& settings = section.at(given ? "test" : "train");
    const FormatDef& format = format_of(settings);
    out.has_test = given || format.has_test(settings, context);
    if (out.has_test) {
        out.test_cache_bytes =
            outline_part(settings, context, given ? Part::train : Part::test, files).cache_bytes;
    }
}

} // namespace

const FormatDef* find_format(std::string_view name) {
    const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                    [&](const FormatDef* format) { return format->name == name; });
    return found == kFormats.end() ? nullptr : *found;
}

const FormatDef& format_of(const Json& source) {
    const auto& name = source.at("type").get_ref<const std::string&>();
    const FormatDef* format = find_format(name);
    WEFT_CHECK(format != nullptr, "the configuration was checked: data format " + name);
    return *format;
}

OpenContext with_settings(OpenContext context, const Json& section) {
    const Json& cache = section.at("cache");
    context.cache = cache == "memory" ? Cache::memory
                    : cache == "auto" ? Cache::automatic
                                      : Cache::none;
    if (names_files(section)) {
        context.tokenizer = tokenizer_of(section.at("tokenizer"), context.base_dir);
    }
    return context;
}

bool streams(std::int64_t bytes, Cache cache) {
    return cache == Cache::none || (cache == Cache::automatic && bytes >= kKeptBytes);
}

std::filesystem::path resolve(const std::filesystem::path& base, const std::string& text) {
    if (store::is_address(text)) {
        return store::copy_path(store::copies_folder(), store::parse_address(text));
    }
    return (base / text).lexically_normal(); // an absolute text replaces the base
}

DataOutline outline_data(const Json& data_section, const OpenContext& given_context, Files files) {
    const Json section = checked_section(data_section);
    fetch_from_stores(section, given_context, StoreCheck::any);
    const OpenContext context = with_settings(given_context, section);
    refuse_devices(section, context.base_dir);
    const Json& settings = section.at("train");
    const PartOutline train = outline_part(settings, context, Part::train, files);
    OpenContext following = context;
    following.encoding = train.encoding;
    DataOutline out;
    out.sample = train.sample;
    out.samples = train.samples;
    out.cache_bytes = train.cache_bytes;
    out.warnings = train.warnings;
    out.largest_block = train.largest_block;
    if (!train.assumption.empty()) {
        out.assumptions.push_back(train.assumption);
    }
    outline_validation(section.at("validation"), following, files, train, out);
    outline_test(section, following, files, out);
    if (section.at("corrections").is_string()) {
        outline_corrected(section, given_context, files, out);
    }
    return out;
}

} // namespace weft::data
