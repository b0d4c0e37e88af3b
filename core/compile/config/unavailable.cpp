// SPDX-License-Identifier: Apache-2.0
#include "core/compile/config/run_rules.h"

#include "core/base/text.h"
#include "core/compile/config/run_config.h"

#include <algorithm>
#include <array>

namespace weft::compile {
namespace {

using config::Diagnostics;
using config::Json;

/// Names of the published interface that are still to come, by the pointer where they stand.
struct Planned {
    std::string_view pointer; // pattern
    std::string_view names;   // patterns, blank-separated
    std::string_view hint;    // in place of the list of what works; may be empty
};

constexpr std::array kPlanned = {
    Planned{"/loss/type", "act", ""},
    Planned{"/mesh/backend", "nccl", ""},
};

const Planned* find_planned(std::string_view pointer, const Json& value) {
    if (!value.is_string()) {
        return nullptr;
    }
    const auto& name = value.get_ref<const std::string&>();
    for (const Planned& planned : kPlanned) {
        const auto patterns = split(planned.names, ' ');
        if (glob_match(planned.pointer, pointer) &&
            std::any_of(patterns.begin(), patterns.end(),
                        [&](const std::string& pattern) { return glob_match(pattern, name); })) {
            return &planned;
        }
    }
    return nullptr;
}

const Json* value_at(const Json& document, const std::string& pointer) {
    const Json::json_pointer path(pointer);
    return document.contains(path) ? &document.at(path) : nullptr;
}

/// "Use 'none'." or "Use one of 'a', 'b'." from the table; a record's type stands one level up.
std::string what_works(const std::string& pointer) {
    std::string path;
    for (const std::string& part : split(std::string_view(pointer).substr(1), '/')) {
        path += (path.empty() ? "" : ".") + part;
    }
    std::vector<std::string> names;
    const config::Field* field = config::find_field(run_config_table(), path);
    if (field != nullptr) {
        names = field->choices;
    } else if (path.ends_with(".type")) {
        field = config::find_field(run_config_table(), path.substr(0, path.size() - 5));
        for (std::size_t i = 0; field != nullptr && i < field->records.size(); ++i) {
            names.push_back(field->records[i].name);
        }
    }
    for (std::string& name : names) {
        name = "'" + name + "'";
    }
    return names.empty() ? ""
                         : (names.size() == 1 ? "Use " : "Use one of ") + join(names, ", ") + ".";
}

} // namespace

void explain_unavailable(const Json& raw, Diagnostics& diagnostics) {
    for (config::Diagnostic& diagnostic : diagnostics) {
        const Json* value = value_at(raw, diagnostic.pointer);
        const Planned* planned =
            value == nullptr ? nullptr : find_planned(diagnostic.pointer, *value);
        if (planned == nullptr) {
            continue;
        }
        std::vector<std::string> parts = split(diagnostic.pointer, '/');
        // The field's own name stands before it; of a type it is said whose.
        const std::string whose = parts.back() == "type" ? parts[parts.size() - 2] + " " : "";
        diagnostic.message =
            whose + "'" + value->get<std::string>() + "' is not available in this version";
        diagnostic.hint =
            planned->hint.empty() ? what_works(diagnostic.pointer) : std::string(planned->hint);
    }
}

} // namespace weft::compile
