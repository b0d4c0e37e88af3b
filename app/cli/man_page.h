// SPDX-License-Identifier: Apache-2.0
// The manual page weft(1), made from the option table: every command with its options.
#pragma once

#include "app/cli/command_line.h"

#include <string>

namespace weft::cli {

/// As text for man (the macros of groff's man(7)).
std::string man_page(const CommandText& weft);

} // namespace weft::cli
