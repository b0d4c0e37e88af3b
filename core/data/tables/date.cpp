// SPDX-License-Identifier: Apache-2.0
#include "core/data/tables/date.h"

#include "core/base/text.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace weft::data {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr double kDaySeconds = 86400;
constexpr double kWeekDays = 7;
constexpr int kMostOffsetHours = 18;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// A text that is read from its beginning on.
struct Reading {
    std::string_view rest;

    bool done() const { return rest.empty(); }
    bool take(char c) {
        const bool found = !rest.empty() && rest.front() == c;
        rest.remove_prefix(found ? 1 : 0);
        return found;
    }
    char take_any(std::string_view of) {
        const char c = rest.empty() || of.find(rest.front()) == of.npos ? '\0' : rest.front();
        rest.remove_prefix(c == '\0' ? 0 : 1);
        return c;
    }
    /// Whatever follows them.
    std::optional<int> two_digits() {
        if (rest.size() < 2 || !is_digit(rest[0]) || !is_digit(rest[1])) {
            return std::nullopt;
        }
        const int value = (rest[0] - '0') * 10 + (rest[1] - '0');
        rest.remove_prefix(2);
        return value;
    }
    /// A whole number of `least` to `most` digits.
    std::optional<int> number(std::size_t least, std::size_t most) {
        std::size_t length = 0;
        while (length < rest.size() && length <= most && is_digit(rest[length])) {
            ++length;
        }
        if (length < least || length > most) {
            return std::nullopt;
        }
        int value = 0;
        std::from_chars(rest.data(), rest.data() + length, value);
        rest.remove_prefix(length);
        return value;
    }
};

std::optional<double> day_s(int year, int month, int day) {
    const year_month_day date{std::chrono::year(year),
                              std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day))};
    return date.ok()
               ? std::optional(static_cast<double>(sys_days(date).time_since_epoch().count()) *
                               kDaySeconds)
               : std::nullopt;
}

bool read_year_first(Reading& in, Instant& out) {
    const auto year = in.number(4, 4);
    const char sign = in.take_any("-/.");
    const auto month = in.number(1, 2);
    const bool again = sign != '\0' && in.take(sign);
    const auto day = in.number(1, 2);
    const auto seconds = year && month && again && day ? day_s(*year, *month, *day) : std::nullopt;
    out.local_s = seconds.value_or(0);
    return seconds.has_value();
}

bool read_year_last(Reading& in, DateOrder order, Instant& out) {
    const auto first = in.number(1, 2);
    const char sign = in.take_any("/.-");
    const auto second = in.number(1, 2);
    const bool again = sign != '\0' && in.take(sign);
    const auto year = in.number(4, 4);
    if (!first || !second || !again || !year) {
        return false;
    }
    auto seconds = day_s(*year, *second, *first);
    if (sign != '.') {
        const auto other = day_s(*year, *first, *second);
        out.by_order = seconds && other && *first != *second;
        out.one_order = seconds.has_value() != other.has_value();
        seconds = order == DateOrder::day_first ? seconds : other;
    }
    out.local_s = seconds.value_or(0);
    return seconds.has_value();
}

/// "12:30", "12:30:05.25", and "1:30 PM".
bool read_time(Reading& in, Instant& out) {
    auto hour = in.number(1, 2);
    const bool colon = in.take(':');
    const auto minute = in.number(2, 2);
    if (!hour || !colon || !minute || *minute > 59) {
        return false;
    }
    double second = 0;
    if (in.take(':')) {
        const auto whole = in.number(2, 2);
        if (!whole || *whole > 60) { // a leap second
            return false;
        }
        second = *whole;
        if (in.take_any(".,") != '\0') {
            double unit = 0.1;
            if (in.done() || !is_digit(in.rest.front())) {
                return false;
            }
            for (; !in.done() && is_digit(in.rest.front()); in.rest.remove_prefix(1)) {
                second += unit * (in.rest.front() - '0');
                unit /= 10;
            }
        }
    }
    const std::string_view half = trim(in.rest);
    if (half.size() == 2 && (half[1] == 'M' || half[1] == 'm') &&
        std::string_view("AaPp").find(half[0]) != std::string_view::npos) {
        if (*hour < 1 || *hour > 12) {
            return false;
        }
        const bool after_noon = half[0] == 'P' || half[0] == 'p';
        hour = *hour % 12 + (after_noon ? 12 : 0);
        in.rest = {};
    }
    out.local_s += *hour * 3600 + *minute * 60 + second;
    out.has_time = true;
    return *hour <= 23;
}

