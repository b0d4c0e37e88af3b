// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/sketch_pad.h"

#include "widgets/controls/card.h"
#include "widgets/look/painting.h"

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QImageReader>
#include <QMimeData>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr std::size_t kMostUndo = 100;
constexpr double kPenShare = 14.0; // a stroke is so many times thinner than the picture

} // namespace

SketchPad::SketchPad(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAcceptDrops(true);
    setCursor(Qt::CrossCursor);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Drawing"));
    setFormat(28, 28, 1);
}

int SketchPad::heightForWidth(int width) const {
    return image_.width() > 0 ? width * image_.height() / image_.width() : width;
}

void SketchPad::setFormat(int width, int height, int channels) {
    const QSize size(std::max(1, width), std::max(1, height));
    if (image_.size() == size && channels_ == channels) {
        return;
    }
    channels_ = channels;
    image_ = QImage(size, channels == 1 ? QImage::Format_Grayscale8 : QImage::Format_RGB888);
    image_.fill(Qt::black);
    pen_ = QPoint(size.width() / 2, size.height() / 2);
    undo_.clear();
    subject_.clear();
    updateGeometry();
    describe();
}

void SketchPad::clear() {
    if (!isBlank()) {
        remember();
    }
    image_.fill(Qt::black);
    subject_.clear();
    describe();
    emit changed();
}

void SketchPad::setImage(const QImage& image) {
    remember();
    // The middle part, in the picture's proportions.
    const QImage scaled =
        image.scaled(image_.size(), Qt::KeepAspectRatioByExpanding, Qt::SmoothTransformation);
    QImage next(image_.size(), QImage::Format_RGB888);
    next.fill(Qt::black);
    QPainter painter(&next);
    painter.drawImage(
        QPointF((next.width() - scaled.width()) / 2.0, (next.height() - scaled.height()) / 2.0),
        scaled);
    painter.end();
    image_ = next.convertToFormat(image_.format());
    subject_.clear();
    describe();
    emit changed();
}

void SketchPad::setSubject(const QString& subject) {
    subject_ = subject;
    describe();
}

void SketchPad::undo() {
    if (!undo_.empty()) {
        image_ = std::move(undo_.back());
        undo_.pop_back();
        subject_.clear();
        describe();
        emit changed();
    }
}

void SketchPad::remember() {
    undo_.push_back(image_);
    if (undo_.size() > kMostUndo) {
        undo_.erase(undo_.begin());
    }
}

bool SketchPad::isBlank() const {
    const std::vector<float> all = values();
    return std::all_of(all.begin(), all.end(), [](float value) { return value == 0.0f; });
}

std::vector<float> SketchPad::values() const {
    std::vector<float> out;
    const auto row = static_cast<std::size_t>(image_.width() * channels_);
    out.reserve(row * static_cast<std::size_t>(image_.height()));
    for (int y = 0; y < image_.height(); ++y) {
        const uchar* line = image_.constScanLine(y);
        for (std::size_t i = 0; i < row; ++i) {
            out.push_back(static_cast<float>(line[i]) / 255.0f);
        }
    }
    return out;
}

void SketchPad::describe() {
    const QString size = tr("%1 by %2 pixels").arg(image_.width()).arg(image_.height());
    setAccessibleDescription(subject_.isEmpty() ? isBlank() ? tr("blank, %1").arg(size) : size
                                                : tr("%1, %2").arg(subject_, size));
    update();
}

QRectF SketchPad::pictureRect() const {
    QRectF rect(QPointF(0, 0), QSizeF(image_.size()).scaled(QSizeF(size()), Qt::KeepAspectRatio));
    rect.moveCenter(QRectF(this->rect()).center());
    return rect;
}

QPointF SketchPad::toPicture(const QPointF& position) const {
    const QRectF rect = pictureRect();
    return {(position.x() - rect.left()) / rect.width() * image_.width(),
            (position.y() - rect.top()) / rect.height() * image_.height()};
}

