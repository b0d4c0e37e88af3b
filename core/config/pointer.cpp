// SPDX-License-Identifier: Apache-2.0
#include "core/config/pointer.h"

#include "core/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace weft::config {

std::string pointer_to(const std::string& pointer, std::string_view part) {
    std::string out = pointer + "/";
    for (const char c : part) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

std::string pointer_to(const std::string& pointer, size_t index) {
    return pointer + "/" + std::to_string(index);
}

std::string number_text(double value) {
    std::array<char, 40> buffer{};
    const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return code == std::errc() ? std::string(buffer.data(), end) : "?";
}

std::string describe_value(const Json& value) {
    switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
    case Json::value_t::string:
        return "the text \"" + shown(value.get_ref<const std::string&>()) + "\"";
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case Json::value_t::number_integer: return "the number " + std::to_string(value.get<int64_t>());
    case Json::value_t::number_unsigned:
        return "the number " + std::to_string(value.get<uint64_t>());
    case Json::value_t::number_float: return "the number " + number_text(value.get<double>());
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
    }
    return "an unknown value";
}

std::string describe_type(FieldType type) {
    switch (type) {
    case FieldType::boolean: return "true or false";
    case FieldType::integer: return "an integer";
    case FieldType::real: return "a number";
    case FieldType::text: return "a text";
    case FieldType::choice: return "one of its names";
    case FieldType::path: return "a path";
    case FieldType::list: return "a list";
    case FieldType::object: return "an object";
    case FieldType::record: return "an object with a \"type\"";
    case FieldType::map: return "an object";
    case FieldType::any: return "any value";
    }
    return "a value";
}

std::string describe_range(const Field& field) {
    const bool low = std::isfinite(field.minimum);
    const bool high = std::isfinite(field.maximum);
    if (low && high && !field.exclusive_minimum) {
        return "between " + number_text(field.minimum) + " and " + number_text(field.maximum);
    }
    std::string out;
    if (low) {
        out = (field.exclusive_minimum ? "above " : "at least ") + number_text(field.minimum);
    }
    if (high) {
        out += (low ? " and at most " : "at most ") + number_text(field.maximum);
    }
    return out;
}

} // namespace weft::config
