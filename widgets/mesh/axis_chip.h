// SPDX-License-Identifier: GPL-3.0-or-later
// Small parts by which the axes of a mesh are moved about: the grip that starts a drag, the tag of
// an axis that can be taken away, the place where one can be dropped. A drag carries the axis by
// name.
#pragma once

#include "widgets/look/theme.h"

#include <QAbstractButton>

class QMimeData;

namespace weft::widgets {

/// What a drag of an axis carries; the caller owns it.
QMimeData* axisMime(const QString& axis);
/// The axis that is dragged; empty: something else is.
QString axisOf(const QMimeData* data);

/// Six dots and the name of an axis, to drag it by. Left and Right ask for the place before and
/// behind, Delete asks to take it away.
class AxisGrip : public QAbstractButton {
    Q_OBJECT
public:
    explicit AxisGrip(const QString& axis, QWidget* parent = nullptr);
    QSize sizeHint() const override;

signals:
    /// -1: one place up front, 1: one behind.
    void moveRequested(int step);
    void removeRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QString axis_;
    QPoint pressed_;
};

/// The name of an axis, with a cross that takes it away. A click beside the cross, Enter and Space
/// are `clicked`; Delete and Backspace are the cross.
class AxisTag : public QAbstractButton {
    Q_OBJECT
public:
    explicit AxisTag(const QString& axis, QWidget* parent = nullptr);
    void setRemovable(bool removable);
    bool isRemovable() const { return removable_; }
    /// Of the cross, in widget coordinates.
    QRect crossRect() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void removeRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    bool removable_ = true;
};

/// A dashed place: something can be dropped here, or chosen by a click. Short, it shows a plus.
class DropSlot : public QAbstractButton {
    Q_OBJECT
public:
    enum class State { Empty, Welcome, Refused };

    explicit DropSlot(const QString& words, QWidget* parent = nullptr);
    void setShort(bool is_short);
    /// Of a place that is not short.
    int fullWidth() const;
    /// What a drop would do, or why it does nothing.
    void setState(State state, const QString& words = {});
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QString shownText() const;
    int widthOf(const QString& text) const;

    QString words_;
    State state_ = State::Empty;
    bool short_ = false;
};

} // namespace weft::widgets
