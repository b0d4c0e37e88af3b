// SPDX-License-Identifier: GPL-3.0-or-later
// Where devices stand, what they are called, and how one moves among them. How they look is in
// device_grid_cards.cpp and device_grid_cells.cpp.
#include "widgets/mesh/device_grid.h"

#include "widgets/mesh/device_palette.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kZoomTurn = 1.2;  // of a notch of the wheel
constexpr double kZoomPress = 1.5; // of a key or a button
constexpr double kDragFrom = 4.0;  // pixels
constexpr double kLeastHeightWithCard = 150.0;
constexpr double kCellAspect = 1.0;
constexpr double kCardAspect = 2.2;
constexpr double kMostNameWidth = 56.0;

/// Gaps between devices and between blocks, and the least side of a device for which they are.
struct Gaps {
    double least;
    double device;
    double block;
};
constexpr Gaps kGaps[] = {{10, 2, 10}, {5, 1, 6}, {0, 0, 4}};

double shorter(const QSizeF& size) {
    return std::min(size.width(), size.height());
}

} // namespace

DeviceGrid::DeviceGrid(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Devices"));
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(this, &PaintedView::itemActivated, this, [this](int index) {
        setSelectedDevice(index == selected_ ? -1 : index);
        emit deviceSelected(selected_);
    });
    connect(this, &PaintedView::cursorChanged, this, [this](int index) {
        if (index >= 0 && zoom_ > 1.0) {
            const QRectF rect = frame(size()).places.rect(index);
            const QSizeF room = frame(size()).area.size();
            offset_.setX(std::clamp(offset_.x(), rect.right() - room.width(), rect.left()));
            offset_.setY(std::clamp(offset_.y(), rect.bottom() - room.height(), rect.top()));
            keepInside();
        }
    });
}

void DeviceGrid::setDevices(std::shared_ptr<const DeviceSet> devices) {
    const bool alike = devices_ && devices && devices_->mesh() == devices->mesh();
    devices_ = std::move(devices);
    selected_ = selected_ < itemCount() ? selected_ : -1;
    renewFrame();
    if (alike) {
        keepInside();
    } else {
        fit();
    }
    itemsChanged();
}

void DeviceGrid::setShards(ShardGroups shards) {
    shards_ = std::move(shards);
    update();
}

void DeviceGrid::setSelectedDevice(int id) {
    selected_ = id;
    update();
}

