// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/moment/scrub_panel.h"

#include "ui/pages/plan/moment/moment_line.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/memory_figures.h"
#include "widgets/views/memory_timeline.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kScrubPanelTickMs = 16;
constexpr double kPassMs = 24000;         // of a whole step at normal speed
constexpr double kScrubPanelCalmMs = 2000; // of a phase, with reduced motion, at normal speed
constexpr int kScrubPanelSpeeds[] = {1, 4, 16};
constexpr int kLeastLine = 420; // narrower: of the bytes only the sum

bool isStepKey(int key) {
    return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_PageUp ||
           key == Qt::Key_PageDown || key == Qt::Key_Home || key == Qt::Key_End;
}

} // namespace

ScrubPanel::ScrubPanel(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    setObjectName("stepScrubber");
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(new widgets::Hairline);
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                               widgets::space::kGroup, 2);
    column->setSpacing(0);
    column->addWidget(createControls());
    profile_ = new widgets::MemoryTimeline;
    profile_->setObjectName("stepProfile");
    profile_->setAccessibleName(tr("Ops of the training step with the memory of a device"));
    profile_->setForm(widgets::MemoryTimeline::Form::Compact);
    profile_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    profile_->installEventFilter(this);
    column->addWidget(profile_);
    outer->addWidget(panel);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(profile_, &widgets::PaintedView::cursorChanged, this, [this](int position) {
        if (!showing_ && position >= 0) {
            setPlaying(false);
            setPosition(position);
        }
    });
    timer_.setInterval(kScrubPanelTickMs);
    timer_.setTimerType(Qt::PreciseTimer);
    connect(&timer_, &QTimer::timeout, this, &ScrubPanel::tick);
    showProfile();
    ScrubPanel::planChanged({});
    moveTo(StepMoment());
}

QWidget* ScrubPanel::createControls() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kTight);
    using widgets::ButtonKind;
    const auto button = [&](const QString& icon, const QString& name, const QString& what,
                            ButtonKind kind) {
        auto* made = widgets::iconButton(icon, name, what, kind);
        row->addWidget(made);
        return made;
    };
    back_ = button("chevron-left", "scrubBack", tr("Op before (Left)"), ButtonKind::Normal);
    play_ = button("play", "scrubPlay", tr("Play the step (Space)"), ButtonKind::Normal);
    play_->setCheckable(true);
    step_ = button("chevron-right", "scrubStep", tr("Next op (Right)"), ButtonKind::Normal);
    row->addSpacing(widgets::space::kControl);
    line_ = new MomentLine;
    line_->setObjectName("scrubLine");
    row->addWidget(line_, 1);
    row->addSpacing(widgets::space::kControl);
    figures_ = new widgets::MemoryFigures;
    figures_->setObjectName("scrubMemory");
    figures_->setSumName(tr("arena"));
    figures_->setToolTip(
        tr("What a device's arena holds at this moment. What is kept beside it "
           "(data, libraries, a checkpoint being written) is the same all along."));
    row->addWidget(figures_);
    row->addSpacing(widgets::space::kGroup);
    speed_ = new widgets::SegmentedControl;
    speed_->setObjectName("scrubSpeed");
    for (const int speed : kScrubPanelSpeeds) {
        speed_->addSegment(QStringLiteral("%1×").arg(speed), tr("Speed of playing"));
    }
    speed_->setCompact(true);
    speed_->setCurrentIndex(1);
    speed_->setAccessibleName(tr("Speed of playing"));
    row->addWidget(speed_);
    fold_ = button("chevron-down", "scrubFoldKept", {}, ButtonKind::Flat);
    fold_->setCheckable(true);
    connect(fold_, &QPushButton::toggled, this, &ScrubPanel::showProfile);
    const auto step = [this](int by) {
        setPlaying(false);
        setPosition(position() + by);
    };
    connect(back_, &QPushButton::clicked, this, [step] { step(-1); });
    connect(step_, &QPushButton::clicked, this, [step] { step(1); });
    connect(play_, &QPushButton::toggled, this, &ScrubPanel::setPlaying);
    return bar;
}

void ScrubPanel::planChanged(const ShownPlan&) {
    const double share =
        moment_.valid() && moments_->duration() > 0 ? moment_.time / moments_->duration() : 0;
    moments_ = momentsOf(digest_);
    const bool any = moments_->count() > 0;
    for (QWidget* control : {static_cast<QWidget*>(back_), static_cast<QWidget*>(play_),
                             static_cast<QWidget*>(step_), static_cast<QWidget*>(speed_)}) {
        control->setEnabled(any);
    }
    widgets::MemoryFigures::Bytes most{};
    for (const widgets::TimelineLayer& layer : moments_->timeline().layers) {
        most[static_cast<std::size_t>(layer.category)] =
            *std::max_element(layer.bytes.begin(), layer.bytes.end());
    }
    const QScopedValueRollback showing(showing_, true);
    profile_->setData(moments_->timeline());
    figures_->setMost(most, profile_->peakStep() < 0 ? 0 : profile_->totalAt(profile_->peakStep()));
    arrange();
    if (!any) {
        setPlaying(false);
        moveTo(StepMoment());
    } else {
        moveTo(moment_.valid() ? moments_->atTime(share * moments_->duration()) : StepMoment());
    }
}

