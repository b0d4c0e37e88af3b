// SPDX-License-Identifier: GPL-3.0-or-later
// Which tile lies where, and what it is called. How it looks is in tile_view_paint.cpp.
#include "widgets/mesh/tile_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::widgets {
namespace {

constexpr double kThinSide = 44.0;    // a shorter side than this is drawn longer than it is,
constexpr double kThinning = 0.12;    // shrinking by so much for every halving
constexpr double kStrip = 44.0;       // height of an array of one dimension
constexpr double kSquare = 64.0;      // side of a single number
constexpr double kLeastPadding = 5.0; // so that it is seen
constexpr int kMostWidened = 8;       // paddings that are widened so
constexpr double kShortestSide = 24.0;

QString listed(const std::vector<int>& devices) {
    if (devices.size() == 1) {
        return TileView::tr("device %1").arg(devices.front());
    }
    if (devices.size() == 2) {
        return TileView::tr("devices %1 and %2").arg(devices[0]).arg(devices[1]);
    }
    return TileView::tr("devices %1").arg(deviceListText(devices));
}

} // namespace

TileView::TileView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Tiles of the tensor"));
    connect(this, &PaintedView::itemActivated, this, &TileView::activate);
}

void TileView::setArray(TileArray array) {
    const bool alike = array.shape == array_.shape && array.dims == array_.dims;
    array_ = std::move(array);
    shards_ = shardGroups(array_);
    if (!alike) {
        chooseAxes();
        piece_ = 0;
        findTiles();
    }
    const int copies = array_.holders.empty() ? 0 : static_cast<int>(array_.holders.front().size());
    setAccessibleDescription(array_.holders.empty()
                                 ? QString()
                                 : tr("%n tile(s)", nullptr, array_.tileCount()) +
                                       tr(", %n of each", nullptr, copies));
    itemsChanged();
}

void TileView::chooseAxes() {
    const int rank = array_.rank();
    if (rank <= 2) {
        row_axis_ = rank == 2 ? 0 : -1;
        column_axis_ = rank - 1;
        return;
    }
    std::vector<int> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
        return std::pair(array_.spanCount(a), array_.shape[static_cast<std::size_t>(a)]) >
               std::pair(array_.spanCount(b), array_.shape[static_cast<std::size_t>(b)]);
    });
    row_axis_ = std::min(order[0], order[1]);
    column_axis_ = std::max(order[0], order[1]);
}

void TileView::setAxes(int row, int column) {
    if (row == row_axis_ && column == column_axis_) {
        return;
    }
    row_axis_ = row;
    column_axis_ = column;
    piece_ = 0;
    findTiles();
    itemsChanged();
}

int TileView::rowCount() const {
    return row_axis_ < 0 ? 1 : array_.spanCount(row_axis_);
}

int TileView::columnCount() const {
    return column_axis_ < 0 ? 1 : array_.spanCount(column_axis_);
}

int TileView::pieceCount() const {
    return itemCount() == 0 ? 0 : array_.tileCount() / itemCount();
}

void TileView::setPiece(int piece) {
    piece_ = std::clamp(piece, 0, std::max(0, pieceCount() - 1));
    findTiles();
    itemsChanged();
}

QString TileView::pieceText() const {
    if (itemCount() == 0) {
        return {};
    }
    const std::vector<int> spans = array_.spansOf(tileOf(0));
    QString out;
    for (int dim = 0; dim < array_.rank(); ++dim) {
        const bool drawn = dim == row_axis_ || dim == column_axis_;
        out += (dim == 0 ? QString() : QStringLiteral(", ")) +
               (drawn ? QStringLiteral(":")
                      : sliceText(array_.span(dim, spans[static_cast<std::size_t>(dim)]),
                                  array_.shape[static_cast<std::size_t>(dim)]));
    }
    return "[" + out + "]";
}

void TileView::setSelectedDevice(int device) {
    selected_ = device;
    update();
}

void TileView::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

int TileView::tileOf(int item) const {
    return first_tile_ + item / columnCount() * row_stride_ + item % columnCount() * column_stride_;
}