bool DeviceGrid::isLit(int device) const {
    const int shard = shards_.shardOf(selected_);
    return shard >= 0 && shards_.shardOf(device) == shard;
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

const DeviceNow* DeviceGrid::nowOf(int device) const {
    const auto group =
        static_cast<std::size_t>(devices_->group_of[static_cast<std::size_t>(device)]);
    return group < now_.size() ? &now_[group] : nullptr;
}

ViewItem DeviceGrid::item(int index) const {
    const DeviceGroup& group = devices_->groupOf(index);
    const DeviceNow* now = nowOf(index);
    QString name =
        tr("device %1, %2, %3, needs %4")
            .arg(index)
            .arg(devices_->nameOf(index), devices_->placeOf(index), formatMemory(group.bytes));
    if (devices_->limit) {
        name += *devices_->limit > 0 ? tr(" of %1").arg(formatMemory(*devices_->limit))
                                     : tr(", none free");
    }
    if (now != nullptr) {
        name += tr(", holds %1 now").arg(formatMemory(now->bytes));
        name += now->note.isEmpty() ? QString() : QStringLiteral(", ") + now->note;
    }
    if (const int shard = shards_.shardOf(index); shard >= 0 && shards_.count() > 1) {
        name += tr(", shard %1").arg(shard);
    }
    QString tooltip = name;
    for (const MemorySegment& segment : now != nullptr ? now->segments : group.segments) {
        tooltip += "\n" + memoryName(segment.category) + "  " + formatMemory(segment.bytes);
    }
    return {rectOf(index, frame(size())), name, tooltip};
}

int DeviceGrid::hitTest(const QPointF& position) const {
    const Frame& now = frame(size());
    return itemCount() > 0 && now.area.contains(position)
               ? now.places.at(position - now.area.topLeft() + offset_)
               : -1;
}

int DeviceGrid::neighbour(int index, int key) const {
    return frame(size()).places.neighbour(index, key);
}

/// What the card shows: the device that is pointed at, else the selected one, else the first.
int DeviceGrid::cardDevice() const {
    return hoveredItem() >= 0 ? hoveredItem() : selected_ >= 0 ? selected_ : 0;
}

int DeviceGrid::lastAxis() const {
    int axis = static_cast<int>(devices_->axes.size()) - 1;
    while (axis >= 0 && devices_->axes[static_cast<std::size_t>(axis)].size == 1) {
        --axis;
    }
    return axis;
}

int DeviceGrid::beforeAxis() const {
    int axis = lastAxis() - 1;
    while (axis >= 0 && devices_->axes[static_cast<std::size_t>(axis)].size == 1) {
        --axis;
    }
    return axis;
}

QRectF DeviceGrid::rectOf(int device, const Frame& frame) const {
    return frame.places.rect(device).translated(frame.area.topLeft() - offset_);
}

const DeviceGrid::Frame& DeviceGrid::frame(const QSizeF& view_size) const {
    if (!frame_ || frame_->view != view_size) {
        frame_ = makeFrame(view_size);
    }
    return *frame_;
}

DeviceGrid::Frame DeviceGrid::makeFrame(const QSizeF& view_size) const {
    Frame out;
    out.view = view_size;
    if (itemCount() == 0) {
        return out;
    }
    const double line = lineHeight(TextStyle::Caption);
    const std::vector<int> mesh = devices_->mesh();
    // Cards say their place themselves: blocks need no captions.
    PlacesRoom room{view_size,   space::kControl, space::kControl, 0,
                    leastCard(), mostCard(),      kCardAspect};
    out.area = QRectF(QPointF(0, 0), view_size);
    out.places = DevicePlaces::fitted(mesh, room);
    if (isCard(out.places.cell) && zoom_ == 1.0) {
        const QSizeF cell = out.places.cell;
        if (cell.height() < mostCard().height()) { // all on one line: no room below it
            out.places = out.places.withCells(
                {cell.width(), std::min(cell.height(), leastCard().height() + space::kGroup)});
        }
        return out;
    }
    out.detail = Detail::Cells;
    if (view_size.height() >= kLeastHeightWithCard) {
        const double height = leastCard().height();
        out.card = {0, view_size.height() - height, view_size.width(), height};
        out.area.setBottom(out.card.top() - space::kControl);
    }
    const QFont caption = Theme::current().font(TextStyle::Caption);
    double names = 0;
    for (const DeviceAxis& axis : devices_->axes) {
        names = std::max(names, textWidth(caption, axis.name));
    }
    out.labels =
        std::ceil(std::max(line + textWidth(caption, QString::number(itemCount() - 1)),
                           std::min(kMostNameWidth * Theme::current().fontScale(), names)) +
                  space::kTight + 2);
    out.area.setLeft(out.labels);
    out.area.setTop(line);
    room.size = out.area.size();
    room.caption = line;
    room.least = {0, 0};
    room.most = mostCell();
    room.aspect = kCellAspect;
    for (const Gaps& gaps : kGaps) {
        room.gap = gaps.device;
        room.block_gap = gaps.block;
        out.places = DevicePlaces::fitted(mesh, room);
        if (shorter(out.places.cell) >= gaps.least) {
            break;
        }
    }
    addZoom(out);
    return out;
}

/// Larger devices stand farther apart, and become cards.
void DeviceGrid::addZoom(Frame& frame) const {
    if (zoom_ == 1.0) {
        return;
    }
    const QSizeF most = mostCard();
    frame.places = frame.places.withCells((frame.places.cell * zoom_).boundedTo(most));
    const auto* gaps = std::find_if(std::begin(kGaps), std::end(kGaps), [&](const Gaps& one) {
        return shorter(frame.places.cell) >= one.least;
    });
    frame.places.gap = gaps->device;
    frame.places.block_gap = gaps->block;
    if (isCard(frame.places.cell)) {
        frame.detail = Detail::Cards;
        frame.places.gap = space::kControl;
        frame.places.block_gap = space::kControl;
    }
}

void DeviceGrid::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (itemCount() == 0) {
        return;
    }
    if (stale_) {
        painter.setOpacity(kStaleOpacity);
    }
    const Frame& now = frame(view_size);
    const std::vector<QColor> colors = shardPalette(shards_, devices_->mesh());
    painter.save();
    if (zoom_ > 1.0) {
        painter.setClipRect(now.area);
    }
    if (now.detail == Detail::Cards) {
        paintCards(painter, now, colors);
    } else {
        paintCells(painter, now, colors);
    }
    painter.restore();
    if (now.labels > 0) {
        paintAxes(painter, now);
    }
    if (!now.card.isEmpty()) {
        const int device = cardDevice();
        paintCard(painter, device, colors[static_cast<std::size_t>(device)], now.card, false);
    }
}

