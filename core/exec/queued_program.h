// SPDX-License-Identifier: Apache-2.0
// A prepared program on a device that works by itself: its steps as calls on streams, which the
// device plays back as one graph. Private to core/exec.
#pragma once

#include "core/exec/lane_order.h"
#include "core/exec/open_device.h"
#include "core/exec/prepared_program.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft::exec {

/// Exchanges that a device queues. One per device, used on its thread.
class QueuedExchange {
public:
    virtual ~QueuedExchange() = default;
    /// Streams beside that of computation: exchanges that must not wait for each other have
    /// different ones. From 1; 0: the step moves nothing and needs no stream.
    virtual int lane(const plan::Step& step) const = 0;
    /// Queues a step; operands as the plan has them. Throws weft::Error{device}.
    virtual void queue(const plan::Step& step, std::span<const void* const> inputs,
                       std::span<void* const> outputs, weft_stream* stream) = 0;
};

class QueuedProgram {
public:
    /// Loops are written out: a graph has none. `program` and `device` outlive it; `exchange` is
    /// null where the plan has no exchanges.
    QueuedProgram(const PreparedProgram& program, OpenDevice& device, QueuedExchange* exchange);
    ~QueuedProgram();
    QueuedProgram(const QueuedProgram&) = delete;
    QueuedProgram& operator=(const QueuedProgram&) = delete;

    /// Queues a run: call by call the first time, when libraries still make what they need, then as
    /// a graph. Throws weft::Error{device}.
    void run();
    /// Queues a run call by call and waits after each; ends early when `done` returns false.
    void run_each(
        const std::function<bool(const PreparedStep& step, std::span<const std::int64_t> iterations,
                                 std::span<void* const> outputs)>& done);

private:
    struct Call {
        const PreparedStep* step = nullptr;
        std::vector<std::int64_t> iterations; // of the loops around it
        std::vector<const void*> inputs;
        std::vector<void*> outputs;
        int lane = 0;
        std::vector<int> waits; // calls on other lanes
        int event = -1;         // recorded behind it, for those who wait
        bool waits_for_begin = false;
    };

    void unroll(const std::vector<PreparedStep>& steps, std::vector<std::int64_t>& iterations);
    void order();
    int event_behind(int call);
    void queue_all();
    void queue(const Call& call);
    void join();
    weft_stream* stream(int lane) const;

    OpenDevice& device_;
    QueuedExchange* exchange_;
    std::vector<Call> calls_;
    std::vector<std::unique_ptr<Stream>> lanes_; // from 1
    std::vector<Event> events_;
    std::optional<Event> begun_;    // on the stream of computation
    std::vector<int> open_;         // calls that computation waits for at the end
    int runs_ = 0;
    weft_graph* graph_ = nullptr;
};

} // namespace weft::exec
