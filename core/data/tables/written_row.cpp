// SPDX-License-Identifier: Apache-2.0
#include "core/data/tables/written_row.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/tables/table_encoding.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>

namespace weft::data {
namespace {

using Missing = TableSettings::Missing;

constexpr int kShortDigits = 4;
constexpr int kDigits = 6;     // what f32 holds of a number whose mean was taken off
constexpr double kWhole = 1e6; // from here to kMostWhole without an exponent
constexpr double kMostWhole = 1e15;
constexpr double kOneDay = 86400;
constexpr double kOffsetStep = 900;

const TableEncoding& table_of(const Encoding& encoding) {
    const auto* table = dynamic_cast<const TableEncoding*>(&encoding);
    WEFT_CHECK(table != nullptr, "rows are of tables");
    return *table;
}

bool may_be_missing(const TableEncoding& table) {
    return table.missing == Missing::mean || table.missing == Missing::zero;
}

/// As the table's files write it.
std::string number_cell(const TableEncoding& table, double value, int digits) {
    char text[64];
    if (std::abs(value) >= kWhole && std::abs(value) < kMostWhole) {
        std::snprintf(text, sizeof(text), "%.0f", value);
    } else {
        std::snprintf(text, sizeof(text), "%.*g", digits, value);
    }
    std::string out = text;
    std::replace(out.begin(), out.end(), '.', table.layout.decimal);
    return out;
}

double missing_value(const TableEncoding& table, const TableEncoding::Input& input) {
    if (!may_be_missing(table)) {
        throw Error(ErrorKind::usage, shown(input.name), "a value is missing",
                    "Fill it in: the training data has no row without it.");
    }
    return input.is_number ? std::numeric_limits<double>::quiet_NaN() : -1;
}

/// As `weft predict` reads it; a part of a date.
double part_of_cell(const TableEncoding& table, const TableEncoding::Input& input,
                    const std::string& cell) {
    if (is_missing(cell)) {
        return missing_value(table, input);
    }
    const auto instant = instant_of(cell, input.order);
    if (!instant) {
        throw Error(ErrorKind::usage, shown(input.name), "'" + shown(cell, 40) + "' is no date",
                    "Write one as 2023-04-30, or 2023-04-30 12:30.");
    }
    return part_of(*instant, input.part);
}

/// As TableRows has it.
double value_of(const TableEncoding& table, const TableEncoding::Input& input,
                const std::string& cell) {
    if (input.part != DatePart::none) {
        return part_of_cell(table, input, cell);
    }
    const std::string text(trim(cell));
    if (is_missing(text)) {
        return missing_value(table, input);
    }
    if (input.is_number) {
        const auto number = number_of(text, table.layout.decimal);
        if (!number) {
            throw Error(ErrorKind::usage, shown(input.name),
                        "'" + shown(text, 40) + "' is no number",
                        table.layout.decimal == ',' && number_of(text, '.')
                            ? "The data writes decimal commas."
                            : "Write one as the data has it.");
        }
        return *number;
    }
    for (std::size_t k = 0; k < input.categories.size(); ++k) {
        if (text_of(input.categories[k], table.layout) == text) {
            return static_cast<double>(k);
        }
    }
    std::vector<std::string> known;
    for (const std::string& category : input.categories) {
        known.push_back(text_of(category, table.layout));
    }
    throw Error(ErrorKind::usage, shown(input.name),
                "the training data has no '" + shown(text, 40) + "'", name_hint(text, known));
}

double with_digits(double value, int digits) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1 - digits);
    return std::round(value / unit) * unit;
}

/// The number of the table that was standardised to `number` in f32: the shortest of those that
/// may have been.
double number_of(const TableEncoding::Input& input, float number) {
    const double from_mean = number * input.scale.deviation;
    const double value = from_mean + input.scale.mean;
    const double lost = std::numeric_limits<float>::epsilon() * std::abs(from_mean);
    if (std::abs(value) <= lost) {
        return 0;
    }
    for (int digits = 1; digits <= kDigits; ++digits) {
        const double shorter = with_digits(value, digits);
        if (std::abs(shorter - value) < lost) {
            return shorter;
        }
    }
    return value;
}

/// How many inputs the date has that begins at `first`.
std::size_t date_parts(const TableEncoding& table, std::size_t first) {
    std::size_t end = first + 1;
    while (end < table.inputs.size() && !table.begins_column(end)) {
        ++end;
    }
    return end - first;
}

