// SPDX-License-Identifier: Apache-2.0
// A prepared program on a device that works by itself: its steps as calls on streams, which the
// device plays back as one graph. What the device comes past in a run it marks in host memory.
// Private to core/exec.
#pragma once

#include "core/exec/device_use.h"
#include "core/exec/lane_order.h"
#include "core/exec/open_device.h"
#include "core/exec/prepared_program.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::exec {

class StepObserver;

/// How often a device has come past a mark.
inline std::uint64_t times_past(const weft_mark& mark) {
    return __atomic_load_n(&mark.count, __ATOMIC_ACQUIRE);
}

/// The device's clock when it did so for the time `number`: its last, or the one before.
inline double past_s(const weft_mark& mark, std::uint64_t number) {
    return static_cast<double>(mark.ns[number % 2]) * 1e-9;
}

/// An exchange of a program.
struct ExchangeMarks {
    std::string group;               // its key in the world
    std::string what;                // moves
    const weft_mark* come = nullptr; // what comes before it is done
    const weft_mark* done = nullptr;
};

/// Where computation waits for exchanges.
struct StallMarks {
    std::vector<int> exchanges; // of the program
    const weft_mark* begun = nullptr;
    const weft_mark* ended = nullptr;
};

/// A long program shows that it goes on, each time that so many calls of its computation are done.
constexpr int kCallsBetweenStops = 100;

/// Of a program on one device; each run of it comes past all of them.
struct ProgramMarks {
    std::string_view program;
    const weft_mark* begun = nullptr;
    const weft_mark* gone_on = nullptr; // at each of its stops
    const weft_mark* ended = nullptr;
    int calls = 0; // of computation
    int stops = 0;
    std::vector<ExchangeMarks> exchanges; // in the order of the program
    std::vector<StallMarks> stalls;
};

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

    /// The marks of an exchange, without a place for them yet.
    virtual ExchangeMarks marks(const plan::Step& step) const = 0;
    /// The watch looks at a program's marks until it is to forget them.
    virtual void follow(const ProgramMarks& marks) = 0;
    virtual void forget(const ProgramMarks& marks) = 0;
    /// Seconds from the device's clock to SystemClock::steady_s.
    virtual double clock_offset_s() const = 0;
    /// Runs of a program that have ended on all ranks that are of this process.
    virtual std::uint64_t all_ended(const ProgramMarks& marks) const = 0;
    /// When the last rank came to an exchange of a program in its run `number`, by
    /// SystemClock::steady_s; minus infinity where the others are of other processes.
    virtual double all_come_s(const ProgramMarks& marks, int exchange,
                              std::uint64_t number) const = 0;
};

class QueuedProgram {
public:
    /// Loops are written out: a graph has none. What it is given outlives it.
    QueuedProgram(const PreparedProgram& program, OpenDevice& device, QueuedExchange& exchange);
    ~QueuedProgram();
    QueuedProgram(const QueuedProgram&) = delete;
    QueuedProgram& operator=(const QueuedProgram&) = delete;

    /// Queues a run: call by call the first time, when libraries still make what they need, then as
    /// a graph. With an observer it waits for the end, and tells it of every call in the order of
    /// the program. Throws weft::Error{device}.
    void run(StepObserver* observer = nullptr);
    /// Queues a run call by call and waits after each; ends early when `done` returns false.
    void run_each(
        const std::function<bool(const PreparedStep& step, std::span<const std::int64_t> iterations,
                                 std::span<void* const> outputs)>& done);

    /// Of the last run that has ended on all devices; `actions` names those of the program. Does
    /// not wait.
    DeviceUse last_use(std::span<const std::string_view> actions) const;

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
        bool last_of_lane = false;
        bool is_stop = false;
        int exchange = -1; // in marks_.exchanges
        int stall = -1;    // in marks_.stalls: computation waits for exchanges before it
        int begins = -1;   // the action that it is the first or last call of
        int ends = -1;
    };
    struct ActionMarks {
        weft_mark* begun = nullptr;
        weft_mark* ended = nullptr;
    };

    void unroll(const std::vector<PreparedStep>& steps, std::vector<std::int64_t>& iterations);
    void order();
    void find_ends();
    void find_exchanges();
    std::size_t link_named(const std::string& axes);
    int add_stall(const std::vector<int>& calls);
    void take_marks();
    void observe(bool observed);
    void tell(StepObserver& observer) const;
    std::span<weft_mark> cleared_marks(std::size_t count);
    void give_back(std::span<weft_mark> marks);
    void mark(const weft_mark* mark, weft_stream* stream);
    void time(const Call& call, std::size_t end, weft_stream* stream);
    void wait(const std::vector<int>& calls, int stall, weft_stream* stream);
    int event_behind(int call);
    void begin();
    void queue_run();
    void queue_all();
    void queue(const Call& call);
    weft_stream* stream(int lane) const;

    const plan::PlannedProgram& plan_;
    OpenDevice& device_;
    QueuedExchange& exchange_;
    std::vector<Call> calls_;
    std::vector<std::unique_ptr<Stream>> lanes_; // from 1
    std::vector<Event> events_;
    std::optional<Event> begun_;    // on the stream of computation
    std::vector<int> open_;         // calls that computation waits for at the end
    int last_stall_ = -1;           // for them
    std::vector<ActionMarks> actions_;
    ProgramMarks marks_;
    std::span<weft_mark> taken_;  // of the host, for all marks
    std::span<weft_mark> timing_; // two for each call, once a run was observed
    bool observed_ = false;       // what is queued, and the graph, has them
    std::vector<LinkUse> links_;  // what is sent over each, as planned
    std::vector<std::size_t> link_of_exchange_; // by place in marks_.exchanges
    int runs_ = 0;
    weft_graph* graph_ = nullptr;
};

} // namespace weft::exec
