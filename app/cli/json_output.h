// SPDX-License-Identifier: Apache-2.0
// What `--json` prints.
#pragma once

#include "core/config/field.h"
#include "core/train/record/event.h"

namespace weft::cli {

/// Two-space indented, with a newline, on stdout.
void print_json(const config::Json& json);
config::Json diagnostics_json(const config::Diagnostics& diagnostics);
/// Numbers that are not finite become null.
config::Json metrics_json(const train::Metrics& metrics);

} // namespace weft::cli
