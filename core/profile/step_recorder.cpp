// SPDX-License-Identifier: Apache-2.0
#include "core/profile/step_recorder.h"

#include "core/base/check.h"
#include "core/compile/predict.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <iterator>

namespace weft::profile {
namespace {

constexpr const char* kRecordedProgram = "train_step";

std::string_view bound_text(cost::Bound bound) {
    switch (bound) {
    case cost::Bound::products: return "products";
    case cost::Bound::arithmetic: return "arithmetic";
    case cost::Bound::memory: break;
    }
    return "memory";
}

Call priced_call(const plan::Step& step, const cost::CostModel& cost, std::int64_t devices) {
    Call call;
    call.op = step.op.kind;
    call.path = step.op.path;
    call.kernel = step.kernel;
    call.phase = ir::phase_name(step.op.phase);
    const ops::OpDef& op = ops::op_def(step.op.kind);
    call.exchange = op.collective;
    call.elementwise = op.elementwise >= 0 || step.op.kind == "fused";
    call.product_flops = step.product_flops;
    call.flops = step.flops;
    call.bytes = step.bytes;
    call.predicted_us = step.predicted_ms * 1e3;
    const cost::Work work = compile::work_of(step);
    call.dtype = ir::dtype_name(work.dtype);
    if (cost.available() && !call.exchange) {
        call.bound = bound_text(cost::bound_of(work, cost.limits()));
        call.best_us = cost::roofline_s(work, cost.limits()) * cost.share(devices) * 1e6;
    }
    return call;
}

/// Calls by linear position, a loop before its body; and how many of them one run makes.
struct Positions {
    std::vector<int> call;                // by position; -1: a loop
    std::vector<const plan::Step*> steps; // by position
    std::int64_t executions = 0;
};

void add_calls(const std::vector<plan::Step>& steps, std::int64_t times,
               const cost::CostModel& cost, std::int64_t devices, std::vector<Call>& calls,
               Positions& out) {
    for (const plan::Step& step : steps) {
        out.steps.push_back(&step);
        if (step.is_loop()) {
            out.call.push_back(-1);
            add_calls(step.steps, times * step.count, cost, devices, calls, out);
            continue;
        }
        out.call.push_back(static_cast<int>(calls.size()));
        out.executions += times;
        calls.push_back(priced_call(step, cost, devices));
    }
}

std::int64_t executions_of(const std::vector<plan::Step>& steps) {
    std::int64_t out = 0;
    for (const plan::Step& step : steps) {
        out += step.is_loop() ? step.count * executions_of(step.steps) : 1;
    }
    return out;
}

} // namespace

std::int64_t events_of_step(const plan::ExecutionPlan& plan) {
    std::int64_t out = 0;
    for (int device = 0; device < static_cast<int>(plan.mesh.devices()); ++device) {
        const plan::PlannedProgram* program =
            plan.find(kRecordedProgram, static_cast<int>(plan.stage_of(device)));
        WEFT_CHECK(program != nullptr, "a plan to train has a training step");
        out += executions_of(program->steps);
    }
    return out;
}

/// What a device did, in seconds of the clock.
class StepRecorder::Lane final : public exec::StepObserver {
public:
    Lane(const Positions& positions, std::int64_t steps)
        : call_(positions.call), steps_(positions.steps) {
        // A page of a list that nothing was written to is not there yet: all are touched now.
        kept_.resize(static_cast<std::size_t>(positions.executions * steps));
    }

    void waited(double seconds) override { waited_s_ = seconds; }

    void step_done(const plan::Step& step, int position, double start_s, double end_s) override {
        const auto at = static_cast<std::size_t>(position);
        if (at >= steps_.size() || steps_[at] != &step) {
            waited_s_ = 0;
            return; // of another program: an evaluation between two steps
        }
        if (count_ == kept_.size()) {
            ++dropped_;
            return;
        }
        kept_[count_++] = {call_[at], start_s, end_s, waited_s_};
        waited_s_ = 0;
    }

