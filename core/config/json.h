// SPDX-License-Identifier: Apache-2.0
// JSON values. The one door to the library: writing is compiled once, in json.cpp, and parsing in
// parse_json.cpp, not again in each source that uses them.
#pragma once

#include <nlohmann/json.hpp>

#include <string_view>

extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace weft::config {

/// Objects keep the order of their fields.
using Json = nlohmann::ordered_json;

/// The value of a text that must be JSON; throws Json::parse_error where it is not.
Json json_of(std::string_view text);

/// The value of a text that may be none, or is nested deeper than 64; then is_discarded(). Of two
/// equal keys the last one counts. What a person wrote is read with parse_json() instead, which
/// says what is wrong and where.
Json json_or_discarded(std::string_view text);

} // namespace weft::config
