// SPDX-License-Identifier: GPL-3.0-or-later
// Devices as cells along the axes of their mesh.
#include "widgets/mesh/device_grid.h"
#include "widgets/mesh/device_palette.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <map>

namespace weft::widgets {
namespace {

constexpr double kMostCell = 112.0;
constexpr double kDimStrip = 0.24; // of shards other than the selected one
constexpr double kLeastOutlined = 10.0;
constexpr double kLeastTextStrip = 28.0; // height of a cell with its number
constexpr int kMostPatterned = 256;      // more cells are filled without patterns
constexpr double kLeastPeakLine = 20.0;  // height of a cell
constexpr int kMostMeasuredBlocks = 64;  // with what their devices need beside their name
constexpr double kLeastFilled = 12.0;    // lower, no amount can be read off a cell

/// The first of 1, 2, 4, 8 ... labels that does not run into the next.
int labelStep(double pitch, double label) {
    int step = 1;
    while (step * pitch < label && step < (1 << 20)) {
        step *= 2;
    }
    return step;
}

} // namespace

/// Rectangles by colour: thousands of cells are drawn with a few calls.
struct DeviceGrid::Batch {
    std::vector<QRectF> empty;
    std::map<QRgb, std::vector<QRectF>> plain; // do not overlap
    std::vector<std::pair<QRectF, MemoryCategory>> patterned;
    bool patterns = false;
    std::vector<QColor> colors;
    std::vector<QColor> dim;

