// SPDX-License-Identifier: Apache-2.0
#include "core/queue/space.h"

#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace weft::queue {
namespace {

using config::Json;
using Kind = Dimension::Kind;

constexpr std::int64_t kMostTrials = 10000;
constexpr std::int64_t kMostShuffled = 1000000; // combinations that are listed to draw from
constexpr double kMostInteger = 9e15;           // exact as double
constexpr const char* kForms = "Write values (32,64,128) or a range: log:1e-4..1e-2, "
                               "uniform:0..0.5, int:1..8, logint:16..256.";

struct RangeWord {
    const char* word;
    Kind kind;
};
constexpr RangeWord kRangeWords[] = {{"int:", Kind::integers},
                                     {"logint:", Kind::log_integers},
                                     {"uniform:", Kind::uniform},
                                     {"log:", Kind::log}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw Error(ErrorKind::usage, "--vary " + shown(text), why, kForms);
}

double number_in(std::string_view whole, std::string_view text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) {
        refuse(whole, "'" + shown(text) + "' is no number");
    }
    return value;
}

/// Parts between commas that no bracket or quote encloses.
std::vector<std::string> values_in(std::string_view text) {
    std::vector<std::string> out(1);
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\' && i + 1 < text.size()) {
            out.back() += c;
            out.back() += text[++i];
            continue;
        }
        quoted = c == '"' ? !quoted : quoted;
        depth += quoted ? 0 : c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
        if (c == ',' && depth == 0 && !quoted) {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

/// As --set reads it: JSON, else a text.
Json value_in(std::string_view text) {
    const Json json = config::json_or_discarded(text);
    return json.is_discarded() ? Json(std::string(text)) : json;
}

void read_range(std::string_view whole, std::string_view text, Dimension& out) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) {
        refuse(whole, "the range has no '..' between its ends");
    }
    const std::string_view rest = text.substr(dots + 2);
    const std::size_t colon = rest.find(':');
    out.low = number_in(whole, trim(text.substr(0, dots)));
    out.high = number_in(whole, trim(rest.substr(0, colon)));
    if (colon != std::string_view::npos) {
        const double points = number_in(whole, trim(rest.substr(colon + 1)));
        if (points < 1 || points > kMostTrials || points != std::floor(points)) {
            refuse(whole, "the number of points must be whole, from 1 to 10,000");
        }
        out.points = static_cast<int>(points);
    }
    const bool whole_numbers = out.kind == Kind::integers || out.kind == Kind::log_integers;
    const bool by_logarithm = out.kind == Kind::log || out.kind == Kind::log_integers;
    if (out.low > out.high) {
        refuse(whole, "the range ends below its beginning");
    }
    if (by_logarithm && !(out.low > 0)) {
        refuse(whole, "a logarithmic range begins above 0");
    }
    if (whole_numbers && (out.low != std::floor(out.low) || out.high != std::floor(out.high) ||
                          std::abs(out.low) > kMostInteger || std::abs(out.high) > kMostInteger)) {
        refuse(whole, "the ends must be whole numbers");
    }
}

bool is_real(const Dimension& one) {
    return one.kind == Kind::uniform || one.kind == Kind::log;
}

/// Short, so that a table can be read: five digits are finer than any search needs.
Json real_value(const Dimension& of, double value) {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, std::clamp(value, of.low, of.high),
                                   std::chars_format::general, 5);
    double out = 0;
    std::from_chars(text, end.ptr, out);
    return std::clamp(out, of.low, of.high);
}

/// At a share from 0 to 1 of the range.
Json value_at_share(const Dimension& of, double share) {
    switch (of.kind) {
    case Kind::choices: {
        const auto count = static_cast<double>(of.choices.size());
        return of.choices[static_cast<std::size_t>(std::min(share * count, count - 1))];
    }
    case Kind::integers: {
        const double value = std::floor(of.low + share * (of.high - of.low + 1));
        return static_cast<std::int64_t>(std::min(value, of.high));
    }
    case Kind::log_integers: {
        // Each whole number has the share of the range from it to the next.
        const double value = std::floor(of.low * std::pow((of.high + 1) / of.low, share));
        return static_cast<std::int64_t>(std::clamp(value, of.low, of.high));
    }
    case Kind::uniform: return real_value(of, of.low + share * (of.high - of.low));
    case Kind::log: return real_value(of, of.low * std::pow(of.high / of.low, share));
    }
    return nullptr;
}

