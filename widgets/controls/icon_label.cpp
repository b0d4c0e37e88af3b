// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/icon_label.h"

#include "widgets/look/icon.h"

#include <QEvent>
#include <QPainter>

namespace weft::widgets {

IconLabel::IconLabel(const QString& name, Role role, int side, QWidget* parent)
    : QWidget(parent), name_(name), role_(role), side_(side) {
    fit();
}

void IconLabel::fit() {
    const int side = static_cast<int>(side_ * Theme::current().fontScale());
    setFixedSize(side, side);
}

void IconLabel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fit();
    }
}

void IconLabel::setIcon(const QString& name, Role role) {
    name_ = name;
    role_ = role;
    update();
}

void IconLabel::paintEvent(QPaintEvent*) {
    if (name_.isEmpty()) {
        return;
    }
    QPainter painter(this);
    paintIcon(painter, rect(), name_, Theme::current().color(isEnabled() ? role_ : Role::Faint));
}

} // namespace weft::widgets
