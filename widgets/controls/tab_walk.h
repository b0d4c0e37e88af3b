// SPDX-License-Identifier: GPL-3.0-or-later
// The way of the Tab key through a page: as its layouts have the controls, which is how the eye
// goes. Qt goes by when they were made, so that what a form makes anew would come last.
#pragma once

class QWidget;

namespace weft::widgets {

enum class TabWay { Forward, Back };

/// The control within `page` that comes after `from`, or before it; the first or the last one when
/// `from` is elsewhere. Null: the way leads out of the page.
QWidget* nextTabStop(QWidget& page, const QWidget* from, TabWay way);

/// Gives it the focus as the Tab key does, and shows it where it was scrolled away.
void goToTabStop(QWidget& stop, TabWay way);

/// Whether the Tab key stops there.
bool isTabStop(const QWidget& widget);

} // namespace weft::widgets
