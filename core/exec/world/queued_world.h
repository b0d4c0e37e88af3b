// SPDX-License-Identifier: Apache-2.0
// The devices of a plan that work by themselves: the groups in which they exchange, as calls of
// weft_collectives on streams, and the watch over what they come past. Private to core/exec.
//
// Collectives share a lane, so that every device meets the others in one order. Messages of a
// pipeline have a lane for each peer and direction: two stages that send to each other before they
// receive must not wait for one another.
//
// Where each device has a process (core/exec/ranks), each has a world of its own, which knows what
// its device comes past and of the others only that they meet.
#pragma once

#include "core/base/clock.h"
#include "core/exec/comm/own_exchanges.h"
#include "core/exec/compute.h"
#include "core/exec/queued_program.h"
#include "core/exec/world/meeting_places.h"
#include "core/exec/world/world_report.h"

#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weft::exec {

/// By which the ranks of groups find each other, by the groups' keys.
using GroupNames = std::map<std::string, weft_group_name>;
/// New ones for the groups that a plan's exchanges need. Throws weft::Error{device}.
GroupNames name_groups(const Compute& compute, const plan::ExecutionPlan& plan);

/// The groups that a plan's exchanges need, and the watch over the devices, of which there may be
/// one alone: nobody waits for ever. Outlives the devices.
class QueuedWorld final : public DeviceWatch, public comm::OwnExchanges {
public:
    /// `compute` and `plan` outlive it. `names` are those of all processes. `only` is the place of
    /// the device that is of this process; below 0: all are. Throws weft::Error{device}, also when
    /// the ranks of a group would call different exchanges.
    QueuedWorld(const Compute& compute, const plan::ExecutionPlan& plan, double timeout_s,
                GroupNames names, int only = -1);

    const GroupNames& names() const { return names_; }

    /// The exchange of a device, on its thread; all devices come at the same time, because groups
    /// are joined by all their ranks together. Throws weft::Error{device}.
    std::unique_ptr<QueuedExchange> join(OpenDevice& device);

    Error failed(int place, const Error& fault) override;
    /// Also when a group or another device has failed by itself.
    void waiting(int place, double seconds) override;
    bool gave_up() const override;

    /// Of the only device of this process.
    comm::RankPosition position() const override;
    void abort(std::string reason) override;

    const weft_collectives& collectives() const { return *compute_.collectives; }

private:
    friend class GroupExchange;
    /// One device's end of a group.
    struct End {
        int place = 0;
        weft_group* group = nullptr;
    };
    /// Ranks on their way into a group.
    struct Meeting {
        std::vector<int> absent; // have not begun to join
        int apart = 0;           // have not met all others
    };
    struct Rank {
        OpenDevice* device = nullptr;
        weft_stream* probe = nullptr; // never has work: tells whether the device is alive
        /// From the device's clock to the host's: the least that was seen between the end of a
        /// program and its being noticed, which may grow by how far clocks drift apart.
        double offset_s = std::numeric_limits<double>::infinity();
        double seen_s = 0;
        std::map<const ProgramMarks*, std::uint64_t> ended; // runs that were seen to have ended
    };

    bool alone() const { return ranks_.size() == 1; }
    bool knows_all() const { return only_ < 0; }
    Error exchange_error(const std::string& what) const;
    std::string name_of(int place) const;

    // With the mutex:
    Error ended() const;
    void end(const std::string& reason);
    WorldReport report() const { return {places_, programs_}; }
    void read_clocks(double now_s);
    void end_broken_group();
    bool has_stalled(double now_s, double waited_s);
    std::string hang(int place) const;

    void look_at_others(int place, double now_s);

    const Compute& compute_;
    const plan::ExecutionPlan& plan_;
    const MeetingPlaces places_; // joined in their order
    const GroupNames names_;
    const double timeout_s_;
    const int only_;
    const SystemClock clock_;

    mutable std::mutex mutex_;
    std::string failure_;
    double ended_s_ = 0; // when
    std::vector<End> joined_;
    std::map<std::string, Meeting> meeting_; // by group, before it is used
    std::vector<Rank> ranks_;
    std::vector<std::vector<const ProgramMarks*>> programs_; // by rank
    std::uint64_t progress_ = 0;                             // of all marks together
    double still_s_ = 0;                                     // since it was last another
    double counted_s_ = 0;                                   // when they were last counted
    double looked_s_ = 0;                                    // at the other devices
};

} // namespace weft::exec
