// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/short_spin_box.h"

#include <algorithm>

namespace weft::widgets {

ShortSpinBox::ShortSpinBox(int digits, QWidget* parent) : QSpinBox(parent), digits_(digits) {
    connect(this, &QSpinBox::valueChanged, this, &QWidget::updateGeometry);
}

QSize ShortSpinBox::sizeHint() const {
    const QFontMetrics metrics = fontMetrics();
    const auto digits = std::max<qsizetype>(digits_, QString::number(value()).size());
    const int spared = metrics.horizontalAdvance(QString::number(maximum())) -
                       metrics.horizontalAdvance(QString(digits, QLatin1Char('0')));
    return QSpinBox::sizeHint() - QSize(std::max(0, spared), 0);
}

} // namespace weft::widgets
