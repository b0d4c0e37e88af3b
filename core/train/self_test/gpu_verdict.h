// SPDX-License-Identifier: Apache-2.0
// The self-test of the GPUs of this machine: run by the first who uses one with this build,
// remembered by GPU, driver, libraries and build.
#pragma once

#include "core/exec/compute.h"
#include "core/train/self_test/self_test.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::train {

enum class TestWhen : std::uint8_t { unknown, always }; // no verdict is kept; by hand

struct GpuVerdict {
    std::string of; // "cuda:1", "exchanges of cuda:0 and cuda:1"
    SelfTestResult result;
    bool kept = false; // from an earlier test
};
/// Told before a test that takes seconds.
using OnTest = std::function<void(const std::string& of)>;

/// Each GPU, then what they exchange where there are several; ends with the first that fails. A
/// device that fails otherwise than by a wrong result has a failure, too, which is not kept:
/// another may have had its memory. `compute` is of train::compute_of.
std::vector<GpuVerdict> gpu_verdicts(const exec::Compute& compute, TestWhen when,
                                     const OnTest& on_test);

/// What an earlier test of a GPU found that would be kept to; none: there was none.
std::optional<bool> passed_before(int number);

/// Throws weft::Error{device} unless all passed, each once though it may stand at several places;
/// nothing for the host.
void require_passed(const exec::Compute& compute, const OnTest& on_test);

} // namespace weft::train
