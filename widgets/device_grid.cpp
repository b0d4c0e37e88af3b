// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/device_grid.h"

#include "widgets/device_palette.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kCardGap = space::kControl;
constexpr double kCardBar = 10;
constexpr double kScaleBar = 6;
constexpr double kLensGap = 6; // between the bar to scale and the lens on it

/// Width of a card.
double least() {
    return 164 * Theme::current().fontScale();
}
double most() {
    return 240 * Theme::current().fontScale();
}

} // namespace

/// Number and name, place, bars, bytes.
double DeviceGrid::cardHeight() const {
    return 2 * space::kControl + 20 + lineHeight(TextStyle::MonoSmall) + 2 * space::kTight +
           barsHeight() + space::kTight + lineHeight(TextStyle::MonoSmall);
}

double DeviceGrid::barsHeight() const {
    return limit_ ? kScaleBar + kLensGap + kCardBar : kCardBar;
}

QRectF DeviceGrid::cardPart(int index, CardPart part) const {
    const QRectF card = cardRect(index, width());
    const double top =
        card.top() + space::kControl + 20 + 2 * space::kTight + lineHeight(TextStyle::MonoSmall);
    const double height = part == CardPart::Scale && limit_ ? kScaleBar : kCardBar;
    return {card.left() + space::kGroup,
            part == CardPart::Scale ? top : top + barsHeight() - kCardBar,
            card.width() - 2 * space::kGroup, height};
}

DeviceGrid::DeviceGrid(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Devices"));
    setFocusPolicy(Qt::StrongFocus);
    connect(this, &PaintedView::itemActivated, this, [this](int index) {
        const int id = devices_[static_cast<std::size_t>(index)].id;
        setSelectedDevice(id == selected_ ? -1 : id);
        emit deviceSelected(selected_);
    });
}

void DeviceGrid::setDevices(std::vector<DeviceCard> devices, std::vector<int> mesh) {
    devices_ = std::move(devices);
    mesh_ = std::move(mesh);
    const auto here = [this](int id) {
        return std::any_of(devices_.begin(), devices_.end(),
                           [id](const DeviceCard& card) { return card.id == id; });
    };
    selected_ = here(selected_) ? selected_ : -1;
    updateGeometry();
    itemsChanged();
}

void DeviceGrid::setLimit(std::optional<qint64> bytes) {
    limit_ = bytes;
    updateGeometry();
    itemsChanged();
}

void DeviceGrid::setSelectedDevice(int id) {
    selected_ = id;
    update();
}

void DeviceGrid::setLit(std::vector<int> ids) {
    if (ids != lit_) {
        lit_ = std::move(ids);
        update();
    }
}

void DeviceGrid::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

void DeviceGrid::setNow(std::vector<DeviceNow> now) {
    if (now != now_) {
        now_ = std::move(now);
        update();
    }
}

const DeviceNow* DeviceGrid::nowOf(const DeviceCard& card) const {
    const auto group = static_cast<std::size_t>(card.group);
    return group < now_.size() ? &now_[group] : nullptr;
}

ViewItem DeviceGrid::item(int index) const {
    const DeviceCard& card = devices_[static_cast<std::size_t>(index)];
    const DeviceNow* now = nowOf(card);
    QString name = tr("device %1, %2, %3, needs %4")
                       .arg(card.id)
                       .arg(card.name, card.place, formatMemory(card.bytes));
    if (limit_) {
        name += tr(" of %1").arg(formatMemory(*limit_));
    }
    if (now != nullptr) {
        name += tr(", holds %1 now").arg(formatMemory(now->bytes));
        name += now->note.isEmpty() ? QString() : QStringLiteral(", ") + now->note;
    }
    QString tooltip = name;
    for (const MemorySegment& segment : now != nullptr ? now->segments : card.segments) {
        tooltip += "\n" + memoryName(segment.category) + "  " + formatMemory(segment.bytes);
    }
    return {cardRect(index, width()), name, tooltip};
}

