// SPDX-License-Identifier: Apache-2.0
#include "core/exec/queued_program.h"

#include "core/base/check.h"
#include "core/base/error.h"

#include <algorithm>

namespace weft::exec {
namespace {

Touched touched(const plan::Operand& operand, std::span<const std::int64_t> iterations) {
    const std::int64_t begin = offset_of(operand, iterations);
    return {begin, begin + operand.type.bytes()};
}

} // namespace

QueuedProgram::QueuedProgram(const PreparedProgram& program, OpenDevice& device,
                             QueuedExchange* exchange)
    : device_(device), exchange_(exchange) {
    std::vector<std::int64_t> iterations;
    unroll(program.steps, iterations);
    order();
}

QueuedProgram::~QueuedProgram() {
    if (graph_ != nullptr) {
        device_.platform().enter(device_.get());
        device_.platform().drop_graph(graph_);
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
            WEFT_CHECK(exchange_ != nullptr, "a plan with exchanges runs on a mesh");
            call.lane = exchange_->lane(*step.step);
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
    for (const int before : call.waits) {
        const int event = calls_[static_cast<std::size_t>(before)].event;
        device_.check(platform.wait(own, events_[static_cast<std::size_t>(event)].get()),
                      "ordering streams");
    }
    if (call.step->kernel) {
        call.step->kernel->run(call.inputs.data(), call.outputs.data(), call.step->workspace, own);
    } else {
        exchange_->queue(*call.step->step, call.inputs, call.outputs, own);
    }
    if (call.event >= 0) {
        device_.check(platform.record(events_[static_cast<std::size_t>(call.event)].get(), own),
                      "ordering streams");
    }
}

/// What is queued on the stream of computation after a run begins after all of it.
void QueuedProgram::join() {
    for (const int last : open_) {
        const int event = calls_[static_cast<std::size_t>(last)].event;
        device_.check(device_.platform().wait(device_.computation(),
                                              events_[static_cast<std::size_t>(event)].get()),
                      "ordering streams");
    }
}

void QueuedProgram::queue_all() {
    if (begun_) {
        device_.check(device_.platform().record(begun_->get(), device_.computation()),
                      "ordering streams");
    }
    for (const Call& call : calls_) {
        queue(call);
    }
    join();
}

void QueuedProgram::run() {
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
    if (begun_) {
        device_.check(device_.platform().record(begun_->get(), device_.computation()),
                      "ordering streams");
    }
    for (const Call& call : calls_) {
        queue(call);
        device_.check(device_.platform().finish(stream(call.lane)), "work on the device");
        if (!done(*call.step, call.iterations, call.outputs)) {
            return;
        }
    }
}

} // namespace weft::exec
