// SPDX-License-Identifier: GPL-3.0-or-later
// Names in menus and on buttons, where a single "&" marks a mnemonic.
#pragma once

#include <QString>

namespace weft::widgets {

/// The name as a menu shows it: "R&D" is not read as a mark of the D.
inline QString menuText(QString name) {
    return name.replace(QLatin1Char('&'), QLatin1String("&&"));
}

} // namespace weft::widgets