    std::int64_t dropped() const { return dropped_; }

    std::vector<Event> events(double origin_s) const {
        std::vector<Event> out;
        out.reserve(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            const Kept& kept = kept_[i];
            const double duration_s = std::max(0.0, kept.end_s - kept.start_s);
            out.push_back({kept.call, std::max(0.0, kept.start_s - origin_s) * 1e6,
                           duration_s * 1e6, std::clamp(kept.waited_s, 0.0, duration_s) * 1e6});
        }
        return out;
    }

private:
    struct Kept {
        int call = 0;
        double start_s = 0;
        double end_s = 0;
        double waited_s = 0;
    };

    std::vector<int> call_;
    std::vector<const plan::Step*> steps_;
    std::vector<Kept> kept_;
    std::size_t count_ = 0;
    std::int64_t dropped_ = 0;
    double waited_s_ = 0; // of the exchange that is told next
};

StepRecorder::StepRecorder(std::shared_ptr<const plan::ExecutionPlan> plan,
                           const cost::CostModel& cost, std::vector<std::string> device_names,
                           std::int64_t steps, const Clock& clock)
    : clock_(clock) {
    WEFT_CHECK(steps > 0, "a recording has steps");
    const std::int64_t devices = plan->mesh.devices();
    WEFT_CHECK(static_cast<std::int64_t>(device_names.size()) == devices, "each device has a name");
    head_.basis = cost.basis();
    head_.ceilings = {cost.limits().bf16_flops, cost.limits().f32_flops, cost.limits().bandwidth};
    std::vector<Positions> stages(plan->stages.size());
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        const plan::PlannedProgram* program = plan->find(kRecordedProgram, static_cast<int>(stage));
        WEFT_CHECK(program != nullptr, "a plan to train has a training step");
        add_calls(program->steps, 1, cost, devices, head_.calls, stages[stage]);
    }
    for (int device = 0; device < static_cast<int>(devices); ++device) {
        const auto stage = static_cast<std::size_t>(plan->stage_of(device));
        lanes_.push_back(std::make_unique<Lane>(stages[stage], steps));
        head_.devices.push_back({std::move(device_names[static_cast<std::size_t>(device)]), {}});
    }
    head_.asked_steps = steps;
    head_.steps.reserve(static_cast<std::size_t>(steps));
}

StepRecorder::~StepRecorder() = default;

exec::StepObserver& StepRecorder::observer(int device) {
    return *lanes_[static_cast<std::size_t>(device)];
}

double StepRecorder::now_us() const {
    return (clock_.steady_s() - origin_s_) * 1e6;
}

void StepRecorder::begin_step(std::int64_t step) {
    if (head_.steps.empty()) {
        origin_s_ = clock_.steady_s();
        head_.recorded_at = clock_.epoch_s();
    }
    now_ = {};
    now_.step = step;
    now_.start_us = now_us();
}

void StepRecorder::batch_ready() {
    now_.batch_us = now_us();
}

void StepRecorder::computed() {
    now_.computed_us = now_us();
}

void StepRecorder::end_step() {
    now_.end_us = now_us();
    head_.steps.push_back(now_);
}

std::int64_t StepRecorder::steps() const {
    return static_cast<std::int64_t>(head_.steps.size());
}

Recording StepRecorder::recording(const std::string& run) const {
    WEFT_CHECK(!head_.steps.empty(), "a recording has steps");
    Recording out = head_;
    out.run = run;
    const double end_us = out.steps.back().end_us;
    for (std::size_t device = 0; device < lanes_.size(); ++device) {
        std::vector<Event> events = lanes_[device]->events(origin_s_);
        std::erase_if(events, [&](const Event& event) { return event.start_us > end_us; });
        out.devices[device].events = std::move(events);
        out.dropped += lanes_[device]->dropped();
    }
    return out;
}

} // namespace weft::profile