/// "Z", "+02", "-0330", "+05:30"; nothing is right, too.
bool read_offset(Reading& in, Instant& out) {
    in.take(' ');
    if (in.done()) {
        return true;
    }
    out.has_offset = true;
    if (in.take_any("Zz") != '\0') {
        return in.done();
    }
    const char sign = in.take_any("+-");
    const auto hours = in.two_digits();
    in.take(':');
    const auto minutes = in.done() ? std::optional(0) : in.two_digits();
    if (sign == '\0' || !hours || *hours > kMostOffsetHours || !minutes || *minutes > 59) {
        return false;
    }
    out.offset_s = (sign == '-' ? -1 : 1) * (*hours * 3600.0 + *minutes * 60.0);
    return in.done();
}

double days_of(const Instant& instant) {
    return std::floor(instant.local_s / kDaySeconds);
}

/// Of a whole turn, 0 to 1.
double share_of_year(const Instant& instant) {
    const sys_days today{days(static_cast<int>(days_of(instant)))};
    const std::chrono::year year = year_month_day(today).year();
    const sys_days first{year / 1 / 1};
    const sys_days next{(year + std::chrono::years(1)) / 1 / 1};
    return static_cast<double>((today - first).count()) /
           static_cast<double>((next - first).count());
}

double share_of_week(const Instant& instant) {
    constexpr double kThursday = 3; // 1970-01-01, from Monday
    const double day = std::fmod(days_of(instant) + kThursday, kWeekDays);
    return (day < 0 ? day + kWeekDays : day) / kWeekDays;
}

double share_of_day(const Instant& instant) {
    return instant.local_s / kDaySeconds - days_of(instant);
}

} // namespace

std::optional<Instant> instant_of(std::string_view cell, DateOrder order) {
    const std::string_view text = trim(cell);
    constexpr std::size_t kShortest = 8; // 1/1/2023
    constexpr std::size_t kLongest = 48;
    if (text.size() < kShortest || text.size() > kLongest || !is_digit(text.front())) {
        return std::nullopt;
    }
    Reading in{text};
    Instant out;
    const bool year_first = is_digit(text[2]) && is_digit(text[3]);
    if (!(year_first ? read_year_first(in, out) : read_year_last(in, order, out))) {
        return std::nullopt;
    }
    if (in.done()) {
        return out;
    }
    if (in.take_any("Tt ,") == '\0') {
        return std::nullopt;
    }
    while (in.take(' ')) {
    }
    return read_time(in, out) && read_offset(in, out) ? std::optional(out) : std::nullopt;
}

double part_of(const Instant& instant, DatePart part) {
    const auto angle = [&] {
        const bool week = part == DatePart::week_sine || part == DatePart::week_cosine;
        const bool year = part == DatePart::year_sine || part == DatePart::year_cosine;
        return 2 * std::numbers::pi *
               (week   ? share_of_week(instant)
                : year ? share_of_year(instant)
                       : share_of_day(instant));
    };
    switch (part) {
    case DatePart::week_sine:
    case DatePart::year_sine:
    case DatePart::day_sine: return std::sin(angle());
    case DatePart::week_cosine:
    case DatePart::year_cosine:
    case DatePart::day_cosine: return std::cos(angle());
    case DatePart::elapsed: return instant.utc_s() / kDaySeconds;
    case DatePart::none: break;
    }
    return 0;
}

std::string_view part_name(DatePart part) {
    switch (part) {
    case DatePart::week_sine: return "day of week, sine";
    case DatePart::week_cosine: return "day of week, cosine";
    case DatePart::year_sine: return "day of year, sine";
    case DatePart::year_cosine: return "day of year, cosine";
    case DatePart::day_sine: return "time of day, sine";
    case DatePart::day_cosine: return "time of day, cosine";
    case DatePart::elapsed: return "elapsed days";
    case DatePart::none: break;
    }
    return "";
}

std::string date_text(const Instant& moment) {
    Instant instant = moment;
    instant.local_s = std::round(instant.local_s * 1000) / 1000; // to what is written
    const year_month_day date{sys_days{days(static_cast<int>(days_of(instant)))}};
    char text[96];
    std::snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    std::string out = text;
    if (!instant.has_time) {
        return out;
    }
    const double time = instant.local_s - days_of(instant) * kDaySeconds;
    const auto minutes = static_cast<int>(time / 60);
    const double seconds = time - minutes * 60.0;
    std::snprintf(text, sizeof(text), " %02d:%02d", minutes / 60, minutes % 60);
    out += text;
    if (seconds >= 0.0005) {
        std::snprintf(text, sizeof(text), seconds == std::floor(seconds) ? ":%02.0f" : ":%06.3f",
                      seconds);
        out += text;
    }
    if (instant.has_offset) {
        const int offset = static_cast<int>(std::abs(instant.offset_s)) / 60;
        std::snprintf(text, sizeof(text), "%c%02d:%02d", instant.offset_s < 0 ? '-' : '+',
                      offset / 60, offset % 60);
        out += offset == 0 ? "Z" : text;
    }
    return out;
}

} // namespace weft::data