void ScrubPanel::staleChanged() {
    profile_->setStale(stale_);
    line_->setStale(stale_);
    figures_->setStale(stale_);
}

void ScrubPanel::setLow(bool low) {
    using Form = widgets::MemoryTimeline::Form;
    profile_->setForm(low ? Form::Slim : Form::Compact);
}

void ScrubPanel::setProfileShown(bool shown) {
    has_profile_ = shown;
    showProfile();
}

void ScrubPanel::showProfile() {
    const bool folded = fold_->isChecked();
    profile_->setVisible(has_profile_ && !folded);
    fold_->setVisible(has_profile_);
    fold_->setIcon(widgets::icon(folded ? "chevron-up" : "chevron-down"));
    fold_->setToolTip(folded ? tr("Show the memory of the step")
                             : tr("Fold the memory of the step away"));
    fold_->setAccessibleName(fold_->toolTip());
}

void ScrubPanel::setPosition(int position) {
    if (moments_->count() > 0) {
        const int bounded = std::clamp(position, 0, moments_->count() - 1);
        if (bounded != moment_.position || playing_) {
            moveTo(moments_->at(bounded));
        }
    }
}

void ScrubPanel::setOp(int op) {
    if (moments_->count() > 0 && op >= 0 && op != moment_.op &&
        op < static_cast<int>(digest_->ops.size())) {
        setPlaying(false);
        setPosition(moments_->positionOf(op, std::max(0, position())));
    }
}

void ScrubPanel::setAction(int stage, int action) {
    if (moments_->count() == 0) {
        return;
    }
    setPlaying(false);
    const int own = stage == digest_->stage ? moments_->positionOfAction(action) : -1;
    if (own >= 0) {
        setPosition(own);
    } else {
        moveTo(moments_->atTime(moments_->timeOfAction(stage, action)));
    }
}

// The one place where the moment changes.
void ScrubPanel::moveTo(const StepMoment& moment) {
    moment_ = moment;
    {
        const QScopedValueRollback showing(showing_, true);
        profile_->setCursorItem(moment_.position);
    }
    line_->setMoment(moments_.get(), moment_);
    // Before there is a moment it is the peak that counts.
    figures_->setBytes(moment_.valid()             ? moment_.bytes
                       : profile_->peakStep() >= 0 ? moments_->at(profile_->peakStep()).bytes
                                                   : widgets::MemoryFigures::Bytes{});
    emit momentChanged(moment_);
}

void ScrubPanel::setPlaying(bool playing) {
    playing = playing && moments_->count() > 0 && isVisible();
    {
        const QSignalBlocker quiet(play_);
        play_->setChecked(playing);
    }
    if (playing == playing_) {
        return;
    }
    playing_ = playing;
    play_->setIcon(widgets::icon(playing ? "pause" : "play"));
    play_->setToolTip(playing ? tr("Pause (Space)") : tr("Play the step (Space)"));
    play_->setAccessibleName(play_->toolTip());
    if (!playing) {
        timer_.stop();
        return;
    }
    if (!moment_.valid() || moment_.position == moments_->count() - 1) {
        setPosition(0);
    }
    rest_ms_ = 0;
    since_.start();
    timer_.start();
}

void ScrubPanel::tick() {
    advance(static_cast<double>(since_.restart()));
}

double ScrubPanel::speed() const {
    return kScrubPanelSpeeds[speed_->currentIndex()];
}

void ScrubPanel::advance(double ms) {
    if (!playing_) {
        return;
    }
    const int last = moments_->count() - 1;
    if (widgets::ThemeController::reducedMotion()) {
        rest_ms_ += ms * speed();
        if (rest_ms_ >= kScrubPanelCalmMs) {
            rest_ms_ = 0;
            setPosition(profile_->nextSpan(moment_.position));
        }
    } else {
        const double time = moment_.time + moments_->duration() * ms * speed() / kPassMs;
        moveTo(time < moments_->duration() ? moments_->atTime(time) : moments_->at(last));
    }
    if (moment_.position == last) {
        setPlaying(false);
    }
}

void ScrubPanel::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    setPlaying(false);
}

void ScrubPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void ScrubPanel::arrange() {
    const int others = back_->sizeHint().width() * 4 + speed_->sizeHint().width() +
                       widgets::space::kGroup * 3 + widgets::space::kControl * 5;
    figures_->setTotalOnly(width() - others - figures_->fullWidth() < kLeastLine);
}

// A hand on the handle pauses, also where it does not move it.
bool ScrubPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == profile_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Space) {
            setPlaying(!playing_);
            return true;
        }
        if (isStepKey(key)) {
            setPlaying(false);
        }
    } else if (watched == profile_ && event->type() == QEvent::MouseButtonPress) {
        setPlaying(false);
    }
    return QWidget::eventFilter(watched, event);
}

// Keys that a button has no use for move the handle.
void ScrubPanel::keyPressEvent(QKeyEvent* event) {
    if (isStepKey(event->key()) && moments_->count() > 0) {
        QCoreApplication::sendEvent(profile_, event);
        return;
    }
    QWidget::keyPressEvent(event);
}

} // namespace weft::ui
