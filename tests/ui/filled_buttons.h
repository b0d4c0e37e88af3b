// SPDX-License-Identifier: GPL-3.0-or-later
// What a window says comes next.
#pragma once

#include "widgets/look/style.h"

#include <QPushButton>

namespace weft::test {

/// The names of the filled buttons that are seen: one that cannot be pressed is painted as others.
inline QStringList filled_buttons(const QWidget& in) {
    QStringList names;
    for (const auto* button : in.findChildren<QPushButton*>()) {
        const auto kind = static_cast<widgets::ButtonKind>(button->property("weftKind").toInt());
        if (button->isVisible() && button->isEnabled() && kind == widgets::ButtonKind::Primary) {
            names << button->objectName();
        }
    }
    return names;
}

} // namespace weft::test
