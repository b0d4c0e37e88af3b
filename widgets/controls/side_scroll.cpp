// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/side_scroll.h"

#include <QEvent>
#include <QScrollBar>

namespace weft::widgets {
namespace {

constexpr int kLeastScrollWidth = 160;

} // namespace

SideScroll::SideScroll(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    viewport()->setAutoFillBackground(false);
}

void SideScroll::setContent(QWidget* content) {
    if (QWidget* before = takeWidget()) {
        before->hide();
        before->deleteLater();
    }
    setWidget(content);
    content->setAutoFillBackground(false);
    content->show();
    updateGeometry();
}

QSize SideScroll::sizeHint() const {
    const QSize content = widget() == nullptr ? QSize() : widget()->sizeHint();
    const int least = widget() == nullptr ? 0 : widget()->minimumSizeHint().width();
    const int bar = width() < least ? horizontalScrollBar()->sizeHint().height() : 0;
    return {content.width(), content.height() + bar};
}

QSize SideScroll::minimumSizeHint() const {
    return {kLeastScrollWidth, sizeHint().height()};
}

void SideScroll::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    updateGeometry();
}

bool SideScroll::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) {
        updateGeometry();
    }
    return QScrollArea::eventFilter(watched, event);
}

} // namespace weft::widgets
