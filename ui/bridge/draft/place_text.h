// SPDX-License-Identifier: GPL-3.0-or-later
// Where in a configuration something is, and what is wrong with it, in words.
#pragma once

#include "core/config/diagnostic.h"

#include <QString>

#include <string_view>

namespace weft::ui {

/// "model › layers.2 › units" of the JSON pointer "/model/layers/2/units".
QString placeText(std::string_view pointer);
/// Place, what is wrong, what to do: "seed: expected an integer, found the text \"x\". Remove it."
QString problemText(const config::Diagnostic& problem);

} // namespace weft::ui
