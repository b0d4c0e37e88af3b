// SPDX-License-Identifier: Apache-2.0
// Which mesh for a run on many devices: a search over the devices along data, pipeline and model,
// ZeRO stage, schedule, recompute and micro batch. Candidates are estimated from plans of a few
// layers on a few devices; the best are planned completely, so that every figure shown is of a
// plan: of a pipeline with one microbatch more than it has stages, from which those of the rest
// follow.
#pragma once

#include "core/advise/alternatives.h"
#include "core/cost/cost_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::advise {

struct MeshAdvice {
    std::vector<plan::Alternative> ways; // planned completely, fastest first
    /// Why other candidates are not among them, with how many there are of each.
    plan::Rejections others;
    int candidates = 0;
    int reference_plans = 0; // of a few layers
};

/// What is known of a candidate before it is planned.
struct MeshCandidate {
    std::int64_t data = 1;
    std::int64_t pipeline = 1; // stages
    std::int64_t model = 1;
    int zero_stage = 0;
    bool recomputes = false;
    std::int64_t micro_batch = 1;
    std::string schedule = {}; // of a pipeline
    std::int64_t bytes = 0;    // of one device, estimated
    double step_ms = 0;
    double communication_ms = 0; // of these

    std::vector<std::string> overrides() const;
    std::string text() const; // "data=8 x pipeline=2 x model=8, 1f1b, ZeRO 1, micro batch 2"
};

/// `planner` plans the training step for the devices that mesh.devices names; `cost` is what it
/// prices with and `limit_bytes` the memory of one device. `parameters` are those of the run.
///
/// The estimate: compute, exchanges within layers and memory beside the state are planes over
/// layers and samples, through small plans of each group of devices (block_model.h); state and
/// gradients divide as ZeRO's sums say, and the exchanges of the data ranks are rings (FACTS E): an
/// all-reduce per update, at stage 2 a reduce-scatter per microstep and a gather per update, at
/// stage 3 the gathers and reduce-scatters per microstep that a small plan has. A stage of a
/// pipeline is a model of fewer layers whose activations are held as often as the schedule has
/// microbatches in flight; its step is the schedule's, played through with even stages
/// (pipeline_rhythm.h).
///
/// `threads`: that many small plans are made at a time, and with more than one all complete ones;
/// `planner` must allow it.
MeshAdvice search_meshes(const compile::RunConfig& config, const Planner& planner,
                         const cost::CostModel& cost, std::int64_t parameters,
                         std::int64_t limit_bytes, std::stop_token stop, int threads = 1);

/// The estimates alone, those that fit, fastest first.
std::vector<MeshCandidate> estimate_meshes(const compile::RunConfig& config, const Planner& planner,
                                           const cost::CostModel& cost, std::int64_t parameters,
                                           std::int64_t limit_bytes, MeshAdvice& notes,
                                           const std::stop_token& stop, int threads = 1);

} // namespace weft::advise
