// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_toolbar.h"

#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/studio.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QPushButton>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kPickerWidth = 292;
constexpr int kPickerWidthCompact = 208;
constexpr int kRunsInPicker = 12;

/// The framed box at the left: state, name, arrow. A click anywhere opens the menu.
class RunPicker : public widgets::Card {
public:
    RunPicker() { setClickable(true); }
};

QString buttonName(const QAction& action) {
    return action.objectName() + ".button";
}

} // namespace

RunToolbar::RunToolbar(Studio& studio, Actions& actions, QWidget* parent)
    : QWidget(parent), studio_(studio) {
    setFixedHeight(widgets::size::kToolbarHeight + 2);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(widgets::space::kGroup, 0, widgets::space::kGroup, 2);
    row->setSpacing(widgets::space::kGroup);

    row->addWidget(createPicker());
    start_ = bind(actions.get(action::kStart));
    row->addWidget(start_);
    pause_ = bind(actions.get(action::kPause));
    row->addWidget(pause_);
    row->addWidget(createStop(actions));
    auto* rare = new QHBoxLayout;
    rare->setSpacing(0);
    for (const char* id : {action::kStep, action::kCheckpoint, action::kLiveSettings}) {
        QPushButton* button = actionButton(actions.get(id));
        button->setObjectName(buttonName(*actions.get(id)));
        rare->addWidget(button);
    }
    row->addLayout(rare);
    row->addStretch(1);
    trailing_ = new widgets::TextLabel({}, widgets::TextStyle::MonoSmall, widgets::Role::Muted);
    row->addWidget(trailing_);
    palette_ = new QPushButton(widgets::icon("search", widgets::Role::Muted), tr("Commands"));
    palette_->setAccessibleName(tr("Commands"));
    palette_->setToolTip(tr("Find any action by name (Ctrl+K)"));
    widgets::setButtonKind(palette_, widgets::ButtonKind::Flat);
    connect(palette_, &QPushButton::clicked, actions.get(action::kPalette), &QAction::trigger);
    row->addWidget(palette_);

    progress_ = new widgets::ProgressLine(this); // placed on the lower edge, not laid out

    connect(&studio_.run(), &RunModel::stateChanged, this, &RunToolbar::updateState);
    connect(&studio_.run(), &RunModel::reset, this, &RunToolbar::updateState);
    connect(&studio_.run(), &RunModel::changed, this, &RunToolbar::updateProgress);
    connect(&studio_, &Studio::trainingChanged, this, &RunToolbar::updateState);
    connect(&studio_.control(), &RunControl::pendingChanged, this, &RunToolbar::updateState);
    connect(&studio_.control(), &RunControl::controlChanged, this, &RunToolbar::updateState);
    connect(&studio_.draft(), &Draft::changed, this, &RunToolbar::updateState);
    connect(&studio_.draft(), &Draft::findingsChanged, this, &RunToolbar::updateState);
    reservePauseWidth();
    updateState();
}

QWidget* RunToolbar::createPicker() {
    auto* picker = new RunPicker;
    picker->setObjectName("runPicker");
    picker->setAccessibleName(tr("Run controlled by the toolbar"));
    picker->setFixedHeight(32);
    picker->setFixedWidth(kPickerWidth);
    auto* row = new QHBoxLayout(picker);
    row->setContentsMargins(8, 0, 8, 0);
    row->setSpacing(8);
    state_ = new widgets::StatePill;
    state_->setAttribute(Qt::WA_TransparentForMouseEvents);
    name_ = new widgets::ElidedLabel({}, widgets::TextStyle::Strong);
    name_->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* arrow = new widgets::IconLabel("chevron-down", widgets::Role::Muted, 12);
    arrow->setAttribute(Qt::WA_TransparentForMouseEvents);
    row->addWidget(state_);
    row->addWidget(name_, 1);
    row->addWidget(arrow);
    picker_menu_ = new QMenu(this);
    connect(picker, &widgets::Card::clicked, this, [this, picker] {
        fillPicker();
        picker_menu_->exec(picker->mapToGlobal(QPoint(0, picker->height() + 4)));
    });
    return picker;
}

QWidget* RunToolbar::createStop(Actions& actions) {
    auto* stop = new widgets::SplitButton(tr("Stop"), "stop");
    stop->menu()->addAction(actions.get(action::kStopAndSave));
    stop->menu()->addAction(actions.get(action::kStopNow));
    QAction* action = actions.get(action::kStopAndSave);
    connect(stop, &widgets::SplitButton::clicked, action, &QAction::trigger);
    const auto follow = [stop, action] {
        stop->setEnabledWithReason(action->isEnabled(), action->toolTip());
    };
    connect(action, &QAction::changed, stop, follow);
    follow();
    return stop;
}

