// SPDX-License-Identifier: GPL-3.0-or-later
// How the pages were left, beside what each keeps itself: sizes of splitters that somebody moved,
// chosen parts, runs laid over the charts.
#pragma once

class QSettings;
class QWidget;

namespace weft::ui {

/// Splitters and parts by their object names; those without one stay as they are made.
void keepViews(const QWidget& window, QSettings& settings);
/// Call once, when the pages are there.
void restoreViews(QWidget& window, QSettings& settings);

} // namespace weft::ui
