// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/reshard_view.h"

#include "widgets/mesh/device_palette.h"
#include "widgets/mesh/tile_array.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kPieceRow = 22.0;    // height of pieces and parts
constexpr double kReshardSide = 12.0; // free at both sides
constexpr double kReshardGap = 4.0;   // above and below
constexpr double kLeastBands = 28.0;
constexpr double kFaint = 0.38;   // of a band's colour
constexpr double kFainter = 0.14; // while another is lit

std::vector<qint64> startsOf(const std::vector<ReshardPiece>& pieces) {
    std::vector<qint64> out;
    qint64 at = 0;
    for (const ReshardPiece& piece : pieces) {
        out.push_back(at);
        at += piece.elements;
    }
    out.push_back(at);
    return out;
}

int countOf(const std::vector<int>& mesh) {
    int out = 1;
    for (const int size : mesh) {
        out *= size;
    }
    return out;
}

} // namespace

ReshardView::ReshardView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("What goes where"));
}

void ReshardView::setArray(ReshardArray array) {
    array_ = std::move(array);
    piece_starts_ = startsOf(array_.pieces);
    part_starts_ = startsOf(array_.parts);
    elements_ = std::max({qint64{1}, piece_starts_.back(), part_starts_.back()});
    setAccessibleDescription(array_.bands.empty()
                                 ? QString()
                                 : array_.from + QStringLiteral(", ") + array_.to +
                                       QStringLiteral(": ") +
                                       tr("%n piece(s)", nullptr, int(array_.pieces.size())) +
                                       tr(", %n part(s)", nullptr, int(array_.parts.size())) +
                                       tr(", %n band(s)", nullptr, itemCount()));
    setCursorItem(-1);
    itemsChanged();
}

void ReshardView::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

QSize ReshardView::minimumSizeHint() const {
    return {240, static_cast<int>(
                     2 * (kPieceRow + lineHeight(TextStyle::MonoSmall) + 2.0 + kReshardGap) +
                     kLeastBands)};
}

ReshardView::Layout ReshardView::layoutFor(const QSizeF& view_size) const {
    // Before each row a word, beside it the ranges.
    const QFont caption = Theme::current().font(TextStyle::Caption);
    const double left =
        kReshardSide +
        std::ceil(std::max(textWidth(caption, tr("saved")), textWidth(caption, tr("held")))) + 8.0;
    const double ranges = lineHeight(TextStyle::MonoSmall) + 2.0;
    const double width = std::max(40.0, view_size.width() - left - kReshardSide);
    Layout out;
    out.above = QRectF(left, kReshardGap + ranges, width, kPieceRow);
    const double bottom = view_size.height() - kReshardGap - ranges - kPieceRow;
    out.below = QRectF(left, std::max(out.above.bottom() + kLeastBands, bottom), width, kPieceRow);
    out.scale = width / static_cast<double>(std::max<qint64>(1, elements_));
    return out;
}

std::pair<double, double> ReshardView::edges(const ReshardBand& band, bool above,
                                             const Layout& layout) const {
    const qint64 start = above ? piece_starts_[static_cast<std::size_t>(band.from)] + band.from_at
                               : part_starts_[static_cast<std::size_t>(band.to)] + band.to_at;
    const double left = layout.above.left() + layout.scale * static_cast<double>(start);
    return {left, left + std::max(1.0, layout.scale * static_cast<double>(band.elements))};
}

QPolygonF ReshardView::shape(const ReshardBand& band, const Layout& layout) const {
    const auto [upper_left, upper_right] = edges(band, true, layout);
    const auto [lower_left, lower_right] = edges(band, false, layout);
    const double top = layout.above.bottom() + 1.0;
    const double bottom = layout.below.top() - 1.0;
    return QPolygonF{{QPointF(upper_left, top), QPointF(upper_right, top),
                      QPointF(lower_right, bottom), QPointF(lower_left, bottom)}};
}

ViewItem ReshardView::item(int index) const {
    const ReshardBand& band = array_.bands[static_cast<std::size_t>(index)];
    return {shape(band, layoutFor(size())).boundingRect(), band.name, band.name};
}

int ReshardView::hitTest(const QPointF& position) const {
    const QPointF scene = sceneTransform().inverted().map(position);
    const Layout layout = layoutFor(size());
    const double top = layout.above.bottom();
    const double bottom = layout.below.top();
    if (scene.y() < layout.above.top() || scene.y() > layout.below.bottom()) {
        return -1;
    }
    // In a row the band that begins or ends there; between them the last drawn.
    const double share = std::clamp((scene.y() - top) / (bottom - top), 0.0, 1.0);
    for (int i = itemCount() - 1; i >= 0; --i) {
        const ReshardBand& band = array_.bands[static_cast<std::size_t>(i)];
        const auto [upper_left, upper_right] = edges(band, true, layout);
        const auto [lower_left, lower_right] = edges(band, false, layout);
        if (scene.x() >= upper_left + share * (lower_left - upper_left) &&
            scene.x() < upper_right + share * (lower_right - upper_right)) {
            return i;
        }
    }
    return -1;
}

