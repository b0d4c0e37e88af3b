// SPDX-License-Identifier: Apache-2.0
#include "core/exec/queued_program.h"

#include "core/base/error.h"
#include "core/exec/executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::exec {
namespace {

Touched touched(const plan::Operand& operand, std::span<const std::int64_t> iterations) {
    const std::int64_t begin = offset_of(operand, iterations);
    return {begin, begin + operand.type.bytes()};
}

} // namespace

QueuedProgram::QueuedProgram(const PreparedProgram& program, OpenDevice& device,
                             QueuedExchange& exchange)
    : plan_(*program.plan), device_(device), exchange_(exchange) {
    std::vector<std::int64_t> iterations;
    unroll(program.steps, iterations);
    order();
    for (const plan::Collective& one : plan::collectives(plan_)) {
        links_[link_named(join(one.axes, ","))].sent_bytes += one.sent_bytes;
    }
    actions_.resize(program.actions.size());
    find_ends();
    find_exchanges();
    take_marks();
    exchange_.follow(marks_);
}

QueuedProgram::~QueuedProgram() {
    exchange_.forget(marks_);
    device_.platform().enter(device_.get());
    if (graph_ != nullptr) {
        device_.platform().drop_graph(graph_);
    }
    give_back(taken_);
    if (!timing_.empty()) {
        give_back(timing_);
    }
}

void QueuedProgram::unroll(const std::vector<PreparedStep>& steps,
                           std::vector<std::int64_t>& iterations) {
    for (const PreparedStep& step : steps) {
        const std::int64_t count = step.step->count;
        for (std::int64_t visit = 0; visit < count; ++visit) {
            iterations.push_back(step.step->reverse ? count - 1 - visit : visit);
            unroll(step.body, iterations);
            iterations.pop_back();
        }
        if (count > 0) {
            continue;
        }
        Call& call = calls_.emplace_back();
        call.step = &step;
        call.iterations = iterations;
        for (const plan::Operand& operand : step.step->inputs) {
            call.inputs.push_back(device_.data() + offset_of(operand, iterations));
        }
        for (const plan::Operand& operand : step.step->outputs) {
            call.outputs.push_back(device_.data() + offset_of(operand, iterations));
        }
        if (!step.kernel) {
            call.lane = exchange_.lane(*step.step);
        }
    }
}

void QueuedProgram::order() {
    int lanes = 1;
    std::vector<LaneCall> touching;
    for (const Call& call : calls_) {
        LaneCall& one = touching.emplace_back();
        one.lane = call.lane;
        lanes = std::max(lanes, call.lane + 1);
        const plan::Step& step = *call.step->step;
        for (const plan::Operand& operand : step.inputs) {
            one.reads.push_back(touched(operand, call.iterations));
        }
        for (const plan::Operand& operand : step.outputs) {
            one.writes.push_back(touched(operand, call.iterations));
        }
        if (step.workspace.buffer >= 0) {
            one.writes.push_back(touched(step.workspace, {}));
        }
    }
    const LaneOrder found = order_lanes(touching, lanes);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        calls_[i].waits = found.waits[i];
        calls_[i].waits_for_begin = found.waits_for_begin[i];
        for (const int before : calls_[i].waits) {
            event_behind(before);
        }
    }
    open_ = found.open;
    for (const int last : open_) {
        event_behind(last);
    }
    for (int lane = 1; lane < lanes; ++lane) {
        lanes_.push_back(std::make_unique<Stream>(device_.platform(), device_.get()));
    }
    if (lanes > 1) {
        begun_.emplace(device_.platform(), device_.get());
    }
}

/// First and last calls of lanes and actions, and where computation stops to be counted.
void QueuedProgram::find_ends() {
    std::vector<int> last_of_lane(lanes_.size() + 1, -1);
    std::vector<int> last_of_action(actions_.size(), -1);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        Call& call = calls_[i];
        last_of_lane[static_cast<std::size_t>(call.lane)] = static_cast<int>(i);
        if (call.lane == 0 && ++marks_.calls % kCallsBetweenStops == 0) {
            call.is_stop = true;
            ++marks_.stops;
        }
        if (call.step->kernel && call.step->action >= 0) {
            int& last = last_of_action[static_cast<std::size_t>(call.step->action)];
            call.begins = last < 0 ? call.step->action : -1;
            last = static_cast<int>(i);
        }
    }
    for (const int last : last_of_lane) {
        if (last >= 0) {
            calls_[static_cast<std::size_t>(last)].last_of_lane = true;
        }
    }
    for (std::size_t action = 0; action < last_of_action.size(); ++action) {
        if (last_of_action[action] >= 0) {
            calls_[static_cast<std::size_t>(last_of_action[action])].ends =
                static_cast<int>(action);
        }
    }
}

