// SPDX-License-Identifier: Apache-2.0
// The type of an array as JSON, on its way between ranks.
#pragma once

#include "core/config/json.h"
#include "core/ir/type.h"

namespace weft::exec {

config::Json to_json(const ir::Type& type);
ir::Type type_of(const config::Json& document);

} // namespace weft::exec
