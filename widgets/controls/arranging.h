// SPDX-License-Identifier: GPL-3.0-or-later
// What many pages do with their layouts: empty one to fill it again, and divide a page by a thin
// line that can be dragged.
#pragma once

#include <QSplitter>

class QLayout;

namespace weft::widgets {

/// Takes all out of a layout. Its widgets are hidden and below no parent at once, and deleted when
/// the event loop runs again: a click on one of them, or its own menu, may be what led here.
void clearLayout(QLayout& layout);

/// Keyboard focus over such a change: whoever edits by keys stays where they were. Nothing within
/// `place` has the focus from here on, until it is given back.
class KeptFocus {
public:
    explicit KeptFocus(QWidget& place);
    /// To the widget that has the name of the one before, or to `otherwise` where none has it.
    void giveBack(QWidget* otherwise = nullptr) const;

private:
    QWidget& place_;
    bool was_within_ = false;
    QString name_;
};

/// A line of one pixel divides the parts, of which none vanishes. Where somebody left it is kept by
/// its name, if it has one.
class ThinSplitter : public QSplitter {
public:
    explicit ThinSplitter(Qt::Orientation orientation, const char* name = nullptr);
};

} // namespace weft::widgets