void SketchPad::stroke(const QPointF& from, const QPointF& to, bool rub) {
    QPainter painter(&image_);
    painter.setRenderHint(QPainter::Antialiasing);
    const double width = std::max(1.0, std::max(image_.width(), image_.height()) / kPenShare);
    const QColor color = rub ? Qt::black : Qt::white;
    const double wide = rub ? width * 1.5 : width;
    if (from == to) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawEllipse(to, wide / 2, wide / 2); // a point would be drawn a pixel off
    } else {
        painter.setPen(QPen(color, wide, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawLine(from, to);
    }
    painter.end();
    subject_.clear();
    describe();
    emit changed();
}

void SketchPad::mousePressEvent(QMouseEvent* event) {
    keyboard_ = false;
    if (event->button() == Qt::LeftButton || event->button() == Qt::RightButton) {
        drawing_ = true;
        rubbing_ = event->button() == Qt::RightButton;
        remember();
        last_ = toPicture(event->position());
        stroke(last_, last_, rubbing_);
    }
}

void SketchPad::mouseMoveEvent(QMouseEvent* event) {
    if (drawing_) {
        const QPointF next = toPicture(event->position());
        stroke(last_, next, rubbing_);
        last_ = next;
    }
}

void SketchPad::mouseReleaseEvent(QMouseEvent*) {
    drawing_ = false;
}

void SketchPad::keyPressEvent(QKeyEvent* event) {
    const auto move = [this](int dx, int dy) {
        pen_ = QPoint(std::clamp(pen_.x() + dx, 0, image_.width() - 1),
                      std::clamp(pen_.y() + dy, 0, image_.height() - 1));
        keyboard_ = true;
        update();
    };
    const QPointF at(pen_.x() + 0.5, pen_.y() + 0.5);
    if (event->matches(QKeySequence::Undo)) {
        undo();
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left: move(-1, 0); return;
    case Qt::Key_Right: move(1, 0); return;
    case Qt::Key_Up: move(0, -1); return;
    case Qt::Key_Down: move(0, 1); return;
    case Qt::Key_Space:
    case Qt::Key_Backspace:
        keyboard_ = true;
        remember();
        stroke(at, at, event->key() == Qt::Key_Backspace);
        return;
    case Qt::Key_Delete: clear(); return;
    default: QWidget::keyPressEvent(event);
    }
}

void SketchPad::focusInEvent(QFocusEvent* event) {
    keyboard_ = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QWidget::focusInEvent(event);
    update();
}

void SketchPad::focusOutEvent(QFocusEvent* event) {
    keyboard_ = false;
    QWidget::focusOutEvent(event);
    update();
}

void SketchPad::dragEnterEvent(QDragEnterEvent* event) {
    if (canTake(event->mimeData())) {
        event->acceptProposedAction();
    }
}

void SketchPad::dropEvent(QDropEvent* event) {
    take(event->mimeData());
}

bool SketchPad::canTake(const QMimeData* data) {
    return !localPaths(data).isEmpty() || data->hasImage();
}

void SketchPad::take(const QMimeData* data) {
    if (data->hasImage()) {
        setImage(qvariant_cast<QImage>(data->imageData()));
        return;
    }
    const QStringList paths = localPaths(data);
    if (paths.isEmpty()) {
        return;
    }
    QImageReader reader(paths.front());
    reader.setAutoTransform(true);
    const QImage image = reader.read();
    if (image.isNull()) {
        emit rejected(paths.front());
        return;
    }
    setImage(image);
    setSubject(paths.front().section('/', -1));
}

void SketchPad::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::EnabledChange) {
        update();
    }
}

void SketchPad::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    const QRectF rect = pictureRect();
    painter.setRenderHint(QPainter::SmoothPixmapTransform, image_.width() > rect.width());
    painter.drawImage(rect, image_);
    painter.setRenderHint(QPainter::Antialiasing);
    paintSurface(painter, rect, 0, {}, theme.color(Role::Border));
    if (isEnabled() && isBlank() && !keyboard_) {
        paintText(painter, rect, Qt::AlignCenter, tr("Draw here, or drop a picture"),
                  theme.font(TextStyle::Caption), QColor(Qt::white), Qt::ElideNone);
    }
    if (hasFocus() && keyboard_) {
        const double side = rect.width() / image_.width();
        paintSurface(painter,
                     QRectF(rect.left() + pen_.x() * side, rect.top() + pen_.y() * side, side, side)
                         .adjusted(-1, -1, 1, 1),
                     0, {}, theme.color(Role::Accent), Qt::SolidLine, 2.0);
        paintFocus(painter, rect, size::kRadius);
    }
}

} // namespace weft::widgets
