// SPDX-License-Identifier: Apache-2.0
#include "core/data/tables/table.h"

#include "core/base/text.h"
#include "core/data/files/file_memory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace weft::data {
namespace {

constexpr std::int64_t kHeadBytes = 256 * 1024;
constexpr std::size_t kHeadRecords = 500;
constexpr std::array kSeparators = {',', ';', '\t', '|'};
constexpr std::size_t kMostReasons = 5;
constexpr std::size_t kMostExamples = 5;
constexpr std::size_t kMostFields = 100'000;
constexpr std::size_t kMostTallies = 8;
constexpr std::int64_t kValuesPerText = 20; // in a column of numbers or dates, at least

using Records = std::vector<std::vector<std::string>>;

Records head_of(const Path& path, char separator) {
    CsvReader reader(path, separator, kHeadBytes);
    Records out;
    std::vector<std::string> fields;
    while (out.size() < kHeadRecords && reader.next(fields)) {
        out.push_back(fields);
    }
    return out;
}

/// How well a separator explains the beginning: the share of records that have the commonest number
/// of fields, and that number.
struct Fit {
    double share = 0;
    std::size_t fields = 0;
};

Fit fit_of(const Records& records) {
    std::map<std::size_t, std::size_t> counts;
    for (const auto& record : records) {
        ++counts[record.size()];
    }
    Fit best;
    for (const auto& [fields, count] : counts) {
        const double share = static_cast<double>(count) / static_cast<double>(records.size());
        if (share >= best.share) {
            best = {share, fields};
        }
    }
    return best;
}

struct Head {
    char separator = ',';
    Fit fit;
    Records records;
};

Head best_head(const Path& path, const std::optional<char>& wished) {
    Head best;
    bool found = false;
    std::optional<Error> first_error;
    for (const char separator : kSeparators) {
        if (wished && separator != *wished) {
            continue;
        }
        Records records;
        try {
            records = head_of(path, separator);
        } catch (const Error& error) {
            first_error = first_error ? first_error : std::optional(error);
            continue; // quotes may be in order with another separator
        }
        const Fit fit = records.empty() ? Fit{} : fit_of(records);
        const bool splits = fit.fields > 1;
        const bool splits_best = best.fit.fields > 1;
        if (!found || (splits && (!splits_best || fit.share > best.fit.share ||
                                  (fit.share == best.fit.share && fit.fields > best.fit.fields)))) {
            best = {separator, fit, std::move(records)};
            found = true;
        }
    }
    if (first_error && best.fit.fields < 2) {
        throw Error(*first_error);
    }
    return best;
}

/// Cells such as 3,14 against cells such as 3.14, where the comma does not separate.
char decimal_of(const Head& head) {
    if (head.separator == ',') {
        return '.';
    }
    std::size_t commas = 0;
    std::size_t points = 0;
    for (const auto& record : head.records) {
        for (const std::string& cell : record) {
            commas += cell.find(',') != std::string::npos && number_of(cell, ',') ? 1 : 0;
            points += cell.find('.') != std::string::npos && number_of(cell, '.') ? 1 : 0;
        }
    }
    return commas > points ? ',' : '.';
}

/// The first record names columns when it does not look like the ones below it: a text over
/// numbers, or, where all is text, values that do not come again.
bool has_header(const Head& head, char decimal) {
    if (head.records.size() < 2) {
        return false;
    }
    const auto& first = head.records.front();
    bool all_texts = true;
    std::set<std::string> names;
    for (std::size_t c = 0; c < first.size(); ++c) {
        if (!is_missing(first[c]) && number_of(first[c], decimal)) {
            return false; // a column that is called 7 is rarer than a first row with a 7
        }
        if (!names.insert(first[c]).second) {
            return false;
        }
        bool comes_again = false;
        std::size_t numbers = 0;
        std::size_t values = 0;
        for (std::size_t r = 1; r < head.records.size(); ++r) {
            if (c < head.records[r].size() && !is_missing(head.records[r][c])) {
                ++values;
                numbers += number_of(head.records[r][c], decimal) ? 1 : 0;
                comes_again = comes_again || head.records[r][c] == first[c];
            }
        }
        if (values > 0 && numbers * 2 > values && !is_missing(first[c])) {
            return true;
        }
        all_texts = all_texts && !comes_again;
    }
    return all_texts;
}

/// Windows-1252 (WHATWG Encoding Standard) where it is not Latin-1.
constexpr std::array<char16_t, 32> kHigh = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

std::string from_windows_1252(std::string_view text) {
    std::string out;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        const char16_t code = byte >= 0x80 && byte < 0xa0 ? kHigh[byte - 0x80] : byte;
        if (code < 0x80) {
            out += static_cast<char>(code);
        } else if (code < 0x800) {
            out += static_cast<char>(0xc0 | code >> 6);
            out += static_cast<char>(0x80 | (code & 0x3f));
        } else {
            out += static_cast<char>(0xe0 | code >> 12);
            out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
            out += static_cast<char>(0x80 | (code & 0x3f));
        }
    }
    return out;
}

