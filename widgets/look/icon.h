// SPDX-License-Identifier: GPL-3.0-or-later
// The studio's own monochrome icons (resources/icons), coloured from the theme at paint time: one
// QIcon stays right through theme changes, in every state and at any scale.
#pragma once

#include "widgets/look/theme.h"

#include <QIcon>
#include <QPixmap>
#include <QStringList>

class QPainter;

namespace weft::widgets {

/// Icon by file name without ".svg". Normal uses `role`, Selected and On use Accent unless the role
/// means something (an error stays red), Disabled uses Faint. An unknown name is a programmer's
/// fault and gives a null icon with a warning.
QIcon icon(const QString& name, Role role = Role::Text);
/// Every icon name that exists, sorted.
QStringList iconNames();
/// Whether `name` is one of them.
bool isIconName(const QString& name);
/// Paints the icon in one colour into a rectangle, sharp at the painter's device scale.
void paintIcon(QPainter& painter, const QRectF& rect, const QString& name, const QColor& color);
/// The application's icon in its own colours.
QIcon applicationIcon();

} // namespace weft::widgets
