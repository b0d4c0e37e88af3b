// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run_log.h"

#include "ui/bridge/convert.h"
#include "ui/models/checkpoint_model.h"

namespace weft::ui {

QString recordingText(const train::RecordingEvent& event) {
    QString text = event.path.empty() ? RunLog::tr("No step was recorded")
                                      : RunLog::tr("%1 of %2 steps are recorded in %3")
                                            .arg(formatCount(event.steps), formatCount(event.asked),
                                                 toQString(event.path));
    if (!event.cut_short.empty()) {
        text += RunLog::tr(": %1").arg(toQString(event.cut_short));
    }
    return text;
}

void RunLog::answer(const train::CommandEvent& answer) {
    emit logged(answer.accepted ? 1 : 2, "command",
                toQString(answer.command) + (answer.accepted
                                                 ? tr(" accepted")
                                                 : tr(" refused: ") + toQString(answer.reason)),
                run_.step());
}

void RunLog::printed(const QStringList& lines) {
    for (const QString& line : lines) {
        emit logged(1, "weft", line, run_.step());
    }
    last_printed_ = lines.back();
}

void RunLog::ended(const QString& why) {
    emit logged(3, "run", tr("%1: %2").arg(run_.name(), why), run_.step());
}

void RunLog::event(const train::Event& event) {
    const qint64 step = run_.step();
    if (const auto* state = std::get_if<train::StateEvent>(&event.payload)) {
        QString line = toQString(train::state_name(state->state));
        if (!state->phase.empty()) {
            line += ": " + toQString(state->phase);
        }
        if (!state->reason.empty()) {
            line += " (" + toQString(state->reason) + ")";
        }
        emit logged(1, "run", line, step);
    } else if (const auto* skipped = std::get_if<train::SkippedEvent>(&event.payload)) {
        const QString reason = toQString(skipped->reason);
        emit logged(1, "run",
                    skipped->loss_scale == 1
                        ? tr("update skipped: %1").arg(reason)
                        : tr("update skipped: %1 at the loss scale %2")
                              .arg(reason, QString::number(skipped->loss_scale)),
                    skipped->step);
    } else if (const auto* found = std::get_if<train::DivergenceEvent>(&event.payload)) {
        emit logged(found->back_to < 0 ? 3 : 2, "run", toQString(train::sentence_of(*found)),
                    found->step);
    } else if (const auto* changed = std::get_if<train::SettingsEvent>(&event.payload)) {
        emit logged(
            1, "run",
            tr("%1 is now %2").arg(toQString(changed->path), toQString(changed->value.dump())),
            changed->step);
    } else if (const auto* recording = std::get_if<train::RecordingEvent>(&event.payload)) {
        emit logged(recording->path.empty() ? 2 : 1, "profiler", recordingText(*recording), step);
    } else if (const auto* rank = std::get_if<train::RankEvent>(&event.payload)) {
        emit logged(rank->state == "joined" && rank->message.empty() ? 1 : 2, "ranks",
                    toQString(train::sentence_of(*rank)), step);
    } else if (const auto* restart = std::get_if<train::RestartEvent>(&event.payload)) {
        emit logged(2, "run",
                    tr("started again, %1 of at most %2 times: %3")
                        .arg(QString::number(restart->attempt), QString::number(restart->most),
                             toQString(restart->reason)),
                    step);
    } else if (const auto* note = std::get_if<train::NoteEvent>(&event.payload)) {
        emit logged(1, "data", toQString(note->message), step);
    } else if (const auto* warning = std::get_if<train::WarningEvent>(&event.payload)) {
        emit logged(2, "run", toQString(warning->message) + " " + toQString(warning->hint), step);
    } else if (const auto* error = std::get_if<train::ErrorEvent>(&event.payload)) {
        emit logged(3, "run",
                    toQString(error->where) + ": " + toQString(error->message) + " " +
                        toQString(error->hint),
                    step);
    } else if (const auto* saved = std::get_if<train::CheckpointEvent>(&event.payload)) {
        emit logged(1, "checkpoint",
                    tr("step %1 saved, %2, %3")
                        .arg(saved->step)
                        .arg(formatFileSize(saved->bytes), saveCostText(*saved)),
                    saved->step);
    } else if (const auto* evaluation = std::get_if<train::EvaluationEvent>(&event.payload)) {
        QString line;
        for (const auto& [name, value] : evaluation->metrics) {
            line += (line.isEmpty() ? "" : "  ") + toQString(name) + " " +
                    QString::number(value, 'g', 5);
        }
        emit logged(1, "evaluation", line, evaluation->step);
    } else if (const auto* resumed = std::get_if<train::ResumedEvent>(&event.payload)) {
        emit logged(1, "run", tr("resumed from %1").arg(toQString(resumed->from)), resumed->step);
    }
}

} // namespace weft::ui