int DeviceGrid::columnsIn(double width) const {
    const int room = std::max(1, static_cast<int>((width + kCardGap) / (least() + kCardGap)));
    // Rows of the mesh stay whole, or are cut evenly.
    const int wanted = mesh_.empty() ? 1 : mesh_.back();
    int columns = std::min(wanted, room);
    while (columns > 1 && wanted % columns != 0) {
        --columns;
    }
    // A single column wastes the room that two side by side would fill.
    return columns == 1 ? std::min(room, std::max(1, itemCount())) : columns;
}

QRectF DeviceGrid::cardRect(int index, double width) const {
    const int columns = columnsIn(width);
    const double card = std::min(most(), std::floor((width - (columns - 1) * kCardGap) / columns));
    return {(index % columns) * (card + kCardGap), (index / columns) * (cardHeight() + kCardGap),
            card, cardHeight()};
}

int DeviceGrid::heightForWidth(int width) const {
    if (devices_.empty()) {
        return minimumSizeHint().height();
    }
    return static_cast<int>(std::ceil(cardRect(itemCount() - 1, width).bottom() + 1));
}

int DeviceGrid::neighbour(int index, int key) const {
    return gridNeighbour(index, key, columnsIn(width()));
}

void DeviceGrid::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (stale_) {
        painter.setOpacity(0.5);
    }
    const std::vector<QColor> palette = devicePalette(mesh_);
    for (int i = 0; i < itemCount(); ++i) {
        const DeviceCard& card = devices_[static_cast<std::size_t>(i)];
        paintCard(painter, i, palette[static_cast<std::size_t>(card.id)],
                  cardRect(i, view_size.width()));
    }
}

void DeviceGrid::paintCard(QPainter& painter, int index, const QColor& color,
                           const QRectF& rect) const {
    const DeviceCard& card = devices_[static_cast<std::size_t>(index)];
    const Theme& theme = Theme::current();
    const bool lit = std::find(lit_.begin(), lit_.end(), card.id) != lit_.end();
    const bool chosen = card.id == selected_;
    paintPanel(painter, rect, size::kCardRadius,
               theme.color(chosen ? Role::AccentTint : Role::Surface),
               theme.color(lit || chosen ? Role::Accent : Role::Border), Qt::SolidLine,
               lit || chosen ? 2 : 1);
    const QRectF inner =
        rect.adjusted(space::kGroup, space::kControl, -space::kGroup, -space::kControl);
    const QRectF badge(inner.left(), inner.top(), deviceBadgeWidth(itemCount()), 20);
    paintDeviceBadge(painter, badge, card.id, color);
    const QRectF head(badge.right() + space::kControl, inner.top(),
                      inner.right() - badge.right() - space::kControl, 20);
    const DeviceNow* now = nowOf(card);
    const QString& note_text = now != nullptr && !now->note.isEmpty() ? now->note : card.note;
    const double note =
        std::min(head.width() / 2, textWidth(theme.font(TextStyle::Caption), note_text) + 1);
    paintText(painter, head.adjusted(0, 0, -note - space::kTight, 0),
              Qt::AlignLeft | Qt::AlignVCenter, card.name, theme.font(TextStyle::Strong),
              theme.color(Role::Text));
    paintText(painter, head, Qt::AlignRight | Qt::AlignVCenter, note_text,
              theme.font(TextStyle::Caption), theme.color(Role::Muted));
    const double mono = lineHeight(TextStyle::MonoSmall);
    const QRectF place(inner.left(), badge.bottom() + space::kTight, inner.width(), mono);
    paintText(painter, place, Qt::AlignLeft | Qt::AlignVCenter, card.place,
              theme.font(TextStyle::MonoSmall), theme.color(Role::Muted));
    const QRectF bars(inner.left(), place.bottom() + space::kTight, inner.width(), barsHeight());
    paintMemory(painter, card, bars);
    const bool over = limit_ && card.bytes > *limit_;
    paintText(painter, {inner.left(), bars.bottom() + space::kTight, inner.width(), mono},
              Qt::AlignLeft | Qt::AlignVCenter, bytesText(card, inner.width()),
              theme.font(TextStyle::MonoSmall), theme.color(over ? Role::Error : Role::Text));
}

