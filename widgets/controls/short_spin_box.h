// SPDX-License-Identifier: GPL-3.0-or-later
// A spin box with room for the number in it, not for the largest that it takes.
#pragma once

#include <QSpinBox>

namespace weft::widgets {

class ShortSpinBox : public QSpinBox {
    Q_OBJECT
public:
    /// `digits`: room for as many even where the number has fewer.
    explicit ShortSpinBox(int digits, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

private:
    int digits_;
};

} // namespace weft::widgets
