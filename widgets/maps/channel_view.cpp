// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/channel_view.h"

#include "widgets/maps/value_colour.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kLeastTile = 44;
constexpr double kMostTile = 112;
constexpr double kTileGap = 6;

} // namespace

ChannelView::ChannelView(QWidget* parent) : PaintedView(parent), noun_(tr("channel")) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void ChannelView::setChannels(Channels channels) {
    channels_ = std::move(channels);
    pictures_.clear();
    low_.assign(static_cast<std::size_t>(channels_.channels), INFINITY);
    high_.assign(static_cast<std::size_t>(channels_.channels), -INFINITY);
    for (std::size_t i = 0; i < channels_.values.size(); ++i) {
        const std::size_t channel = i % static_cast<std::size_t>(channels_.channels);
        low_[channel] = std::min(low_[channel], channels_.values[i]);
        high_[channel] = std::max(high_[channel], channels_.values[i]);
    }
    itemsChanged();
}

void ChannelView::setTogether(bool together) {
    together_ = together;
    pictures_.clear();
    update();
}

void ChannelView::setNoun(const QString& noun) {
    noun_ = noun;
}

void ChannelView::setTileWidth(int pixels) {
    tile_width_ = pixels;
    itemsChanged();
}

void ChannelView::setChosen(int index) {
    chosen_ = index;
    update();
}

float ChannelView::value(int row, int column, int channel) const {
    const auto at = (static_cast<std::size_t>(row) * static_cast<std::size_t>(channels_.columns) +
                     static_cast<std::size_t>(column)) *
                        static_cast<std::size_t>(channels_.channels) +
                    static_cast<std::size_t>(channel);
    return channels_.values[at];
}

// As large as lets all be seen in about a square, but never too small to see.
ChannelView::Tiles ChannelView::tilesFor(double width) const {
    Tiles out;
    if (channels_.channels == 0) {
        return out;
    }
    const double wanted = std::sqrt(width * width / channels_.channels) - kTileGap;
    const double least = tile_width_ > 0 ? tile_width_ : std::clamp(wanted, kLeastTile, kMostTile);
    out.columns = std::max(1, static_cast<int>((width + kTileGap) / (least + kTileGap)));
    out.width = tile_width_ > 0
                    ? tile_width_
                    : std::min(kMostTile, std::floor((width + kTileGap) / out.columns - kTileGap));
    out.height = std::max(1.0, std::floor(out.width * channels_.rows / channels_.columns));
    return out;
}

QRectF ChannelView::tile(int index, const Tiles& tiles) const {
    return {(tiles.width + kTileGap) * (index % tiles.columns),
            (tiles.height + kTileGap) * (index / tiles.columns), tiles.width, tiles.height};
}

int ChannelView::heightForWidth(int width) const {
    const Tiles tiles = tilesFor(width);
    const int rows = (itemCount() + tiles.columns - 1) / tiles.columns;
    return std::max(1, static_cast<int>(std::ceil(rows * (tiles.height + kTileGap))));
}

ViewItem ChannelView::item(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return {tile(index, tilesFor(width())),
            tr("%1 %2: from %3 to %4")
                .arg(noun_, QString::number(index), formatNumber(double(low_[at])),
                     formatNumber(double(high_[at]))),
            {}};
}

QString ChannelView::wordsAt(const QPointF& position) const {
    const int channel = hitTest(position);
    if (channel < 0) {
        return {};
    }
    const QRectF room = tile(channel, tilesFor(width()));
    const auto place = [](double share, int count) {
        return std::clamp(static_cast<int>(share * count), 0, count - 1);
    };
    const int row = place((position.y() - room.top()) / room.height(), channels_.rows);
    const int column = place((position.x() - room.left()) / room.width(), channels_.columns);
    return tr("%1 %2, row %3, column %4: %5")
        .arg(noun_, QString::number(channel), QString::number(row), QString::number(column),
             formatNumber(double(value(row, column, channel))));
}

int ChannelView::neighbour(int index, int key) const {
    return gridNeighbour(index, key, tilesFor(width()).columns);
}

const std::vector<QImage>& ChannelView::pictures() const {
    if (!pictures_.empty()) {
        return pictures_;
    }
    const float all = largestSize(channels_.values);
    const ValueShades shades;
    for (int channel = 0; channel < channels_.channels; ++channel) {
        const auto at = static_cast<std::size_t>(channel);
        const float own = std::max(std::abs(low_[at]), std::abs(high_[at]));
        const float most = together_ || !std::isfinite(own) ? all : own;
        QImage image(channels_.columns, channels_.rows, QImage::Format_RGB32);
        for (int row = 0; row < channels_.rows; ++row) {
            auto* const line = reinterpret_cast<QRgb*>(image.scanLine(row));
            for (int column = 0; column < channels_.columns; ++column) {
                line[column] = shades.of(value(row, column, channel) / (most > 0 ? most : 1.0F));
            }
        }
        pictures_.push_back(std::move(image));
    }
    return pictures_;
}

void ChannelView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Tiles tiles = tilesFor(view_size.width());
    const QColor line = Theme::current().color(Role::Hairline);
    for (int i = 0; i < itemCount(); ++i) {
        const QRectF room = tile(i, tiles);
        const QImage& image = pictures()[static_cast<std::size_t>(i)];
        painter.setRenderHint(QPainter::SmoothPixmapTransform, image.width() > room.width());
        painter.drawImage(room, image);
        const bool marked = i == hoveredItem() || i == chosen_;
        painter.setPen(
            QPen(marked ? Theme::current().color(Role::Text) : line, i == chosen_ ? 2 : 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(room.adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void ChannelView::mouseMoveEvent(QMouseEvent* event) {
    emit pointed(wordsAt(event->position()));
    PaintedView::mouseMoveEvent(event);
}

void ChannelView::leaveEvent(QEvent* event) {
    emit pointed({});
    PaintedView::leaveEvent(event);
}

void ChannelView::changeEvent(QEvent* event) {
    pictures_.clear(); // another theme
    PaintedView::changeEvent(event);
}

} // namespace weft::widgets
