// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/axis_chip.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QApplication>
#include <QDrag>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>

#include <cmath>

namespace weft::widgets {
namespace {

constexpr const char* kMime = "application/vnd.weft.axis";
constexpr int kGripWidth = 16;
constexpr double kGripDot = 2.0;
constexpr double kGripDotPitch = 4.0;
constexpr int kCross = 12;
constexpr int kPad = 6;
constexpr int kDashedPad = 8;
constexpr QPoint kBesidePointer(-14, -18);

int tagHeight(TextStyle style) {
    return static_cast<int>(std::ceil(QFontMetricsF(Theme::current().font(style)).height())) + 6;
}

} // namespace

QMimeData* axisMime(const QString& axis) {
    auto* data = new QMimeData;
    data->setData(kMime, axis.toUtf8());
    return data;
}

QString axisOf(const QMimeData* data) {
    return data == nullptr ? QString() : QString::fromUtf8(data->data(kMime));
}

AxisGrip::AxisGrip(const QString& axis, QWidget* parent) : QAbstractButton(parent), axis_(axis) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::OpenHandCursor);
    setAccessibleName(tr("Axis %1").arg(axis));
    setToolTip(tr("Drag %1 to its place among the axes, or onto a dimension of a tensor.\n"
                  "Keys: Left and Right move it, Delete removes it.")
                   .arg(axis));
}

QSize AxisGrip::sizeHint() const {
    const double name = textWidth(Theme::current().font(TextStyle::Mono), axis_);
    return {kGripWidth + static_cast<int>(std::ceil(name)) + space::kTight,
            size::kCompactControlHeight};
}

void AxisGrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(underMouse() && isEnabled() ? Role::Text : Role::Muted));
    const QPointF middle(isRightToLeft() ? width() - kGripWidth / 2.0 : kGripWidth / 2.0,
                         height() / 2.0);
    for (int row = -1; row <= 1; ++row) {
        for (const double side : {-0.5, 0.5}) {
            painter.drawEllipse(middle + QPointF(side * kGripDotPitch, row * kGripDotPitch),
                                kGripDot / 2, kGripDot / 2);
        }
    }
    const QRectF name = isRightToLeft() ? QRectF(rect()).adjusted(space::kTight, 0, -kGripWidth, 0)
                                        : QRectF(rect()).adjusted(kGripWidth, 0, -space::kTight, 0);
    paintText(painter, name, Qt::AlignCenter, axis_, theme.font(TextStyle::Mono),
              theme.color(Role::Accent), Qt::ElideNone);
    if (hasFocus()) {
        paintFocus(painter, rect(), size::kRadius);
    }
}

void AxisGrip::changeEvent(QEvent* event) {
    QAbstractButton::changeEvent(event);
    updateGeometry();
}

void AxisGrip::mousePressEvent(QMouseEvent* event) {
    pressed_ = event->pos();
    QAbstractButton::mousePressEvent(event);
}

void AxisGrip::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & Qt::LeftButton) ||
        (event->pos() - pressed_).manhattanLength() < QApplication::startDragDistance()) {
        return;
    }
    setDown(false);
    auto* drag = new QDrag(this);
    drag->setMimeData(axisMime(axis_));
    AxisTag carried(axis_);
    carried.setRemovable(false);
    carried.resize(carried.sizeHint());
    drag->setPixmap(carried.grab());
    drag->setHotSpot(kBesidePointer); // what is said under the pointer stays readable
    drag->exec(Qt::MoveAction);
}

void AxisGrip::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Left: emit moveRequested(isRightToLeft() ? 1 : -1); return;
    case Qt::Key_Right: emit moveRequested(isRightToLeft() ? -1 : 1); return;
    case Qt::Key_Delete:
    case Qt::Key_Backspace: emit removeRequested(); return;
    default: QAbstractButton::keyPressEvent(event);
    }
}

