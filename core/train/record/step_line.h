// SPDX-License-Identifier: Apache-2.0
// The line of a step, read without a document in between: logs hold hundreds of thousands of them.
// Private to parse_event.
#pragma once

#include "core/train/record/event.h"

#include <optional>
#include <string_view>

namespace weft::train {

/// A step as `to_line` writes it, spaces allowed. Nullopt for everything else and for whatever is
/// not plain (escapes, numbers in words, other keys), which the general parser then reads: what is
/// read here it reads alike.
std::optional<Event> parse_step_line(std::string_view line);

} // namespace weft::train
