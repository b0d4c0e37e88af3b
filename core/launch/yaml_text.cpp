// SPDX-License-Identifier: Apache-2.0
#include "core/launch/yaml_text.h"

#include "core/base/text.h"

#include <set>

namespace weft::launch {
namespace {

using config::Json;

// Words that some reader takes for something else than a text.
bool is_reserved(const std::string& text) {
    static const std::set<std::string> kWords = {"y",    "n",     "yes",  "no",  "on", "off",
                                                 "true", "false", "null", "nan", "inf"};
    return kWords.count(lowered(text)) > 0;
}

// Begins with a letter or '/', so it is no number; all else goes in quotes, as in JSON.
std::string scalar(const Json& value) {
    if (!value.is_string()) {
        return value.dump();
    }
    const auto text = value.get<std::string>();
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_./-";
    const bool begins =
        !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '/');
    if (begins && text.find_first_not_of(kPlain) == std::string::npos && !is_reserved(text)) {
        return text;
    }
    return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void write_block(std::string& out, const Json& value, std::size_t indent);

// What stands behind "key:" or "-".
void write_below(std::string& out, const Json& value, std::size_t indent, bool in_list) {
    if (value.empty() && value.is_structured()) {
        out += value.is_array() ? " []\n" : " {}\n";
    } else if (!value.is_structured()) {
        out += " " + scalar(value) + "\n";
    } else if (in_list && value.is_object()) {
        std::string block;
        write_block(block, value, indent);
        out += " " + block.substr(indent); // the first key beside the dash
    } else {
        out += "\n";
        write_block(out, value, indent);
    }
}

void write_block(std::string& out, const Json& value, std::size_t indent) {
    const std::string blanks(indent, ' ');
    if (value.is_array()) {
        for (const Json& item : value) {
            out += blanks + "-";
            write_below(out, item, indent + 2, true);
        }
        return;
    }
    for (const auto& [key, item] : value.items()) {
        out += blanks + scalar(Json(key)) + ":";
        write_below(out, item, indent + 2, false);
    }
}

} // namespace

std::string yaml_text(const Json& value) {
    if (!value.is_structured() || value.empty()) {
        return value.is_string() ? scalar(value) + "\n" : value.dump() + "\n";
    }
    std::string out;
    write_block(out, value, 0);
    return out;
}

} // namespace weft::launch
