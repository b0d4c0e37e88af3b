// SPDX-License-Identifier: GPL-3.0-or-later
// How tiles look. Few tiles are drawn with hatch and label; thousands as plain rectangles.
#include "widgets/mesh/device_palette.h"
#include "widgets/mesh/tile_view.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace weft::widgets {
namespace {

constexpr int kMostDetailed = 256; // tiles; more are plain
constexpr double kHatchBand = 5.0; // along both axes
constexpr double kLeastHatched = 10.0;
constexpr double kLeastParting = 4.0; // smaller tiles touch
constexpr double kDim = 0.24;         // tiles of other devices than the selected one
constexpr double kLabelPadding = 4.0;
constexpr double kBadgeRowGap = 2.0;
constexpr int kMostTileBadges = 8;

/// The part of a rectangle with from <= x + y <= to: cut by arithmetic, for SVG knows no clip.
QPolygonF band(const QRectF& rect, double from, double to) {
    const auto low = [&](double sum) { // where x + y = sum meets the left or the lower edge
        const double x = std::max(rect.left(), sum - rect.bottom());
        return QPointF(x, sum - x);
    };
    const auto high = [&](double sum) {
        const double x = std::min(rect.right(), sum - rect.top());
        return QPointF(x, sum - x);
    };
    from = std::max(from, rect.left() + rect.top());
    to = std::min(to, rect.right() + rect.bottom());
    QPolygonF out{low(from)};
    if (from < rect.left() + rect.bottom() && rect.left() + rect.bottom() < to) {
        out << rect.bottomLeft();
    }
    out << low(to) << high(to);
    if (from < rect.right() + rect.top() && rect.right() + rect.top() < to) {
        out << rect.topRight();
    }
    out << high(from);
    return out;
}

/// Every second band in the colour of the copy.
void paintCopy(QPainter& painter, const QRectF& rect, const QColor& copy) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(copy);
    const double period = 2.0 * kHatchBand;
    const double first = std::floor((rect.left() + rect.top()) / period);
    for (double n = first; n * period < rect.right() + rect.bottom(); ++n) {
        const double from = n * period;
        if (from + kHatchBand > rect.left() + rect.top()) {
            painter.drawPolygon(band(rect, from, from + kHatchBand));
        }
    }
}

/// How the owners of a tile are shown in it: so many of their badges in rows, and a text.
struct TileLabel {
    int badges = 0;
    int columns = 1; // of badges
    QString text;
    bool beside = false; // the text, else below
    double badges_width = 0;
    QSizeF size; // with padding
};

TileLabel measured(int badges, int columns, const QString& text, bool beside, double badge) {
    TileLabel out{badges, columns, text, beside, 0, {}};
    const int rows = (badges + columns - 1) / columns;
    const double text_width =
        text.isEmpty() ? 0.0
                       : std::ceil(textWidth(Theme::current().font(TextStyle::Caption), text)) + 2;
    const double line = text.isEmpty() ? 0.0 : lineHeight(TextStyle::Caption);
    const double rows_height = rows * (kDeviceBadgeHeight + kBadgeRowGap) - kBadgeRowGap;
    out.badges_width = badges == 0 ? 0.0 : columns * (badge + space::kTight) - space::kTight;
    const double between = badges == 0 || text.isEmpty() ? 0.0 : space::kTight;
    out.size = beside ? QSizeF(out.badges_width + between + text_width, std::max(rows_height, line))
                      : QSizeF(std::max(out.badges_width, text_width), rows_height + line);
    out.size += QSizeF(2 * kLabelPadding, kLabelPadding);
    return out;
}

/// The one that says most of what has room: all badges before some, words before a number.
std::optional<TileLabel> labelFor(const QSizeF& room, int owners, double badge) {
    const QString words = owners > 1 ? TileView::tr("%n copies", nullptr, owners) : QString();
    const QString times = owners > 1 ? QStringLiteral("×") + formatCount(owners) : QString();
    const auto fits = [&room](const TileLabel& label) {
        return label.size.width() <= room.width() && label.size.height() <= room.height();
    };
    for (int badges = std::min(owners, kMostTileBadges); badges > 0; --badges) {
        const QString dots = badges < owners ? QStringLiteral("… ") : QString();
        for (const QString& text : {dots + words, dots + times}) {
            const TileLabel line = measured(badges, badges, text, true, badge);
            if (fits(line)) {
                return line;
            }
            for (int columns = badges; columns > 0; --columns) {
                const TileLabel block = measured(badges, columns, text, false, badge);
                if (fits(block)) {
                    return block;
                }
            }
        }
    }
    const TileLabel number = measured(0, 1, times, true, badge);
    return owners > 1 && fits(number) ? std::optional(number) : std::nullopt;
}

