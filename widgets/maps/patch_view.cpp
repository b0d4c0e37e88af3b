// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/patch_view.h"

#include "widgets/maps/value_colour.h"

#include <algorithm>

namespace weft::widgets {
namespace {

constexpr double kChip = 22; // side of a place before the patches
constexpr double kChipGap = 6;

} // namespace

PatchView::PatchView(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
}

void PatchView::setPatches(Patches patches) {
    patches_ = std::move(patches);
    itemsChanged();
}

QRectF PatchView::picture(const QSizeF& view_size) const {
    const double above = patches_.before > 0 ? kChip + kChipGap : 0;
    const double width = std::max(1.0, view_size.width() - 2);
    const double height = std::max(1.0, view_size.height() - above - 2);
    const double each =
        std::min(width / std::max(1, patches_.columns), height / std::max(1, patches_.rows));
    return {1, above + 1, each * patches_.columns, each * patches_.rows};
}

QRectF PatchView::place(int index, const QSizeF& view_size) const {
    if (index < patches_.before) {
        return {1 + (kChip + kChipGap) * index, 1, kChip, kChip};
    }
    const QRectF room = picture(view_size);
    const int patch = index - patches_.before;
    const double width = room.width() / patches_.columns;
    const double height = room.height() / patches_.rows;
    return {room.left() + width * (patch % patches_.columns),
            room.top() + height * (patch / patches_.columns), width, height};
}

ViewItem PatchView::item(int index) const {
    return {place(index, size()), patches_.words[static_cast<std::size_t>(index)], {}};
}

// Between what comes before and the first row of patches as well.
int PatchView::neighbour(int index, int key) const {
    const int before = patches_.before;
    if (index < before) {
        return key == Qt::Key_Down    ? before
               : key == Qt::Key_Right ? std::min(itemCount() - 1, index + 1)
               : key == Qt::Key_Left  ? std::max(0, index - 1)
                                      : index;
    }
    if (key == Qt::Key_Up && index - patches_.columns < before) {
        return before > 0 ? 0 : index;
    }
    return gridNeighbour(index, key, patches_.columns);
}

void PatchView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (patches_.weights.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const QRectF room = picture(view_size);
    painter.fillRect(room, theme.color(Role::Inset));
    if (!patches_.picture.isNull()) {
        painter.setRenderHint(QPainter::SmoothPixmapTransform,
                              patches_.picture.width() > room.width());
        painter.drawImage(room, patches_.picture);
    }
    const float most = largestSize(patches_.weights);
    const QColor accent = theme.color(Role::Accent);
    for (int i = 0; i < itemCount(); ++i) {
        const QRectF at = place(i, view_size);
        const double share =
            most > 0 ? double(patches_.weights[static_cast<std::size_t>(i)] / most) : 0.0;
        if (i < patches_.before) {
            paintSurface(painter, at, size::kRadius, valueColour(share), theme.color(Role::Border));
        } else {
            QColor over = accent;
            over.setAlphaF(static_cast<float>(0.85 * share));
            painter.fillRect(at, over);
        }
    }
    const auto frame = [&](int index, Role role) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme.color(role), 2));
        painter.drawRect(place(index, view_size).adjusted(1, 1, -1, -1));
    };
    if (hoveredItem() >= 0) {
        frame(hoveredItem(), Role::Muted);
    }
    if (patches_.chosen >= 0) {
        frame(patches_.chosen, Role::Warning);
    }
    if (patches_.before > 0) {
        const double left = 1 + (kChip + kChipGap) * patches_.before;
        paintText(painter, QRectF(left, 1, view_size.width() - left, kChip),
                  Qt::AlignLeft | Qt::AlignVCenter,
                  patches_.before == 1 ? tr("class token") : tr("class tokens"),
                  theme.font(TextStyle::Caption), theme.color(Role::Muted));
    }
}

} // namespace weft::widgets
