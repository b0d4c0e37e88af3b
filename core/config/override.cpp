// SPDX-License-Identifier: Apache-2.0
// `--set key.path=value`.
#include "core/config/pointer.h"

#include "core/base/text.h"

#include <charconv>
#include <optional>

namespace weft::config {
namespace {

constexpr size_t kDeepestPath = 64;

Diagnostics problem(std::string pointer, std::string message, std::string hint) {
    return {{std::move(pointer), Severity::error, std::move(message), std::move(hint)}};
}

std::string unescaped(std::string part) {
    for (size_t at = part.find('~'); at != std::string::npos; at = part.find('~', at + 1)) {
        const char code = at + 1 < part.size() ? part[at + 1] : '\0';
        if (code == '0' || code == '1') {
            part.replace(at, 2, code == '0' ? "~" : "/");
        }
    }
    return part;
}

std::vector<std::string> parts_of(std::string_view key) {
    if (!key.starts_with('/')) {
        return split(key, '.');
    }
    std::vector<std::string> parts = split(key.substr(1), '/');
    for (std::string& part : parts) {
        part = unescaped(std::move(part));
    }
    return parts;
}

std::optional<size_t> index_of(const std::string& part) {
    size_t index = 0;
    const char* end = part.data() + part.size();
    const auto [stop, code] = std::from_chars(part.data(), end, index);
    return code == std::errc() && stop == end ? std::optional(index) : std::nullopt;
}

/// The value, or the problem with what was plainly meant as JSON.
Checked value_of(std::string_view text) {
    Checked parsed = parse_json(text, "--set");
    const std::string_view bare = trim(text);
    const bool meant_as_json =
        !bare.empty() && (bare.front() == '{' || bare.front() == '[' || bare.front() == '"');
    if (parsed.ok() || meant_as_json) {
        return parsed;
    }
    return {Json(std::string(text)), {}};
}

/// One step down, made on the way where nothing is there yet. Null and a filled `out` on a problem.
Json* step(Json& at, const std::string& part, const std::string& pointer, Diagnostics& out) {
    if (at.is_null()) {
        at = Json::object();
    }
    if (at.is_object()) {
        return &at[part];
    }
    if (!at.is_array()) {
        out = problem(pointer, "its parent is " + describe_value(at) + " and has no fields",
                      "Set the parent itself.");
        return nullptr;
    }
    const auto index = index_of(part);
    if (!index || *index > at.size()) {
        out = problem(pointer,
                      "'" + shown(part) + "' is not an item of a list of " +
                          std::to_string(at.size()),
                      "Items count from 0; " + std::to_string(at.size()) + " appends one.");
        return nullptr;
    }
    if (*index == at.size()) {
        at.push_back(nullptr);
    }
    return &at[*index];
}

} // namespace

Diagnostics apply_override(Json& document, std::string_view assignment) {
    const size_t equals = assignment.find('=');
    const std::string_view key = trim(assignment.substr(0, equals));
    if (equals == std::string_view::npos || key.empty()) {
        return problem({}, "'" + shown(assignment) + "' is not of the form key.path=value",
                       "Example: --set optimizer.learning_rate=3e-4");
    }
    if (!is_utf8(assignment)) {
        return problem({}, "'" + shown(assignment) + "' is not valid UTF-8", "");
    }
    const std::vector<std::string> parts = parts_of(key);
    if (parts.size() > kDeepestPath) {
        return problem({}, "the key has more than " + std::to_string(kDeepestPath) + " parts", "");
    }
    Json changed = document;
    Json* at = &changed;
    std::string pointer;
    Diagnostics out;
    for (const std::string& part : parts) {
        pointer = pointer_to(pointer, part);
        if (part.empty()) {
            return problem(pointer, "the key has an empty part", "Remove the extra dot.");
        }
        at = step(*at, part, pointer, out);
        if (at == nullptr) {
            return out;
        }
    }
    Checked value = value_of(assignment.substr(equals + 1));
    if (!value.ok()) {
        for (Diagnostic& diagnostic : value.diagnostics) {
            diagnostic.pointer = pointer + diagnostic.pointer;
        }
        return value.diagnostics;
    }
    *at = std::move(value.value);
    document = std::move(changed);
    return out;
}

} // namespace weft::config
