// SPDX-License-Identifier: Apache-2.0
// What the field table cannot say: rules between settings, and names that this version cannot do
// yet.
#pragma once

#include "core/config/field.h"

namespace weft::compile {

/// Rewrites "unknown value" diagnostics of names that INTERFACES.md lists but this version cannot
/// do: the message says so, the hint lists what works. `raw` is the document before checking.
void explain_unavailable(const config::Json& raw, config::Diagnostics& diagnostics);

/// Defaults that depend on other settings: the metrics of a loss.
void fill_dependent_defaults(config::Json& document);

/// Rules between settings of a table-checked document. A rule is skipped when one of the settings
/// it reads already has an error.
void check_rules(const config::Json& document, config::Diagnostics& out);

} // namespace weft::compile
