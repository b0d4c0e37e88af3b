// SPDX-License-Identifier: GPL-3.0-or-later
// How the pages were left, beside what each keeps itself: sizes of splitters that somebody moved,
// chosen tabs, what folds away or fills the page, runs laid over the charts.
#pragma once

#include <QVariantMap>

class QSettings;
class QWidget;

namespace weft::ui {

/// By their object names; those without one stay as they are made: splitters, controls named
/// "...Tab", and checkable buttons named "...Kept".
QVariantMap viewsOf(const QWidget& window);
/// Call once, when the pages are there.
void restoreViews(QWidget& window, QSettings& settings);
/// Nothing is folded away, and nothing fills its page.
void resetSwitches(QWidget& window);
/// Writes what is otherwise now: other studios keep theirs in the same file.
void keepChanges(QSettings& settings, const QVariantMap& before, const QVariantMap& now);

} // namespace weft::ui