/// The values of one setting in a grid.
std::vector<Json> points_of(const Dimension& of) {
    if (of.kind == Kind::choices) {
        return of.choices;
    }
    std::vector<Json> out;
    if (of.points == 0) { // whole numbers: all of them
        for (double value = of.low; value <= of.high; ++value) {
            out.emplace_back(static_cast<std::int64_t>(value));
        }
        return out;
    }
    for (int i = 0; i < of.points; ++i) {
        const double share = of.points == 1 ? 0 : static_cast<double>(i) / (of.points - 1);
        const bool logarithmic = of.kind == Kind::log_integers || of.kind == Kind::log;
        const double value = logarithmic ? of.low * std::pow(of.high / of.low, share)
                                         : of.low + share * (of.high - of.low);
        Json point = is_real(of) ? real_value(of, value)
                                 : Json(static_cast<std::int64_t>(std::llround(value)));
        if (out.empty() || out.back() != point) { // few whole numbers, many points
            out.push_back(std::move(point));
        }
    }
    return out;
}

/// How many values a setting can have; none: real ones.
std::optional<std::int64_t> values_of(const Dimension& of) {
    if (is_real(of)) {
        return std::nullopt;
    }
    return of.kind == Kind::choices ? static_cast<std::int64_t>(of.choices.size())
                                    : static_cast<std::int64_t>(of.high - of.low) + 1;
}

/// Of all settings together; none: endless, or too many to list.
std::optional<std::int64_t> size_of(const std::vector<Dimension>& space) {
    std::int64_t out = 1;
    for (const Dimension& one : space) {
        const auto count = values_of(one);
        if (!count || *count > kMostShuffled / out) {
            return std::nullopt;
        }
        out *= *count;
    }
    return out;
}

/// The combination with a number, where every setting has finitely many values.
Settings combination(const std::vector<Dimension>& space, std::int64_t number) {
    Settings out(space.size());
    for (std::size_t i = space.size(); i-- > 0;) {
        const Dimension& one = space[i];
        const std::int64_t count = *values_of(one);
        const std::int64_t at = number % count;
        out[i] = {one.path, one.kind == Kind::choices
                                ? one.choices[static_cast<std::size_t>(at)]
                                : Json(static_cast<std::int64_t>(one.low) + at)};
        number /= count;
    }
    return out;
}

/// Trial i, of those that were not drawn before: numbers of a stream until one is new. Logarithms
/// of whole numbers make some combinations more likely.
Settings draw_one(const std::vector<Dimension>& space, std::uint64_t seed, std::uint64_t trial,
                  std::uint64_t attempt) {
    Settings out;
    for (const Dimension& one : space) {
        const RandomStream stream(seed, "sweep " + one.path);
        out.emplace_back(one.path, value_at_share(one, stream.uniform(trial, attempt)));
    }
    return out;
}

} // namespace

Dimension parse_dimension(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || trim(text.substr(0, equals)).empty()) {
        refuse(text, "a setting and its values are wanted: key.path=values");
    }
    Dimension out;
    out.path = trim(text.substr(0, equals));
    const std::string_view values = trim(text.substr(equals + 1));
    for (const RangeWord& range : kRangeWords) {
        if (values.starts_with(range.word)) {
            out.kind = range.kind;
            read_range(text, values.substr(std::string_view(range.word).size()), out);
            return out;
        }
    }
    for (const std::string& one : values_in(values)) {
        if (trim(one).empty()) {
            refuse(text, "there is an empty value");
        }
        Json value = value_in(trim(one));
        if (std::find(out.choices.begin(), out.choices.end(), value) != out.choices.end()) {
            refuse(text, "the value " + shown(trim(one)) + " is there twice");
        }
        out.choices.push_back(std::move(value));
    }
    return out;
}

