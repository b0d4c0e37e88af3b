// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/desktop_link.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/self_pause.h"
#include "ui/studio.h"

#include <QGuiApplication>

namespace weft::ui {

DesktopLink::DesktopLink(Studio& studio, Desktop& desktop, QObject* parent)
    : QObject(parent), studio_(studio), desktop_(desktop) {
    connect(&desktop_, &Desktop::logged, this,
            [this](const QString& text) { emit studio_.log().logged(0, "desktop", text, -1); });
    connect(&studio_, &Studio::trainingChanged, this, &DesktopLink::onTrainingChanged);
    connect(&studio_.run(), &RunModel::stateChanged, this, &DesktopLink::update);
    connect(&studio_.run(), &RunModel::stateChanged, this, &DesktopLink::tellOfPause);
    connect(&studio_, &Studio::interrupted, this, [this](const QString& why) {
        tell(tr("%1 was interrupted").arg(studio_.run().name()), why, true);
    });
    connect(&studio_.settings(), &Settings::changed, this, &DesktopLink::update);
    onTrainingChanged();
}

// A paused run computes nothing: the computer may sleep.
void DesktopLink::update() {
    const bool computes = studio_.isTraining() && studio_.run().state() != train::RunState::paused;
    desktop_.keepAwake(studio_.settings().values().keep_awake && computes,
                       tr("%1 is training").arg(studio_.run().name()));
}

// Once, until it goes on.
void DesktopLink::tellOfPause() {
    const auto pause = studio_.isTraining() ? selfPause(studio_.run()) : std::nullopt;
    if (pause && !paused_itself_) {
        tell(tr("%1 paused itself").arg(studio_.run().name()),
             pause->detail.isEmpty() ? pause->reason : pause->detail, true);
    }
    const train::RunState state = studio_.run().state();
    paused_itself_ = pause || (paused_itself_ && (state == train::RunState::paused ||
                                                  state == train::RunState::saving));
}

void DesktopLink::onTrainingChanged() {
    update();
    tellOfPause();
    const bool ended = was_training_ && !studio_.isTraining();
    was_training_ = studio_.isTraining();
    const RunModel& run = studio_.run();
    if (ended && run.state() == train::RunState::finished) {
        tell(tr("%1 is finished").arg(run.name()),
             tr("%n step(s)", nullptr, static_cast<int>(run.step())), false);
    } else if (ended && run.failure()) {
        tell(tr("%1 failed at step %2").arg(run.name(), formatCount(run.step())),
             toQString(run.failure()->message), true);
    }
}

void DesktopLink::tell(const QString& title, const QString& text, bool urgent) {
    if (studio_.settings().values().notify &&
        QGuiApplication::applicationState() != Qt::ApplicationActive) {
        desktop_.notify(title, text, urgent);
    }
}

} // namespace weft::ui
