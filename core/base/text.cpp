// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace weft {
namespace {

// No name of ours is longer; hostile ones are not worth a quadratic comparison.
constexpr size_t kLongestName = 128;

template <class... Values>
std::string print(const char* format, Values... values) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), format, values...);
    return buffer.data();
}

// Length of the well-formed UTF-8 sequence at the front, 0 when it is malformed.
size_t utf8_sequence(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const auto continued = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
    const uint8_t first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return continued(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool fits = continued(1) && continued(2) && !(first == 0xE0 && byte(1) < 0xA0) &&
                          !(first == 0xED && byte(1) > 0x9F);
        return fits ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool fits = continued(1) && continued(2) && continued(3) &&
                          !(first == 0xF0 && byte(1) < 0x90) && !(first == 0xF4 && byte(1) > 0x8F);
        return fits ? 4 : 0;
    }
    return 0;
}

} // namespace

int edit_distance(std::string_view a, std::string_view b) {
    const size_t width = b.size() + 1;
    std::vector<int> before_last(width);
    std::vector<int> last(width);
    std::vector<int> row(width);
    for (size_t j = 0; j < width; ++j) {
        last[j] = static_cast<int>(j);
    }
    for (size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (size_t j = 1; j < width; ++j) {
            const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        before_last = std::exchange(last, row);
    }
    return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
    if (name.empty() || name.size() > kLongestName) {
        return std::nullopt;
    }
    const std::string wanted = lowered(name);
    const std::string* best = nullptr;
    int best_distance = 0;
    for (const std::string& candidate : candidates) {
        const std::string other = lowered(candidate);
        int distance = edit_distance(wanted, other);
        // A name written out half ("lr_sched") or with a part left out is closer than its edits
        // say.
        if (wanted.size() >= 3 && (other.starts_with(wanted) || other.ends_with(wanted))) {
            distance = std::min(distance, 2);
        }
        if (best == nullptr || distance < best_distance) {
            best = &candidate;
            best_distance = distance;
        }
    }
    const int limit = std::max(1, static_cast<int>(name.size() + 1) / 3);
    return best != nullptr && best_distance <= limit ? std::optional(*best) : std::nullopt;
}

std::string name_hint(std::string_view name, std::span<const std::string> candidates) {
    if (const auto nearest = nearest_name(name, candidates)) {
        return "Did you mean '" + *nearest + "'?";
    }
    if (candidates.empty()) {
        return {};
    }
    constexpr size_t kMostNames = 12;
    const auto some = candidates.first(std::min(candidates.size(), kMostNames));
    std::string hint = candidates.size() == 1 ? "Only known here: " : "Known here: ";
    hint += join(some, ", ");
    return hint + (candidates.size() > kMostNames ? ", ..." : ".");
}

std::string format_bytes(int64_t bytes) {
    constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    size_t unit = 0;
    // 1023.95 would print as "1024.0".
    while (std::abs(value) >= 1023.95 && unit + 1 < kUnits.size()) {
        value /= 1024.0;
        ++unit;
    }
    return unit == 0 ? print("%lld B", static_cast<long long>(bytes))
                     : print("%.1f %s", value, kUnits[unit]);
}

std::string format_duration(double seconds) {
    if (!std::isfinite(seconds)) {
        return "unknown";
    }
    if (seconds < 0) {
        return "-" + format_duration(-seconds);
    }
    if (seconds == 0) {
        return "0 s";
    }
    if (seconds < 0.9995) {
        const double ms = seconds * 1e3;
        return ms < 9.995   ? print("%.2f ms", ms)
               : ms < 99.95 ? print("%.1f ms", ms)
                            : print("%.0f ms", ms);
    }
    if (seconds < 59.95) {
        return print("%.1f s", seconds);
    }
    // Past the range of any run; also keeps the conversion below defined.
    const auto whole = static_cast<long long>(std::llround(std::min(seconds, 1e15)));
    if (whole < 3600) {
        return print("%lld min %02lld s", whole / 60, whole % 60);
    }
    if (whole < 86400) {
        return print("%lld h %02lld min", whole / 3600, whole % 3600 / 60);
    }
    return print("%lld d %lld h", whole / 86400, whole % 86400 / 3600);
}

std::string format_thousands(int64_t value) {
    std::string digits = std::to_string(value);
    const size_t first = value < 0 ? 1 : 0;
    for (size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

std::string format_count(int64_t value) {
    constexpr std::array kUnits = {"", "k", "M", "B", "T"};
    auto scaled = static_cast<double>(value);
    size_t unit = 0;
    while (std::abs(scaled) >= 999.95 && unit + 1 < kUnits.size()) {
        scaled /= 1000.0;
        ++unit;
    }
    return unit == 0 ? std::to_string(value) : print("%.1f%s", scaled, kUnits[unit]);
}

std::string format_short(double value, int digits) {
    return print("%.*g", digits, value);
}

bool glob_match(std::string_view pattern, std::string_view name) {
    // Greedy with one step back: linear in practice, at worst the product of both lengths.
    size_t p = 0;
    size_t n = 0;
    size_t star = std::string_view::npos;
    size_t resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return c < 0x80 ? std::tolower(c) : c; });
    return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (size_t begin = 0;;) {
        const size_t end = text.find(separator, begin);
        parts.emplace_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) {
            return parts;
        }
        begin = end + 1;
    }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i) {
        out += i == 0 ? std::string_view() : separator;
        out += parts[i];
    }
    return out;
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n\f\v";
    const size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const size_t length = utf8_sequence(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

std::string shown(std::string_view text, size_t most) {
    std::string out;
    while (!text.empty()) {
        const size_t length = std::max<size_t>(utf8_sequence(text), 1);
        const auto first = static_cast<uint8_t>(text[0]);
        const bool plain = utf8_sequence(text) > 0 && first >= 0x20 && first != 0x7F;
        const std::string piece = plain ? std::string(text.substr(0, length))
                                        : print("\\x%02x", static_cast<unsigned>(first));
        if (out.size() + piece.size() > most) {
            return out + "...";
        }
        out += piece;
        text.remove_prefix(length);
    }
    return out;
}

} // namespace weft
