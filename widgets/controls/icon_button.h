// SPDX-License-Identifier: GPL-3.0-or-later
// A small button that is only an icon.
#pragma once

#include "widgets/look/style.h"

#include <QPushButton>

namespace weft::widgets {

/// `what` it does is its tip, and its name for a screen reader.
QPushButton* iconButton(const QString& icon_name, const QString& object_name, const QString& what,
                        ButtonKind kind = ButtonKind::Flat);

} // namespace weft::widgets
