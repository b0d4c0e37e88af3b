// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/step/pattern_panel.h"

#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kLeastView = 40; // it scrolls
constexpr int kTravelMs = 900;
constexpr int kRestMs = 900; // long enough to see what has changed
constexpr double kPatternPanelSpeeds[] = {0.5, 1.0, 2.0};

} // namespace

PatternPanel::PatternPanel(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    view_ = new widgets::PatternView;
    view_->setObjectName("patternView");
    QScrollArea* scroll = widgets::verticalScroll(view_);
    scroll->setMinimumHeight(kLeastView);
    column->addWidget(scroll, 1);
    column->addWidget(createControls());
    // Before the scroll area sees the keys.
    const auto key = [this](int code, void (PatternPanel::*step)()) {
        auto* shortcut = new QShortcut(QKeySequence(code), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, step);
    };
    key(Qt::Key_PageDown, &PatternPanel::stepOn);
    key(Qt::Key_PageUp, &PatternPanel::stepBack);
    pause_.setSingleShot(true);
    connect(&pause_, &QTimer::timeout, this, [this] {
        if (playing_) {
            go(view_->step() + 1, true);
        }
    });
    connect(view_, &widgets::PatternView::arrived, this, &PatternPanel::renew);
}

QWidget* PatternPanel::createControls() {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(widgets::space::kGroup, 0, widgets::space::kGroup,
                            widgets::space::kTight);
    row->setSpacing(widgets::space::kTight);
    const auto button = [&](const QString& icon, const QString& object_name, const QString& what) {
        auto* made = widgets::iconButton(icon, object_name, what, widgets::ButtonKind::Normal);
        row->addWidget(made);
        return made;
    };
    back_ = button("chevron-left", "patternBack", tr("Step back (Page Up)"));
    play_ = button("play", "patternPlay", tr("Play"));
    on_ = button("chevron-right", "patternStep", tr("Step on (Page Down)"));
    row->addSpacing(widgets::space::kControl);
    text_ = new widgets::TextLabel({}, widgets::TextStyle::Caption);
    text_->setObjectName("patternText");
    text_->setWordWrap(true);
    row->addWidget(text_, 1);
    row->addSpacing(widgets::space::kControl);
    row->addWidget(
        new widgets::TextLabel(tr("speed"), widgets::TextStyle::Caption, widgets::Role::Muted));
    speed_ = new widgets::SegmentedControl({tr("½×"), tr("1×"), tr("2×")});
    speed_->setObjectName("patternSpeed");
    speed_->setAccessibleName(tr("Speed of the pattern"));
    speed_->setCompact(true);
    speed_->setCurrentIndex(1);
    row->addWidget(speed_);
    connect(back_, &QPushButton::clicked, this, &PatternPanel::stepBack);
    connect(on_, &QPushButton::clicked, this, &PatternPanel::stepOn);
    connect(play_, &QPushButton::clicked, this, [this] { playing_ ? pause() : play(); });
    return line;
}

int PatternPanel::stepMs() const {
    return static_cast<int>(kTravelMs / kPatternPanelSpeeds[speed_->currentIndex()]);
}

void PatternPanel::setPattern(widgets::Pattern pattern) {
    playing_ = false;
    pause_.stop();
    view_->setPattern(std::move(pattern));
    renew();
}

void PatternPanel::go(int step, bool moving) {
    view_->setStep(step, moving ? stepMs() : 0);
    renew();
}

void PatternPanel::play() {
    playing_ = true;
    go(view_->step() == view_->pattern().lastStep() ? 0 : view_->step() + 1, true);
}

void PatternPanel::pause() {
    playing_ = false;
    go(view_->step(), false);
}

void PatternPanel::stepOn() {
    playing_ = false;
    go(view_->step() + 1, true);
}

void PatternPanel::stepBack() {
    playing_ = false;
    go(view_->step() - 1, false);
}

// Whatever is at rest while it plays goes on after a while.
void PatternPanel::renew() {
    const widgets::Pattern& pattern = view_->pattern();
    const int step = view_->step();
    const bool last = step >= pattern.lastStep();
    playing_ = playing_ && (!last || view_->isMoving());
    if (playing_ && !view_->isMoving()) {
        pause_.start(static_cast<int>(kRestMs / kPatternPanelSpeeds[speed_->currentIndex()]));
    } else {
        pause_.stop();
    }
    const QString text =
        pattern.steps.empty() ? QString() : pattern.steps[static_cast<std::size_t>(step)].text;
    if (text != text_->text()) {
        text_->setText(text);
        QAccessibleEvent said(text_, QAccessible::NameChanged);
        QAccessible::updateAccessibility(&said);
    }
    back_->setEnabled(step > 0);
    on_->setEnabled(!last);
    play_->setIcon(widgets::icon(playing_ ? "pause" : "play"));
    play_->setAccessibleName(playing_ ? tr("Pause") : tr("Play"));
    play_->setToolTip(play_->accessibleName());
}

void PatternPanel::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    pause();
}

} // namespace weft::ui
