// SPDX-License-Identifier: Apache-2.0
// Looks inside the network every so many steps of a run (log.inside_every) and writes what it saw
// into the run's folder. What cannot be written is told once and costs the run nothing. On the
// thread of the step loop.
#pragma once

#include "core/train/control/run_control.h"
#include "core/train/inside/inside_file.h"
#include "core/train/record/run_folder.h"

#include <filesystem>
#include <functional>
#include <optional>

namespace weft::train {

class LookInside {
public:
    /// `seen` has copies of what is written. Everything outlives this.
    LookInside(exec::Executor& executor, const std::filesystem::path& folder, RunControl& control,
               const RunLock& lock, std::function<void(const Watched&, const InsideLook&)> seen);

    /// Whether this step is to be looked into: no other may be under way with it.
    bool wants(std::int64_t step, const LiveSettings& live) const {
        return works_ && live.inside_every > 0 && step % live.inside_every == 0;
    }
    /// Before the update.
    void begin();
    bool is_on() const { return watch_ && watch_->is_on(); }
    /// The update was taken.
    void end(std::int64_t step, std::int64_t samples, double loss_scale);
    /// It was not.
    void drop();

private:
    void give_up(const std::string& why, const std::string& hint);

    exec::Executor& executor_;
    const std::filesystem::path& folder_; // of the run
    RunControl& control_;
    const RunLock& lock_;
    const std::function<void(const Watched&, const InsideLook&)> seen_;
    bool works_ = true;
    std::optional<LayerWatch> watch_; // once a look is due
    std::optional<InsideWriter> writer_;
};

} // namespace weft::train