    void add(const QRectF& rect, const QColor& color) { plain[color.rgba()].push_back(rect); }
    void paint(QPainter& painter) const {
        const auto draw = [&painter](const QColor& color, const std::vector<QRectF>& rects) {
            painter.setBrush(color);
            painter.drawRects(rects.data(), static_cast<int>(rects.size()));
        };
        painter.setPen(Qt::NoPen);
        draw(Theme::current().color(Role::EmptyBar), empty);
        for (const auto& [color, rects] : plain) {
            draw(QColor::fromRgba(color), rects);
        }
        for (const auto& [rect, category] : patterned) {
            paintFill(painter, rect, Theme::current().memory(category), memoryFill(category));
        }
    }
};

QSizeF DeviceGrid::mostCell() {
    const double side = kMostCell * Theme::current().fontScale();
    return {side, side};
}

/// The strip on top of a cell has the colour of its shard, and its number where there is room. A
/// cell too low to be filled to scale is strip alone: which devices hold the same is then what a
/// mesh of thousands says.
double DeviceGrid::stripHeight(const QSizeF& cell) const {
    if (cell.height() < kLeastFilled) {
        return cell.height();
    }
    const double text = lineHeight(TextStyle::Caption);
    const double number =
        textWidth(Theme::current().font(TextStyle::Caption), QString::number(itemCount() - 1));
    if (cell.width() >= number + 2 && cell.height() >= std::max(kLeastTextStrip, 2 * text)) {
        return text;
    }
    return std::clamp(std::round(cell.height() / 4.0), 1.0, 5.0);
}

void DeviceGrid::paintCells(QPainter& painter, const Frame& frame,
                            const std::vector<QColor>& colors) const {
    const double strip = stripHeight(frame.places.cell);
    Batch batch;
    batch.colors = colors;
    const QColor surface = Theme::current().color(Role::Surface);
    for (const QColor& color : colors) {
        batch.dim.push_back(mixed(color, surface, kDimStrip));
    }
    const QSizeF cell = frame.places.cell;
    batch.patterns = itemCount() <= kMostPatterned && std::min(cell.width(), cell.height()) > strip;
    for (int device = 0; device < itemCount(); ++device) {
        const QRectF rect = rectOf(device, frame);
        if (rect.intersects(frame.area)) {
            addCell(batch, device, rect, strip);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    batch.paint(painter);
    painter.setRenderHint(QPainter::Antialiasing, true);
    if (strip >= lineHeight(TextStyle::Caption)) {
        paintCellTexts(painter, frame, batch, strip);
    }
    paintMarks(painter, frame);
}

void DeviceGrid::addCell(Batch& batch, int device, const QRectF& rect, double strip) const {
    const Theme& theme = Theme::current();
    const auto d = static_cast<std::size_t>(device);
    batch.empty.push_back(rect);
    const QRectF tank = rect.adjusted(0, strip, 0, 0);
    const DeviceGroup& group = devices_->groupOf(device);
    const bool holds = shards_.shardOf(device) >= 0;
    const bool faint = selected_ >= 0 && !isLit(device);
    const QColor& color = faint ? batch.dim[d] : batch.colors[d];
    if (tank.isEmpty()) {
        const bool over = devices_->limit && group.bytes > *devices_->limit;
        const QRectF red = over ? rect.adjusted(0, rect.height() / 2.0, 0, 0) : QRectF();
        if (holds) {
            batch.add(rect.adjusted(0, 0, 0, -red.height()), color);
        }
        if (over) {
            batch.add(red, theme.color(Role::Error));
        }
        return;
    }
    const double scale = tank.height() / static_cast<double>(wholeBytes());
    const DeviceNow* now = nowOf(device);
    double y = tank.bottom();
    for (const MemorySegment& segment : now != nullptr ? now->segments : group.segments) {
        const double height = static_cast<double>(segment.bytes) * scale;
        const QRectF part(tank.left(), y - height, tank.width(), height);
        if (batch.patterns && memoryFill(segment.category) != Fill::Solid) {
            batch.patterned.emplace_back(part, segment.category);
        } else {
            batch.add(part, theme.memory(segment.category));
        }
        y -= height;
    }
    if (now != nullptr && tank.height() >= kLeastPeakLine) {
        const double peak = tank.bottom() - static_cast<double>(group.bytes) * scale;
        batch.add({tank.left(), std::floor(peak), tank.width(), 1.0}, theme.color(Role::Muted));
    }
    if (holds) {
        batch.add({rect.left(), rect.top(), rect.width(), strip}, color);
    }
}

void DeviceGrid::paintCellTexts(QPainter& painter, const Frame& frame, const Batch& batch,
                                double strip) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const double line = lineHeight(TextStyle::MonoSmall);
    const QSizeF cell = frame.places.cell;
    const bool bytes = cell.height() >= strip + 2 * line &&
                       cell.width() >= textWidth(mono, QStringLiteral("888.8 MiB")) + 4.0;
    const QColor light = theme.color(Role::Surface);
    const QColor dark = theme.color(Role::Text);
    for (int device = 0; device < itemCount(); ++device) {
        const QRectF rect = rectOf(device, frame);
        if (!rect.intersects(frame.area)) {
            continue;
        }
        const auto d = static_cast<std::size_t>(device);
        const bool holds = shards_.shardOf(device) >= 0;
        const bool faint = selected_ >= 0 && !isLit(device);
        const QColor back = !holds  ? theme.color(Role::EmptyBar)
                            : faint ? batch.dim[d]
                                    : batch.colors[d];
        paintText(painter, {rect.left(), rect.top(), rect.width(), strip}, Qt::AlignCenter,
                  QString::number(device), caption,
                  contrastRatio(light, back) >= contrastRatio(dark, back) ? light : dark,
                  Qt::ElideNone);
        if (bytes) {
            paintText(painter, {rect.left(), rect.top() + strip + 2.0, rect.width(), line},
                      Qt::AlignCenter, bytesText(device, 0), mono, theme.color(bytesRole(device)),
                      Qt::ElideNone);
        }
    }
}

void DeviceGrid::paintMarks(QPainter& painter, const Frame& frame) const {
    const Theme& theme = Theme::current();
    const QSizeF cell = frame.places.cell;
    const auto outline = [&](int device, Role role, double width) {
        const QRectF rect = rectOf(device, frame);
        if (rect.intersects(frame.area)) {
            paintSurface(painter, rect.adjusted(-1, -1, 1, 1), 1.0, {}, theme.color(role),
                         Qt::SolidLine, width);
        }
    };
    if (selected_ >= 0) {
        const int shard = shards_.shardOf(selected_);
        if (shard >= 0 && std::min(cell.width(), cell.height()) >= kLeastOutlined) {
            for (const int owner : shards_.owners[static_cast<std::size_t>(shard)]) {
                outline(owner, Role::Accent, 1.0);
            }
        }
        outline(selected_, Role::Accent, 2.0);
    }
    if (hoveredItem() >= 0) {
        outline(hoveredItem(), Role::Text, 1.0);
    }
}

/// The axes that run down and across stand beside the devices, the others above each block.
void DeviceGrid::paintAxes(QPainter& painter, const Frame& frame) const {
    paintColumnLabels(painter, frame);
    paintRowLabels(painter, frame);
    if (frame.places.caption <= 0.0) {
        return;
    }
    const Theme& theme = Theme::current();
    painter.save();
    if (zoom_ > 1.0) {
        painter.setClipRect(frame.area);
    }
    const DevicePlaces& places = frame.places;
    const QFont caption = theme.font(TextStyle::Caption);
    // Of what a caption may say as much as all of them have room for.
    const double room = places.block(0).width();
    std::vector<QString> texts;
    double widest = 0;
    bool named = true;
    for (const auto& [names, bytes] :
         {std::pair(true, true), {false, true}, {true, false}, {false, false}}) {
        if (bytes && places.blocks() > kMostMeasuredBlocks) {
            continue;
        }
        named = names;
        texts.clear();
        widest = 0;
        for (int block = 0; block < places.blocks(); ++block) {
            texts.push_back(
                blockText(block, places, names) +
                (bytes ? QStringLiteral(" · ") + blockBytes(block, places) : QString()));
            widest = std::max(widest, std::ceil(textWidth(caption, texts.back())));
        }
        if (widest <= room) {
            break;
        }
    }
    const int step = labelStep(room + places.block_gap, widest + 2.0);
    for (int block = 0; block < places.blocks(); ++block) {
        const QRectF rect = places.block(block).translated(frame.area.topLeft() - offset_);
        if (block % places.block_columns % step == 0 && rect.intersects(frame.area)) {
            paintText(painter,
                      {rect.left(), rect.top(), std::max(rect.width(), widest), places.caption},
                      Qt::AlignLeft | Qt::AlignVCenter, texts[static_cast<std::size_t>(block)],
                      caption, theme.color(Role::Text), Qt::ElideNone);
        }
    }
    painter.restore();
    if (!named) { // the axes are named once
        paintText(painter,
                  {0, frame.area.top() - offset_.y(), frame.labels - space::kTight, places.caption},
                  Qt::AlignRight | Qt::AlignVCenter, blockAxes(places), caption,
                  theme.color(Role::Text));
    }
}

/// The axes whose places are blocks, major to minor.
std::vector<int> DeviceGrid::outerAxes(const DevicePlaces& places) const {
    std::vector<int> out;
    for (int axis = 0; axis < lastAxis(); ++axis) {
        const bool inside = axis == beforeAxis() && !places.folded_columns && !places.folded_rows;
        if (devices_->axes[static_cast<std::size_t>(axis)].size > 1 && !inside) {
            out.push_back(axis);
        }
    }
    return out;
}

/// What the device of a block needs that needs most.
QString DeviceGrid::blockBytes(int block, const DevicePlaces& places) const {
    const int each = places.rows * places.columns;
    qint64 most = 0;
    for (int device = block * each; device < std::min(itemCount(), (block + 1) * each); ++device) {
        most = std::max(most, devices_->groupOf(device).bytes);
    }
    return formatMemory(most);
}

/// "pipeline·data"
QString DeviceGrid::blockAxes(const DevicePlaces& places) const {
    QStringList names;
    for (const int axis : outerAxes(places)) {
        names.append(devices_->axes[static_cast<std::size_t>(axis)].name);
    }
    return names.join(QStringLiteral("·"));
}

/// "pipeline 2 · data 0-31", or the numbers alone.
QString DeviceGrid::blockText(int block, const DevicePlaces& places, bool named) const {
    const std::vector<int> at = devices_->coordinates(block * places.rows * places.columns);
    QStringList out;
    for (const int axis : outerAxes(places)) {
        const int first = at[static_cast<std::size_t>(axis)];
        const bool range = axis == beforeAxis() && places.folded_rows && places.rows > 1;
        const QString number = range
                                   ? QStringLiteral("%1-%2").arg(first).arg(first + places.rows - 1)
                                   : QString::number(first);
        out.append(named ? devices_->axes[static_cast<std::size_t>(axis)].name + QLatin1Char(' ') +
                               number
                         : number);
    }
    return out.join(named ? QStringLiteral(" · ") : QStringLiteral("·"));
}

/// "model 0–7 across": where numbers have no room beside devices, their axis says which there are.
void DeviceGrid::paintRange(QPainter& painter, const QRectF& rect, int axis, bool across) const {
    const DeviceAxis& own = devices_->axes[static_cast<std::size_t>(axis)];
    const QString text = (across ? tr("%1 0–%2 across") : tr("%1 0–%2 down"))
                             .arg(own.name)
                             .arg(formatCount(own.size - 1));
    const Theme& theme = Theme::current();
    paintText(painter, rect, across ? Qt::AlignLeft : Qt::AlignCenter, text,
              theme.font(TextStyle::Caption), theme.color(Role::Muted));
}

void DeviceGrid::paintColumnLabels(QPainter& painter, const Frame& frame) const {
    const int axis = lastAxis();
    if (axis < 0 || frame.places.folded_columns) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QColor muted = theme.color(Role::Muted);
    const double line = lineHeight(TextStyle::Caption);
    const DevicePlaces& places = frame.places;
    const double label = textWidth(caption, QString::number(places.columns - 1)) + 4.0;
    const int step = labelStep(places.cell.width() + places.gap, label);
    if (step >= places.columns) { // of each block the first alone
        paintRange(painter, {frame.area.left(), 0, frame.area.width(), line}, axis, true);
        return;
    }
    paintText(painter, {0, 0, frame.labels - space::kTight, line}, Qt::AlignRight,
              devices_->axes[static_cast<std::size_t>(axis)].name, caption, muted);
    for (int block = 0; block < std::min(places.block_columns, places.blocks()); ++block) {
        for (int column = 0; column < places.columns; column += step) {
            const QRectF cell = rectOf(block * places.rows * places.columns + column, frame);
            QRectF place(0, 0, label, line);
            place.moveLeft(cell.center().x() - label / 2.0);
            if (column == 0) { // beside the name of the axis, over none of the block before
                place.moveLeft(std::max(place.left(), cell.left()));
            }
            if (place.left() >= frame.labels - label / 2.0 &&
                place.right() <= frame.area.right() + label / 2.0) {
                paintText(painter, place, Qt::AlignHCenter, QString::number(column), caption, muted,
                          Qt::ElideNone);
            }
        }
    }
}

void DeviceGrid::paintRowLabels(QPainter& painter, const Frame& frame) const {
    const DevicePlaces& places = frame.places;
    const int axis = places.folded_columns ? lastAxis() : beforeAxis();
    if (axis < 0 || places.folded_rows || places.rows == 1) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QColor muted = theme.color(Role::Muted);
    const double line = lineHeight(TextStyle::Caption);
    const int each = places.folded_columns ? places.columns : 1;
    const int step = labelStep(places.cell.height() + places.gap, line);
    const bool numbered = step < places.rows; // else each block has the first alone
    for (int block = 0; numbered && block < places.blocks(); block += places.block_columns) {
        for (int row = 0; row < places.rows; row += step) {
            const QRectF cell = rectOf(
                std::min(places.count - 1, (block * places.rows + row) * places.columns), frame);
            // Beside its devices, not beside the caption above them.
            const double top = row == 0 && places.caption > 0 ? cell.top() : 0.0;
            const QRectF place(line, std::max(top, cell.center().y() - line / 2.0),
                               frame.labels - line - space::kTight, line);
            if (place.top() >= frame.area.top() - line / 2.0 &&
                place.bottom() <= frame.area.bottom() + line / 2.0) {
                paintText(painter, place, Qt::AlignRight | Qt::AlignVCenter,
                          QString::number(row * each), caption, muted, Qt::ElideNone);
            }
        }
    }
    const double height = std::min(places.extent().height(), frame.area.height());
    painter.save();
    painter.translate(0, frame.area.top() + height);
    painter.rotate(-90);
    if (numbered) {
        paintText(painter, {0, 0, height, line}, Qt::AlignCenter,
                  devices_->axes[static_cast<std::size_t>(axis)].name, caption, muted);
    } else {
        paintRange(painter, {0, 0, height, line}, axis, false);
    }
    painter.restore();
}

} // namespace weft::widgets
