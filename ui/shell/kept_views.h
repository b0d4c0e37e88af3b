// SPDX-License-Identifier: GPL-3.0-or-later
// How the pages were left, beside what each keeps itself: sizes of splitters that somebody moved,
// chosen parts, runs laid over the charts.
#pragma once

#include <QVariantMap>

class QSettings;
class QWidget;

namespace weft::ui {

/// Splitters and parts by their object names; those without one stay as they are made.
QVariantMap viewsOf(const QWidget& window);
/// Call once, when the pages are there.
void restoreViews(QWidget& window, QSettings& settings);
/// Writes what is otherwise now: other studios keep theirs in the same file.
void keepChanges(QSettings& settings, const QVariantMap& before, const QVariantMap& now);

} // namespace weft::ui
