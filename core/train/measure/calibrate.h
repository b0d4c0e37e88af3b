// SPDX-License-Identifier: Apache-2.0
// Measures what this machine can do at best and how far its kernels stay from that, by training
// sessions of given configurations. What `weft bench machine` runs. Blocks; uses the whole OpenMP
// team.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/cost/cost_model.h"

#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::train {

struct CalibrateOptions {
    int threads = 0;              // 0: all that this process may use
    double seconds_each = 5;      // of measured steps per configuration; at least two steps run
    std::filesystem::path folder; // for the runs; must be absent or empty, and is removed again
    std::stop_token stop;
    std::function<void(const std::string&)> progress; // what begins now
};

/// One training step of a configuration.
struct StepTiming {
    std::string name;
    int steps = 0;                // that were timed
    double measured_ms = 0;       // of the step events: mean of the middle half
    double spread = 0;            // of all timed steps, relative standard deviation
    cost::Prediction predicted;   // learnt from every configuration, this one too
    cost::Prediction transferred; // learnt from the other configurations only
    double utilisation = 0;       // products of the model over the best rate of its precision
};

/// One class of kernels over all configurations.
struct ClassTiming {
    std::string name;
    cost::Correction correction;
    double share = 0; // of the time of a step, mean over the configurations
};

struct CalibrationReport {
    cost::Calibration calibration; // ready to be written
    std::vector<StepTiming> steps;
    std::vector<ClassTiming> classes; // by kernel and element type, largest share first
};

/// Measures the ceilings before, between and after the configurations (the best of them counts:
/// other programs only make them worse), and in a session of each every kernel call and what a step
/// takes beside them: waiting for data, copying it, events. Data comes from the configurations:
/// made on the fly is fine. Throws weft::Error; stops with weft::Error{runtime}.
CalibrationReport calibrate(std::span<const compile::RunConfig> configs,
                            const CalibrateOptions& options);

} // namespace weft::train
