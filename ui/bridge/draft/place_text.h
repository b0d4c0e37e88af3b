// SPDX-License-Identifier: GPL-3.0-or-later
// Where in a configuration something is, in words.
#pragma once

#include <QString>

#include <string_view>

namespace weft::ui {

/// "model › layers.2 › units" of the JSON pointer "/model/layers/2/units".
QString placeText(std::string_view pointer);

} // namespace weft::ui
