// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/flow_layout.h"

#include <QWidget>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

bool expands(const QLayoutItem* item) {
    return (item->expandingDirections() & Qt::Horizontal) != 0;
}

/// Those that expand stay in a line that has their least width.
int wanted(const QLayoutItem* item) {
    return expands(item) ? item->minimumSize().width() : item->sizeHint().width();
}

int heightOf(const QLayoutItem* item, int width) {
    return item->hasHeightForWidth() ? item->heightForWidth(width) : item->sizeHint().height();
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

void FlowLayout::setColumnWidth(int pixels) {
    if (pixels != column_width_) {
        column_width_ = pixels;
        invalidate();
    }
}

void FlowLayout::setItemAlignment(Qt::Alignment vertical) {
    item_alignment_ = vertical;
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

int FlowLayout::columnsIn(int width) const {
    return column_width_ == 0 ? 1 : std::max(1, (width + spacing()) / (column_width_ + spacing()));
}

int FlowLayout::sizeOf(const QLayoutItem* item, int width) const {
    const int own = std::max(item->minimumSize().width(), std::min(wanted(item), width));
    if (column_width_ == 0) {
        return own;
    }
    const double pitch = static_cast<double>(width + spacing()) / columnsIn(width);
    return std::clamp(static_cast<int>(std::ceil((own + spacing()) / pitch - 1e-6)), 1,
                      columnsIn(width));
}

void FlowLayout::arrange(Line& line, int left, int width) const {
    const auto wide = std::count_if(line.places.begin(), line.places.end(),
                                    [](const Place& place) { return expands(place.item); });
    int others = static_cast<int>(wide);
    const double pitch = static_cast<double>(width + spacing()) / columnsIn(width);
    int at = 0;
    for (Place& place : line.places) {
        if (expands(place.item)) {
            const int share = std::max(0, left) / others--;
            place.size += share;
            left -= share;
        }
        if (column_width_ == 0) {
            place.x = at;
            place.width = place.size;
            at += place.size + spacing();
        } else {
            place.x = static_cast<int>(std::lround(at * pitch));
            at += place.size;
            place.width = static_cast<int>(std::lround(at * pitch)) - spacing() - place.x;
        }
        line.height = std::max(line.height, heightOf(place.item, place.width));
    }
}

std::vector<FlowLayout::Line> FlowLayout::lines(int width) const {
    std::vector<Line> out;
    const int gap = column_width_ == 0 ? spacing() : 0;
    const int room = column_width_ == 0 ? width : columnsIn(width);
    int left = 0;
    for (QLayoutItem* item : items_) {
        if (item->isEmpty()) {
            continue; // hidden
        }
        const int size = sizeOf(item, width);
        if (out.empty() || left < gap + size) {
            if (!out.empty()) {
                arrange(out.back(), left, width);
            }
            out.emplace_back();
            left = room + gap;
        }
        out.back().places.push_back({item, size});
        left -= gap + size;
    }
    if (!out.empty()) {
        arrange(out.back(), left, width);
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
        for (const Place& at : line.places) {
            const int height = std::min(line.height, heightOf(at.item, at.width));
            const int lower = item_alignment_ & Qt::AlignTop ? 0 : (line.height - height) / 2;
            const QRect place(inner.left() + at.x, top + lower, at.width, height);
            at.item->setGeometry(mirrored ? QRect(inner.left() + inner.right() - place.right(),
                                                  place.top(), place.width(), place.height())
                                          : place);
        }
        top += line.height + line_spacing_;
    }
}

} // namespace weft::widgets