/// "19.4 MiB of 5.7 GiB"; at a moment "now 12.3 of 19.4 MiB"; without the limit and without "now"
/// where there is no room.
QString DeviceGrid::bytesText(const DeviceCard& card, double width) const {
    const QString needed = formatMemory(card.bytes);
    const DeviceNow* now = nowOf(card);
    const auto fits = [width](const QString& text) {
        return textWidth(Theme::current().font(TextStyle::MonoSmall), text) <= width;
    };
    if (now == nullptr) {
        const QString full = limit_ ? tr("%1 of %2").arg(needed, formatMemory(*limit_)) : needed;
        return fits(full) ? full : needed;
    }
    QString held = formatMemory(now->bytes);
    const QString unit = held.section(' ', -1);
    if (needed.endsWith(' ' + unit)) {
        held.chop(unit.size() + 1);
    }
    const QString full = tr("now %1 of %2").arg(held, needed);
    return fits(full) ? full : tr("%1 of %2").arg(held, needed);
}

// One bar to the scale of the device's memory, where a small model is a stroke, and below it a lens
// on what it holds. Without a limit devices are compared with the largest.
void DeviceGrid::paintMemory(QPainter& painter, const DeviceCard& card, const QRectF& rect) const {
    qint64 most = 1;
    for (const DeviceCard& one : devices_) {
        most = std::max(most, one.bytes);
    }
    if (!limit_) {
        paintStack(painter, card, rect, most);
        return;
    }
    const Theme& theme = Theme::current();
    const QRectF scale(rect.left(), rect.top(), rect.width(), kScaleBar);
    const QRectF lens(rect.left(), rect.bottom() - kCardBar, rect.width(), kCardBar);
    const qint64 whole = std::max(most, *limit_);
    const auto at = [&](qint64 bytes) {
        return scale.left() +
               scale.width() * static_cast<double>(bytes) / static_cast<double>(whole);
    };
    paintStack(painter, card, scale, whole);
    if (*limit_ < most) {
        paintHairline(painter, {at(*limit_), scale.top() - 2}, {at(*limit_), scale.bottom() + 2},
                      theme.color(Role::Error));
    }
    painter.setPen(QPen(theme.color(Role::Border), 1));
    painter.drawLine(QPointF(scale.left(), scale.bottom()), lens.topLeft());
    painter.drawLine(QPointF(at(card.bytes), scale.bottom()), lens.topRight());
    paintStack(painter, card, lens, std::max<qint64>(1, card.bytes));
}

// What is needed, or what is held now, up to a line where the peak is.
void DeviceGrid::paintStack(QPainter& painter, const DeviceCard& card, const QRectF& rect,
                            qint64 whole) const {
    const Theme& theme = Theme::current();
    painter.fillRect(rect, theme.color(Role::EmptyBar));
    const double scale = rect.width() / static_cast<double>(whole);
    const DeviceNow* now = nowOf(card);
    double x = rect.left();
    for (const MemorySegment& segment : now != nullptr ? now->segments : card.segments) {
        const double width = static_cast<double>(segment.bytes) * scale;
        paintFill(painter, {x, rect.top(), std::max(0.0, width - 0.5), rect.height()},
                  theme.memory(segment.category), memoryFill(segment.category));
        x += width;
    }
    if (now != nullptr) {
        const double peak = rect.left() + static_cast<double>(card.bytes) * scale - 1;
        painter.fillRect(QRectF(peak, rect.top() - 2, 2, rect.height() + 4),
                         theme.color(Role::Muted));
    }
}

} // namespace weft::widgets
