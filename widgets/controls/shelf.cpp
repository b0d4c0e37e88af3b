// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/shelf.h"

#include <QEvent>

#include <algorithm>

namespace weft::widgets {

Shelf::Shelf(QWidget* page, Edge edge, QWidget* parent)
    : QWidget(parent), page_(page), edge_(edge) {
    page_->setParent(this);
    page_->show();
    page_->installEventFilter(this);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void Shelf::add(QWidget* message) {
    const bool hidden = message->isHidden();
    message->setParent(this);
    message->setVisible(!hidden);
    messages_.push_back(message);
    arrange();
}

std::vector<QWidget*> Shelf::downwards() const {
    std::vector<QWidget*> out = messages_;
    out.push_back(page_);
    if (edge_ == Edge::Bottom) {
        std::reverse(out.begin(), out.end());
    }
    return out;
}

int Shelf::heightOf(const QWidget& message) const {
    const int hint =
        message.hasHeightForWidth() ? message.heightForWidth(width()) : message.sizeHint().height();
    return std::max(hint, std::max(message.minimumHeight(), message.minimumSizeHint().height()));
}

int Shelf::wanted() const {
    int height = 0;
    for (const QWidget* message : messages_) {
        height += message->isHidden() ? 0 : heightOf(*message);
    }
    return height;
}

void Shelf::makeRoom() {
    room_ = wanted();
    arrange();
}

void Shelf::arrange() {
    int used = 0;
    for (QWidget* message : messages_) {
        if (!message->isHidden()) {
            const int high = heightOf(*message);
            const int top = edge_ == Edge::Top ? used : height() - used - high;
            message->setGeometry(0, top, width(), high);
            message->raise();
            used += high;
        }
    }
    page_->setGeometry(0, edge_ == Edge::Top ? room_ : 0, width(), std::max(0, height() - room_));
}

QSize Shelf::sizeHint() const {
    return page_->sizeHint() + QSize(0, wanted());
}

QSize Shelf::minimumSizeHint() const {
    QSize least = page_->minimumSizeHint().expandedTo(page_->minimumSize());
    for (const QWidget* message : messages_) {
        if (!message->isHidden()) {
            least = least.expandedTo({message->minimumSizeHint().width(), 0});
        }
    }
    return least;
}

bool Shelf::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) {
        updateGeometry();
        page_->underMouse() ? arrange() : makeRoom();
    }
    return QWidget::event(event);
}

bool Shelf::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave && room_ != wanted()) {
        makeRoom();
    }
    return QWidget::eventFilter(watched, event);
}

void Shelf::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    makeRoom();
}

void Shelf::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    makeRoom();
}

} // namespace weft::widgets
