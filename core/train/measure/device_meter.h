// SPDX-License-Identifier: Apache-2.0
// What a run keeps on its GPUs beside arenas and landing room: the driver, libraries, and what
// groups of GPUs need for exchanges. Estimated for plans, measured in a run.
#pragma once

#include "core/exec/executor.h"
#include "core/train/compute.h"

#include <vector>

namespace weft::train {

/// Of each GPU that is in so many groups. The workspace of products, convolutions and attention is
/// not in it: that is part of every plan.
plan::DeviceMemory device_estimate(int groups);

class DeviceMeter {
public:
    /// Looks at the GPUs of a run, or those of this process, by their places on the mesh; none is
    /// open yet.
    explicit DeviceMeter(std::vector<int> devices);

    /// What they hold now for the executor, the largest of each kind. What the driver took cannot
    /// be told where the health of a GPU is not known: the plan's estimate stays.
    plan::DeviceMemory measure(const exec::Executor& executor) const;

private:
    std::vector<int> devices_;
    std::vector<std::int64_t> used_before_; // by all processes; below 0: not known
};

} // namespace weft::train
