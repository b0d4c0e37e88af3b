// SPDX-License-Identifier: Apache-2.0
// The manual page weft(1), made from the option table: every command with its options.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace weft::cli {

/// As text for man (the macros of groff's man(7)).
std::string man_page(const CLI::App& app);

} // namespace weft::cli