AxisTag::AxisTag(const QString& axis, QWidget* parent) : QAbstractButton(parent) {
    setText(axis);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void AxisTag::setRemovable(bool removable) {
    removable_ = removable;
    updateGeometry();
    update();
}

QRect AxisTag::crossRect() const {
    if (!removable_) {
        return {};
    }
    return {isRightToLeft() ? 0 : width() - kCross - kPad, 0, kCross + kPad, height()};
}

QSize AxisTag::sizeHint() const {
    const double text = textWidth(Theme::current().font(TextStyle::MonoSmall), this->text());
    return {static_cast<int>(std::ceil(text)) + 2 * kPad + (removable_ ? kCross + 2 : 0),
            tagHeight(TextStyle::MonoSmall)};
}

void AxisTag::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    paintSurface(painter, rect(), size::kRadius, theme.color(Role::AccentTint),
                 theme.color(underMouse() ? Role::Accent : Role::AccentTint));
    const QRect cross = crossRect();
    QRectF words = QRectF(rect()).adjusted(kPad, 0, -kPad, 0);
    if (removable_) {
        words.setWidth(words.width() - kCross - 2);
        words.moveLeft(isRightToLeft() ? kPad + kCross + 2 : kPad);
        const QPointF middle = QRectF(cross).adjusted(0, 0, -kPad + 2, 0).center();
        paintIcon(painter,
                  QRectF(middle.x() - kCross / 2.0, middle.y() - kCross / 2.0, kCross, kCross),
                  QStringLiteral("close"), theme.color(Role::Accent));
    }
    paintText(painter, words, Qt::AlignLeft | Qt::AlignVCenter, text(),
              theme.font(TextStyle::MonoSmall), theme.color(Role::Accent), Qt::ElideNone);
    if (hasFocus()) {
        paintFocus(painter, rect(), size::kRadius);
    }
}

void AxisTag::mouseReleaseEvent(QMouseEvent* event) {
    if (isDown() && crossRect().contains(event->pos())) {
        setDown(false);
        emit removeRequested();
        return;
    }
    QAbstractButton::mouseReleaseEvent(event);
}

void AxisTag::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    if (removable_ && (key == Qt::Key_Delete || key == Qt::Key_Backspace)) {
        emit removeRequested();
    } else if (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Down) {
        click();
    } else {
        QAbstractButton::keyPressEvent(event);
    }
}

void AxisTag::changeEvent(QEvent* event) {
    QAbstractButton::changeEvent(event);
    updateGeometry();
}

DropSlot::DropSlot(const QString& words, QWidget* parent) : QAbstractButton(parent), words_(words) {
    setText(words);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void DropSlot::setShort(bool is_short) {
    if (is_short == short_) {
        return;
    }
    short_ = is_short;
    updateGeometry();
    update();
}

void DropSlot::setState(State state, const QString& words) {
    state_ = state;
    setText(words.isEmpty() ? words_ : words);
    updateGeometry();
    update();
}

QString DropSlot::shownText() const {
    return short_ && state_ == State::Empty ? QStringLiteral("+") : text();
}

int DropSlot::widthOf(const QString& text) const {
    const double width = textWidth(Theme::current().font(TextStyle::Caption), text);
    return static_cast<int>(std::ceil(width)) + 2 * kDashedPad;
}

int DropSlot::fullWidth() const {
    return widthOf(text());
}

QSize DropSlot::sizeHint() const {
    return {widthOf(shownText()), tagHeight(TextStyle::MonoSmall)};
}

void DropSlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    const Role role = state_ == State::Welcome   ? Role::Accent
                      : state_ == State::Refused ? Role::Warning
                      : underMouse()             ? Role::Text
                                                 : Role::Muted;
    paintSurface(painter, rect(), size::kRadius,
                 state_ == State::Empty ? QColor() : theme.color(tintOf(role)),
                 theme.color(state_ == State::Empty ? Role::Border : role), Qt::DashLine);
    paintText(painter, rect(), Qt::AlignCenter, shownText(), theme.font(TextStyle::Caption),
              theme.color(role), Qt::ElideRight);
    if (hasFocus()) {
        paintFocus(painter, rect(), size::kRadius);
    }
}

void DropSlot::enterEvent(QEnterEvent* event) {
    QAbstractButton::enterEvent(event);
    update();
}

void DropSlot::leaveEvent(QEvent* event) {
    QAbstractButton::leaveEvent(event);
    update();
}

void DropSlot::changeEvent(QEvent* event) {
    QAbstractButton::changeEvent(event);
    updateGeometry();
}

} // namespace weft::widgets
