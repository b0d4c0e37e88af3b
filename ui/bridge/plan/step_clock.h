// SPDX-License-Identifier: GPL-3.0-or-later
// When the ops of a planned training step run: by predicted times, and in a pipeline within the
// actions of its schedule. Pure values; any thread.
#pragma once

#include "core/plan/plan.h"

#include <vector>

namespace weft::ui {

/// A stretch of time.
struct TimeSpan {
    double start = 0;
    double end = 0;
};

/// Where a stage is in its schedule.
struct SchedulePlace {
    int stage = 0;
    int action = -1;   // the last that has begun; -1: none yet
    bool runs = false; // else it waits for the next one
    double share = 0;  // of the action, or of the wait, that is over
};

/// The ops of one stage as they are executed, one after the other: those of the repeated microstep
/// as often as it runs. What repeats too often to be shown stands once, and takes all of its time.
class StepTrack {
public:
    /// Keeps a pointer to the program.
    explicit StepTrack(const plan::PlannedProgram& program);

    const plan::PlannedProgram& program() const { return *program_; }
    /// The steps of the program by linear position, loops before their bodies.
    const plan::Step& step(int op) const { return *steps_[static_cast<std::size_t>(op)]; }
    int opCount() const { return static_cast<int>(steps_.size()); }

    /// Executions. The loop of the microstep is none.
    int count() const { return count_; }
    int opAt(int position) const;
    /// 0-based; 0 outside of the repeated part.
    int microstepAt(int position) const;
    /// Microsteps that are shown one by one, and all that there are.
    int shownMicrosteps() const { return shown_; }
    int microsteps() const { return microsteps_; }
    /// Whether an op is of the repeated part.
    bool isRepeated(int op) const;
    /// The execution of an op in the microstep that `near` is in, or in the first.
    int positionOf(int op, int near) const;

    /// How often an op runs in one of its executions here: inner loops, and what is not shown one
    /// by one.
    double timesOf(int op) const { return times_[static_cast<std::size_t>(op)]; }

private:
    void walk(const std::vector<plan::Step>& steps, double times);

    const plan::PlannedProgram* program_;
    std::vector<const plan::Step*> steps_;
    std::vector<double> times_;
    int first_ = 0;  // op of the repeated part's loop
    int length_ = 0; // ops of its body; 0: nothing repeats
    int microsteps_ = 1;
    int shown_ = 1;
    int count_ = 0;
};

/// When everything in a training step happens, from its start: in ms as predicted, else in
/// executions of ops, or for a pipeline in forwards of even stages.
class StepClock {
public:
    StepClock(const plan::ExecutionPlan& plan, const std::vector<StepTrack>& tracks);

    bool timed() const { return timed_; }
    double duration() const { return duration_; }
    double startOf(int stage, int position) const;
    double endOf(int stage, int position) const;
    /// The last execution that has begun at a time.
    int positionAt(int stage, double time) const;
    /// The actions of a stage's schedule, in their order; empty without a pipeline.
    const std::vector<TimeSpan>& actions(int stage) const;
    /// The last action that has begun at a time; -1: none yet.
    int actionAt(int stage, double time) const;
    /// Whether an execution is before the first action of a stage, or behind its last.
    bool isAround(int stage, int position) const;
    /// When the first and the last stage of a pipeline begin and end their schedules.
    double scheduleStart() const { return schedule_.start; }
    double scheduleEnd() const { return schedule_.end; }
    /// The op of a collective that goes on behind others at a time; -1: none does.
    int hiddenCollectiveAt(double time) const;

private:
    struct Stage {
        std::vector<double> starts; // of executions, ascending; the last one is the end of all
        std::vector<TimeSpan> actions;
        int first = 0; // execution of an action
        int last = -1;
    };
    struct Hidden {
        TimeSpan span;
        int op = 0;
    };

    void alone(const plan::ExecutionPlan& plan, const StepTrack& track);
    void pipelined(const plan::ExecutionPlan& plan, const std::vector<StepTrack>& tracks);
    double weight(const StepTrack& track, int op) const;

    std::vector<Stage> stages_;
    std::vector<Hidden> hidden_; // one after the other
    TimeSpan schedule_;
    double duration_ = 0;
    bool timed_ = false;
};

} // namespace weft::ui
