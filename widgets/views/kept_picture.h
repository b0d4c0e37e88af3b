// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a painted view that stands still, painted once and kept: what moves over thousands of
// cells costs no more than over none. Anything but the screen is painted on directly.
#pragma once

#include <QPixmap>
#include <QSizeF>

#include <functional>
#include <utility>

class QPainter;
class QWidget;

namespace weft::widgets {

class KeptPicture {
public:
    /// Call when what it shows has changed. A change of theme, size or scale is seen by itself.
    void forget() { picture_ = {}; }
    /// `paint` paints it all into a view of that size, from (0, 0).
    void paint(QPainter& painter, const QWidget* view, const QSizeF& view_size,
               const std::function<void(QPainter&)>& paint);

private:
    QPixmap picture_;
    QSizeF size_;
    std::pair<bool, double> theme_; // dark, and the scale of its fonts
};

} // namespace weft::widgets