/// "4 : 1" of sides across and down, "1 : 2.5" of a tall one.
QString ratioText(double ratio) {
    const double larger = std::max(ratio, 1.0 / ratio);
    const QString text = QString::number(larger, 'f', larger < 9.95 ? 1 : 0).remove(".0");
    return ratio >= 1.0 ? text + QStringLiteral(" : 1") : QStringLiteral("1 : ") + text;
}

void paintOutline(QPainter& painter, const QRectF& rect, double width) {
    paintSurface(painter, rect, 0.0, {}, Theme::current().color(Role::Text), Qt::SolidLine, width);
}

} // namespace

void TileView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (itemCount() == 0) {
        return;
    }
    if (stale_) {
        painter.setOpacity(kStaleOpacity);
    }
    const Layout layout = layoutFor(view_size);
    paintPadding(painter, layout);
    paintTiles(painter, layout);
    if (column_axis_ >= 0) {
        paintColumnTexts(painter, layout);
    }
    if (row_axis_ >= 0) {
        paintRowTexts(painter, layout);
    }
}

void TileView::paintPadding(QPainter& painter, const Layout& layout) const {
    const Theme& theme = Theme::current();
    bool any = false;
    const auto dots = [&](const QRectF& rect) {
        if (rect.width() >= 1.0 && rect.height() >= 1.0) {
            painter.fillRect(rect, theme.color(Role::EmptyBar));
            paintFill(painter, rect.adjusted(1, 1, -1, -1), theme.color(Role::Muted), Fill::Dotted);
            any = true;
        }
    };
    const QRectF& box = layout.box;
    for (int column = 0; column < columnCount(); ++column) {
        const auto c = static_cast<std::size_t>(column);
        dots({QPointF(layout.columns.ends[c], box.top()),
              QPointF(layout.columns.starts[c + 1], box.bottom())});
    }
    for (int row = 0; row < rowCount(); ++row) {
        const auto r = static_cast<std::size_t>(row);
        dots({QPointF(box.left(), layout.rows.ends[r]),
              QPointF(box.right(), layout.rows.starts[r + 1])});
    }
    if (any) {
        paintSurface(painter, box, 0.0, {}, theme.color(Role::Border));
    }
}

