// SPDX-License-Identifier: Apache-2.0
// The names of a JSON document, written as the reference writes them: "devices[].ids".
#pragma once

#include "core/config/json.h"

#include <set>
#include <string>

namespace weft::test {

/// Adds the names of all members. What is in `known` is not looked into: its inside is nobody's
/// contract, or says it by "<category>".
inline void add_names(const config::Json& value, const std::string& before,
                      const std::set<std::string>& known, std::set<std::string>& out) {
    if (known.count(before) == 1) {
        out.insert(before);
        return;
    }
    if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) {
            add_names(inner, before.empty() ? key : before + "." + key, known, out);
        }
    } else if (value.is_array() && !value.empty() && value.front().is_object()) {
        for (const config::Json& inner : value) {
            add_names(inner, before + "[]", known, out);
        }
    } else {
        out.insert(before);
    }
}

} // namespace weft::test
