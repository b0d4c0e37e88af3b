// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_banner.h"

#include "ui/bridge/convert.h"
#include "ui/studio.h"
#include "widgets/look/painting.h"

#include <QPainter>
#include <QPushButton>

namespace weft::ui {

using widgets::MessageKind;

RunBanner::RunBanner(Studio& studio, QWidget* parent)
    : Banner(MessageKind::Info, parent), studio_(studio) {
    setObjectName("runBanner");
    setVisible(false);
    connect(&studio_, &Studio::trainingChanged, this, &RunBanner::update);
    connect(&studio_.control(), &RunControl::controlChanged, this, &RunBanner::update);
    connect(&studio_.draft(), &Draft::changed, this, &RunBanner::update);
    connect(&studio_.run(), &RunModel::stateChanged, this, &RunBanner::update);
    connect(&studio_.run(), &RunModel::stateChanged, this, &RunBanner::followPause);
    connect(&studio_.run(), &RunModel::reset, this, [this] {
        interruption_.clear();
        pause_.reset();
        update();
    });
    connect(&studio_, &Studio::interrupted, this, [this](const QString& why) {
        interruption_ = why;
        update();
    });
    connect(this, &Banner::closed, this, [this] {
        interruption_.clear(); // it alone has a cross
        update();
    });
}

void RunBanner::setPage(bool home, bool edits_draft) {
    home_ = home;
    edits_draft_ = edits_draft;
    update();
}

void RunBanner::setWaysOnShown(bool on) {
    if (ways_on_shown_ != on) { // else its buttons stay, one may be held down
        ways_on_shown_ = on;
        update();
    }
}

void RunBanner::setStopping(bool on) {
    stopping_ = on;
    update();
}

void RunBanner::update() {
    if (!showRun() && !showSelfPause() && !showInterruption()) {
        showDraft();
    }
}

void RunBanner::paintEvent(QPaintEvent* event) {
    Banner::paintEvent(event);
    QPainter painter(this);
    widgets::paintHairline(painter, {0, 0}, QPointF(width(), 0),
                           widgets::Theme::current().color(widgets::Role::Hairline));
}

bool RunBanner::showRun() {
    const QString name = studio_.run().name();
    using Who = RunControlState::Who;
    const Who who = studio_.link().control().who;
    if (stopping_) {
        say("stop", MessageKind::Info, tr("Stopping %1").arg(name),
            tr("the window closes when the checkpoint is written"));
        return true;
    }
    if (!studio_.isTraining() || (who != Who::Other && who != Who::Unreachable)) {
        return false;
    }
    say("lock", MessageKind::Info, tr("%1 is read-only here").arg(name),
        toQString(studio_.link().control().why));
    if (who == Who::Other) {
        QPushButton* take = addButton(tr("Take over"));
        take->setObjectName("takeOver");
        connect(take, &QPushButton::clicked, &studio_.control(), &RunControl::takeOver);
    }
    return true;
}

void RunBanner::followPause() {
    const train::RunState state = studio_.run().state();
    if (auto pause = selfPause(studio_.run())) {
        pause_ = std::move(pause);
    } else if (state != train::RunState::paused && state != train::RunState::saving) {
        pause_.reset();
    }
    update();
}

bool RunBanner::showSelfPause() {
    if (!studio_.isTraining() || !pause_) {
        return false;
    }
    say("pause", MessageKind::Warning, tr("%1 paused itself").arg(studio_.run().name()),
        pause_->detail.isEmpty() ? pause_->reason : pause_->detail);
    QPushButton* resume = addButton(tr("Resume"));
    resume->setObjectName("resumePaused");
    connect(resume, &QPushButton::clicked, &studio_.control(), &RunControl::resume);
    return true;
}

bool RunBanner::showInterruption() {
    if (studio_.isTraining() || interruption_.isEmpty() || home_) {
        return false;
    }
    const bool saved = !studio_.run().checkpoints().empty();
    say("warning", MessageKind::Warning, tr("%1 was interrupted").arg(studio_.run().name()),
        saved ? interruption_ : tr("%1 · before its first checkpoint").arg(interruption_));
    if (saved && !ways_on_shown_) {
        QPushButton* resume = addButton(tr("Resume"));
        resume->setObjectName("resumeInterrupted");
        connect(resume, &QPushButton::clicked, this, &RunBanner::resume);
    }
    setClosable(true);
    return true;
}

void RunBanner::resume() {
    const StartResult result = studio_.control().resumeRun(studio_.run().folder());
    if (!result.started) {
        emit failed(result.problem);
    }
}

void RunBanner::showDraft() {
    const bool relevant = studio_.isTraining() && studio_.draft().isValid() && edits_draft_;
    const auto differences =
        relevant ? studio_.draft().differencesFrom(studio_.run().config()).size() : 0;
    if (differences == 0) {
        setVisible(false);
        return;
    }
    say("fork", MessageKind::Info, tr("Draft %1").arg(studio_.draft().name()),
        tr("edits here never touch the running %1 · %n difference(s)", nullptr,
           static_cast<int>(differences))
            .arg(studio_.run().name()));
    QPushButton* show = addButton(tr("Compare"), true);
    show->setObjectName("showCompare");
    connect(show, &QPushButton::clicked, this, &RunBanner::compareRequested);
}

void RunBanner::say(const QString& icon, MessageKind kind, const QString& what,
                    const QString& detail) {
    clearButtons();
    setClosable(false);
    setKind(kind);
    setIconName(icon);
    setText(what, detail);
    setVisible(true);
}

} // namespace weft::ui
