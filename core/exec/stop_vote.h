// SPDX-License-Identifier: Apache-2.0
// Whether a run on several devices is stopped: all of them stop, or none. What comes first counts,
// the stop or the first write of a device to a state slot. One per run. Private to core/exec.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::exec {

class StopVote {
public:
    /// Of a device that has heard of a stop request: false when another has written already.
    bool stop() { return is_settled_as(Result::stopped); }
    /// Of a device before its first write: false when the run is stopped.
    bool write() { return is_settled_as(Result::writing); }
    bool stopped() const { return result_ == Result::stopped; }

private:
    enum class Result : std::uint8_t { open, stopped, writing };

    bool is_settled_as(Result wanted) {
        Result before = Result::open;
        return result_.compare_exchange_strong(before, wanted) || before == wanted;
    }

    std::atomic<Result> result_ = Result::open;
};

} // namespace weft::exec
