// SPDX-License-Identifier: Apache-2.0
// One device of a plan: an arena and the kernels that work in it. Private to core/exec; the
// Executor owns one per device of the mesh.
#pragma once

#include "core/exec/comm/communicator.h"
#include "core/exec/executor.h"
#include "core/exec/stop_vote.h"
#include "core/exec/world/queued_world.h"

namespace weft::exec {

/// What a device asks of the others. One per device, used on its thread.
class Exchange {
public:
    virtual ~Exchange() = default;
    /// Carries out a collective step; operands as the plan has them. Throws weft::Error{device}.
    virtual void run(const plan::Step& step, std::span<const void* const> inputs,
                     std::span<void* const> outputs) = 0;
    /// Of this device, over all groups.
    virtual comm::Traffic traffic() const = 0;
};

/// Functions as those of Executor, on the parts of arrays that this device holds.
class Device {
public:
    /// At a place of the plan's mesh. `exchange` is for the host; null: the plan has no exchanges,
    /// or the device works by itself and joins a world before anything else.
    Device(std::shared_ptr<const plan::ExecutionPlan> plan, int place, const Compute& compute,
           ExecutorOptions options, Exchange* exchange);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// Meets the other devices, if any, all at the same time. Throws weft::Error{device}.
    void join(QueuedWorld& world);

    HostPart slot(std::string_view name, HostPart::Use use);
    HostPart argument(std::string_view program, std::string_view name);
    HostPart result(std::string_view program, std::string_view name);
    /// Adds a result to what is handed over.
    void want_result(std::string_view program, std::string_view name, Handover& handover);

    void prepare(std::string_view program);
    /// `vote` of the devices that run together; null: this one alone.
    RunOutcome run(std::string_view program, std::stop_token stop, StopVote* vote = nullptr);
    RunReport run_checked(std::string_view program);

    void set_observer(StepObserver* observer);
    DeviceUse last_use() const;
    std::int64_t resident_bytes() const;
    std::int64_t library_bytes() const;
    ArenaReport arena_report() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::exec
