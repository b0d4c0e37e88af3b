// SPDX-License-Identifier: Apache-2.0
#include "core/config/diagnostic.h"

#include <algorithm>

namespace weft::config {

bool has_errors(const Diagnostics& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
        return diagnostic.severity == Severity::error;
    });
}

std::string to_text(const Diagnostic& diagnostic) {
    std::string out = diagnostic.severity == Severity::error ? "error" : "warning";
    if (!diagnostic.pointer.empty()) {
        out += " " + diagnostic.pointer;
    }
    out += ": " + diagnostic.message;
    if (!diagnostic.hint.empty()) {
        out += (out.back() == '.' ? " " : ". ") + diagnostic.hint;
    }
    return out;
}

} // namespace weft::config
