// SPDX-License-Identifier: Apache-2.0
// The step loop as a session runs it, on given devices and data, with orders that come when a step
// has been told.
#pragma once

#include "core/exec/executor.h"
#include "core/train/step_loop.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::test {

using State = std::map<std::string, std::vector<std::byte>>; // by slot, of those that are saved

/// A run on one executor, which several loops may carry on.
class LoopRun {
public:
    LoopRun(const compile::RunConfig& config, const exec::Compute& compute,
            std::filesystem::path folder, data::DataSet data);

    /// From the newest checkpoint of the folder.
    void restore();
    /// Called on the loop's thread, whenever it looks at the clock, with the newest step told.
    std::function<void(train::RunControl& control, std::int64_t step)> act = [](train::RunControl&,
                                                                                std::int64_t) {};

    /// Until `max_steps`, or something else ends it; what is outstanding is saved as a session
    /// does. An error is kept, with what the session would tell.
    std::optional<train::LoopEnd> run(std::int64_t max_steps);

    const train::Progress& progress() const { return progress_; }
    const std::optional<train::ErrorEvent>& error() const { return error_; }
    /// One line each, without what is measured: times, and bytes of processes and files.
    const std::vector<std::string>& events() const { return events_; }
    State state();

private:
    void note(const train::Event& event);

    compile::RunConfig config_;
    std::filesystem::path folder_;
    data::DataSet data_;
    exec::Executor executor_;
    train::Progress progress_;
    std::int64_t restored_step_ = -1;
    std::optional<train::ErrorEvent> error_;
    std::vector<std::string> events_;
    std::int64_t told_step_ = 0;
};

} // namespace weft::test
