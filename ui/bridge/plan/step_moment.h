// SPDX-License-Identifier: GPL-3.0-or-later
// A moment of a planned training step and everything that a page shows of it: the op, its time,
// what the devices hold, say and read then. Prepared once for a plan, asked for many times a
// second. Immutable; any thread.
#pragma once

#include "ui/bridge/plan/plan_digest.h"
#include "ui/bridge/plan/step_clock.h"
#include "ui/bridge/plan/step_touches.h"

#include <array>
#include <memory>
#include <vector>

namespace weft::ui {

using MemoryBytes = std::array<qint64, widgets::kMemoryCategoryCount>;

/// The devices of one stage of a pipeline; of a plan without one, all devices.
struct StageMoment {
    QString action;    // that it is in: "B3"; empty: none
    QString around;    // what it does before or behind its schedule: "setup", "update"
    MemoryBytes bytes; // alive in a device's arena, by category
    qint64 total = 0;
};

struct StepMoment {
    int position = -1; // among the executions of ops; -1: no moment
    int op = -1;       // in the digest's program
    double time = 0;   // since the start of the step, in the unit of StepMoments
    int microstep = 0; // of `microsteps`, from 0
    int microsteps = 1;
    QString phase; // of the step: "backward 1 of 2", "forward of microbatch 3", "update"
    QString title; // what is computed: "blocks.2.mlp.up gradient, all-reduce over model"
    qint64 total = 0;
    MemoryBytes bytes{};             // alive in the arena of a device of the digest's stage
    std::vector<StageMoment> stages; // all of them, at this time
    SchedulePlace place;             // of the digest's stage; in a pipeline
    int collective = -1;             // op of the collective that it is or that goes on beside it
    std::vector<TensorTouch> touches;

    bool valid() const { return position >= 0; }
};

class StepMoments {
public:
    /// Without a training step there are none.
    explicit StepMoments(std::shared_ptr<const PlanDigest> digest);

    /// Executions of ops in one step of a device of the digest's stage.
    int count() const;
    /// Times are predicted milliseconds; else they only say what comes before what.
    bool timed() const { return clock_->timed(); }
    double duration() const { return clock_->duration(); }

    /// As an op begins.
    StepMoment at(int position) const;
    /// Within the step.
    StepMoment atTime(double time) const;
    int positionAtTime(double time) const;
    /// The execution of an op in the microstep that `near` is in, or in the first.
    int positionOf(int op, int near) const;
    /// When an action of a stage's schedule begins; the start of the step where there is none.
    double timeOfAction(int stage, int action) const;
    /// The first execution of an action of the digest's stage; -1: there is none.
    int positionOfAction(int action) const;

    /// Bytes of a device over all executions, with phases, and ticks where collectives are.
    const widgets::TimelineData& timeline() const { return timeline_; }

private:
    /// Bytes alive by category as they change over the ops of a program.
    class Memory {
    public:
        Memory(const plan::ExecutionPlan& plan, const plan::PlannedProgram& program);
        MemoryBytes at(int op) const;

    private:
        std::array<std::vector<std::pair<int, qint64>>, widgets::kMemoryCategoryCount> changes_;
    };
    /// What the executions of one part of the step are called.
    struct Phase {
        int first = 0; // position
        QString text;
    };

    const StepTrack& track() const { return tracks_[static_cast<std::size_t>(own_)]; }
    StepMoment make(int position, double time) const;
    SchedulePlace placeAt(double time) const;
    void makePhases();
    void addPhase(int position, std::string_view segment, bool repeated, bool backward);
    void makeTimeline();
    QString title(int op) const;

    std::shared_ptr<const PlanDigest> digest_;
    std::vector<StepTrack> tracks_; // [stage]
    int own_ = 0;                   // of these, the digest's
    std::vector<Memory> memory_;    // [stage]
    std::unique_ptr<StepClock> clock_;
    std::unique_ptr<StepTouches> touches_;
    std::vector<Phase> phases_;
    widgets::TimelineData timeline_;
};

/// Those that were prepared with the digest, else new ones. They keep the digest.
std::shared_ptr<const StepMoments> momentsOf(std::shared_ptr<const PlanDigest> digest);

} // namespace weft::ui
