// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/icon_button.h"

#include "widgets/look/icon.h"

namespace weft::widgets {

QPushButton* iconButton(const QString& icon_name, const QString& object_name, const QString& what,
                        ButtonKind kind) {
    auto* button = new QPushButton(icon(icon_name), {});
    button->setObjectName(object_name);
    button->setAccessibleName(what);
    button->setToolTip(what);
    setButtonKind(button, kind);
    setCompact(button);
    return button;
}

} // namespace weft::widgets
