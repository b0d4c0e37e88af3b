// SPDX-License-Identifier: Apache-2.0
#include "core/exec/exchange_lane.h"

#include "core/base/clock.h"
#include "core/exec/lane_order.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::exec {
namespace {

constexpr Touched kEverything{0, std::numeric_limits<std::int64_t>::max()};

bool exchanges(const plan::Step& step) {
    return !step.is_loop() && ops::op_def(step.op.kind).collective;
}

bool may_hide(const plan::Step& step) {
    return exchanges(step) && !step.op.attributes.text("overlaps", "").empty();
}

LaneCall call_of(const PreparedStep& prepared) {
    const plan::Step& step = *prepared.step;
    LaneCall out;
    if (step.is_loop() || (exchanges(step) && !prepared.beside)) {
        out.writes = {kEverything};
        return out;
    }
    out.lane = prepared.beside ? 1 : 0;
    for (const plan::Operand& operand : step.inputs) {
        out.reads.push_back({operand.offset, operand.offset + operand.type.bytes()});
    }
    for (const plan::Operand& operand : step.outputs) {
        out.writes.push_back({operand.offset, operand.offset + operand.type.bytes()});
    }
    if (step.workspace.buffer >= 0) {
        out.writes.push_back(
            {step.workspace.offset, step.workspace.offset + step.workspace.type.bytes()});
    }
    return out;
}

} // namespace

void order_beside(PreparedProgram& program) {
    std::vector<LaneCall> calls;
    std::vector<int> number; // of a call beside computation, from 1
    int beside = 0;
    for (PreparedStep& step : program.steps) {
        step.beside = may_hide(*step.step);
        beside += step.beside ? 1 : 0;
        number.push_back(beside);
        calls.push_back(call_of(step));
    }
    if (beside == 0) {
        return;
    }
    const LaneOrder order = order_lanes(calls, 2);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        for (const int before : order.waits[i]) {
            if (calls[i].lane == 0) {
                program.steps[i].behind =
                    std::max(program.steps[i].behind, number[static_cast<std::size_t>(before)]);
            }
        }
    }
}

ExchangeLane::ExchangeLane(Exchange& exchange) : exchange_(exchange), thread_([this] { work(); }) {}

ExchangeLane::~ExchangeLane() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void ExchangeLane::begin(const PreparedStep& step) {
    const std::lock_guard lock(mutex_);
    begun_.push_back(&step);
    done_.resize(begun_.size());
    changed_.notify_all();
}

std::span<const ExchangeLane::Done> ExchangeLane::wait(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finished_ >= count || fault_ != nullptr; });
    if (fault_ != nullptr) {
        std::rethrow_exception(fault_);
    }
    const int before = std::exchange(told_, std::max(told_, count));
    return std::span(done_).subspan(static_cast<std::size_t>(before),
                                    static_cast<std::size_t>(told_ - before));
}

void ExchangeLane::end() {
    const std::lock_guard lock(mutex_);
    begun_.clear();
    done_.clear();
    finished_ = 0;
    told_ = 0;
}

// After a fault nothing is exchanged any more: the world has ended.
void ExchangeLane::work() {
    const SystemClock clock;
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] {
            return ending_ || (finished_ < std::ssize(begun_) && fault_ == nullptr);
        });
        if (ending_) {
            return;
        }
        const PreparedStep& step = *begun_[static_cast<std::size_t>(finished_)];
        lock.unlock();
        const std::size_t link = exchange_.link_of(*step.step);
        Done done{&step, clock.steady_s(), 0, -exchange_.traffic(link).waited_s};
        std::exception_ptr fault;
        try {
            exchange_.run(*step.step, step.inputs, step.outputs);
        } catch (...) {
            fault = std::current_exception();
        }
        done.waited_s += exchange_.traffic(link).waited_s;
        done.end_s = clock.steady_s();
        lock.lock();
        if (fault != nullptr) {
            fault_ = fault;
        } else {
            done_[static_cast<std::size_t>(finished_++)] = done;
        }
        changed_.notify_all();
    }
}

} // namespace weft::exec
