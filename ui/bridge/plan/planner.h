// SPDX-License-Identifier: GPL-3.0-or-later
// What the studio asks of the engine before a run: its plan, and plans of what could be otherwise.
#pragma once

#include "core/advise/mesh_advice.h"
#include "core/compile/programs/programs.h"
#include "core/cost/hardware.h"
#include "core/train/planning.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace weft::ui {

/// How plans are made, off the GUI thread; `hardware` null: this machine. All throw weft::Error
/// and stop with weft::Error{runtime}.
struct Planner {
    using Alternatives = std::vector<plan::Alternative>;
    using Search = std::function<Alternatives(
        const compile::RunConfig&, const cost::Hardware* hardware, const std::stop_token&)>;
    using Plan = std::function<std::shared_ptr<const plan::ExecutionPlan>(
        const compile::RunConfig&, const cost::Hardware* hardware, const std::stop_token&)>;
    /// Looks for other meshes for a run with this plan; `planned` is called for every plan that
    /// is made, by any thread.
    using Meshes = std::function<advise::MeshAdvice(
        const compile::RunConfig&, const cost::Hardware* hardware, const plan::ExecutionPlan& plan,
        const std::stop_token&, const std::function<void()>& planned)>;
    Plan layout;   // of a mesh: where its state lies, at once; may be null
    Plan step;     // of the training step alone: nearly all there is to see, and soon
    Plan plan;     // of all programs
    Plan rest;     // of those that `step` lacks, which make it complete; may be null
    Search fixes;  // changes with which a run that does not fit does
    Search curve;  // memory against time over how much is computed again
    Search advice; // precision, recompute and micro batch in every combination
    Meshes meshes; // of as many devices
};

/// The GPUs of this machine as they were last found, for plans on any thread.
class FoundGpus {
public:
    using Gpus = std::optional<std::vector<train::FoundGpu>>;
    void set(std::vector<train::FoundGpu> gpus);
    /// None: nobody looked.
    Gpus get() const;

private:
    mutable std::mutex mutex_;
    Gpus gpus_;
};

/// The engine's, with what earlier measurements of this machine taught, and its GPUs.
Planner enginePlanner(const std::filesystem::path& calibration_file,
                      std::shared_ptr<const FoundGpus> gpus = std::make_shared<FoundGpus>());

/// What a configuration is planned for: what was chosen, else the hardware that it names itself
/// ("h200:64"); null: this machine.
const cost::Hardware* hardwareOf(const compile::RunConfig& config, const cost::Hardware* chosen);

} // namespace weft::ui