void TileView::findTiles() {
    // The piece counts through the spans of the dimensions that are not drawn, the last fastest.
    first_tile_ = row_stride_ = column_stride_ = 0;
    int rest = piece_;
    int stride = 1;
    for (int dim = array_.rank() - 1; dim >= 0; --dim) {
        if (dim == row_axis_) {
            row_stride_ = stride;
        } else if (dim == column_axis_) {
            column_stride_ = stride;
        } else {
            first_tile_ += rest % array_.spanCount(dim) * stride;
            rest /= array_.spanCount(dim);
        }
        stride *= array_.spanCount(dim);
    }
}

QString TileView::rangeName(int axis, int index) const {
    const TileSpan& span = array_.span(axis, index);
    const QString what = row_axis_ < 0       ? tr("elements")
                         : axis == row_axis_ ? tr("rows")
                                             : tr("columns");
    if (span.count == 0) {
        return tr("padding of the %1 only").arg(what);
    }
    return span.count == array_.shape[static_cast<std::size_t>(axis)]
               ? tr("all %1").arg(what)
               : tr("%1 %2 to %3").arg(what).arg(span.first).arg(span.first + span.count);
}

ViewItem TileView::item(int index) const {
    const int row = index / columnCount();
    const int column = index % columnCount();
    const std::vector<int>& devices = array_.holdersOf(tileOf(index));
    QStringList parts;
    qint64 padding = 0;
    if (row_axis_ >= 0) {
        parts.append(rangeName(row_axis_, row));
        padding += array_.span(row_axis_, row).padding;
    }
    if (column_axis_ >= 0) {
        parts.append(rangeName(column_axis_, column));
        padding += array_.span(column_axis_, column).padding;
    }
    parts.append(devices.empty() ? tr("on no device") : listed(devices));
    if (padding > 0) {
        parts.append(tr("padded"));
    }
    const QString name = parts.join(QStringLiteral(", "));
    QString tooltip = parts.join(QLatin1Char('\n'));
    if (devices.size() > 1) {
        tooltip += "\n" + tr("%n copies", nullptr, static_cast<int>(devices.size()));
    }
    return {layoutFor(size()).whole(row, column), name, tooltip};
}

int TileView::hitTest(const QPointF& position) const {
    if (itemCount() == 0) {
        return -1;
    }
    const QPointF scene = sceneTransform().inverted().map(position);
    const Layout layout = layoutFor(size());
    if (!layout.box.contains(scene)) {
        return -1;
    }
    const auto find = [](const std::vector<double>& starts, double at) {
        const auto next = std::upper_bound(starts.begin(), starts.end() - 1, at);
        return std::max(0, static_cast<int>(next - starts.begin()) - 1);
    };
    return find(layout.rows.starts, scene.y()) * columnCount() +
           find(layout.columns.starts, scene.x());
}

int TileView::neighbour(int index, int key) const {
    int row = index / columnCount();
    int column = index % columnCount();
    row += key == Qt::Key_Up ? -1 : key == Qt::Key_Down ? 1 : 0;
    column += key == Qt::Key_Left ? -1 : key == Qt::Key_Right ? 1 : 0;
    return std::clamp(row, 0, rowCount() - 1) * columnCount() +
           std::clamp(column, 0, columnCount() - 1);
}

void TileView::activate(int item) {
    const std::vector<int>& devices = array_.holdersOf(tileOf(item));
    if (devices.empty()) {
        return;
    }
    emit deviceActivated(nextOwner(devices, selected_));
}

QRectF TileView::Layout::tile(int row, int column) const {
    const auto r = static_cast<std::size_t>(row);
    const auto c = static_cast<std::size_t>(column);
    return {QPointF(columns.starts[c], rows.starts[r]), QPointF(columns.ends[c], rows.ends[r])};
}

QRectF TileView::Layout::whole(int row, int column) const {
    const auto r = static_cast<std::size_t>(row);
    const auto c = static_cast<std::size_t>(column);
    return {QPointF(columns.starts[c], rows.starts[r]),
            QPointF(columns.starts[c + 1], rows.starts[r + 1])};
}

qint64 TileView::extent(int axis) const {
    qint64 sum = 0;
    if (axis >= 0) {
        for (const TileSpan& span : array_.dims[static_cast<std::size_t>(axis)]) {
            sum += span.extent();
        }
    }
    return std::max<qint64>(1, sum);
}

