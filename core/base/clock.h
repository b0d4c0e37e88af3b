// SPDX-License-Identifier: Apache-2.0
// Time comes from here, so that tests decide what time it is. All clocks may be read from any thread.
#pragma once

#include <atomic>

namespace weft {

class Clock {
public:
    virtual ~Clock() = default;
    /// Seconds since an arbitrary start; never goes back. For durations.
    virtual double steady_s() const = 0;
    /// Seconds since 1970-01-01 UTC. For time stamps.
    virtual double epoch_s() const = 0;
};

class SystemClock final : public Clock {
public:
    double steady_s() const override;
    double epoch_s() const override;
};

/// A clock that stands still until a test advances it.
class ManualClock final : public Clock {
public:
    explicit ManualClock(double epoch_s = 0.0) : epoch_start_s_(epoch_s) {}

    double steady_s() const override { return elapsed_s_.load(); }
    double epoch_s() const override { return epoch_start_s_ + elapsed_s_.load(); }
    void advance(double seconds);

private:
    double epoch_start_s_;
    std::atomic<double> elapsed_s_ = 0.0;
};

} // namespace weft
