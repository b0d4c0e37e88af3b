// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/step_clock.h"

#include "core/pipeline/simulate.h"
#include "ui/bridge/plan/pipeline_chart.h"

#include <algorithm>
#include <numeric>

namespace weft::ui {
namespace {

constexpr std::int64_t kMostExecutions = 20000; // one by one; more say nothing more
constexpr double kAroundForwards = 1.0;         // what lies around an unpredicted schedule

std::size_t clockIndex(int index) {
    return static_cast<std::size_t>(index);
}

/// Before the first action of a stage, and behind its last: executions and what they weigh.
struct Around {
    int before = 0; // executions
    int behind = 0;
    double before_ms = 0;
    double behind_ms = 0;
};

} // namespace

StepTrack::StepTrack(const plan::PlannedProgram& program) : program_(&program) {
    walk(program.steps, 1);
    for (const plan::Segment& segment : program.segments) {
        if (segment.repeat > 1 && segment.steps > 1 && step(segment.first_step).is_loop()) {
            first_ = segment.first_step;
            length_ = segment.steps - 1;
            microsteps_ = static_cast<int>(segment.repeat);
        }
    }
    const int rest = opCount() - (length_ > 0 ? length_ + 1 : 0);
    shown_ = rest + std::int64_t{microsteps_} * length_ <= kMostExecutions ? microsteps_ : 1;
    count_ = rest + shown_ * length_;
    for (int op = first_ + 1; op <= first_ + length_; ++op) {
        times_[clockIndex(op)] /= shown_; // those that are shown run one by one
    }
}

void StepTrack::walk(const std::vector<plan::Step>& steps, double times) {
    for (const plan::Step& one : steps) {
        steps_.push_back(&one);
        times_.push_back(times);
        walk(one.steps, one.is_loop() ? times * static_cast<double>(one.count) : times);
    }
}

int StepTrack::opAt(int position) const {
    if (length_ == 0 || position < first_) {
        return position;
    }
    const int inside = position - first_;
    return inside < shown_ * length_ ? first_ + 1 + inside % length_
                                     : position - (shown_ - 1) * length_ + 1;
}

int StepTrack::microstepAt(int position) const {
    const int inside = position - first_;
    return length_ > 0 && inside >= 0 && inside < shown_ * length_ ? inside / length_ : 0;
}

bool StepTrack::isRepeated(int op) const {
    return op > first_ && op <= first_ + length_;
}

int StepTrack::positionOf(int op, int near) const {
    if (length_ == 0 || op < first_) {
        return op;
    }
    if (op > first_ + length_) {
        return op + (shown_ - 1) * length_ - 1;
    }
    return first_ + microstepAt(near) * length_ + std::max(0, op - first_ - 1);
}

StepClock::StepClock(const plan::ExecutionPlan& plan, const std::vector<StepTrack>& tracks) {
    timed_ =
        plan.predicted_step_ms.value_or(0) > 0 && (!plan.pipeline || !plan.pipeline->times.empty());
    stages_.resize(tracks.size());
    if (plan.pipeline && tracks.size() == clockIndex(plan.pipeline->stages)) {
        pipelined(plan, tracks);
    } else if (!tracks.empty()) {
        alone(plan, tracks.front());
    }
}

double StepClock::weight(const StepTrack& track, int op) const {
    if (track.step(op).is_loop()) {
        return 0;
    }
    return timed_ ? track.step(op).predicted_ms * track.timesOf(op) : 1;
}

// One op after the other, as compile::predict adds them up: collectives that hide behind the
// backward phase of hardware go on beside it, one after the other, and what comes next waits for
// them. Calibration makes the whole step longer or shorter: all of its parts alike.
void StepClock::alone(const plan::ExecutionPlan& plan, const StepTrack& track) {
    const bool overlap = timed_ && plan.device != "cpu";
    Stage& out = stages_.front();
    double now = 0;
    double sent = 0;
    int microstep = 0;
    for (int position = 0; position < track.count(); ++position) {
        const int op = track.opAt(position);
        const plan::Step& step = track.step(op);
        const bool another = track.microstepAt(position) != microstep;
        microstep = track.microstepAt(position);
        const bool hides = overlap && !step.op.attributes.text("overlaps", "").empty();
        const bool beside = overlap && !another && step.op.phase == ir::Phase::backward &&
                            !plan::collective_of(step);
        now = hides || beside ? now : std::max(now, sent);
        out.starts.push_back(now);
        if (hides) {
            hidden_.push_back({{std::max(sent, now), 0}, op});
            sent = hidden_.back().span.end = hidden_.back().span.start + weight(track, op);
        } else {
            now += weight(track, op);
        }
    }
    duration_ = std::max(now, sent);
    out.starts.push_back(duration_);
    if (timed_ && duration_ > 0 && track.program().predicted_ms > 0) {
        const double scale = track.program().predicted_ms / duration_;
        for (double& start : out.starts) {
            start *= scale;
        }
        for (Hidden& one : hidden_) {
            one.span = {one.span.start * scale, one.span.end * scale};
        }
        duration_ *= scale;
    }
}

// The schedule as the plan has it, between what the slowest stage does before and behind it.
void StepClock::pipelined(const plan::ExecutionPlan& plan, const std::vector<StepTrack>& tracks) {
    const pipeline::Schedule schedule = scheduleOf(*plan.pipeline);
    std::vector<std::vector<TimeSpan>> times(tracks.size());
    if (timed_) {
        for (std::size_t stage = 0; stage < times.size(); ++stage) {
            for (const plan::ActionTime& one : plan.pipeline->times[stage]) {
                times[stage].push_back({one.start_ms, one.end_ms});
            }
        }
    } else {
        const auto even =
            pipeline::simulate(schedule, pipeline::Costs::even(schedule, {1.0, 1.0, 1.0}));
        for (std::size_t stage = 0; stage < times.size(); ++stage) {
            for (const pipeline::Cell& one : even.stages[stage]) {
                times[stage].push_back({one.start_ms, one.end_ms});
            }
        }
    }
    std::vector<Around> around(tracks.size());
    Around most;
    double makespan = 0;
    for (std::size_t stage = 0; stage < tracks.size(); ++stage) {
        const StepTrack& track = tracks[stage];
        Around& own = around[stage];
        const auto acts = [&](int position) {
            return !track.step(track.opAt(position)).op.action.empty();
        };
        while (own.before < track.count() && !acts(own.before)) {
            own.before_ms += weight(track, track.opAt(own.before++));
        }
        while (own.behind < track.count() - own.before && !acts(track.count() - own.behind - 1)) {
            own.behind_ms += weight(track, track.opAt(track.count() - ++own.behind));
        }
        if (own.before_ms + own.behind_ms > most.before_ms + most.behind_ms) {
            most = own;
        }
        makespan = std::max(makespan, times[stage].empty() ? 0 : times[stage].back().end);
    }
    const double before = timed_ ? most.before_ms : kAroundForwards;
    const double behind = timed_ ? most.behind_ms : kAroundForwards;
    duration_ = before + makespan + behind;
    schedule_ = {before, before + makespan};
    for (std::size_t stage = 0; stage < tracks.size(); ++stage) {
        const StepTrack& track = tracks[stage];
        Stage& out = stages_[stage];
        for (TimeSpan& span : times[stage]) {
            span = {span.start + before, span.end + before};
        }
        out.actions = std::move(times[stage]);
        // Executions from here on fill a span in proportion to what they weigh.
        const auto fill = [&](int count, TimeSpan span) {
            double all = 0;
            const int first = static_cast<int>(out.starts.size());
            for (int i = 0; i < count; ++i) {
                all += weight(track, track.opAt(first + i));
            }
            double now = span.start;
            for (int i = 0; i < count; ++i) {
                out.starts.push_back(now);
                const double share =
                    all > 0 ? weight(track, track.opAt(first + i)) / all : 1.0 / count;
                now += (span.end - span.start) * share;
            }
        };
        const Around& own = around[stage];
        fill(own.before, {0, timed_ ? std::min(before, own.before_ms) : before});
        int next = 0; // action
        const auto& actions = plan.pipeline->actions[stage];
        for (int position = own.before; position < track.count() - own.behind;) {
            const std::string& action = track.step(track.opAt(position)).op.action;
            int end = position + 1;
            while (end < track.count() - own.behind &&
                   track.step(track.opAt(end)).op.action == action) {
                ++end;
            }
            const auto found = std::find(actions.begin() + next, actions.end(), action);
            if (found != actions.end()) {
                next = static_cast<int>(found - actions.begin());
                fill(end - position, out.actions[clockIndex(next)]);
            } else { // between two actions: in no time
                const double now = out.starts.empty() ? before : out.starts.back();
                fill(end - position, {now, now});
            }
            position = end;
        }
        out.first = own.before;
        out.last = track.count() - own.behind - 1;
        fill(own.behind, {before + makespan,
                          before + makespan + (timed_ ? std::min(behind, own.behind_ms) : behind)});
        out.starts.push_back(duration_);
    }
}

double StepClock::startOf(int stage, int position) const {
    return stages_[clockIndex(stage)].starts[clockIndex(position)];
}

double StepClock::endOf(int stage, int position) const {
    const Stage& own = stages_[clockIndex(stage)];
    const double next = own.starts[clockIndex(position + 1)];
    const int action = actionAt(stage, own.starts[clockIndex(position)]);
    const bool acts =
        action >= 0 && own.starts[clockIndex(position)] < own.actions[clockIndex(action)].end;
    return acts ? std::min(next, own.actions[clockIndex(action)].end) : next;
}

int StepClock::positionAt(int stage, double time) const {
    const std::vector<double>& starts = stages_[clockIndex(stage)].starts;
    const auto behind = std::upper_bound(starts.begin(), starts.end() - 1, time);
    return std::max(0, static_cast<int>(behind - starts.begin()) - 1);
}

const std::vector<TimeSpan>& StepClock::actions(int stage) const {
    return stages_[clockIndex(stage)].actions;
}

int StepClock::actionAt(int stage, double time) const {
    const std::vector<TimeSpan>& spans = stages_[clockIndex(stage)].actions;
    const auto behind =
        std::upper_bound(spans.begin(), spans.end(), time,
                         [](double moment, const TimeSpan& span) { return moment < span.start; });
    return static_cast<int>(behind - spans.begin()) - 1;
}

bool StepClock::isAround(int stage, int position) const {
    const Stage& own = stages_[clockIndex(stage)];
    return !own.actions.empty() && (position < own.first || position > own.last);
}

int StepClock::hiddenCollectiveAt(double time) const {
    const auto behind =
        std::upper_bound(hidden_.begin(), hidden_.end(), time,
                         [](double moment, const Hidden& one) { return moment < one.span.start; });
    return behind != hidden_.begin() && time < std::prev(behind)->span.end ? std::prev(behind)->op
                                                                           : -1;
}

} // namespace weft::ui
