// SPDX-License-Identifier: Apache-2.0
// The manual pages: weft(1), made from the option table, every command with its options; and those
// of the reference, weft-events(5) and the like.
#pragma once

#include "app/cli/command_line.h"

#include <string>

namespace weft::cli {

/// As text for man (the macros of groff's man(7)).
std::string man_page(const CommandText& weft);
/// weft-TOPIC(5): a page of the reference, of which it takes headings, paragraphs, lists and
/// tables.
std::string man_page(const std::string& topic, const std::string& markdown);

} // namespace weft::cli
