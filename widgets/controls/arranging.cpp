// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/arranging.h"

#include <QApplication>
#include <QLayout>

namespace weft::widgets {

void clearLayout(QLayout& layout) {
    while (QLayoutItem* item = layout.takeAt(0)) {
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->setParent(nullptr);
            widget->deleteLater();
        }
        delete item;
    }
}

KeptFocus::KeptFocus(QWidget& place) : place_(place) {
    QWidget* focus = QApplication::focusWidget();
    if (focus != nullptr && place_.isAncestorOf(focus)) {
        was_within_ = true;
        name_ = focus->objectName();
        focus->clearFocus(); // hidden, it would pass the focus on from one neighbour to the next
    }
}

void KeptFocus::giveBack(QWidget* otherwise) const {
    if (!was_within_) {
        return;
    }
    auto* again = name_.isEmpty() ? nullptr : place_.findChild<QWidget*>(name_);
    if (QWidget* stop = again != nullptr ? again : otherwise) {
        stop->setFocus(Qt::OtherFocusReason);
    }
}

ThinSplitter::ThinSplitter(Qt::Orientation orientation, const char* name) : QSplitter(orientation) {
    setObjectName(name);
    setHandleWidth(1);
    setChildrenCollapsible(false);
}

} // namespace weft::widgets