void DeviceGrid::renewFrame() {
    frame_.reset();
    update();
}

void DeviceGrid::keepInside() {
    const Frame& now = frame(size());
    const QSizeF extent = now.places.extent();
    const auto within = [](double at, double whole, double room) {
        return std::clamp(at, 0.0, std::max(0.0, whole - room));
    };
    offset_ = {within(offset_.x(), extent.width(), now.area.width()),
               within(offset_.y(), extent.height(), now.area.height())};
    update();
}

void DeviceGrid::zoomTo(double zoom, const QPointF& anchor) {
    if (itemCount() == 0 || (zoom_ == 1.0 && detail() == Detail::Cards)) {
        return; // nothing more is to be seen
    }
    const Frame before = frame(size());
    const QSizeF own = before.places.cell / zoom_;
    const QSizeF most = mostCard();
    const double largest =
        std::max({1.0, most.width() / own.width(), most.height() / own.height()});
    const double wanted = std::clamp(zoom, 1.0, largest);
    if (wanted == zoom_) {
        return;
    }
    const QPointF at = anchor - before.area.topLeft();
    const QSizeF old = before.places.extent();
    zoom_ = wanted;
    renewFrame();
    const QSizeF extent = frame(size()).places.extent();
    offset_ = QPointF((at.x() + offset_.x()) / old.width() * extent.width() - at.x(),
                      (at.y() + offset_.y()) / old.height() * extent.height() - at.y());
    keepInside();
    emit zoomChanged(zoom_);
}

void DeviceGrid::zoomStep(bool in) {
    const Frame& now = frame(size());
    const QPointF anchor = cursorItem() >= 0 ? rectOf(cursorItem(), now).center()
                           : selected_ >= 0  ? rectOf(selected_, now).center()
                                             : now.area.center();
    zoomTo(in ? zoom_ * kZoomPress : zoom_ / kZoomPress, anchor);
}

void DeviceGrid::fit() {
    offset_ = {};
    if (zoom_ != 1.0) {
        zoom_ = 1.0;
        renewFrame();
        emit zoomChanged(zoom_);
    }
}

void DeviceGrid::wheelEvent(QWheelEvent* event) {
    if (event->modifiers() & Qt::ControlModifier) {
        zoomTo(zoom_ * std::pow(kZoomTurn, event->angleDelta().y() / 120.0), event->position());
        event->accept();
    } else if (zoom_ > 1.0) {
        offset_ -= QPointF(event->angleDelta()) / 2.0;
        keepInside();
        event->accept();
    } else {
        event->ignore();
    }
}

void DeviceGrid::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomStep(true); break;
    case Qt::Key_Minus: zoomStep(false); break;
    case Qt::Key_F: fit(); break;
    default: PaintedView::keyPressEvent(event);
    }
}

void DeviceGrid::mousePressEvent(QMouseEvent* event) {
    PaintedView::mousePressEvent(event);
    dragged_ = false;
    if (event->button() == Qt::LeftButton && zoom_ > 1.0) {
        grabbed_ = event->position();
        event->accept();
    }
}

void DeviceGrid::mouseMoveEvent(QMouseEvent* event) {
    if (grabbed_) {
        const QPointF way = event->position() - *grabbed_;
        dragged_ = dragged_ || way.manhattanLength() >= kDragFrom;
        if (dragged_) {
            offset_ -= way;
            grabbed_ = event->position();
            keepInside();
            return;
        }
    }
    PaintedView::mouseMoveEvent(event);
}

// What was dragged is not chosen as well.
void DeviceGrid::mouseReleaseEvent(QMouseEvent* event) {
    grabbed_.reset();
    if (!dragged_) {
        PaintedView::mouseReleaseEvent(event);
    }
}

// What is pointed at stands in the card; what lies on it would hide that.
bool DeviceGrid::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || frame(size()).card.isEmpty()) {
        return PaintedView::event(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    if (frame(size()).card.contains(help->pos())) {
        QToolTip::showText(help->globalPos(), item(cardDevice()).tooltip, this);
    } else {
        QToolTip::hideText();
    }
    return true;
}

void DeviceGrid::resizeEvent(QResizeEvent* event) {
    PaintedView::resizeEvent(event);
    keepInside();
}

void DeviceGrid::changeEvent(QEvent* event) {
    PaintedView::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
        renewFrame();
    }
}

} // namespace weft::widgets
