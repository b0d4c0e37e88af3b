// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"

#include "core/base/check.h"

#include <chrono>

namespace weft {
namespace {

template <class TimePoint>
double seconds(TimePoint time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

} // namespace

double SystemClock::steady_s() const {
    return seconds(std::chrono::steady_clock::now());
}

double SystemClock::epoch_s() const {
    return seconds(std::chrono::system_clock::now());
}

void ManualClock::advance(double seconds) {
    WEFT_CHECK(seconds >= 0.0, "a clock never goes back");
    elapsed_s_.fetch_add(seconds);
}

} // namespace weft
