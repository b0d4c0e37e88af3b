// SPDX-License-Identifier: GPL-3.0-or-later
// Devices as cards.
#include "widgets/mesh/device_grid.h"
#include "widgets/mesh/device_palette.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kLeastCard = 150.0; // width, at text size 1
constexpr double kMostCard = 240.0;
constexpr double kCompactPadding = 4.0;
constexpr double kCompactGap = 2.0;
constexpr double kMostSpare = 6.0; // between head and bars of a card that is higher than it need be
constexpr double kFullBadge = 20.0;
constexpr double kFullPadding = 4.0; // above and below

/// Heights of the bar to scale, of the gap below it, and of the lens.
struct Bars {
    double scale;
    double gap;
    double lens;

    double height(bool limited) const { return limited ? scale + gap + lens : lens; }
};
constexpr Bars kFullBars{6, 4, 10};
constexpr Bars kCompactBars{5, 3, 7};

double fullHeight() {
    return 2 * kFullPadding + kFullBadge + 2 * lineHeight(TextStyle::MonoSmall) +
           3 * space::kTight + kFullBars.height(true);
}

double headHeight() {
    return std::max(kDeviceBadgeHeight, lineHeight(TextStyle::MonoSmall));
}

bool isFull(const QRectF& card) {
    return card.height() >= fullHeight() - 0.5;
}

QRectF innerOf(const QRectF& card) {
    return isFull(card) ? card.adjusted(space::kGroup, kFullPadding, -space::kGroup, -kFullPadding)
                        : card.adjusted(space::kControl, kCompactPadding, -space::kControl,
                                        -kCompactPadding);
}

QRectF barsOf(const QRectF& card, bool limited) {
    const QRectF inner = innerOf(card);
    const double top = isFull(card) ? inner.top() + kFullBadge + 2 * space::kTight +
                                          lineHeight(TextStyle::MonoSmall)
                                    : inner.top() + headHeight() + kCompactGap;
    const Bars& bars = isFull(card) ? kFullBars : kCompactBars;
    // What a card is higher than it need be goes between its head and its bars.
    const double spare = isFull(card) ? 0.0 : inner.bottom() - top - bars.height(limited);
    return {inner.left(), top + std::max(0.0, std::min(spare / 2.0, kMostSpare)), inner.width(),
            bars.height(limited)};
}

QRectF scaleOf(const QRectF& card) {
    const QRectF bars = barsOf(card, true);
    return {bars.left(), bars.top(), bars.width(),
            isFull(card) ? kFullBars.scale : kCompactBars.scale};
}

QRectF lensOf(const QRectF& card, bool limited) {
    const QRectF bars = barsOf(card, limited);
    const double height = isFull(card) ? kFullBars.lens : kCompactBars.lens;
    return {bars.left(), bars.bottom() - height, bars.width(), height};
}

/// "d0 m1" of "data=0 model=1".
QString shortPlace(const QString& place) {
    QStringList parts = place.split(QLatin1Char(' '));
    for (QString& part : parts) {
        part = part.left(1) + part.mid(part.indexOf(QLatin1Char('=')) + 1);
    }
    return parts.join(QLatin1Char(' '));
}

} // namespace

QSizeF DeviceGrid::mostCard() {
    return {kMostCard * Theme::current().fontScale(), fullHeight()};
}

QSizeF DeviceGrid::leastCard() {
    return {kLeastCard * Theme::current().fontScale(),
            2 * kCompactPadding + headHeight() + kCompactGap + kCompactBars.height(true)};
}

bool DeviceGrid::isCard(const QSizeF& size) {
    return size.width() >= leastCard().width() && size.height() >= leastCard().height();
}

QRectF DeviceGrid::cardPart(int index, CardPart part) const {
    const QRectF card = rectOf(index, frame(size()));
    const bool limited = devices_->limit.has_value();
    return part == CardPart::Scale && limited ? scaleOf(card) : lensOf(card, limited);
}

void DeviceGrid::paintCards(QPainter& painter, const Frame& frame,
                            const std::vector<QColor>& colors) const {
    for (int device = 0; device < itemCount(); ++device) {
        const QRectF rect = rectOf(device, frame);
        if (rect.intersects(frame.area)) {
            paintCard(painter, device, colors[static_cast<std::size_t>(device)], rect,
                      isLit(device));
        }
    }
}

