// SPDX-License-Identifier: GPL-3.0-or-later
// The language of the studio's words: the user's own, where there is a translation into it.
#pragma once

#include <QLocale>
#include <QStringList>

class QCoreApplication;

namespace weft::ui {

/// Looks for weft-studio_<language>.qm in the folders, the first first, for the life of the
/// application. False where none is there: the words stay English.
bool installLanguage(QCoreApplication& application, const QLocale& locale,
                     const QStringList& folders);

} // namespace weft::ui
