// SPDX-License-Identifier: GPL-3.0-or-later
// The texts that a widget and those in it paint, as they are: with dots where they had too little
// room.
#pragma once

#include <QStringList>

class QWidget;

namespace weft::test {

QStringList painted_texts(QWidget& widget);

} // namespace weft::test
