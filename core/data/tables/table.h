// SPDX-License-Identifier: Apache-2.0
// What a text table is: separator, header, decimal mark, and the kind of every column.
#pragma once

#include "core/data/files/csv_reader.h"
#include "core/data/recognise.h"
#include "core/data/tables/date.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::data {

/// What a user has settled; the rest is found out.
struct TableWishes {
    std::optional<char> separator;
    std::optional<bool> header;
    std::optional<char> decimal;
};

struct TableLayout {
    char separator = ',';
    bool header = false;
    char decimal = '.';
    bool latin1 = false;            // not UTF-8: read as Windows-1252
    std::vector<std::string> names; // in UTF-8, no two alike
};

/// Looks at the beginning of the file. Throws weft::Error{data} when it is empty or no text.
TableLayout find_layout(const Path& path, const TableWishes& wishes);

/// Whether the file begins like a table: two columns or more in each of several records.
bool looks_like_table(const Path& path);

/// Empty, NA, N/A, NaN, null, None or ?, whatever the case.
bool is_missing(std::string_view cell);
/// A finite number in the C notation, with this decimal mark; nothing for any other text.
std::optional<double> number_of(std::string_view cell, char decimal);
/// A cell as UTF-8, without white space around it.
std::string text_of(std::string_view cell, const TableLayout& layout);
/// How a number is shown as the name of a class: "3", "2.5".
std::string number_text(double value);
/// For people, with four digits that count: "0.01235", "12.35", "125,000".
std::string figure_text(double value);

/// The dates among the texts of a column.
struct DateTally {
    std::int64_t sure = 0;        // whatever the order of day and month
    std::int64_t either = 0;      // other days in the one and the other order
    std::int64_t day_first = 0;   // dates in this order alone
    std::int64_t month_first = 0; // dates in this order alone
    bool has_times = false;
    struct Span {
        Instant earliest, latest;
        bool empty = true;
        void add(const Instant& instant);
    };
    Span by_day_first, by_month_first;

    std::int64_t all() const { return sure + either + day_first + month_first; }
    /// None: no date tells which it is, or some tell the one and some the other.
    std::optional<DateOrder> order() const;
    void count(std::string_view cell);
};

/// Everything about a column that one pass can tell.
struct ColumnTally {
    std::int64_t numbers = 0, whole = 0, texts = 0, missing = 0;
    double minimum = 0, maximum = 0, sum = 0;
    bool counts_rows = true; // n, n + 1, n + 2...
    double first = 0;
    std::unordered_map<std::string, std::int64_t> counts; // of different values as written
    std::vector<std::string> examples;
    DateTally dates;

    std::int64_t values() const { return numbers + texts; }
};

/// Lines that cannot be used, with the first few reasons.
struct BadLines {
    std::int64_t count = 0;
    std::vector<std::string> reasons;

    void add(std::int64_t line, const std::string& reason);
    /// "line 4: ..., line 9: ... and 12 more"
    std::string text() const;
};

struct TableTally {
    TableLayout layout;
    std::vector<ColumnTally> columns;
    std::int64_t rows = 0;   // with the right number of fields
    std::int64_t ragged = 0; // records with another
};

struct KnownTable {
    std::shared_ptr<const TableTally> tally;
    bool was_read = false; // now; otherwise it was known, and the file has not changed
};

/// One pass over the table, the first of `passes`.
KnownTable tally_table(const Path& path, const TableWishes& wishes, const OpenContext& context,
                       int passes = 1);

/// Column `index` for people. It holds numbers, or dates, when at most one value in twenty is none.
Column column_of(const TableTally& table, std::size_t index);

/// Which reading of a table it is.
struct TablePass {
    int pass = 1;
    int passes = 1;
    std::int64_t rows = 0; // of the table; 0: not known
};

/// Calls `use(fields, line, place)` for every record of the right length; the others go to `bad`.
template <class Use>
void for_each_row(const Path& path, const TableLayout& layout, const OpenContext& context,
                  const TablePass& pass, BadLines& bad, Use&& use) {
    CsvReader reader(path, layout.separator);
    OpeningWatch watch(context, {.name = path.filename().string(),
                                 .unit = "rows",
                                 .total = pass.rows,
                                 .total_bytes = reader.bytes(),
                                 .pass = pass.pass,
                                 .passes = pass.passes});
    std::vector<std::string> fields;
    std::int64_t rows = 0;
    bool skip = layout.header;
    for (CsvPlace place = reader.place(); reader.next(fields); place = reader.place()) {
        if (std::exchange(skip, false)) {
            continue;
        }
        watch.reached(++rows, reader.bytes_read());
        if (fields.size() != layout.names.size()) {
            bad.add(reader.line(), "it has " + std::to_string(fields.size()) + " fields, not " +
                                       std::to_string(layout.names.size()));
        } else {
            use(fields, reader.line(), place);
        }
    }
}

} // namespace weft::data
