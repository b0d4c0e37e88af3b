// SPDX-License-Identifier: Apache-2.0
// A mesh of simulated devices beside one device: the same configuration, start values, batches and
// micro batches. Twice: the programs op by op, as they are before any optimising pass, where the
// first op that differs is named; and the plans as they are executed, where losses are compared;
// where those of a mixture of experts differ, its routing comes first. Op by op, the stages of a
// pipeline are not cut yet: each of its devices computes everything.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/exec/compare_mesh.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::train {

/// The training step on whole arrays, and as the devices of the configuration's mesh run it.
struct MeshStep {
    sharding::Mesh mesh;
    ir::Program whole;
    sharding::PartitionedProgram local;
};
MeshStep mesh_step(const compile::RunConfig& config, const data::SampleInfo& sample);

/// The same run on one device: no mesh, and rows of a microstep as the mesh has them together.
compile::RunConfig without_mesh(const compile::RunConfig& config);

/// The arguments of training steps as tensors: start values of the run, batches of its data. Every
/// step starts with the state that `took` was given.
class StepArguments {
public:
    StepArguments(const compile::RunConfig& config, const data::DataSet& data, int threads);
    ~StepArguments();
    StepArguments(StepArguments&&) noexcept;

    /// Those of the next step, one per argument of the program (MeshStep::whole).
    std::vector<exec::Tensor> next(const ir::Program& whole);
    /// What the step made of the state: one tensor per result of the program.
    void take(const ir::Program& whole, const std::vector<exec::Tensor>& results);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Where experts first get other tokens than on one device, and what one device does by itself when
/// only the order of its sums changes.
struct RoutingChange {
    int step = 0;             // from 1: the first that starts with weights that choose otherwise
    std::int64_t changed = 0; // of its choices
    std::int64_t choices = 0;
    std::int64_t rows = 0;      // of a microstep on one device, in place of the mesh's
    double loss_difference = 0; // of one device with such microsteps, largest, relative
    /// Losses part with the routing and not before, and one device parts from itself alike.
    bool explains = false;
};

struct MeshVerdict {
    sharding::Mesh mesh;
    int steps = 0;
    // Op by op:
    bool in_f64 = true; // else in f32, because f64 would take too long
    exec::Agreement agreement;
    std::int64_t values = 0; // compared
    double largest_difference = 0;
    std::optional<exec::OpDifference> first;
    int first_step = 0; // from 1
    // As executed:
    std::string precision;
    double loss_tolerance = 0;
    double loss_difference = 0; // largest, relative
    int loss_step = 0;          // where it is
    std::optional<RoutingChange> routing; // looked for where losses differ

    bool values_agree() const { return !first; }
    bool losses_agree() const {
        return loss_difference <= loss_tolerance || (routing && routing->explains);
    }
};

/// Throws weft::Error{usage} for one device and planned-for hardware; whatever planning and
/// execution throw.
MeshVerdict verify_mesh(const compile::RunConfig& config, int steps, int threads,
                        const std::stop_token& stop = {});
/// The part that goes op by op, on programs that were made already.
void compare_steps(const MeshStep& step, StepArguments arguments, MeshVerdict& verdict,
                   const std::stop_token& stop = {});

} // namespace weft::train