/// Of the training samples, or zeros: they are of no date.
std::string mean_date(const TableEncoding& table, std::size_t first) {
    const TableEncoding::Input& elapsed = table.inputs[first + date_parts(table, first) - 1];
    Instant mean;
    mean.local_s = elapsed.fill * kOneDay;
    return table.missing == Missing::zero ? "0" : date_text(mean);
}

/// The date that these parts are of. What has passed is known to some seconds, the time of day to
/// a hundredth of one; the two differ by the offset, in quarters of an hour.
std::string date_cell(const TableEncoding& table, std::size_t first, std::span<const float> parts) {
    const TableEncoding::Input& elapsed = table.inputs[first + parts.size() - 1];
    const double passed_s = (parts.back() * elapsed.scale.deviation + elapsed.scale.mean) * kOneDay;
    Instant out;
    out.has_time = parts.size() == kDateParts.size();
    if (!out.has_time) {
        out.local_s = std::round(passed_s / kOneDay) * kOneDay;
        return date_text(out);
    }
    const double turn = std::atan2(parts[4], parts[5]) / (2 * std::numbers::pi);
    const double day_s = std::round((turn < 0 ? turn + 1 : turn) * kOneDay * 100) / 100;
    const double apart_s = std::remainder(day_s - passed_s, kOneDay);
    out.offset_s = std::round(apart_s / kOffsetStep) * kOffsetStep;
    out.has_offset = out.offset_s != 0;
    out.local_s = std::round((passed_s + out.offset_s - day_s) / kOneDay) * kOneDay + day_s;
    return date_text(out);
}

} // namespace

std::vector<InputColumn> input_columns(const Encoding* encoding) {
    const auto* table = dynamic_cast<const TableEncoding*>(encoding);
    std::vector<InputColumn> out;
    for (std::size_t i = 0; table != nullptr && i < table->inputs.size(); ++i) {
        if (!table->begins_column(i)) {
            continue;
        }
        const TableEncoding::Input& input = table->inputs[i];
        InputColumn column{input.name, {}, may_be_missing(*table), {}};
        for (const std::string& category : input.categories) {
            column.categories.push_back(text_of(category, table->layout));
        }
        if (input.part != DatePart::none && column.may_be_missing) {
            column.instead = mean_date(*table, i);
        } else if (input.is_number && column.may_be_missing) {
            column.instead = number_cell(*table, input.fill, kShortDigits);
        }
        out.push_back(std::move(column));
    }
    return out;
}

std::vector<float> sample_of_row(const Encoding& encoding, std::span<const std::string> cells) {
    const TableEncoding& table = table_of(encoding);
    WEFT_CHECK(static_cast<std::int64_t>(cells.size()) == table.columns(),
               "a cell for every input column");
    std::vector<float> sample(static_cast<std::size_t>(table.features()));
    std::byte* out = std::as_writable_bytes(std::span(sample)).data();
    std::size_t begun = 0;
    for (std::size_t i = 0; i < table.inputs.size(); ++i) {
        begun += table.begins_column(i) ? 1 : 0;
        out = table.write(table.inputs[i], value_of(table, table.inputs[i], cells[begun - 1]), out);
    }
    return sample;
}

std::vector<std::string> row_of_sample(const Encoding& encoding, std::span<const float> sample) {
    const TableEncoding& table = table_of(encoding);
    WEFT_CHECK(static_cast<std::int64_t>(sample.size()) == table.features(),
               "the sample is of this table");
    std::vector<std::string> cells;
    std::size_t at = 0;
    for (std::size_t i = 0; i < table.inputs.size(); ++i) {
        const TableEncoding::Input& input = table.inputs[i];
        if (!table.begins_column(i)) {
            continue;
        }
        if (input.part != DatePart::none) {
            const std::size_t parts = date_parts(table, i);
            cells.push_back(date_cell(table, i, sample.subspan(at, parts)));
            at += parts;
            continue;
        }
        if (input.is_number) {
            cells.push_back(number_cell(table, number_of(input, sample[at++]), kDigits));
            continue;
        }
        const std::size_t count = table.one_hot ? input.categories.size() : 1;
        const auto values = sample.subspan(at, count);
        const std::ptrdiff_t found =
            table.one_hot ? std::find(values.begin(), values.end(), 1.0F) - values.begin()
                          : std::lround(values.front());
        const bool known =
            found >= 0 && found < static_cast<std::ptrdiff_t>(input.categories.size());
        cells.push_back(
            known ? text_of(input.categories[static_cast<std::size_t>(found)], table.layout)
                  : std::string());
        at += count;
    }
    return cells;
}

} // namespace weft::data
