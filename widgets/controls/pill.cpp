// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/pill.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QCoreApplication>
#include <QMouseEvent>

#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kPillPadding = 8.0;
constexpr double kIconSize = 12.0;
constexpr double kPillIconGap = 4.0;

double pillHeight() {
    return std::max(
        20.0, std::ceil(QFontMetricsF(Theme::current().font(TextStyle::Caption)).height()) + 4.0);
}

} // namespace

QSizeF pillSize(const QString& text, bool with_icon) {
    const double width = std::ceil(textWidth(Theme::current().font(TextStyle::Caption), text));
    return {width + 2 * kPillPadding + (with_icon ? kIconSize + kPillIconGap : 0.0), pillHeight()};
}

QRectF paintPill(QPainter& painter, const QRectF& rect, const QString& text, Role role,
                 const QString& icon_name) {
    const Theme& theme = Theme::current();
    const QSizeF wanted = pillSize(text, !icon_name.isEmpty());
    const QRectF pill(std::round(rect.left()),
                      std::round(rect.center().y() - wanted.height() / 2.0),
                      std::min(wanted.width(), rect.width()), wanted.height());
    const bool neutral = tintOf(role) == Role::Inset;
    paintSurface(painter, pill, pill.height() / 2.0, theme.color(tintOf(role)),
                 neutral ? theme.color(Role::Hairline) : QColor());
    double x = pill.left() + kPillPadding;
    if (!icon_name.isEmpty()) {
        paintIcon(painter, QRectF(x, pill.center().y() - kIconSize / 2.0, kIconSize, kIconSize),
                  icon_name, theme.color(role));
        x += kIconSize + kPillIconGap;
    }
    paintText(painter, QRectF(x, pill.top(), pill.right() - kPillPadding - x, pill.height()),
              Qt::AlignLeft | Qt::AlignVCenter, text, theme.font(TextStyle::Caption),
              theme.color(role));
    return pill;
}

Badge::Badge(const QString& text, Role role, QWidget* parent)
    : QWidget(parent), text_(text), role_(role) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(text);
}

void Badge::setText(const QString& text) {
    if (text == text_) {
        return;
    }
    text_ = text;
    setAccessibleName(text);
    if (widest_.isEmpty()) {
        updateGeometry();
    }
    update();
}

void Badge::setWidest(const QString& text) {
    widest_ = text;
    updateGeometry();
}

void Badge::setRole(Role role) {
    role_ = role;
    update();
}

void Badge::setIconName(const QString& name) {
    icon_name_ = name;
    updateGeometry();
    update();
}

void Badge::setTag(bool tag) {
    tag_ = tag;
    updateGeometry();
    update();
}

QSize Badge::sizeHint() const {
    const QString& text = widest_.isEmpty() ? text_ : widest_;
    if (tag_) {
        const QFont font = Theme::current().font(TextStyle::MonoSmall);
        return {static_cast<int>(std::ceil(textWidth(font, text))) + 10,
                std::max(18, QFontMetrics(font).height() + 2)};
    }
    const QSizeF size = pillSize(text, !icon_name_.isEmpty());
    return {static_cast<int>(std::ceil(size.width())), static_cast<int>(std::ceil(size.height()))};
}

void Badge::paintEvent(QPaintEvent*) {
    if (text_.isEmpty() && !widest_.isEmpty()) {
        return;
    }
    QPainter painter(this);
    const Theme& theme = Theme::current();
    if (tag_) {
        paintSurface(painter, rect(), size::kRadius, theme.color(Role::Surface),
                     theme.color(Role::Border));
        paintText(painter, rect(), Qt::AlignCenter, text_, theme.font(TextStyle::MonoSmall),
                  theme.color(role_ == Role::Muted ? Role::Text : role_));
        return;
    }
    // Kept room is at the left: what stands behind the badge is near.
    const double free = width() - pillSize(text_, !icon_name_.isEmpty()).width();
    paintPill(painter, QRectF(rect()).adjusted(std::max(0.0, std::floor(free)), 0, 0, 0), text_,
              role_, icon_name_);
}

void Badge::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        updateGeometry();
    }
}

QString runStateText(RunState state) {
    static const char* const kTexts[] = {
        QT_TRANSLATE_NOOP("RunState", "Idle"),     QT_TRANSLATE_NOOP("RunState", "Preparing"),
        QT_TRANSLATE_NOOP("RunState", "Running"),  QT_TRANSLATE_NOOP("RunState", "Paused"),
        QT_TRANSLATE_NOOP("RunState", "Saving"),   QT_TRANSLATE_NOOP("RunState", "Stopping"),
        QT_TRANSLATE_NOOP("RunState", "Finished"), QT_TRANSLATE_NOOP("RunState", "Stopped"),
        QT_TRANSLATE_NOOP("RunState", "Failed")};
    return QCoreApplication::translate("RunState", kTexts[static_cast<int>(state)]);
}

Role runStateRole(RunState state) {
    switch (state) {
    case RunState::Preparing:
    case RunState::Running:
    case RunState::Saving: return Role::Accent;
    case RunState::Paused:
    case RunState::Stopping: return Role::Warning;
    case RunState::Finished: return Role::Success;
    case RunState::Failed: return Role::Error;
    case RunState::Idle:
    case RunState::Stopped: return Role::Muted;
    }
    return Role::Muted;
}

StatePill::StatePill(QWidget* parent) : Badge(runStateText(RunState::Idle), Role::Muted, parent) {}

void StatePill::setState(RunState state, const QString& detail) {
    state_ = state;
    setText(runStateText(state));
    setRole(runStateRole(state));
    setToolTip(detail);
    setAccessibleName(detail.isEmpty() ? text() : tr("%1, %2").arg(text(), detail));
}

void StatePill::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && rect().contains(event->pos())) {
        emit clicked();
    }
}

} // namespace weft::widgets
