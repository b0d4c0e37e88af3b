// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run_control.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/train/ways_on.h"
#include "ui/bridge/convert.h"

#include <QFileInfo>

#include <algorithm>

namespace weft::ui {

RunControl::RunControl(const StudioPaths& paths, Draft& draft, RunModel& run, RunReader& reader,
                       RunLink& link, RecentPaths& recent, QObject* parent)
    : QObject(parent), paths_(paths), draft_(draft), run_(run), reader_(reader), link_(link),
      recent_(recent) {
    connect(&link_, &RunLink::controlChanged, this, &RunControl::controlChanged);
}

StartResult RunControl::startDraft() {
    if (draft_.isEmpty()) {
        return {false, tr("There is no configuration to start. Choose a preset on Home.")};
    }
    if (draft_.obstacle()) {
        return {false, tr("The draft has problems: see Problems.")};
    }
    return startNew(draft_.config());
}

StartResult RunControl::startFile(const std::filesystem::path& config) {
    const compile::CheckedRun checked = compile::read_run_config_file(config);
    if (!checked.ok()) {
        return {false, QString::fromStdString(to_text(checked.diagnostics.front()))};
    }
    return startNew(checked.config);
}

StartResult RunControl::resumeRun(const std::filesystem::path& run_folder, std::int64_t extend) {
    const QString name = runTitle(run_folder);
    const compile::CheckedRun checked = train::read_frozen_config(run_folder);
    if (!checked.ok()) {
        return {false, QString::fromStdString(to_text(checked.diagnostics.front()))};
    }
    if (const auto lock = train::read_lock(run_folder)) {
        return {false, tr("%1 is being trained by process %2 on %3. Show it to control it.")
                           .arg(name)
                           .arg(lock->pid)
                           .arg(toQString(lock->host))};
    }
    if (!QFileInfo(pathText(run_folder)).isWritable()) {
        return {false, tr("%1 cannot go on: its folder %2 is read-only. Make it writable, or fork "
                          "the run from a checkpoint.")
                           .arg(name, pathText(run_folder))};
    }
    try {
        if (extend == 0 && train::read_run_info(run_folder).state == "finished") {
            return {false, tr("%1 is finished. Train it longer, or fork it.").arg(name)};
        }
    } catch (const Error&) {
        // Without run.json a run can go on all the same.
    }
    const auto entries = checkpoint::list_checkpoints(run_folder / "checkpoints");
    if (std::none_of(entries.begin(), entries.end(),
                     [](const auto& entry) { return entry.problem.empty(); })) {
        return {false, tr("%1 has no usable checkpoint to resume from.").arg(name)};
    }
    std::vector<std::string> arguments{"resume", run_folder.string()};
    if (extend > 0) {
        arguments.insert(arguments.end(), {"--extend", std::to_string(extend)});
    }
    // Of the run on screen the folder is its model's own, which begins again.
    const std::filesystem::path folder = run_folder;
    return launch(folder, std::move(arguments), checked.config, true);
}

StartResult RunControl::forkRun(const std::filesystem::path& run_folder,
                                const std::filesystem::path& checkpoint,
                                const std::vector<std::string>& overrides) {
    const compile::CheckedRun parent = train::read_frozen_config(run_folder);
    const compile::CheckedRun changed = train::read_frozen_config(run_folder, overrides);
    if (!parent.ok() || !changed.ok()) {
        const auto& problems = parent.ok() ? changed.diagnostics : parent.diagnostics;
        return {false, QString::fromStdString(to_text(problems.front()))};
    }
    for (const compile::FieldChange& change : compile::compare(parent.config, changed.config)) {
        if (change.effect == compile::ChangeEffect::blocked) {
            return {false, tr("%1 cannot change in a fork: the weights would not fit.")
                               .arg(QString::fromStdString(change.path))};
        }
    }
    if (const QString problem = startProblem(); !problem.isEmpty()) {
        return {false, problem};
    }
    std::filesystem::path folder;
    try {
        folder = train::create_run_folder(paths_.runs_root, changed.config.name);
    } catch (const Error& error) {
        return {false, QString::fromStdString(error.message())};
    }
    const std::filesystem::path& from = checkpoint.empty() ? run_folder : checkpoint;
    std::vector<std::string> arguments{"resume", from.string(), "--fork", folder.string()};
    for (const std::string& override_text : overrides) {
        arguments.insert(arguments.end(), {"--set", override_text});
    }
    return launch(folder, std::move(arguments), changed.config, false);
}

StartResult RunControl::takeWayOn(const train::WayOn& way) {
    const std::string name = checkpoint::folder_name(way.from_step);
    const std::filesystem::path run = run_.folder();
    std::error_code problem;
    if (std::filesystem::is_directory(run / "checkpoints" / name, problem)) {
        return forkRun(run, run / "checkpoints" / name, way.overrides);
    }
    // A fork that failed before its first save has its checkpoint in the run it came from, and its
    // changes have to be made again.
    std::filesystem::path parent = run_.origin() ? run_.origin()->run : std::filesystem::path();
    if (parent.empty() && std::filesystem::exists(run / "run.json", problem)) {
        parent = train::read_run_info(run).parent;
    }
    if (!parent.empty() && std::filesystem::is_directory(parent / "checkpoints" / name, problem)) {
        const compile::CheckedRun before = train::read_frozen_config(parent);
        std::vector<std::string> overrides;
        if (before.ok()) {
            for (const compile::FieldChange& change :
                 compile::compare(before.config, run_.config())) {
                overrides.push_back(change.path + "=" + change.after.dump());
            }
        }
        overrides.insert(overrides.end(), way.overrides.begin(), way.overrides.end());
        return forkRun(parent, parent / "checkpoints" / name, overrides);
    }
    if (way.from_step > 0) {
        return {false, tr("The checkpoint of step %1 is gone.").arg(formatCount(way.from_step))};
    }
    return forkRun(run, {}, way.overrides);
}

QString RunControl::startProblem() const {
    if (link_.isActive()) {
        return tr("%1 is still training. Stop it first.").arg(run_.name());
    }
    const std::filesystem::path other = link_.runInBackground();
    return other.empty()
               ? QString()
               : tr("%1 is still training in the background. Stop it first.").arg(runTitle(other));
}

StartResult RunControl::startNew(const compile::RunConfig& config) {
    if (const QString problem = startProblem(); !problem.isEmpty()) {
        return {false, problem};
    }
    try {
        const std::filesystem::path folder =
            train::create_run_folder(paths_.runs_root, config.name);
        const std::filesystem::path frozen = folder / "config.json";
        write_file_atomically(frozen, config.document.dump(2) + "\n");
        return launch(folder,
                      {"train", frozen.string(), "--base-dir",
                       std::filesystem::absolute(config.base_dir).string(), "--run-dir",
                       folder.string()},
                      config, false);
    } catch (const Error& error) {
        return {false, QString::fromStdString(error.message())};
    }
}

StartResult RunControl::launch(const std::filesystem::path& folder,
                               std::vector<std::string> arguments, const compile::RunConfig& config,
                               bool history) {
    QString problem = startProblem();
    if (problem.isEmpty()) {
        arguments.emplace_back("--quiet");
        problem = link_.start(folder,
                              {paths_.worker, std::move(arguments), folder / "logs" / "weft.log"});
    }
    if (!problem.isEmpty()) {
        if (!history) {
            std::error_code ignored;
            std::filesystem::remove_all(folder, ignored); // made a moment ago for this run
        }
        return {false, problem};
    }
    recent_.add(folder);
    emit starting();
    if (history) {
        reader_.replay(folder, config);
    } else {
        reader_.stop();
        run_.begin(folder, config);
        link_.stream(0);
    }
    emit started();
    return {true, {}};
}

void RunControl::pause() {
    send(train::CommandKind::pause);
}

void RunControl::resume() {
    send(train::CommandKind::resume);
}

void RunControl::pauseOrResume() {
    run_.state() == train::RunState::paused ? resume() : pause();
}

void RunControl::singleStep() {
    send(train::CommandKind::step);
}

void RunControl::checkpointNow() {
    send(train::CommandKind::checkpoint);
}

void RunControl::evaluateNow() {
    send(train::CommandKind::evaluate);
}

void RunControl::changeSetting(const std::string& path, const config::Json& value) {
    send(train::CommandKind::set, {{"path", path}, {"value", value}});
}

void RunControl::recordSteps(std::int64_t steps) {
    send(train::CommandKind::profile, {{"steps", steps}});
}

void RunControl::stopAndSave() {
    send(train::CommandKind::stop);
}

void RunControl::stopNow() {
    send(train::CommandKind::stop_now);
}

StartResult RunControl::extendRun(std::int64_t steps) {
    if (!link_.isActive()) {
        return resumeRun(run_.folder(), steps);
    }
    send(train::CommandKind::extend, {{"steps", steps}});
    return {true, {}};
}

void RunControl::takeOver() {
    link_.takeOver();
}

QString RunControl::controlProblem() const {
    using Who = RunControlState::Who;
    if (!link_.isActive() || link_.control().who == Who::Mine) {
        return {};
    }
    const QString why = toQString(link_.control().why);
    switch (link_.control().who) {
    case Who::Other: return tr("read-only: %1").arg(why);
    case Who::Unreachable: return tr("read-only: its process cannot be reached (%1)").arg(why);
    default: return tr("connecting to its process");
    }
}

void RunControl::send(train::CommandKind kind, const config::Json& argument) {
    const QString id = link_.post(kind, argument);
    if (!id.isEmpty()) {
        pending_.push_back({id, toQString(train::command_name(kind))});
        emit pendingChanged();
    }
}

void RunControl::takeAnswer(const train::CommandEvent& answer) {
    const auto asked = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
        return pending.id == toQString(answer.id);
    });
    if (asked == pending_.end()) {
        return;
    }
    const QString command = asked->command;
    pending_.erase(asked);
    emit pendingChanged();
    if (!answer.accepted) {
        const QString reason = toQString(answer.reason);
        emit troubled(tr("%1 was refused: %2").arg(command, reason));
        emit commandRefused(command, reason);
    }
}

void RunControl::forgetRequests() {
    if (!pending_.empty()) {
        pending_.clear();
        emit pendingChanged();
    }
}

} // namespace weft::ui
