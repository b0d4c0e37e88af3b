// SPDX-License-Identifier: GPL-3.0-or-later
// An icon that stands beside text. It is painted in the theme of the moment, where a pixmap in a
// QLabel would keep the colours of the theme in which it was made.
#pragma once

#include "widgets/look/theme.h"

#include <QWidget>

namespace weft::widgets {

class IconLabel : public QWidget {
    Q_OBJECT
public:
    /// `name` as for icon(), or empty for nothing yet; `side` in device-independent pixels, at text
    /// size 1.
    explicit IconLabel(const QString& name = {}, Role role = Role::Text, int side = size::kIcon,
                       QWidget* parent = nullptr);

    void setIcon(const QString& name, Role role);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fit();

    QString name_;
    Role role_;
    int side_;
};

} // namespace weft::widgets
