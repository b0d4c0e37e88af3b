// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/stage_strip.h"

#include "widgets/mesh/axis_chip.h"

#include <QDragEnterEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::widgets {
namespace {

constexpr double kStageSide = 2.0;
constexpr double kLayerBox = 24.0; // height of a layer's box
constexpr double kBand = 4.0;      // that marks a part
constexpr double kGrab = 5.0;      // on either side of a border
constexpr double kBorderHandle = 5.0;
constexpr double kLeastNamed = 14.0;

double boxTop() {
    return kBand + kStageSide;
}

double wordsTop() {
    return boxTop() + kLayerBox + kStageSide;
}

} // namespace

StageStrip::StageStrip(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Layers over the stages"));
    setAcceptDrops(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void StageStrip::setParts(std::vector<StripLayer> layers, std::vector<int> counts, int stages) {
    layers_ = std::move(layers);
    counts_ = std::move(counts);
    stages_ = stages;
    dragged_ = -1;
    sums_.assign(1, 0.0);
    for (const StripLayer& layer : layers_) {
        sums_.push_back(sums_.back() + std::max(0.0, layer.work));
    }
    describe();
    itemsChanged();
}

void StageStrip::setEqual(bool equal) {
    equal_ = equal;
    update();
}

void StageStrip::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

int StageStrip::first(int part) const {
    return std::accumulate(counts_.begin(), counts_.begin() + part, 0);
}

double StageStrip::share(int part) const {
    const double all = sums_.back();
    const auto from = static_cast<std::size_t>(first(part));
    const auto to = static_cast<std::size_t>(first(part + 1));
    return all > 0 ? (sums_[to] - sums_[from]) / all
                   : static_cast<double>(to - from) / static_cast<double>(layers_.size());
}

double StageStrip::edge(int layer, double width) const {
    const double all = sums_.back();
    const double at = equal_ || all <= 0
                          ? static_cast<double>(layer) / static_cast<double>(layers_.size())
                          : sums_[static_cast<std::size_t>(layer)] / all;
    return std::round(kStageSide + at * (width - 2 * kStageSide));
}

QRectF StageStrip::partRect(int part, double width) const {
    const double left = edge(first(part), width);
    return {left, 0, edge(first(part + 1), width) - left,
            wordsTop() + 2 * lineHeight(TextStyle::Caption)};
}

QString StageStrip::partName(int part) const {
    return parts() > stages_ ? tr("stage %1.%2").arg(part % stages_).arg(part / stages_)
                             : tr("stage %1").arg(part);
}

int StageStrip::itemCount() const {
    return std::max(0, 2 * parts() - 1);
}

ViewItem StageStrip::item(int index) const {
    const int part = index / 2;
    if (index % 2 == 0) {
        const int from = first(part);
        const int to = first(part + 1) - 1;
        const QString name = layers_[static_cast<std::size_t>(from)].name;
        const QString range =
            from == to ? name
                       : tr("%1 to %2").arg(name, layers_[static_cast<std::size_t>(to)].name);
        return {partRect(part, width()),
                tr("%1: %n layer(s), %2, %3 % of the work", nullptr, to - from + 1)
                    .arg(partName(part), range)
                    .arg(share(part) * 100, 0, 'f', 1),
                {}};
    }
    const double x = edge(first(part + 1), width());
    return {QRectF(x - kGrab, 0, 2 * kGrab, wordsTop()),
            tr("border between %1 and %2, behind %n layer(s)", nullptr, first(part + 1))
                .arg(partName(part), partName(part + 1)),
            tr("Drag the border, or move it with Left and Right")};
}

int StageStrip::hitTest(const QPointF& position) const {
    for (int border = 0; border + 1 < parts(); ++border) {
        if (item(2 * border + 1).rect.contains(position)) {
            return 2 * border + 1;
        }
    }
    for (int part = 0; part < parts(); ++part) {
        if (partRect(part, width()).contains(position)) {
            return 2 * part;
        }
    }
    return -1;
}

QSize StageStrip::sizeHint() const {
    return {360, static_cast<int>(wordsTop() + 2 * lineHeight(TextStyle::Caption))};
}

QSize StageStrip::minimumSizeHint() const {
    return {120, sizeHint().height()};
}

bool StageStrip::moveBorder(int border, int layer) {
    const int from = first(border);
    const int to = first(border + 2);
    const int at = std::clamp(layer, from + 1, to - 1);
    const auto b = static_cast<std::size_t>(border);
    if (at == from + counts_[b]) {
        return false;
    }
    counts_[b] = at - from;
    counts_[b + 1] = to - at;
    describe();
    itemsChanged();
    return true;
}

void StageStrip::describe() {
    QStringList texts;
    for (int part = 0; part < parts(); ++part) {
        texts.append(item(2 * part).name);
    }
    setAccessibleDescription(texts.join(QStringLiteral("; ")));
}

void StageStrip::mousePressEvent(QMouseEvent* event) {
    PaintedView::mousePressEvent(event);
    const int hit = hitTest(event->position());
    if (event->button() == Qt::LeftButton && hit >= 0 && hit % 2 == 1) {
        dragged_ = hit / 2;
        before_ = counts_;
        setCursorItem(hit);
    }
}

void StageStrip::mouseMoveEvent(QMouseEvent* event) {
    if (dragged_ < 0) {
        PaintedView::mouseMoveEvent(event);
        const int hit = hitTest(event->position());
        setCursor(hit >= 0 && hit % 2 == 1 ? Qt::SplitHCursor : Qt::ArrowCursor);
        return;
    }
    // The layer whose begin is nearest to the pointer.
    int nearest = 0;
    for (int layer = 1; layer <= static_cast<int>(layers_.size()); ++layer) {
        if (std::abs(edge(layer, width()) - event->position().x()) <
            std::abs(edge(nearest, width()) - event->position().x())) {
            nearest = layer;
        }
    }
    moveBorder(dragged_, nearest);
}

void StageStrip::mouseReleaseEvent(QMouseEvent* event) {
    if (dragged_ < 0) {
        PaintedView::mouseReleaseEvent(event);
        return;
    }
    dragged_ = -1;
    if (counts_ != before_) {
        emit countsChosen(counts_);
    }
}

void StageStrip::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const int cursor = cursorItem();
    if (key == Qt::Key_Escape && dragged_ >= 0) {
        dragged_ = -1;
        counts_ = before_;
        describe();
        itemsChanged();
    } else if (cursor >= 0 && cursor % 2 == 1 && (key == Qt::Key_Left || key == Qt::Key_Right)) {
        if (moveBorder(cursor / 2, first(cursor / 2 + 1) + (key == Qt::Key_Left ? -1 : 1))) {
            emit countsChosen(counts_);
        }
    } else {
        PaintedView::keyPressEvent(event);
    }
}

void StageStrip::dragEnterEvent(QDragEnterEvent* event) {
    if (!axisOf(event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
        drop_ = true;
        update();
    }
}

void StageStrip::dragLeaveEvent(QDragLeaveEvent*) {
    drop_ = false;
    update();
}

void StageStrip::dropEvent(QDropEvent* event) {
    drop_ = false;
    update();
    const QString axis = axisOf(event->mimeData());
    if (!axis.isEmpty()) {
        event->acceptProposedAction();
        emit axisDropped(axis);
    }
}

void StageStrip::paintPart(QPainter& painter, int part, double width) const {
    const Theme& theme = Theme::current();
    const QRectF rect = partRect(part, width);
    const QRectF inner = rect.adjusted(1, 0, -1, 0);
    painter.fillRect(QRectF(inner.left(), 0, inner.width(), kBand), theme.series(part % stages_));
    double most = 0;
    for (int other = 0; other < parts(); ++other) {
        most = std::max(most, share(other));
    }
    const bool dearest = parts() > 1 && share(part) >= most;
    const QRectF line(inner.left(), wordsTop(), inner.width(), lineHeight(TextStyle::Caption));
    paintText(painter, line, Qt::AlignHCenter | Qt::AlignVCenter,
              inner.width() < textWidth(theme.font(TextStyle::Caption), partName(part))
                  ? QString::number(part % stages_)
                  : partName(part),
              theme.font(TextStyle::Caption), theme.color(Role::Muted));
    paintText(painter, line.translated(0, line.height()), Qt::AlignHCenter | Qt::AlignVCenter,
              tr("%1 %").arg(std::lround(share(part) * 100)),
              theme.font(dearest ? TextStyle::CaptionStrong : TextStyle::Caption),
              theme.color(dearest ? Role::Text : Role::Muted));
}

void StageStrip::paintLayers(QPainter& painter, double width) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    int layer = 0;
    for (int part = 0; part < parts(); ++part) {
        const QColor fill = mixed(theme.series(part % stages_), theme.color(Role::Surface), 0.18);
        for (const int end = layer + counts_[static_cast<std::size_t>(part)]; layer < end;
             ++layer) {
            const double left = edge(layer, width);
            const double gap = edge(layer + 1, width) - left > 4 ? 1.0 : 0.0;
            const QRectF box(left + gap, boxTop(), edge(layer + 1, width) - left - 2 * gap,
                             kLayerBox);
            painter.fillRect(box, fill);
            const QString name = layers_[static_cast<std::size_t>(layer)].name;
            const QString number = name.section(QLatin1Char('.'), -1);
            const QString shown =
                textWidth(font, name) + kBorderHandle < box.width() ? name : number;
            if (box.width() >= kLeastNamed && textWidth(font, shown) < box.width()) {
                paintText(painter, box, Qt::AlignCenter, shown, font, theme.color(Role::Text),
                          Qt::ElideNone);
            }
        }
    }
}

void StageStrip::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    if (layers_.empty()) {
        return;
    }
    if (stale_) {
        painter.setOpacity(kStaleOpacity);
    }
    paintLayers(painter, view_size.width());
    for (int part = 0; part < parts(); ++part) {
        paintPart(painter, part, view_size.width());
    }
    for (int border = 0; border + 1 < parts(); ++border) {
        const double x = edge(first(border + 1), view_size.width());
        const bool active = border == dragged_ || hoveredItem() == 2 * border + 1;
        const QColor color = theme.color(active ? Role::Accent : Role::Text);
        painter.fillRect(QRectF(x - 1, 0, 2, wordsTop()), color);
        paintSurface(painter,
                     QRectF(x - kBorderHandle / 2 - 1, boxTop() + kLayerBox / 2 - kBorderHandle,
                            kBorderHandle + 2, 2 * kBorderHandle),
                     2.0, theme.color(Role::Surface), color, Qt::SolidLine, active ? 2.0 : 1.0);
    }
    if (drop_) {
        paintSurface(painter, QRectF({0, 0}, QSizeF(view_size.width(), wordsTop())), size::kRadius,
                     {}, theme.color(Role::Accent), Qt::DashLine, 2.0);
    }
}

} // namespace weft::widgets
