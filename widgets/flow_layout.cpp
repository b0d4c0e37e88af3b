// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/flow_layout.h"

#include <QWidget>

#include <algorithm>

namespace weft::widgets {
namespace {

bool expands(const QLayoutItem* item) {
    return (item->expandingDirections() & Qt::Horizontal) != 0;
}

/// Those that expand stay in a line that has their least width.
int wanted(const QLayoutItem* item) {
    return expands(item) ? item->minimumSize().width() : item->sizeHint().width();
}

} // namespace

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) {}

FlowLayout::~FlowLayout() {
    for (const QLayoutItem* item : items_) {
        delete item;
    }
}

void FlowLayout::setLineSpacing(int pixels) {
    line_spacing_ = pixels;
    invalidate();
}

void FlowLayout::addItem(QLayoutItem* item) {
    items_.push_back(item);
}

QLayoutItem* FlowLayout::itemAt(int index) const {
    return index >= 0 && index < count() ? items_[static_cast<std::size_t>(index)] : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
    QLayoutItem* out = itemAt(index);
    if (out != nullptr) {
        items_.erase(items_.begin() + index);
        invalidate();
    }
    return out;
}

std::vector<FlowLayout::Line> FlowLayout::lines(int width) const {
    std::vector<Line> out;
    for (QLayoutItem* item : items_) {
        if (item->isEmpty()) {
            continue; // hidden
        }
        const int own = wanted(item);
        if (out.empty() || out.back().left < spacing() + own) {
            out.push_back({{}, 0, width + spacing()});
        }
        Line& line = out.back();
        line.items.push_back(item);
        line.height = std::max(line.height, item->sizeHint().height());
        line.left -= spacing() + own;
    }
    return out;
}

int FlowLayout::linesIn(int width) const {
    return static_cast<int>(lines(width).size());
}

int FlowLayout::heightForWidth(int width) const {
    const QMargins margins = contentsMargins();
    int height = margins.top() + margins.bottom();
    const auto all = lines(width - margins.left() - margins.right());
    for (const Line& line : all) {
        height += line.height;
    }
    return height + line_spacing_ * std::max(0, static_cast<int>(all.size()) - 1);
}

QSize FlowLayout::sizeHint() const {
    int width = 0;
    int height = 0;
    for (const QLayoutItem* item : items_) {
        if (!item->isEmpty()) {
            width += (width > 0 ? spacing() : 0) + item->sizeHint().width();
            height = std::max(height, item->sizeHint().height());
        }
    }
    const QMargins margins = contentsMargins();
    return {width + margins.left() + margins.right(), height + margins.top() + margins.bottom()};
}

QSize FlowLayout::minimumSize() const {
    QSize out;
    for (const QLayoutItem* item : items_) {
        if (!item->isEmpty()) {
            out = out.expandedTo(item->minimumSize());
        }
    }
    const QMargins margins = contentsMargins();
    return out.grownBy(margins);
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    const QRect inner = rect.marginsRemoved(contentsMargins());
    const bool mirrored = parentWidget() != nullptr && parentWidget()->isRightToLeft();
    int top = inner.top();
    for (const Line& line : lines(inner.width())) {
        int x = inner.left();
        for (QLayoutItem* item : line.items) {
            const int width = wanted(item) + (expands(item) ? std::max(0, line.left) : 0);
            const int height = std::min(line.height, item->sizeHint().height());
            const QRect place(x, top + (line.height - height) / 2, width, height);
            item->setGeometry(mirrored ? QRect(inner.left() + inner.right() - place.right(),
                                               place.top(), width, height)
                                       : place);
            x += width + spacing();
        }
        top += line.height + line_spacing_;
    }
}

} // namespace weft::widgets