QPushButton* RunToolbar::bind(QAction* action) {
    auto* button = new QPushButton;
    const auto follow = [button, action] {
        button->setIcon(action->icon());
        button->setEnabled(action->isEnabled());
        button->setToolTip(action->toolTip());
        button->setText(action->text());
        button->setAccessibleName(action->text());
    };
    button->setObjectName(buttonName(*action));
    connect(action, &QAction::changed, button, follow);
    connect(button, &QPushButton::clicked, action, &QAction::trigger);
    follow();
    return button;
}

void RunToolbar::setCompact(bool compact) {
    palette_->setText(compact ? QString() : palette_->accessibleName());
    if (auto* picker = findChild<QWidget*>("runPicker")) {
        picker->setFixedWidth(compact ? kPickerWidthCompact : kPickerWidth);
    }
}

void RunToolbar::setLeading(bool leads) {
    leads_ = leads;
    fillNext();
}

// A run that trains needs nobody: then none is filled.
void RunToolbar::fillNext() {
    const bool paused = studio_.isTraining() && studio_.run().state() == train::RunState::paused;
    const QPushButton* next = !leads_                ? nullptr
                              : paused               ? pause_
                              : studio_.isTraining() ? nullptr
                                                     : start_;
    for (QPushButton* button : {start_, pause_}) {
        widgets::setButtonKind(button, button == next ? widgets::ButtonKind::Primary
                                                      : widgets::ButtonKind::Normal);
    }
}

// Its text changes while a run trains; the buttons beside it must not move then.
void RunToolbar::reservePauseWidth() {
    const QString now = pause_->text();
    int widest = 0;
    for (const QString& text : {tr("Pause"), tr("Resume")}) {
        pause_->setText(text);
        widest = std::max(widest, pause_->sizeHint().width());
    }
    pause_->setText(now);
    pause_->setMinimumWidth(widest);
}

void RunToolbar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        reservePauseWidth();
    }
}

void RunToolbar::fillPicker() {
    picker_menu_->clear();
    QAction* draft =
        picker_menu_->addAction(tr("Draft: %1").arg(widgets::menuText(studio_.draft().name())));
    draft->setEnabled(false);
    picker_menu_->addSeparator();
    int shown = 0;
    for (const train::RunSummary& run : studio_.index().runs()) {
        if (!run.problem.empty() || ++shown > kRunsInPicker) {
            continue;
        }
        const QString folder = pathText(run.folder);
        QAction* entry = picker_menu_->addAction(widgets::menuText(runTitle(run.folder)) + "   " +
                                                 toQString(run.state));
        entry->setCheckable(true);
        entry->setChecked(run.folder == studio_.run().folder());
        connect(entry, &QAction::triggered, this, [this, folder] { emit runChosen(folder); });
    }
    if (shown == 0) {
        picker_menu_->addAction(tr("No runs yet"))->setEnabled(false);
    }
}

void RunToolbar::updateState() {
    if (studio_.isTraining()) {
        const QString pending = studio_.control().pendingCommand();
        const QString locked = studio_.control().controlProblem();
        const train::RunState state = studio_.run().state();
        const bool writes = state == train::RunState::paused && studio_.run().isSaving();
        state_->setState(toWidget(writes ? train::RunState::saving : state),
                         !pending.isEmpty()  ? tr("%1 …").arg(pending)
                         : !locked.isEmpty() ? locked
                                             : studio_.run().stateReason());
        const RunModel& run = studio_.run();
        name_->setText(run.host().isEmpty() ? run.name()
                                            : tr("%1 on %2").arg(run.name(), run.host()));
    } else {
        state_->setState(widgets::RunState::Idle);
        name_->setText(studio_.draft().isEmpty() ? tr("No draft")
                                                 : tr("Draft: %1").arg(studio_.draft().name()));
    }
    const bool preparing = studio_.isTraining() && studio_.run().steps().step.empty();
    progress_->setBusy(preparing);
    fillNext();
    updateProgress();
}

void RunToolbar::updateProgress() {
    if (!studio_.isTraining()) {
        progress_->setProgress(-1);
        progress_->setBusy(false);
        trailing_->setText(!studio_.draft().isEmpty() && !studio_.draft().obstacle()
                               ? tr("F5 starts the draft")
                               : QString());
        return;
    }
    const double done = studio_.run().progress();
    if (!studio_.run().steps().step.empty()) {
        progress_->setBusy(false);
    }
    progress_->setProgress(done);
    trailing_->setText(done < 0 ? QString() : QString("%1 %").arg(static_cast<int>(done * 100)));
}

void RunToolbar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const widgets::Theme& theme = widgets::Theme::current();
    painter.fillRect(rect(), theme.color(widgets::Role::Surface));
}

void RunToolbar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    progress_->setGeometry(0, height() - 2, width(), 2);
}

} // namespace weft::ui
