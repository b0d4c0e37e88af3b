// SPDX-License-Identifier: Apache-2.0
// The record of a data format: name, settings, how files of it are recognised and opened. One
// record per file of this folder, listed in format_list.h.
#pragma once

#include "core/data/lengths.h"
#include "core/data/recognise.h"
#include "core/data/split.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

/// Which files of a format a source reads.
enum class Part { train, test };

/// How {"split": X} takes validation samples out of train.
enum class SplitRule {
    by_class, // the same share of every class, chosen by the seed
    by_part,  // the last share of each of sixteen equal parts: neighbours in a text resemble each
              // other
};

/// What one part of a source is, without its samples.
struct PartOutline {
    SampleInfo sample;
    std::int64_t samples = 0;
    std::int64_t cache_bytes = 0; // Source::cache_bytes of what open returns
    std::string assumption;       // when files that may be absent were not there
    std::shared_ptr<const Encoding> encoding = nullptr; // for the outlines of the other parts
    std::vector<std::string> warnings = {};             // of the values, as far as it looked
    std::int64_t largest_block = 0;                     // samples, of a source that streams
};

/// What there is to say of a source beside its outline.
struct Look {
    std::string summary;
    std::vector<Column> columns;
    std::vector<ClassCount> classes;
    Notes notes;
};

struct FormatDef {
    std::string_view name;
    std::string_view help;
    SplitRule split_rule;
    config::FieldTable (*fields)();
    /// True when a file or folder looks like this format. Reads a few bytes at most.
    bool (*sniff)(const std::filesystem::path& path);
    /// True when the source has a test part of its own. Looks at names only.
    bool (*has_test)(const config::Json& settings, const OpenContext& context);
    /// Opens normalised settings. `notes` receives what was skipped. Throws weft::Error{data}.
    std::shared_ptr<const Source> (*open)(const config::Json& settings, const OpenContext& context,
                                          Part part, Notes& notes);
    /// What open would return, from names, sizes and headers.
    PartOutline (*outline)(const config::Json& settings, const OpenContext& context, Part part,
                           Files files);
    /// Whether an outline depends on nothing but the settings and the files that they name.
    bool outline_of_named_files = false;
    /// A "data" section for a file or folder that sniff has recognised, with train and validation.
    /// Null: it is not made of files. Throws weft::Error{data}.
    config::Json (*propose)(const std::filesystem::path& path,
                            const OpenContext& context) = nullptr;
    /// For people who look at data before they train. Null: the outline says all.
    Look (*look)(const config::Json& settings, const OpenContext& context) = nullptr;
    /// Of texts: how long they are, in any order (lengths.h). Nullopt or null: they have no length
    /// of their own.
    std::optional<Lengths> (*lengths)(const config::Json& settings,
                                      const OpenContext& context) = nullptr;
    /// What open returned, with what is learnt from its samples `training` alone (means, scales).
    /// Null: nothing is.
    std::shared_ptr<const Source> (*fitted)(const std::shared_ptr<const Source>& opened,
                                            const config::Json& settings,
                                            std::span<const Run> training,
                                            const OpenContext& context, Notes& notes) = nullptr;
    /// Settings of train, made to read an input file without targets. Null: it cannot.
    config::Json (*for_input)(config::Json settings, const std::filesystem::path& path) = nullptr;
};

/// The record that a source's settings name.
const FormatDef& format_of(const config::Json& source);

/// Null when there is none of this name.
const FormatDef* find_format(std::string_view name);

/// The section normalised; weft::Error{usage} when it has a mistake.
config::Json checked_section(const config::Json& data_section);

/// `context` with what the section says of memory and tokens.
OpenContext with_settings(OpenContext context, const config::Json& section);

/// Whether data of so many bytes are read block by block.
bool streams(std::int64_t bytes, Cache cache);

/// `text` as a path; relative ones count from `base`.
std::filesystem::path resolve(const std::filesystem::path& base, const std::string& text);

} // namespace weft::data
