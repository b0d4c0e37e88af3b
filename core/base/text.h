// SPDX-License-Identifier: Apache-2.0
// Small text helpers that several folders need: nearest names for hints, numbers for people,
// name patterns. Free functions without state. Numbers are written in the C locale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Edits (insert, delete, replace, swap of neighbours: optimal string alignment) between two words.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate that a user most likely meant; none when all are too far off. Case is ignored.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

/// "did you mean 'x'?" or the list "one of a, b, c" (at most 12 names): the hint for a wrong name.
std::string name_hint(std::string_view name, std::span<const std::string> candidates);

/// "12 B", "3.4 KiB", "1.2 GiB".
std::string format_bytes(int64_t bytes);
/// "0.42 ms", "3.1 s", "4 min 05 s", "2 h 07 min", "3 d 4 h".
std::string format_duration(double seconds);
/// "1,234,567".
std::string format_thousands(int64_t value);
/// "124.4M", "6.8k", "812": counts such as parameters.
std::string format_count(int64_t value);
/// "0.125", "3e+30", "nan": to so many significant digits.
std::string format_short(double value, int digits = 3);

/// True when the whole name matches a pattern in which `*` stands for any run of characters
/// (dots included) and every other character for itself.
bool glob_match(std::string_view pattern, std::string_view name);

/// ASCII letters in lower case; all else as it is.
std::string lowered(std::string_view text);

/// Parts between separators; an empty text has one empty part.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
/// Without leading and trailing white space.
std::string_view trim(std::string_view text);

/// True for well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text);

/// `text` on one line for a message: control characters and bad bytes shown as \xNN, cut to
/// `most` bytes with "..." at the end.
std::string shown(std::string_view text, size_t most = 60);

} // namespace weft
