// SPDX-License-Identifier: Apache-2.0
// JSON values as YAML for people: blocks, keys and texts without quotes where they need none.
#pragma once

#include "core/config/json.h"

#include <string>

namespace weft::launch {

/// A document that YAML 1.1 and 1.2 read as the same value; ends with a line break.
std::string yaml_text(const config::Json& value);

} // namespace weft::launch
