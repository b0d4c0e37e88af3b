// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/controls.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/theme_controller.h"

#include <QAction>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QTimerEvent>

#include <cmath>

namespace weft::widgets {
namespace {

QHBoxLayout* joinedLayout(QWidget* widget) {
    auto* layout = new QHBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    widget->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    return layout;
}

// First, middle and last get their corners; called after each addition.
void joinAll(const QList<QAbstractButton*>& buttons) {
    for (int i = 0; i < buttons.size(); ++i) {
        const bool first = i == 0;
        const bool last = i + 1 == buttons.size();
        setJoined(buttons[i], first && last ? Joined::None
                              : first       ? Joined::First
                              : last        ? Joined::Last
                                            : Joined::Middle);
    }
}

} // namespace

SegmentedControl::SegmentedControl(QWidget* parent)
    : QWidget(parent), layout_(joinedLayout(this)), group_(new QButtonGroup(this)) {
    connect(group_, &QButtonGroup::idToggled, this, [this](int id, bool checked) {
        if (checked) {
            placeTabStop();
            emit currentIndexChanged(id);
        }
    });
}

SegmentedControl::SegmentedControl(const QStringList& choices, QWidget* parent)
    : SegmentedControl(parent) {
    for (const QString& choice : choices) {
        addSegment(choice);
    }
}

int SegmentedControl::addSegment(const QString& text, const QString& tooltip) {
    auto* button = new QPushButton(text, this);
    const int index = count();
    button->setCheckable(true);
    button->setToolTip(tooltip);
    button->setAccessibleName(text);
    button->installEventFilter(this);
    widgets::setCompact(button, compact_);
    group_->addButton(button, index);
    layout_->addWidget(button);
    if (index == 0) {
        const QSignalBlocker blocker(group_);
        button->setChecked(true);
    }
    joinAll(group_->buttons());
    placeTabStop();
    return index;
}

// Tab leads to the chosen segment, or where it cannot be used to the first that can; arrows to the
// others.
void SegmentedControl::placeTabStop() {
    const QList<QAbstractButton*> buttons = group_->buttons();
    const QAbstractButton* stop = group_->checkedButton();
    for (const QAbstractButton* button : buttons) {
        if (stop == nullptr || (!stop->isEnabled() && button->isEnabled())) {
            stop = button;
        }
    }
    for (QAbstractButton* button : buttons) {
        button->setFocusPolicy(button == stop ? Qt::StrongFocus : Qt::ClickFocus);
    }
}

int SegmentedControl::count() const {
    return static_cast<int>(group_->buttons().size());
}

int SegmentedControl::currentIndex() const {
    return group_->checkedId();
}

void SegmentedControl::setCurrentIndex(int index) {
    if (QAbstractButton* button = group_->button(index)) {
        button->setChecked(true);
    }
}

void SegmentedControl::setSegmentText(int index, const QString& text) {
    if (QAbstractButton* button = group_->button(index)) {
        button->setText(text);
        button->setAccessibleName(text);
    }
}

void SegmentedControl::setSegmentVisible(int index, bool visible) {
    group_->button(index)->setVisible(visible);
    QList<QAbstractButton*> seen = group_->buttons();
    seen.removeIf([](const QAbstractButton* button) { return button->isHidden(); });
    joinAll(seen);
}

void SegmentedControl::setSegmentEnabled(int index, bool enabled, const QString& reason) {
    if (QAbstractButton* button = group_->button(index)) {
        button->setEnabled(enabled);
        button->setToolTip(reason);
        placeTabStop();
    }
}

void SegmentedControl::setCompact(bool compact) {
    compact_ = compact;
    for (QAbstractButton* button : group_->buttons()) {
        widgets::setCompact(button, compact);
    }
}

bool SegmentedControl::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) {
        return QWidget::eventFilter(watched, event);
    }
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int step = key == Qt::Key_Right ? 1 : key == Qt::Key_Left ? -1 : 0;
    if (step == 0) {
        return QWidget::eventFilter(watched, event);
    }
    for (int i = currentIndex() + step; i >= 0 && i < count(); i += step) {
        QAbstractButton* button = group_->button(i);
        if (button->isEnabled() && !button->isHidden()) {
            button->setFocus(Qt::TabFocusReason);
            button->setChecked(true);
            break;
        }
    }
    return true;
}

