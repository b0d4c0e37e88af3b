// SPDX-License-Identifier: Apache-2.0
// One device of a plan: an arena and the kernels that work in it, in this process or in another
// (ranks/remote_device.h). Private to core/exec; the Executor owns one per device of the mesh.
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
    /// What this device exchanges along, by the axes of the mesh as text.
    virtual const std::vector<std::string>& links() const = 0;
    /// That of a step, by its place in links().
    virtual std::size_t link_of(const plan::Step& step) const = 0;
    /// Of this device, since it was made.
    virtual comm::Traffic traffic(std::size_t link) const = 0;
    /// Whether the device may compute meanwhile. Simulated devices hand over through memory, which
    /// keeps their cores busy.
    virtual bool may_go_beside() const = 0;
};

/// Functions as those of Executor, on the parts of arrays that this device holds.
class Device {
public:
    virtual ~Device() = default;

    /// Meets the other devices, if any, all at the same time. Throws weft::Error{device}.
    virtual void join(QueuedWorld& world) = 0;

    virtual HostPart slot(std::string_view name, HostPart::Use use) = 0;
    virtual HostPart argument(std::string_view program, std::string_view name) = 0;
    virtual HostPart result(std::string_view program, std::string_view name) = 0;
    /// Adds a result to what is handed over.
    virtual void want_result(std::string_view program, std::string_view name,
                             Handover& handover) = 0;

    virtual void prepare(std::string_view program) = 0;
    /// `vote` of the devices that run together; null: this one alone.
    virtual RunOutcome run(std::string_view program, std::stop_token stop, StopVote* vote) = 0;
    virtual RunReport run_checked(std::string_view program, const Checking& checking) = 0;

    virtual void set_observer(StepObserver* observer) = 0;
    virtual void set_value_observer(ValueObserver* observer) = 0;
    virtual DeviceUse last_use() const = 0;
    virtual std::int64_t resident_bytes() const = 0;
    virtual std::int64_t library_bytes() const = 0;
    /// Resident memory that another process has taken for the device; 0: it is of this one.
    virtual std::int64_t process_bytes() const { return 0; }
    virtual ArenaReport arena_report() const = 0;
};

/// In this process.
class LocalDevice final : public Device {
public:
    /// At a place of the plan's mesh. `exchange` is for the host; null: the plan has no exchanges,
    /// or the device works by itself and joins a world before anything else.
    LocalDevice(std::shared_ptr<const plan::ExecutionPlan> plan, int place, const Compute& compute,
                ExecutorOptions options, Exchange* exchange);
    ~LocalDevice() override;
    LocalDevice(const LocalDevice&) = delete;
    LocalDevice& operator=(const LocalDevice&) = delete;

    void join(QueuedWorld& world) override;
    HostPart slot(std::string_view name, HostPart::Use use) override;
    HostPart argument(std::string_view program, std::string_view name) override;
    HostPart result(std::string_view program, std::string_view name) override;
    void want_result(std::string_view program, std::string_view name, Handover& handover) override;
    void prepare(std::string_view program) override;
    RunOutcome run(std::string_view program, std::stop_token stop, StopVote* vote) override;
    RunReport run_checked(std::string_view program, const Checking& checking) override;
    void set_observer(StepObserver* observer) override;
    void set_value_observer(ValueObserver* observer) override;
    DeviceUse last_use() const override;
    std::int64_t resident_bytes() const override;
    std::int64_t library_bytes() const override;
    ArenaReport arena_report() const override;

    /// Of one that works by itself, for whoever has nothing else to do for so long: whether it has
    /// done all that was queued. Throws weft::Error{device} where it has failed, or never will be.
    bool look(double waited_s);
    /// Waits until it has. Throws likewise.
    void finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::exec
