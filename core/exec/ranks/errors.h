// SPDX-License-Identifier: Apache-2.0
// Faults on their way from one process to another. Private to core/exec/ranks.
#pragma once

#include "core/base/error.h"
#include "core/config/json.h"

#include <string>

namespace weft::exec {

config::Json to_json(const Error& fault);
/// `whose` stands before where it happened.
Error error_of(const config::Json& document, const std::string& whose);

} // namespace weft::exec