void DeviceGrid::paintCard(QPainter& painter, int device, const QColor& color, const QRectF& rect,
                           bool lit) const {
    const Theme& theme = Theme::current();
    const bool chosen = device == selected_;
    paintSurface(painter, rect, size::kCardRadius,
                 theme.color(chosen ? Role::AccentTint : Role::Surface),
                 theme.color(lit || chosen ? Role::Accent : Role::Border), Qt::SolidLine,
                 lit || chosen ? 2 : 1);
    const QRectF inner = innerOf(rect);
    if (isFull(rect)) {
        paintHead(painter, device, color, inner);
    } else {
        paintLine(painter, device, color, inner);
    }
    paintMemory(painter, device, rect);
}

/// Number, name and note, below them the place; below the bars the bytes.
void DeviceGrid::paintHead(QPainter& painter, int device, const QColor& color,
                           const QRectF& inner) const {
    const Theme& theme = Theme::current();
    const QRectF badge(inner.left(), inner.top(), deviceBadgeWidth(itemCount()), kFullBadge);
    paintDeviceBadge(painter, badge, device, color);
    const QRectF head(badge.right() + space::kControl, inner.top(),
                      inner.right() - badge.right() - space::kControl, kFullBadge);
    const DeviceNow* now = nowOf(device);
    const QString& note_text = now != nullptr && !now->note.isEmpty()
                                   ? now->note
                                   : devices_->notes[static_cast<std::size_t>(device)];
    const double note =
        std::min(head.width() / 2, textWidth(theme.font(TextStyle::Caption), note_text) + 1);
    paintText(painter, head.adjusted(0, 0, -note - space::kTight, 0),
              Qt::AlignLeft | Qt::AlignVCenter, devices_->nameOf(device),
              theme.font(TextStyle::Strong), theme.color(Role::Text));
    paintText(painter, head, Qt::AlignRight | Qt::AlignVCenter, note_text,
              theme.font(TextStyle::Caption), theme.color(Role::Muted));
    const double mono = lineHeight(TextStyle::MonoSmall);
    paintText(painter, {inner.left(), badge.bottom() + space::kTight, inner.width(), mono},
              Qt::AlignLeft | Qt::AlignVCenter, placeText(device, inner.width()),
              theme.font(TextStyle::MonoSmall), theme.color(Role::Muted));
    paintText(painter, {inner.left(), inner.bottom() - mono, inner.width(), mono},
              Qt::AlignLeft | Qt::AlignVCenter, bytesText(device, inner.width()),
              theme.font(TextStyle::MonoSmall), theme.color(bytesRole(device)));
}

/// The same on one line.
void DeviceGrid::paintLine(QPainter& painter, int device, const QColor& color,
                           const QRectF& inner) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const QRectF line(inner.left(), inner.top(), inner.width(), headHeight());
    const QRectF badge(line.left(), line.center().y() - kDeviceBadgeHeight / 2.0,
                       deviceBadgeWidth(itemCount()), kDeviceBadgeHeight);
    paintDeviceBadge(painter, badge, device, color);
    const double room = line.right() - badge.right() - 6.0;
    const QString place = devices_->placeOf(device);
    const double wanted = textWidth(mono, place) + space::kControl;
    const QString bytes = bytesText(device, std::max(room / 2.0, room - wanted));
    const double bytes_width = std::ceil(textWidth(mono, bytes));
    const QRectF rest(badge.right() + 6.0, line.top(), room - bytes_width - space::kTight,
                      line.height());
    paintText(painter, rest, Qt::AlignLeft | Qt::AlignVCenter, placeText(device, rest.width()),
              mono, theme.color(Role::Muted));
    paintText(painter, line, Qt::AlignRight | Qt::AlignVCenter, bytes, mono,
              theme.color(bytesRole(device)));
}

Role DeviceGrid::bytesRole(int device) const {
    const bool over = devices_->limit && devices_->groupOf(device).bytes > *devices_->limit;
    return over ? Role::Error : Role::Text;
}

