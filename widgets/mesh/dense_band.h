// SPDX-License-Identifier: GPL-3.0-or-later
// A band of stretches too narrow to be drawn one by one: every column of pixels has the mean of the
// colours of what lies there, so that thousands cost what the columns do and none decides by chance
// how a column looks. Private to painted views.
#pragma once

#include <QColor>

#include <functional>

class QPainter;
class QRectF;

namespace weft::widgets {

struct DenseStretch {
    double from = 0;
    double to = 0;
    QRgb color = 0;
};

/// `stretch` gives those with the numbers from `begin` to before `behind`, in ascending order; they
/// are drawn as far as they lie in [first, last). What none covers is `rest`.
void paintDenseBand(QPainter& painter, const QRectF& place, double first, double last,
                    std::size_t begin, std::size_t behind,
                    const std::function<DenseStretch(std::size_t)>& stretch, QRgb rest);

} // namespace weft::widgets
