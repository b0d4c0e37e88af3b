// SPDX-License-Identifier: Apache-2.0
// GPUs that are none: streams as queues of work that nobody does before somebody waits for it. Then
// items run in an order drawn from a seed, of all that streams and events allow. What is queued
// goes through an OrderChecker.
#pragma once

#include "kernels/weft_device.h"
#include "kernels/weft_health.h"
#include "tests/kernels/emulation/order_checker.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::test {

/// What this machine is; to be set while no device is open.
struct MachineOptions {
    int devices = 1;
    std::uint64_t seed = 1;
    /// By device; the last counts for all after it. More than what drivers and libraries are
    /// expected to keep on any mesh: whoever tests that a run does not fit says how much there is.
    std::vector<std::int64_t> memory_bytes{std::int64_t{8} << 30};
    /// Taken of it while the device is open: as soon as it is, and by each group that it joins.
    std::int64_t context_bytes = 0;
    std::int64_t group_bytes = 0;
    /// Leaves out the wait of that number, counted from 0 over the process: a planted fault.
    std::int64_t dropped_wait = -1;
    /// After so many pieces of work a device fails for good, or one never ends; -1: never.
    std::int64_t works_before_fault = -1;
    std::int64_t works_before_hang = -1;
    /// The device that this happens to, by its own work, meetings left out; -1: whichever comes to
    /// that number.
    int troubled = -1;
    /// After so many meetings of streams one never ends, though all have come; -1: never.
    std::int64_t meetings_before_hang = -1;
    /// The call of that number in a group, counted from 0, means something else on the rank
    /// `troubled`; -1: none does.
    std::int64_t mismatched_call = -1;
    /// The device whose work takes much longer than that of the others; -1: none.
    int slow = -1;
    /// The rank whose joining of any group gets lost; -1: none.
    int absent_rank = -1;
    /// The kernel of this op takes its first two inputs for each other; "": none does.
    std::string wrong_op{};
    /// A collective of this kind carries its elements in reverse; -1: none does.
    int wrong_collective = -1;
    /// Each rank of a group is in a process of its own (ranks_apart.h).
    bool ranks_apart = false;
};
void set_machine(const MachineOptions& options);

/// Counted since set_machine.
struct MachineCounts {
    std::int64_t waits = 0;      // of a stream for an event
    std::int64_t replays = 0;    // of graphs
    std::int64_t meetings = 0;   // of streams, that were begun with all there
    std::int64_t host_waits = 0; // of the host, for what was not done yet
};
MachineCounts machine_counts();
/// How busy a device is: bytes that it holds, and what all devices have done since set_machine.
struct MachineLoad {
    int devices = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t reserved_bytes = 0;
    std::int64_t works = 0;
};
MachineLoad machine_load(int device);
MachineOptions machine_options();
/// Accesses that nothing orders, found since set_machine; one text each. The first is a fault of
/// the device, too: whoever waits for it hears of it.
std::vector<std::string> order_faults();

/// The device holds what a group takes, until it is closed.
void hold_group(weft_device* device);

/// Work that the streams of several devices do together, when it is the turn of all of them.
struct Meeting {
    std::vector<weft_stream*> streams; // by rank; null: has not come yet
    std::function<void()> work;        // set when the last one comes
    /// Of ranks in other processes: asked when it is the turn of those here whether the others have
    /// come; null: there are none.
    std::function<bool()> others_come;
    std::string refused;               // why they cannot meet
};
/// Queues the stream's part in a meeting, which `come` finds each time that the part is queued, in
/// graphs too: as a rank's calls follow each other.
void queue_meeting(weft_stream* stream, std::function<std::shared_ptr<Meeting>()> come);

/// Queues work that touches what the present AccessScope says; done at once where `stream` is null.
/// What it throws, a Failure, is told by whoever waits.
void queue_work(weft_stream* stream, std::function<void()> work);

/// Whoever comes to these, or waits there, gets a fault.
void refuse_meetings(const std::vector<std::weak_ptr<Meeting>>& meetings,
                     const std::string& reason);

/// Work queued by this thread while it lives touches these bytes, and belongs to `name`.
class AccessScope {
public:
    AccessScope(std::vector<Access> accesses, std::string name);
    ~AccessScope();
    AccessScope(const AccessScope&) = delete;
    AccessScope& operator=(const AccessScope&) = delete;
};

} // namespace weft::test

/// The platform "cuda" of this machine, and the CUDA back end whose kernels tell what they touch.
const weft_platform* weft_emulated_platform();
const weft_backend* weft_emulated_backend();
/// Made up, and other with every piece of work.
const weft_health* weft_emulated_health();