bool is_text_utf8(const Records& records) {
    for (const auto& record : records) {
        for (const std::string& cell : record) {
            if (!is_utf8(cell)) {
                return false;
            }
        }
    }
    return true;
}

/// Names of the columns: of the header, or their places.
std::vector<std::string> names_of(const Head& head, const TableLayout& layout) {
    std::vector<std::string> names;
    std::set<std::string> used;
    const std::vector<std::string>& first = head.records.front();
    const std::size_t columns = layout.header ? first.size() : head.fit.fields;
    for (std::size_t c = 0; c < columns; ++c) {
        std::string name = layout.header ? text_of(first[c], layout) : std::string();
        if (name.empty()) {
            name = "column " + std::to_string(c + 1);
        }
        const std::string plain = name;
        for (int copy = 2; !used.insert(name).second; ++copy) {
            name = plain + " (" + std::to_string(copy) + ")";
        }
        names.push_back(std::move(name));
    }
    return names;
}

/// Beyond kMostDistinct different values nobody asks how often each comes.
void count_value(ColumnTally& tally, std::string_view cell) {
    if (static_cast<std::int64_t>(tally.counts.size()) > kMostDistinct) {
        return;
    }
    const auto [found, fresh] = tally.counts.try_emplace(std::string(trim(cell)), 0);
    ++found->second;
    if (fresh && tally.examples.size() < kMostExamples) {
        tally.examples.push_back(found->first);
    }
}

void count_cell(ColumnTally& tally, std::string_view cell, char decimal) {
    if (is_missing(cell)) {
        ++tally.missing;
        return;
    }
    const std::optional<double> number = number_of(cell, decimal);
    if (!number) {
        ++tally.texts;
        tally.dates.count(cell);
    } else {
        tally.first = tally.numbers == 0 ? *number : tally.first;
        tally.counts_rows = tally.counts_rows && *number == tally.first + double(tally.numbers);
        tally.minimum = tally.numbers == 0 ? *number : std::min(tally.minimum, *number);
        tally.maximum = tally.numbers == 0 ? *number : std::max(tally.maximum, *number);
        tally.sum += *number;
        tally.whole += *number == std::trunc(*number) ? 1 : 0;
        ++tally.numbers;
    }
    count_value(tally, cell);
}

TableTally count_all(const Path& path, const TableLayout& layout, const OpenContext& context,
                     int passes) {
    TableTally out;
    out.layout = layout;
    out.columns.resize(out.layout.names.size());
    BadLines ragged;
    const auto count = [&](const std::vector<std::string>& fields, std::int64_t, const CsvPlace&) {
        ++out.rows;
        for (std::size_t c = 0; c < fields.size(); ++c) {
            count_cell(out.columns[c], fields[c], out.layout.decimal);
        }
    };
    for_each_row(path, out.layout, context, {.passes = passes}, ragged, count);
    out.ragged = ragged.count;
    return out;
}

} // namespace

std::string_view column_kind_name(Column::Kind kind) {
    switch (kind) {
    case Column::Kind::number: return "number";
    case Column::Kind::category: return "category";
    case Column::Kind::date: return "date";
    case Column::Kind::text: return "text";
    case Column::Kind::empty: return "empty";
    }
    return "empty";
}

void DateTally::Span::add(const Instant& instant) {
    earliest = empty || instant.utc_s() < earliest.utc_s() ? instant : earliest;
    latest = empty || instant.utc_s() > latest.utc_s() ? instant : latest;
    empty = false;
}

std::optional<DateOrder> DateTally::order() const {
    if (day_first > 0 && month_first > 0) {
        return std::nullopt;
    }
    if (month_first > 0) {
        return DateOrder::month_first;
    }
    return either > 0 && day_first == 0 ? std::nullopt : std::optional(DateOrder::day_first);
}

void DateTally::count(std::string_view cell) {
    const auto by_day = instant_of(cell, DateOrder::day_first);
    const auto by_month = by_day && !by_day->by_order && !by_day->one_order
                              ? by_day
                              : instant_of(cell, DateOrder::month_first);
    if (!by_day && !by_month) {
        return;
    }
    const Instant& known = by_day ? *by_day : *by_month;
    ++(!by_month ? day_first : !by_day ? month_first : known.by_order ? either : sure);
    has_times = has_times || known.has_time;
    if (by_day) {
        by_day_first.add(*by_day);
    }
    if (by_month) {
        by_month_first.add(*by_month);
    }
}

