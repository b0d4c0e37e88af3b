// SPDX-License-Identifier: Apache-2.0
// What a file or folder is: its format, what it holds, and the "data" section that reads it. Reads
// names, headers and, of tables and lines, one pass; keeps no sample. Any thread.
#pragma once

#include "core/data/dataset.h"

#include <optional>

namespace weft::data {

/// A column of a table.
struct Column {
    enum class Kind : std::uint8_t {
        number,
        category, // texts that come back
        date,     // dates, with or without times of day
        text,     // texts that mostly differ: names, remarks; no input unless asked for
        empty,    // no value at all
    };
    std::string name; // of the header; "column 3" without one
    Kind kind = Kind::empty;
    bool whole_numbers = false;                // number: every value is one
    std::int64_t values = 0;                   // that are there
    std::int64_t missing = 0;                  // that are not
    std::int64_t distinct = 0;                 // different values; counted up to kMostDistinct + 1
    std::vector<std::string> examples;         // the first few different values, as written
    double minimum = 0, maximum = 0, mean = 0; // number
    std::string earliest, latest;              // date, as ISO 8601 writes it
    bool has_times = false;                    // date
    bool unclear_dates = false; // would be dates, but day and month cannot be told apart
};
inline constexpr std::int64_t kMostDistinct = 1000;

/// "number", "category", "date", "text", "empty".
std::string_view column_kind_name(Column::Kind kind);

/// A class and how many samples of train and validation it has.
struct ClassCount {
    std::string name;
    std::int64_t samples = 0;
};

/// One way to read it.
struct Recognised {
    std::string format;  // of FormatDef, e.g. "csv"
    std::string summary; // "Table of 1,200 rows and 5 columns, separated by ';'"
    /// A "data" section that says what was found, with an absolute path; not yet normalised. To
    /// predict another column: set data["train"]["targets"] and ask describe() again.
    config::Json data;
    /// What that section delivers; nothing where `problems` keep it from being read.
    std::optional<DataOutline> outline;
    std::vector<Column> columns;       // tables, in file order
    std::vector<ClassCount> classes;   // where they are known without reading samples
    Notes notes;                       // what was decided or left out, in words
    std::vector<std::string> problems; // why it cannot be read so; empty: it can
};

struct Recognition {
    std::vector<Recognised> formats;   // the likeliest first
    std::vector<std::string> problems; // why there is none
};

inline constexpr std::int64_t kUsualContext =
    128; // bytes that a small language model reads at once

/// Never throws on what the files hold: that is in `problems`. Of `context` counts what it says of
/// texts and of opening; ends early, with what it has, when that asks for a stop.
Recognition recognise(const std::filesystem::path& path,
                      const OpenContext& context = {.sequence_length = kUsualContext});

/// The same for a "data" section that is there already, e.g. after the target column was changed.
Recognised describe(const config::Json& data_section, const OpenContext& context);

} // namespace weft::data