void QueuedProgram::find_exchanges() {
    marks_.program = plan_.name;
    for (Call& call : calls_) {
        if (call.lane != 0) {
            call.exchange = static_cast<int>(marks_.exchanges.size());
            marks_.exchanges.push_back(exchange_.marks(*call.step->step));
            link_of_exchange_.push_back(link_named(call.step->step->op.attributes.text("axes")));
        }
    }
    for (Call& call : calls_) {
        if (call.lane == 0) {
            call.stall = add_stall(call.waits);
        }
    }
    last_stall_ = add_stall(open_);
}

std::size_t QueuedProgram::link_named(const std::string& axes) {
    const auto found = std::find_if(links_.begin(), links_.end(),
                                    [&](const LinkUse& link) { return link.axes == axes; });
    const auto at = static_cast<std::size_t>(found - links_.begin());
    if (found == links_.end()) {
        links_.push_back({axes});
    }
    return at;
}

/// None where computation waits for nothing.
int QueuedProgram::add_stall(const std::vector<int>& calls) {
    if (calls.empty()) {
        return -1;
    }
    StallMarks& stall = marks_.stalls.emplace_back();
    for (const int call : calls) {
        stall.exchanges.push_back(calls_[static_cast<std::size_t>(call)].exchange);
    }
    return static_cast<int>(marks_.stalls.size()) - 1;
}

std::span<weft_mark> QueuedProgram::cleared_marks(std::size_t count) {
    void* memory = nullptr;
    const std::size_t bytes = count * sizeof(weft_mark);
    device_.check(
        device_.platform().reserve_host(device_.get(), static_cast<std::int64_t>(bytes), &memory),
        "memory for marks");
    std::memset(memory, 0, bytes);
    return {static_cast<weft_mark*>(memory), count};
}

void QueuedProgram::give_back(std::span<weft_mark> marks) {
    device_.platform().give_back_host(device_.get(), marks.data(),
                                      static_cast<std::int64_t>(marks.size_bytes()));
}

void QueuedProgram::take_marks() {
    const std::size_t pairs = 1 + marks_.exchanges.size() + marks_.stalls.size() + actions_.size();
    taken_ = cleared_marks(2 * pairs + 1);
    weft_mark* next = taken_.data();
    const auto take_pair = [&](auto& first, auto& second) {
        first = next++;
        second = next++;
    };
    take_pair(marks_.begun, marks_.ended);
    marks_.gone_on = next++;
    for (ExchangeMarks& exchange : marks_.exchanges) {
        take_pair(exchange.come, exchange.done);
    }
    for (StallMarks& stall : marks_.stalls) {
        take_pair(stall.begun, stall.ended);
    }
    for (ActionMarks& action : actions_) {
        take_pair(action.begun, action.ended);
    }
}

void QueuedProgram::mark(const weft_mark* mark, weft_stream* stream) {
    const auto at = static_cast<std::size_t>(mark - taken_.data());
    device_.check(device_.platform().mark(stream, &taken_[at]), "marking progress");
}

/// `end` 0: the call begins; 1: it has ended.
void QueuedProgram::time(const Call& call, std::size_t end, weft_stream* stream) {
    if (observed_) {
        const auto number = static_cast<std::size_t>(&call - calls_.data());
        device_.check(device_.platform().mark(stream, &timing_[2 * number + end]), "timing a call");
    }
}

int QueuedProgram::event_behind(int call) {
    Call& before = calls_[static_cast<std::size_t>(call)];
    if (before.event < 0) {
        before.event = static_cast<int>(events_.size());
        events_.emplace_back(device_.platform(), device_.get());
    }
    return before.event;
}

weft_stream* QueuedProgram::stream(int lane) const {
    return lane == 0 ? device_.computation() : lanes_[static_cast<std::size_t>(lane) - 1]->get();
}

void QueuedProgram::queue(const Call& call) {
    const weft_platform& platform = device_.platform();
    weft_stream* const own = stream(call.lane);
    if (call.waits_for_begin) {
        device_.check(platform.wait(own, begun_->get()), "ordering streams");
    }
    wait(call.waits, call.stall, own);
    if (call.begins >= 0) {
        mark(actions_[static_cast<std::size_t>(call.begins)].begun, own);
    }
    const ExchangeMarks* const exchange =
        call.exchange < 0 ? nullptr : &marks_.exchanges[static_cast<std::size_t>(call.exchange)];
    if (exchange != nullptr) {
        mark(exchange->come, own);
    }
    time(call, 0, own);
    if (call.step->kernel) {
        call.step->kernel->run(call.inputs.data(), call.outputs.data(), call.step->workspace, own);
    } else {
        exchange_.queue(*call.step->step, call.inputs, call.outputs, own);
    }
    time(call, 1, own);
    if (call.is_stop) {
        mark(marks_.gone_on, own);
    }
    if (call.ends >= 0) {
        mark(actions_[static_cast<std::size_t>(call.ends)].ended, own);
    }
    // Whoever waits need not wait for the mark, but the end of the program comes after all of them.
    if (exchange != nullptr && call.last_of_lane) {
        mark(exchange->done, own);
    }
    if (call.event >= 0) {
        device_.check(platform.record(events_[static_cast<std::size_t>(call.event)].get(), own),
                      "ordering streams");
    }
    if (exchange != nullptr && !call.last_of_lane) {
        mark(exchange->done, own);
    }
}

