// SPDX-License-Identifier: Apache-2.0
// What validation finds. Validation never stops at the first problem and never throws.
#pragma once

#include <string>
#include <vector>

namespace weft::config {

enum class Severity { error, warning };

/// One problem at one place of the configuration.
struct Diagnostic {
    std::string pointer; // JSON pointer (RFC 6901) of the field, e.g. "/optimizer/learning_rate"
    Severity severity = Severity::error;
    std::string message; // what is wrong, with the value and the limit
    std::string hint;    // what to do: nearest valid name or values; may be empty
};

using Diagnostics = std::vector<Diagnostic>;

bool has_errors(const Diagnostics& diagnostics);
/// "error /training/epochs: unknown field. Did you mean 'length'?" - one line each.
std::string to_text(const Diagnostic& diagnostic);

} // namespace weft::config