/// With the names of the axes, or their first letters where there is no room; half of it says
/// nothing.
QString DeviceGrid::placeText(int device, double width) const {
    const QFont mono = Theme::current().font(TextStyle::MonoSmall);
    const QString place = devices_->placeOf(device);
    for (const QString& text : {place, shortPlace(place)}) {
        if (textWidth(mono, text) <= width) {
            return text;
        }
    }
    return {};
}

/// "19.4 MiB of 5.7 GiB", "1.3 of 74.5 GiB", "1.3 GiB, none free"; at a moment "now 12.3 of
/// 19.4 MiB"; without the limit and without "now" where there is no room.
QString DeviceGrid::bytesText(int device, double width) const {
    const QString needed = formatMemory(devices_->groupOf(device).bytes);
    const DeviceNow* now = nowOf(device);
    const auto fits = [width](const QString& text) {
        return textWidth(Theme::current().font(TextStyle::MonoSmall), text) <= width;
    };
    const auto without_unit = [](const QString& bytes, const QString& of) {
        const bool same = bytes.section(' ', -1) == of.section(' ', -1);
        return same ? bytes.section(' ', 0, -2) : bytes;
    };
    if (now == nullptr) {
        if (!devices_->limit) {
            return needed;
        }
        const QString limit = formatMemory(*devices_->limit);
        const QString full = *devices_->limit > 0
                                 ? tr("%1 of %2").arg(without_unit(needed, limit), limit)
                                 : tr("%1, none free").arg(needed); // all goes to the host's data
        return fits(full) ? full : needed;
    }
    const QString held = without_unit(formatMemory(now->bytes), needed);
    const QString full = tr("now %1 of %2").arg(held, needed);
    return fits(full) ? full : tr("%1 of %2").arg(held, needed);
}

/// Bytes that a bar or a cell is as long as: the device's memory; without a limit devices are
/// compared with the largest.
qint64 DeviceGrid::wholeBytes() const {
    return std::max(devices_->mostBytes(), devices_->limit.value_or(0));
}

// One bar to the scale of the device's memory, where a small model is a stroke, and below it a lens
// on what it holds.
void DeviceGrid::paintMemory(QPainter& painter, int device, const QRectF& card) const {
    const qint64 whole = wholeBytes();
    const QRectF lens = lensOf(card, devices_->limit.has_value());
    if (!devices_->limit) {
        paintStack(painter, device, lens, whole);
        return;
    }
    const Theme& theme = Theme::current();
    const qint64 bytes = devices_->groupOf(device).bytes;
    const QRectF scale = scaleOf(card);
    const auto at = [&](qint64 amount) {
        return scale.left() +
               scale.width() * static_cast<double>(amount) / static_cast<double>(whole);
    };
    paintStack(painter, device, scale, whole);
    if (*devices_->limit < whole) {
        paintHairline(painter, {at(*devices_->limit), scale.top() - 2},
                      {at(*devices_->limit), scale.bottom() + 2}, theme.color(Role::Error));
    }
    painter.setPen(QPen(theme.color(Role::Border), 1));
    painter.drawLine(QPointF(scale.left(), scale.bottom()), lens.topLeft());
    painter.drawLine(QPointF(at(bytes), scale.bottom()), lens.topRight());
    paintStack(painter, device, lens, std::max<qint64>(1, bytes));
}

// What is needed, or what is held now, up to a line where the peak is.
void DeviceGrid::paintStack(QPainter& painter, int device, const QRectF& rect, qint64 whole) const {
    const Theme& theme = Theme::current();
    painter.fillRect(rect, theme.color(Role::EmptyBar));
    const double scale = rect.width() / static_cast<double>(whole);
    const DeviceGroup& group = devices_->groupOf(device);
    const DeviceNow* now = nowOf(device);
    double x = rect.left();
    for (const MemorySegment& segment : now != nullptr ? now->segments : group.segments) {
        const double width = static_cast<double>(segment.bytes) * scale;
        paintFill(painter, {x, rect.top(), std::max(0.0, width - 0.5), rect.height()},
                  theme.memory(segment.category), memoryFill(segment.category));
        x += width;
    }
    if (now != nullptr) {
        const double peak = rect.left() + static_cast<double>(group.bytes) * scale - 1;
        painter.fillRect(QRectF(peak, rect.top() - 2, 2, rect.height() + 4),
                         theme.color(Role::Muted));
    }
}

} // namespace weft::widgets
