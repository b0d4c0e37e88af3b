// SPDX-License-Identifier: Apache-2.0
// Dates and times in cells of tables, and the numbers that a model gets of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::data {

/// How 3/4/2023 is meant. With dots (3.4.2023) the day stands first everywhere.
enum class DateOrder : std::uint8_t { day_first, month_first };

/// A moment as it is written: by the clock and calendar of its place.
struct Instant {
    double local_s = 0;  // since 1970-01-01 00:00 of that clock
    double offset_s = 0; // how far it is ahead of UTC; 0 where it is not written
    bool has_time = false;
    bool has_offset = false; // "Z" is one
    bool by_order = false;   // day and month may be meant the other way round: both are at most 12
    bool one_order = false;  // they stand in an order, and only one is possible

    double utc_s() const { return local_s - offset_s; }
};

/// ISO 8601 dates and times of day (2023-04-03, 2023-04-03T12:30:00.5+02:00; a blank for the T,
/// slashes or dots for the first two hyphens), and day, month and year with a year of four digits
/// (3.4.2023, 03/04/2023 1:30 PM). Nothing for any other text and for days that are not in the
/// calendar (Gregorian, also before 1582).
std::optional<Instant> instant_of(std::string_view cell, DateOrder order);

/// What a sample has of a moment. Cyclic parts come in pairs, so that the end of a week, year or
/// day is beside its beginning.
enum class DatePart : std::uint8_t {
    none,
    week_sine,
    week_cosine, // by whole days, from Monday
    year_sine,
    year_cosine, // by whole days of that year
    day_sine,
    day_cosine, // by the time of day
    elapsed,    // days since 1970-01-01 00:00 UTC
};
/// In the order of samples; those of the time of day only where a column has times.
inline constexpr std::array kDateParts = {
    DatePart::week_sine, DatePart::week_cosine, DatePart::year_sine, DatePart::year_cosine,
    DatePart::day_sine,  DatePart::day_cosine,  DatePart::elapsed};

double part_of(const Instant& instant, DatePart part);
/// "day of week, sine"; "elapsed days".
std::string_view part_name(DatePart part);

/// "2023-04-03", "2023-04-03 12:30", "2023-04-03 12:30:05.25+02:00".
std::string date_text(const Instant& instant);

} // namespace weft::data