void TileView::paintTiles(QPainter& painter, const Layout& layout) const {
    const QColor surface = Theme::current().color(Role::Surface);
    const std::vector<QColor> colors = shardPalette(shards_, array_.mesh);
    std::vector<QColor> dim;
    for (std::size_t i = 0; selected_ >= 0 && i < colors.size(); ++i) {
        dim.push_back(mixed(colors[i], surface, kDim));
    }
    const bool detailed = itemCount() <= kMostDetailed;
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (int i = 0; i < itemCount(); ++i) {
        const int tile = tileOf(i);
        QRectF rect = layout.tile(i / columnCount(), i % columnCount());
        const std::vector<int>& devices = array_.holdersOf(tile);
        if (rect.isEmpty() || devices.empty()) {
            continue;
        }
        rect.adjust(0, 0, rect.width() > kLeastParting ? -1 : 0,
                    rect.height() > kLeastParting ? -1 : 0);
        const bool lit = selected_ >= 0 && array_.holds(tile, selected_);
        const std::vector<QColor>& shown = selected_ < 0 || lit ? colors : dim;
        painter.fillRect(rect, shown[static_cast<std::size_t>(devices.front())]);
        const double least = std::min(rect.width(), rect.height());
        if (devices.size() != 2 || colors[static_cast<std::size_t>(devices[0])] ==
                                       colors[static_cast<std::size_t>(devices[1])]) {
            continue; // copies look alike
        }
        const QColor& copy = shown[static_cast<std::size_t>(devices[1])];
        if (detailed && least >= kLeastHatched) {
            painter.setRenderHint(QPainter::Antialiasing, true);
            paintCopy(painter, rect, copy);
            painter.setRenderHint(QPainter::Antialiasing, false);
        } else if (least >= kLeastParting) {
            // Too many or too small for a hatch: the copy's colour in a corner.
            const double width = std::ceil(rect.width() / 3.0);
            const double height = std::ceil(rect.height() / 2.0);
            painter.fillRect(QRectF(rect.right() - width, rect.bottom() - height, width, height),
                             copy);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (int i = 0; detailed && i < itemCount(); ++i) {
        const QRectF rect =
            layout.tile(i / columnCount(), i % columnCount()).adjusted(0, 0, -1, -1);
        const int tile = tileOf(i);
        if (selected_ >= 0 && array_.holds(tile, selected_) && !rect.isEmpty()) {
            paintOutline(painter, rect, 2.0);
        }
        if (!array_.holdersOf(tile).empty()) {
            paintLabel(painter, rect, array_.holdersOf(tile), colors);
        }
    }
    if (hoveredItem() >= 0) {
        paintOutline(painter,
                     layout.whole(hoveredItem() / columnCount(), hoveredItem() % columnCount()),
                     1.0);
    }
}

void TileView::paintLabel(QPainter& painter, const QRectF& rect, const std::vector<int>& owners,
                          const std::vector<QColor>& colors) const {
    const Theme& theme = Theme::current();
    const double badge = deviceBadgeWidth(array_.deviceCount());
    const auto label =
        labelFor(rect.size() - QSizeF(2.0, 2.0), static_cast<int>(owners.size()), badge);
    if (!label) {
        return;
    }
    QRectF box(QPointF(0, 0), label->size);
    box.moveCenter(rect.center());
    box.moveTopLeft({std::round(box.left()), std::round(box.top())});
    paintSurface(painter, box, size::kRadius, theme.color(Role::Surface), {});
    const QRectF inner =
        box.adjusted(kLabelPadding, kLabelPadding / 2.0, -kLabelPadding, -kLabelPadding / 2.0);
    const double left =
        label->beside ? inner.left() : inner.center().x() - label->badges_width / 2.0;
    double bottom = inner.top();
    for (int i = 0; i < label->badges; ++i) {
        const int owner = owners[static_cast<std::size_t>(i)];
        const QRectF place(left + i % label->columns * (badge + space::kTight),
                           inner.top() + i / label->columns * (kDeviceBadgeHeight + kBadgeRowGap),
                           badge, kDeviceBadgeHeight);
        paintDeviceBadge(painter, place, owner, colors[static_cast<std::size_t>(owner)]);
        bottom = place.bottom();
    }
    const bool behind = label->beside && label->badges > 0;
    const double x = behind ? inner.left() + label->badges_width + space::kTight : inner.left();
    const double y = label->beside ? inner.top() : bottom;
    paintText(painter, {x, y, inner.right() - x, inner.bottom() - y}, Qt::AlignCenter, label->text,
              theme.font(TextStyle::Caption), theme.color(Role::Text), Qt::ElideNone);
}

void TileView::paintColumnTexts(QPainter& painter, const Layout& layout) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const double line = std::ceil(QFontMetricsF(mono).height());
    const double above = layout.box.top() - line - 2.0;
    const double below = layout.box.bottom() + 2.0;
    const qint64 whole = array_.shape[static_cast<std::size_t>(column_axis_)];
    const auto tick = [&](double x, qint64 value, Qt::Alignment side) {
        const QString text = QString::number(value);
        const double width = std::ceil(textWidth(mono, text));
        const double left = side == Qt::AlignLeft    ? x
                            : side == Qt::AlignRight ? x - width
                                                     : x - width / 2.0;
        return std::pair(QRectF(left, below, width, line), text);
    };
    const double end = layout.columns.ends.back();
    const auto first = tick(layout.box.left(), 0, Qt::AlignLeft);
    auto last = tick(end, whole, Qt::AlignRight);
    last.first.moveLeft(std::max(last.first.left(), first.first.right() + 8.0));
    const QColor muted = theme.color(Role::Muted);
    paintText(painter, first.first, Qt::AlignLeft, first.second, mono, muted, Qt::ElideNone);
    paintText(painter, last.first, Qt::AlignLeft, last.second, mono, muted, Qt::ElideNone);
    bool slices = columnCount() > 1; // all of them, or none
    for (int column = 0; column < columnCount(); ++column) {
        const auto c = static_cast<std::size_t>(column);
        const TileSpan& span = array_.span(column_axis_, column);
        slices &= span.count == 0 || textWidth(mono, "[" + sliceText(span, whole) + "]") + 4.0 <=
                                         layout.columns.ends[c] - layout.columns.starts[c];
    }
    double taken = first.first.right();
    for (int column = 0; column < columnCount(); ++column) {
        const auto c = static_cast<std::size_t>(column);
        const TileSpan& span = array_.span(column_axis_, column);
        const double left = layout.columns.starts[c];
        const double right = layout.columns.ends[c];
        if (column > 0 && span.count > 0) {
            const auto [rect, text] = tick(left, span.first, Qt::AlignHCenter);
            if (rect.left() > taken + 6.0 && rect.right() < last.first.left() - 6.0) {
                paintText(painter, rect, Qt::AlignLeft, text, mono, muted, Qt::ElideNone);
                taken = rect.right();
            }
        }
        const QString slice = "[" + sliceText(span, whole) + "]";
        if (slices && span.count > 0) {
            paintText(painter, {left, above, right - left, line}, Qt::AlignHCenter, slice, mono,
                      theme.color(Role::Text), Qt::ElideNone);
        }
    }
    if (!layout.to_scale) {
        const double drawn = layout.box.width() / layout.box.height();
        const QString words = tr("is %1, drawn %2").arg(ratioText(ratio()), ratioText(drawn));
        const QFont caption = theme.font(TextStyle::Caption);
        const double width = std::ceil(textWidth(caption, words)) + 1.0;
        const double left = std::max(0.0, layout.box.center().x() - width / 2.0);
        paintText(painter, {left, below + line, width, line}, Qt::AlignLeft, words, caption, muted,
                  Qt::ElideNone);
    }
}

void TileView::paintRowTexts(QPainter& painter, const Layout& layout) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const double line = std::ceil(QFontMetricsF(mono).height());
    const double width = rowTextWidth() - 6.0;
    const double left = layout.box.left() - 6.0 - width;
    const qint64 whole = array_.shape[static_cast<std::size_t>(row_axis_)];
    const auto write = [&](double top, const QString& text, Role role) {
        paintText(painter, {left, top, width, line}, Qt::AlignRight, text, mono, theme.color(role),
                  Qt::ElideNone);
    };
    bool slices = rowCount() > 1; // all of them, or none
    for (int row = 0; row < rowCount(); ++row) {
        const auto r = static_cast<std::size_t>(row);
        slices &= array_.span(row_axis_, row).count == 0 ||
                  layout.rows.ends[r] - layout.rows.starts[r] >= line - 2.0;
    }
    // From where to where the edge is still free.
    double from = layout.box.top();
    double to = layout.rows.ends.back();
    for (int row = 0; slices && row < rowCount(); ++row) {
        const auto r = static_cast<std::size_t>(row);
        const TileSpan& span = array_.span(row_axis_, row);
        const double top = (layout.rows.starts[r] + layout.rows.ends[r] - line) / 2.0;
        if (span.count > 0) {
            write(top, "[" + sliceText(span, whole) + "]", Role::Text);
            to = row == 0 ? top : to;
            from = std::max(from, top + line);
        }
    }
    const double last = layout.rows.ends.back() - line;
    if (!slices || layout.box.top() + line <= to) {
        write(layout.box.top(), QStringLiteral("0"), Role::Muted);
    }
    from = std::max(from, layout.box.top() + line);
    if (!slices) {
        write(std::max(last, from), QString::number(whole), Role::Muted);
    } else if (last >= from) {
        write(last, QString::number(whole), Role::Muted);
    }
    for (int row = 1; !slices && row < rowCount(); ++row) {
        const TileSpan& span = array_.span(row_axis_, row);
        const double top = layout.rows.starts[static_cast<std::size_t>(row)] - line / 2.0;
        if (span.count > 0 && top >= from && top + line <= last) {
            write(top, QString::number(span.first), Role::Muted);
            from = top + line;
        }
    }
}

} // namespace weft::widgets
