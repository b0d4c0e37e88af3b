// SPDX-License-Identifier: Apache-2.0
// A device of a plan that a rank of its own serves: every call is a question to that rank.
#pragma once

#include "core/exec/device.h"
#include "core/exec/ranks/rank_hub.h"

namespace weft::exec {

class RemoteDevice final : public Device {
public:
    /// The device at place `rank` of the plan's mesh. The rank has made the same plan; `hub`
    /// outlives the device. `own` is the device of this process where devices work by themselves:
    /// before it has done what others wait for, nothing is asked that waits for those.
    RemoteDevice(std::shared_ptr<const plan::ExecutionPlan> plan, int rank, RankHub& hub,
                 LocalDevice* own);

    void join(QueuedWorld& world) override;
    HostPart slot(std::string_view name, HostPart::Use use) override;
    HostPart argument(std::string_view program, std::string_view name) override;
    HostPart result(std::string_view program, std::string_view name) override;
    void want_result(std::string_view program, std::string_view name, Handover& handover) override;
    void prepare(std::string_view program) override;
    /// Runs to its end: a stop waits for the next run.
    RunOutcome run(std::string_view program, std::stop_token stop, StopVote* vote) override;
    RunReport run_checked(std::string_view program, const Checking& checking) override;
    void set_observer(StepObserver* observer) override { observer_ = observer; }
    /// Values stay in their process, and are looked at there.
    void set_value_observer(ValueObserver* observer) override;
    DeviceUse last_use() const override { return use_; }
    std::int64_t resident_bytes() const override { return resident_bytes_; }
    std::int64_t process_bytes() const override { return process_bytes_; }
    std::int64_t library_bytes() const override { return 0; } // its process counts all of it
    ArenaReport arena_report() const override { return {}; }

private:
    std::vector<std::byte> when_done(config::Json question);
    const plan::PlannedProgram& planned(std::string_view program) const;
    std::vector<std::byte> result_bytes(std::string_view program, std::string_view name);
    void note_facts(const config::Json& answer);

    const std::shared_ptr<const plan::ExecutionPlan> plan_;
    const int rank_;
    RankHub& hub_;
    LocalDevice* const own_;
    StepObserver* observer_ = nullptr;
    ValueObserver* values_ = nullptr;
    DeviceUse use_;
    std::vector<std::string> action_names_; // that use_ names
    std::int64_t resident_bytes_ = 0;
    std::int64_t process_bytes_ = 0;
};

} // namespace weft::exec