void ReshardView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (array_.pieces.empty()) {
        return;
    }
    painter.save();
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    const Layout layout = layoutFor(view_size);
    const int lit = hoveredItem() >= 0 ? hoveredItem() : cursorItem();
    for (int i = 0; i < itemCount(); ++i) {
        if (i != lit) {
            paintBand(painter, i, layout, false);
        }
    }
    if (lit >= 0 && lit < itemCount()) {
        paintBand(painter, lit, layout, true);
    }
    paintRow(painter, true, layout);
    paintRow(painter, false, layout);
    painter.restore();
}

void ReshardView::paintBand(QPainter& painter, int index, const Layout& layout, bool lit) const {
    const Theme& theme = Theme::current();
    const ReshardBand& band = array_.bands[static_cast<std::size_t>(index)];
    const std::vector<QColor> colors = devicePalette(array_.from_mesh);
    const int writer = array_.pieces[static_cast<std::size_t>(band.from)].devices.front();
    const QColor color = colors[static_cast<std::size_t>(writer) % colors.size()];
    const bool other_lit = !lit && (hoveredItem() >= 0 || cursorItem() >= 0);
    painter.setPen(lit ? QPen(theme.color(Role::Text), 1.4) : QPen(Qt::NoPen));
    painter.setBrush(mixed(color, theme.color(Role::Surface),
                           lit         ? 0.8
                           : other_lit ? kFainter
                                       : kFaint));
    painter.drawPolygon(shape(band, layout));
}

void ReshardView::paintRow(QPainter& painter, bool above, const Layout& layout) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = lineHeight(TextStyle::MonoSmall);
    const std::vector<ReshardPiece>& pieces = above ? array_.pieces : array_.parts;
    const std::vector<qint64>& starts = above ? piece_starts_ : part_starts_;
    const std::vector<int>& mesh = above ? array_.from_mesh : array_.to_mesh;
    const std::vector<QColor> colors = devicePalette(mesh);
    const QRectF row = above ? layout.above : layout.below;
    const double badge = deviceBadgeWidth(countOf(mesh));
    const double range_top = above ? row.top() - line - 2.0 : row.bottom() + 2.0;
    paintText(painter, {kReshardSide, row.top(), row.left() - kReshardSide, row.height()},
              Qt::AlignVCenter, above ? tr("saved") : tr("held"), caption,
              theme.color(Role::Muted));
    double free_from = row.left(); // ranges that do not fit are left out
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const ReshardPiece& piece = pieces[i];
        const double left = row.left() + layout.scale * static_cast<double>(starts[i]);
        const double right = row.left() + layout.scale * static_cast<double>(starts[i + 1]);
        const QRectF rect(std::round(left), row.top(),
                          std::max(1.0, std::round(right) - std::round(left) - 1.0), row.height());
        const auto first = static_cast<std::size_t>(piece.devices.front());
        painter.fillRect(rect, colors[first % colors.size()]);
        const int count = static_cast<int>(piece.devices.size());
        const bool badges = count <= kMostDeviceBadges;
        const QString names = badges ? QString() : deviceListText(piece.devices, 3);
        const double width =
            badges ? count * badge + (count - 1) * 2.0 : std::ceil(textWidth(caption, names));
        if (width + 8.0 <= rect.width()) {
            QRectF label(0, 0, width + 6.0, kDeviceBadgeHeight + 2.0);
            label.moveCenter(rect.center());
            paintSurface(painter, label, size::kRadius, theme.color(Role::Surface), {});
            double x = label.left() + 3.0;
            for (int k = 0; badges && k < count; ++k) {
                const int device = piece.devices[static_cast<std::size_t>(k)];
                paintDeviceBadge(
                    painter,
                    {x, label.center().y() - kDeviceBadgeHeight / 2.0, badge, kDeviceBadgeHeight},
                    device, colors[static_cast<std::size_t>(device) % colors.size()]);
                x += badge + 2.0;
            }
            if (!badges) {
                paintText(painter, label, Qt::AlignCenter, names, caption, theme.color(Role::Text),
                          Qt::ElideNone);
            }
        }
        const double range = textWidth(mono, piece.range);
        const double at = std::max(rect.left(), rect.center().x() - range / 2.0);
        if (at >= free_from && range <= rect.width() + 1.0) {
            paintText(painter, {at, range_top, range + 1.0, line}, Qt::AlignLeft, piece.range, mono,
                      theme.color(Role::Text), Qt::ElideNone);
            free_from = at + range + 6.0;
        }
    }
}

} // namespace weft::widgets