std::optional<std::int64_t> combinations(const std::vector<Dimension>& space) {
    std::int64_t out = 1;
    for (const Dimension& one : space) {
        if (is_real(one) && one.points == 0) {
            return std::nullopt;
        }
        const std::int64_t count = one.points > 0 ? one.points : *values_of(one);
        out = count > kMostInteger / static_cast<double>(out)
                  ? static_cast<std::int64_t>(kMostInteger)
                  : out * count;
    }
    return out;
}

std::vector<Settings> grid_of(const std::vector<Dimension>& space) {
    for (const Dimension& one : space) {
        if (is_real(one) && one.points == 0) {
            throw Error(ErrorKind::usage, "--vary " + one.path,
                        "a grid has no end in a range of real numbers",
                        "Say how many points, e.g. log:1e-4..1e-2:5, or use --method random.");
        }
    }
    const std::int64_t count = *combinations(space);
    if (count > kMostTrials) {
        throw Error(ErrorKind::usage, "--method grid",
                    "the grid has " + format_thousands(count) + " trials; at most " +
                        format_thousands(kMostTrials) + " are taken",
                    "Leave values out, or draw some of them: --method random --trials N.");
    }
    std::vector<Settings> out(1);
    for (const Dimension& one : space) {
        std::vector<Settings> longer;
        for (const Settings& before : out) {
            for (Json& value : points_of(one)) {
                longer.push_back(before);
                longer.back().emplace_back(one.path, std::move(value));
            }
        }
        out = std::move(longer);
    }
    return out;
}

std::vector<Settings> draw_from(const std::vector<Dimension>& space, std::int64_t trials,
                                std::uint64_t seed) {
    if (trials < 1 || trials > kMostTrials) {
        throw Error(ErrorKind::usage, "--trials", "from 1 to 10,000 trials are drawn");
    }
    const auto size = size_of(space);
    if (size && *size < trials) {
        throw Error(ErrorKind::usage, "--trials",
                    format_thousands(trials) + " are wanted, and the settings have " +
                        format_thousands(*size) + (*size == 1 ? " combination" : " combinations"),
                    "Ask for so many, or vary more.");
    }
    const bool even = std::none_of(space.begin(), space.end(), [](const Dimension& one) {
        return one.kind == Kind::log_integers;
    });
    std::vector<Settings> out;
    if (size && even) {
        // The first steps of a shuffle (Fisher and Yates, as by Durstenfeld 1964).
        std::vector<std::int64_t> order(static_cast<std::size_t>(*size));
        std::iota(order.begin(), order.end(), std::int64_t{0});
        const RandomStream stream(seed, "sweep");
        for (std::size_t i = 0; i < static_cast<std::size_t>(trials); ++i) {
            std::swap(order[i], order[i + stream.below(0, i, order.size() - i)]);
            out.push_back(combination(space, order[i]));
        }
        return out;
    }
    constexpr std::uint64_t kMostAttempts = 100000;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(trials); ++i) {
        std::uint64_t attempt = 0;
        Settings one = draw_one(space, seed, i, attempt);
        while (std::find(out.begin(), out.end(), one) != out.end() && ++attempt < kMostAttempts) {
            one = draw_one(space, seed, i, attempt);
        }
        if (attempt == kMostAttempts) {
            throw Error(ErrorKind::usage, "--trials",
                        "after " + format_thousands(static_cast<std::int64_t>(i)) +
                            " trials no other combination was found",
                        "Ask for fewer, or vary more.");
        }
        out.push_back(std::move(one));
    }
    return out;
}

std::vector<std::string> assignments_of(const Settings& settings) {
    std::vector<std::string> out;
    for (const auto& [path, value] : settings) {
        out.push_back(path + "=" + value.dump());
    }
    return out;
}

} // namespace weft::queue
