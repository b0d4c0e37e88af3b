// SPDX-License-Identifier: Apache-2.0
// The exchanges of a plan between devices that work by themselves: calls of weft_collectives on
// streams. Private to core/exec.
//
// Collectives share a lane, so that every device meets the others in one order. Messages of a
// pipeline have a lane for each peer and direction: two stages that send to each other before they
// receive must not wait for one another.
#pragma once

#include "core/exec/compute.h"
#include "core/exec/queued_program.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace weft::exec {

/// Who meets: the ranks of a group as devices of the mesh, in its order.
struct DeviceGroup {
    std::vector<int> devices;
    weft_group_name name{};
};

/// The groups that a plan's exchanges need, and the watch over the devices that meet there.
/// Outlives the devices.
class QueuedWorld final : public DeviceWatch {
public:
    /// `compute` and `plan` outlive it. Throws weft::Error{device}.
    QueuedWorld(const Compute& compute, const plan::ExecutionPlan& plan);

    /// The exchange of a device, on its thread; all devices come at the same time, because groups
    /// are joined by all their ranks together. Throws weft::Error{device}.
    std::unique_ptr<QueuedExchange> join(int place, OpenDevice& device);

    void end(const std::string& reason) override;
    /// Also when a group has failed by itself.
    void waiting(double seconds) override;

    const weft_collectives& collectives() const { return *compute_.collectives; }

private:
    friend class GroupExchange;

    std::vector<int> group_of(const std::string& axes, int place) const;
    void add(const std::string& key, std::vector<int> devices);

    const Compute& compute_;
    const plan::ExecutionPlan& plan_;
    std::map<std::string, DeviceGroup> groups_; // by key; joined in its order

    const double timeout_s_ = 600; // of one wait, as between simulated devices

    std::mutex mutex_;
    std::string failure_;
    std::vector<weft_group*> joined_; // of all devices
};

} // namespace weft::exec
