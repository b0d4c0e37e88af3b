// SPDX-License-Identifier: Apache-2.0
// JSON pointers (RFC 6901) and the words in which problems speak of JSON values.
#pragma once

#include "core/config/field.h"

#include <string>
#include <string_view>

namespace weft::config {

/// `pointer` with one more part, escaped.
std::string pointer_to(const std::string& pointer, std::string_view part);
std::string pointer_to(const std::string& pointer, size_t index);

/// "the text \"abc\"", "the number 3", "a list", "null", ...: for "expected X, found Y".
std::string describe_value(const Json& value);

/// "an integer", "a text", ...: what a field of this type wants.
std::string describe_type(FieldType type);

/// "at least 1", "above 0 and at most 1", "between 0 and 10"; empty without limits.
std::string describe_range(const Field& field);

/// The shortest text that reads back as the same number: "0.1", "1e-08", "512".
std::string number_text(double value);

} // namespace weft::config
