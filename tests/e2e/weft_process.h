// SPDX-License-Identifier: Apache-2.0
// Runs the `weft` program of this build and reads its events.
#pragma once

#include "core/config/field.h"
#include "core/train/record/event.h"

#include <QProcess>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::test {

struct Finished {
    int code = -1; // -1: it did not end in time, or crashed
    std::string out;
    std::string err;
};

/// The exit code of a run that was asked to stop and can go on.
inline constexpr int kExitStopped = 75;

/// Runs to the end. `environment` holds NAME=value entries on top of the test's own.
Finished run_weft(const QStringList& arguments, const QStringList& environment = {});
/// `weft train` of a configuration into a folder, with "--set" for each of the settings.
Finished train_weft(const QString& config, const QString& run, const QStringList& settings,
                    const QStringList& more);

/// A `weft ... --events` that is talked to while it runs.
class LiveWeft {
public:
    explicit LiveWeft(const QStringList& arguments);
    ~LiveWeft();

    /// Reads events until one fulfils `wanted` and returns it; nullopt when the program ends first.
    std::optional<train::Event> wait_for(const std::function<bool(const train::Event&)>& wanted);
    /// Waits for the update with this number, or a later one.
    std::optional<train::Event> wait_for_step(std::int64_t step);
    std::optional<train::Event> wait_for_state(train::RunState state);
    /// The answer to the command with this id.
    std::optional<train::CommandEvent> wait_for_answer(const std::string& id);
    /// Writes a line to its stdin.
    void send(const std::string& line);
    void signal(int number);
    std::int64_t pid() const { return process_.processId(); }
    /// Waits for the end; -1 when it was killed.
    int finish();

private:
    QProcess process_;
};

/// A tiny classification run: dropout on, bf16, short last batches, 40 steps in 8 epochs; `changes`
/// is merged into it. The file lies in `folder`.
QString write_config(const std::filesystem::path& folder, const config::Json& changes = {});

std::vector<train::Event> events_of(const std::filesystem::path& run);

} // namespace weft::test