TableLayout find_layout(const Path& path, const TableWishes& wishes) {
    const Head head = best_head(path, wishes.separator);
    if (head.records.empty()) {
        throw Error(ErrorKind::data, path.string(), "the table is empty",
                    "Give a file with at least one row.");
    }
    if (head.fit.fields > kMostFields) {
        throw Error(ErrorKind::data, path.string(),
                    "rows have " + format_thousands(static_cast<std::int64_t>(head.fit.fields)) +
                        " fields; at most " + format_thousands(kMostFields) + " are read",
                    "Store wide arrays as npy or hdf5.");
    }
    TableLayout layout;
    layout.separator = head.separator;
    layout.decimal = wishes.decimal.value_or(decimal_of(head));
    layout.header = wishes.header.value_or(has_header(head, layout.decimal));
    layout.latin1 = !is_text_utf8(head.records);
    layout.names = names_of(head, layout);
    return layout;
}

bool looks_like_table(const Path& path) {
    try {
        const Head head = best_head(path, std::nullopt);
        return head.records.size() > 1 && head.fit.fields > 1 && head.fit.share > 0.9;
    } catch (const Error&) {
        return false;
    }
}

bool is_missing(std::string_view cell) {
    const std::string_view text = trim(cell);
    if (text.empty() || text == "?") {
        return true;
    }
    const bool digit = text.front() >= '0' && text.front() <= '9';
    if (digit || text.size() > 4) {
        return false;
    }
    const std::string word = lowered(text);
    return word == "na" || word == "n/a" || word == "nan" || word == "null" || word == "none" ||
           word == "#n/a";
}

std::optional<double> number_of(std::string_view cell, char decimal) {
    std::string_view text = trim(cell);
    if (!text.empty() && text.front() == '+') {
        text.remove_prefix(1);
    }
    std::string with_point;
    if (decimal == ',') {
        if (text.find('.') != std::string_view::npos) {
            return std::nullopt;
        }
        with_point = text;
        std::replace(with_point.begin(), with_point.end(), ',', '.');
        text = with_point;
    }
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string text_of(std::string_view cell, const TableLayout& layout) {
    const std::string_view text = trim(cell);
    return layout.latin1 || !is_utf8(text) ? from_windows_1252(text) : std::string(text);
}

std::string figure_text(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    const double rounded = std::strtod(text.data(), nullptr);
    const bool whole = std::abs(rounded) >= 1e3 && std::abs(rounded) < 1e15;
    return whole ? format_thousands(std::llround(rounded)) : std::string(text.data());
}

std::string number_text(double value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end.ptr};
}

void BadLines::add(std::int64_t line, const std::string& reason) {
    if (++count <= static_cast<std::int64_t>(kMostReasons)) {
        reasons.push_back("line " + format_thousands(line) + ": " + reason);
    }
}

std::string BadLines::text() const {
    std::string out = join(reasons, "; ");
    if (const auto more = count - static_cast<std::int64_t>(reasons.size()); more > 0) {
        out += "; and " + format_thousands(more) + " more";
    }
    return out;
}

KnownTable tally_table(const Path& path, const TableWishes& wishes, const OpenContext& context,
                       int passes) {
    static FileMemory<TableTally> memory(kMostTallies);
    const TableLayout layout = find_layout(path, wishes);
    const std::string key = path.string() + '\n' + layout.separator + layout.decimal +
                            (layout.header ? 'h' : '-') + (layout.latin1 ? 'l' : '-');
    KnownTable out;
    out.tally = memory.get(key, {path}, [&] {
        out.was_read = true;
        return count_all(path, layout, context, passes);
    });
    return out;
}

Column column_of(const TableTally& table, std::size_t index) {
    const ColumnTally& tally = table.columns[index];
    Column column;
    column.name = table.layout.names[index];
    column.values = tally.values();
    column.missing = tally.missing;
    column.distinct = static_cast<std::int64_t>(tally.counts.size());
    for (const std::string& example : tally.examples) {
        column.examples.push_back(text_of(example, table.layout));
    }
    column.whole_numbers = tally.numbers > 0 && tally.whole == tally.numbers;
    if (tally.numbers > 0) {
        column.minimum = tally.minimum;
        column.maximum = tally.maximum;
        column.mean = tally.sum / static_cast<double>(tally.numbers);
    }
    const bool is_of_dates = (column.values - tally.dates.all()) * kValuesPerText <= column.values;
    const std::optional<DateOrder> order = tally.dates.order();
    column.unclear_dates = column.values > 0 && is_of_dates && !order;
    if (column.values == 0) {
        column.kind = Column::Kind::empty;
    } else if (tally.texts * kValuesPerText <= column.values) {
        column.kind = Column::Kind::number;
    } else if (is_of_dates && order) {
        column.kind = Column::Kind::date;
        const DateTally::Span& span =
            *order == DateOrder::day_first ? tally.dates.by_day_first : tally.dates.by_month_first;
        column.earliest = date_text(span.earliest);
        column.latest = date_text(span.latest);
        column.has_times = tally.dates.has_times;
    } else if (column.distinct <= kMostDistinct && column.distinct * 2 <= column.values) {
        column.kind = Column::Kind::category;
    } else {
        column.kind = Column::Kind::text;
    }
    return column;
}

} // namespace weft::data
