// SPDX-License-Identifier: Apache-2.0
// Exchanges of a device on the host while it computes: a thread that makes them one after the
// other, in the order of the program. Between processes most of an exchange is bytes on their way,
// for which no core is needed. Private to core/exec.
#pragma once

#include "core/exec/device.h"
#include "core/exec/prepared_program.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace weft::exec {

/// Decides which exchanges of a program go beside computation: those that `overlaps` says can hide
/// behind it, outside loops. Each step then knows how many of them it has to wait for, because it
/// touches the same bytes, or exchanges itself: a device has one end of each group.
void order_beside(PreparedProgram& program);

class ExchangeLane {
public:
    /// `exchange` outlives it; while some that began are not done it is the lane's alone.
    explicit ExchangeLane(Exchange& exchange);
    /// What is under way ends first: whoever leaves early ends the world.
    ~ExchangeLane();
    ExchangeLane(const ExchangeLane&) = delete;
    ExchangeLane& operator=(const ExchangeLane&) = delete;

    /// Times of SystemClock::steady_s.
    struct Done {
        const PreparedStep* step = nullptr;
        double start_s = 0;
        double end_s = 0;
        double waited_s = 0; // of these, for other ranks
    };

    /// The step outlives its exchange.
    void begin(const PreparedStep& step);
    /// So many have begun in this run.
    int begun() const { return static_cast<int>(begun_.size()); }
    /// Until the first `count` of them are done; those that nobody was told of yet, until the next
    /// begin. Throws what an exchange threw.
    std::span<const Done> wait(int count);
    /// The end of a run, of which all have been waited for.
    void end();

private:
    void work();

    Exchange& exchange_;
    int told_ = 0;     // of the device's thread
    std::mutex mutex_; // of what follows
    std::condition_variable changed_;
    // In this run; they keep their room for the next.
    std::vector<const PreparedStep*> begun_;
    std::vector<Done> done_; // as many, of which the first ones are
    int finished_ = 0;
    std::exception_ptr fault_;
    bool ending_ = false;
    std::thread thread_;
};

} // namespace weft::exec
