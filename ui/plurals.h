// SPDX-License-Identifier: GPL-3.0-or-later
// Source texts write "%n file(s)" or "%n batch(es)"; without a translation Qt would show them so.
// This gives the English forms: "1 file", "2 files".
#pragma once

class QCoreApplication;

namespace weft::ui {

/// For the life of the application. Translations installed later are asked first.
void installEnglishPlurals(QCoreApplication& application);

} // namespace weft::ui