double TileView::ratio() const {
    return static_cast<double>(extent(column_axis_)) / static_cast<double>(extent(row_axis_));
}

TileView::Edges TileView::edgesOf(int axis, double start, double length) const {
    static const std::vector<TileSpan> kOne = {{0, 1, 0}};
    const std::vector<TileSpan>& spans =
        axis < 0 ? kOne : array_.dims[static_cast<std::size_t>(axis)];
    const double scale = length / static_cast<double>(extent(axis));
    double widened = 0;
    qint64 padding = 0;
    int padded = 0;
    for (const TileSpan& span : spans) {
        padded += span.padding > 0 ? 1 : 0;
        padding += span.padding;
    }
    const auto padding_pixels = [&](const TileSpan& span) {
        const double pixels = static_cast<double>(span.padding) * scale;
        return span.padding > 0 && padded <= kMostWidened ? std::max(kLeastPadding, pixels)
                                                          : pixels;
    };
    for (const TileSpan& span : spans) {
        widened += padding_pixels(span);
    }
    const double real = static_cast<double>(std::max<qint64>(1, extent(axis) - padding));
    const double real_scale = std::max(0.0, length - widened) / real;
    Edges edges;
    double at = start;
    for (const TileSpan& span : spans) {
        edges.starts.push_back(std::round(at));
        at += static_cast<double>(span.count) * real_scale;
        edges.ends.push_back(std::round(at));
        at += padding_pixels(span);
    }
    edges.starts.push_back(std::round(start + length));
    return edges;
}

TileView::Layout TileView::layoutFor(const QSizeF& view_size) const {
    const double line = lineHeight(TextStyle::MonoSmall);
    const double left = rowTextWidth();
    QRectF room(left, 0, std::max(kShortestSide, view_size.width() - left - 2.0),
                std::max(kShortestSide, view_size.height() - 1.0));
    const double above = column_axis_ >= 0 ? line + 2.0 : 0.0;
    const double below = column_axis_ >= 0 ? line + 2.0 : 0.0;
    Layout out;
    QSizeF box;
    room.setHeight(std::max(kShortestSide, room.height() - above - below));
    if (array_.rank() == 0) {
        const double side = std::min({kSquare, room.width(), room.height()});
        box = {side, side};
    } else if (row_axis_ < 0) {
        box = {room.width(), std::min(kStrip, room.height())};
    } else {
        const double own = ratio();
        const auto fitted = [&] {
            return own * room.height() >= room.width() ? QSizeF(room.width(), room.width() / own)
                                                       : QSizeF(room.height() * own, room.height());
        };
        box = fitted();
        // A shorter side that takes all the room cannot be drawn longer.
        const bool fills = box.width() < box.height() ? box.width() >= room.width()
                                                      : box.height() >= room.height();
        out.to_scale = fills || std::min(box.width(), box.height()) >= kThinSide;
        if (!out.to_scale) {
            room.setHeight(
                std::max(kShortestSide, room.height() - line)); // for the words that say so
            box = fitted();
            const auto drawn = [](double side) {
                return side >= kThinSide
                           ? side
                           : std::max(kShortestSide,
                                      kThinSide / (1.0 + kThinning * std::log2(kThinSide / side)));
            };
            box = {std::min(room.width(), drawn(box.width())),
                   std::min(room.height(), drawn(box.height()))};
        }
    }
    const double x = std::round(room.left() + (room.width() - box.width()) / 2.0);
    const double y = std::round(above + (room.height() - box.height()) / 2.0);
    out.box = {x, y, std::round(box.width()), std::round(box.height())};
    out.columns = edgesOf(column_axis_, x, out.box.width());
    out.rows = edgesOf(row_axis_, y, out.box.height());
    return out;
}

double TileView::rowTextWidth() const {
    if (row_axis_ < 0) {
        return 2.0;
    }
    const QFont mono = Theme::current().font(TextStyle::MonoSmall);
    const qint64 last = array_.shape[static_cast<std::size_t>(row_axis_)];
    double width = textWidth(mono, QString::number(last));
    if (rowCount() > 1) {
        width = std::max(width, textWidth(mono, QStringLiteral("[%1:%1]").arg(last)));
    }
    return std::ceil(width) + 8.0;
}

} // namespace weft::widgets