SplitButton::SplitButton(const QString& text, const QString& icon_name, QWidget* parent)
    : QWidget(parent), button_(new QPushButton(text, this)), arrow_(new QPushButton(this)),
      menu_(new QMenu(this)) {
    QHBoxLayout* layout = joinedLayout(this);
    layout->addWidget(button_);
    layout->addWidget(arrow_);
    if (!icon_name.isEmpty()) {
        button_->setIcon(icon(icon_name));
    }
    arrow_->setIcon(icon(QStringLiteral("chevron-down")));
    arrow_->setIconSize(QSize(12, 12));
    arrow_->setFixedWidth(24);
    arrow_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    arrow_->setAccessibleName(tr("More ways to %1").arg(text));
    setJoined(button_, Joined::First);
    setJoined(arrow_, Joined::Last);
    connect(button_, &QPushButton::clicked, this, &SplitButton::clicked);
    connect(arrow_, &QPushButton::clicked, this,
            [this] { menu_->popup(mapToGlobal(QPoint(0, height() + 2))); });
}

QAction* SplitButton::addAction(const QString& text, const QString& icon_name) {
    QAction* action = menu_->addAction(text);
    if (!icon_name.isEmpty()) {
        action->setIcon(icon(icon_name));
    }
    return action;
}

void SplitButton::setText(const QString& text) {
    button_->setText(text);
    arrow_->setAccessibleName(tr("More ways to %1").arg(text));
}

void SplitButton::setEnabledWithReason(bool enabled, const QString& reason) {
    button_->setEnabled(enabled);
    arrow_->setEnabled(enabled);
    button_->setToolTip(reason);
    arrow_->setToolTip(reason);
}

namespace {
constexpr int kSwitchWidth = 28;
constexpr int kSwitchHeight = 16;
} // namespace

ToggleSwitch::ToggleSwitch(const QString& text, QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setText(text);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAttribute(Qt::WA_Hover);
}

QSize ToggleSwitch::sizeHint() const {
    const int text_width =
        text().isEmpty() ? 0 : static_cast<int>(std::ceil(textWidth(font(), text()))) + 8;
    return {kSwitchWidth + 4 + text_width, std::max(24, QFontMetrics(font()).height() + 4)};
}

void ToggleSwitch::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    const QRectF track(2.0, (height() - kSwitchHeight) / 2.0, kSwitchWidth, kSwitchHeight);
    const Role fill = !isEnabled() ? Role::Hairline : isChecked() ? Role::Accent : Role::Faint;
    paintSurface(painter, track, kSwitchHeight / 2.0, theme.color(fill), {});
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(isChecked() && isEnabled() ? Role::OnAccent : Role::Surface));
    const double x = isChecked() ? track.right() - 8.0 : track.left() + 8.0;
    painter.drawEllipse(QPointF(x, track.center().y()), 5.5, 5.5);
    if (!text().isEmpty()) {
        paintText(painter, QRectF(track.right() + 8.0, 0, width() - track.right() - 8.0, height()),
                  Qt::AlignLeft | Qt::AlignVCenter, text(), font(),
                  theme.color(isEnabled() ? Role::Text : Role::Faint));
    }
    if (hasFocus()) {
        paintFocus(painter, track.adjusted(-2, -2, 2, 2), 10.0);
    }
}

ProgressLine::ProgressLine(QWidget* parent) : QWidget(parent) {
    setFixedHeight(2);
    setAccessibleName(tr("Progress"));
}

void ProgressLine::setProgress(double fraction) {
    const double bounded = std::isfinite(fraction) ? std::min(fraction, 1.0) : -1.0;
    if (bounded == fraction_) {
        return;
    }
    fraction_ = bounded;
    setAccessibleDescription(
        fraction_ < 0 ? QString() : tr("%1 percent").arg(static_cast<int>(fraction_ * 100.0)));
    update();
}

void ProgressLine::setBusy(bool busy) {
    if (busy && timer_ == 0) {
        timer_ = ThemeController::reducedMotion() ? -1 : startTimer(33);
    } else if (!busy && timer_ != 0) {
        if (timer_ > 0) {
            killTimer(timer_);
        }
        timer_ = 0;
    }
    update();
}

void ProgressLine::setRole(Role role) {
    role_ = role;
    update();
}

void ProgressLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    if (timer_ != 0 || fraction_ >= 0) { // idle it is not to be seen
        painter.fillRect(rect(), theme.color(Role::Hairline));
    }
    if (timer_ != 0) {
        const double length = width() / 4.0;
        const double left =
            timer_ < 0 ? (width() - length) / 2.0 : phase_ * (width() + length) - length;
        painter.fillRect(QRectF(left, 0, length, height()), theme.color(role_));
    } else if (fraction_ > 0) {
        painter.fillRect(QRectF(0, 0, width() * fraction_, height()), theme.color(role_));
    }
}

void ProgressLine::timerEvent(QTimerEvent*) {
    phase_ = std::fmod(phase_ + 0.02, 1.0);
    update();
}

} // namespace weft::widgets
