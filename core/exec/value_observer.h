// SPDX-License-Identifier: Apache-2.0
// Looks at what the steps of a run read and made, on the way, without changing anything of it.
#pragma once

#include "core/exec/host_part.h"
#include "core/plan/plan.h"

namespace weft::exec {

/// The operands of a step that has just run, a device's parts of them, where the host reaches them.
/// Valid while ValueObserver::seen runs.
class StepValues {
public:
    virtual ~StepValues() = default;
    /// What the step read; where it wrote into an operand, what is there now.
    virtual HostPart input(std::size_t index) const = 0;
    virtual HostPart output(std::size_t index) const = 0;
};

/// Told on the thread of the device, with its kernels between two steps. Must not throw. A device
/// that works by itself runs call by call meanwhile and is waited for after each.
class ValueObserver {
public:
    virtual ~ValueObserver() = default;
    /// In each execution of the step, of loops as well.
    virtual void seen(const plan::Step& step, const StepValues& values) = 0;
    /// What another one saw of the device in the process that has it: a rank that answers the
    /// command "look" hands it over when this is set, and taken away again. The end of a look.
    virtual void seen_elsewhere(std::span<const std::byte> /*seen*/) {}
};

} // namespace weft::exec
