// SPDX-License-Identifier: GPL-3.0-or-later
// Rounded labels: a run's state and general badges. Colour is never alone: the text says it.
#pragma once

#include "widgets/look/theme.h"

#include <QWidget>

namespace weft::widgets {

/// Paints one pill and returns the rectangle it took: left-aligned and centred in `rect`.
/// For item delegates; `icon_name` may be empty. Role::Muted gives the neutral bordered pill.
QRectF paintPill(QPainter& painter, const QRectF& rect, const QString& text, Role role,
                 const QString& icon_name = {});
QSizeF pillSize(const QString& text, bool with_icon);

/// A small rounded label: "fits this machine", "best", "csv".
class Badge : public QWidget {
    Q_OBJECT
public:
    explicit Badge(const QString& text = {}, Role role = Role::Muted, QWidget* parent = nullptr);

    QString text() const { return text_; }
    void setText(const QString& text);
    /// Keeps the room of this text: then nothing beside it moves while the text changes or is
    /// empty.
    void setWidest(const QString& text);
    void setRole(Role role);
    void setIconName(const QString& name);
    /// Square corners and monospace text, for file types and keys.
    void setTag(bool tag);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QString text_;
    QString widest_;
    QString icon_name_;
    Role role_;
    bool tag_ = false;
};

enum class RunState {
    Idle,
    Preparing,
    Running,
    Paused,
    Saving,
    Stopping,
    Finished,
    Stopped,
    Failed,
};

/// Display text ("Running") and colour role of a state; for delegates too.
QString runStateText(RunState state);
Role runStateRole(RunState state);

class StatePill : public Badge {
    Q_OBJECT
public:
    explicit StatePill(QWidget* parent = nullptr);

    RunState state() const { return state_; }
    /// `detail` goes into the tooltip and the accessible text ("writing checkpoint 42 %").
    void setState(RunState state, const QString& detail = {});

signals:
    void clicked();

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    RunState state_ = RunState::Idle;
};

} // namespace weft::widgets