void QueuedProgram::wait(const std::vector<int>& calls, int stall, weft_stream* stream) {
    if (stall >= 0) {
        mark(marks_.stalls[static_cast<std::size_t>(stall)].begun, stream);
    }
    for (const int before : calls) {
        const int event = calls_[static_cast<std::size_t>(before)].event;
        device_.check(
            device_.platform().wait(stream, events_[static_cast<std::size_t>(event)].get()),
            "ordering streams");
    }
    if (stall >= 0) {
        mark(marks_.stalls[static_cast<std::size_t>(stall)].ended, stream);
    }
}

void QueuedProgram::begin() {
    mark(marks_.begun, device_.computation());
    if (begun_) {
        device_.check(device_.platform().record(begun_->get(), device_.computation()),
                      "ordering streams");
    }
}

void QueuedProgram::queue_all() {
    begin();
    for (const Call& call : calls_) {
        queue(call);
    }
    // What is queued on the stream of computation after a run begins after all of it.
    wait(open_, last_stall_, device_.computation());
    mark(marks_.ended, device_.computation());
}

void QueuedProgram::run(StepObserver* observer) {
    observe(observer != nullptr);
    queue_run();
    if (observer != nullptr) {
        device_.finish();
        tell(*observer);
    }
}

void QueuedProgram::observe(bool observed) {
    if (observed && timing_.empty()) {
        timing_ = cleared_marks(2 * calls_.size());
    }
    if (std::exchange(observed_, observed) != observed && graph_ != nullptr) {
        device_.finish(); // it may run still
        device_.platform().drop_graph(std::exchange(graph_, nullptr));
    }
}

void QueuedProgram::tell(StepObserver& observer) const {
    const double offset_s = exchange_.clock_offset_s();
    const auto at = [&](const weft_mark& mark) {
        return past_s(mark, times_past(mark)) + offset_s;
    };
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        const PreparedStep& step = *calls_[i].step;
        observer.step_done(*step.step, step.position, at(timing_[2 * i]), at(timing_[2 * i + 1]));
    }
}

void QueuedProgram::queue_run() {
    const weft_platform& platform = device_.platform();
    if (runs_++ == 0) {
        queue_all();
        return;
    }
    if (graph_ == nullptr) {
        device_.check(platform.begin_graph(device_.computation()), "beginning a graph");
        try {
            queue_all();
        } catch (...) {
            platform.end_graph(device_.computation(), &graph_);
            throw;
        }
        device_.check(platform.end_graph(device_.computation(), &graph_), "making a graph");
    }
    device_.check(platform.replay(graph_, device_.computation()), "starting a graph");
}

void QueuedProgram::run_each(
    const std::function<bool(const PreparedStep&, std::span<const std::int64_t>,
                             std::span<void* const>)>& done) {
    begin();
    for (const Call& call : calls_) {
        queue(call);
        device_.finish(stream(call.lane));
        if (!done(*call.step, call.iterations, call.outputs)) {
            break;
        }
    }
    mark(marks_.ended, device_.computation());
    device_.finish();
}

DeviceUse QueuedProgram::last_use(std::span<const std::string_view> actions) const {
    DeviceUse out;
    const std::uint64_t number = exchange_.all_ended(marks_);
    if (number == 0) {
        return out;
    }
    const double offset_s = exchange_.clock_offset_s();
    const auto at = [&](const weft_mark* mark) {
        return times_past(*mark) < number ? 0 : past_s(*mark, number) + offset_s;
    };
    out.start_s = at(marks_.begun);
    out.end_s = at(marks_.ended);
    out.links = links_;
    for (const StallMarks& stall : marks_.stalls) {
        const double begun_s = at(stall.begun);
        const double ended_s = at(stall.ended);
        double come_s = begun_s;
        for (const int exchange : stall.exchanges) {
            come_s = std::max(come_s, exchange_.all_come_s(marks_, exchange, number));
        }
        // Of several exchanges that it waits for, the last one is what it waits for longest.
        LinkUse& link =
            out.links[link_of_exchange_[static_cast<std::size_t>(stall.exchanges.back())]];
        link.exchange_s += ended_s - begun_s;
        link.waited_s += std::min(come_s, ended_s) - begun_s;
    }
    for (std::size_t i = 0; i < marks_.exchanges.size(); ++i) {
        const double come_s = std::max(at(marks_.exchanges[i].come),
                                       exchange_.all_come_s(marks_, static_cast<int>(i), number));
        out.links[link_of_exchange_[i]].moved_s +=
            std::max(0.0, at(marks_.exchanges[i].done) - come_s);
    }
    for (std::size_t i = 0; i < actions.size(); ++i) {
        out.actions.push_back({actions[i], at(actions_[i].begun), at(actions_[i].ended)});
    }
    return out;
}

} // namespace weft::exec
