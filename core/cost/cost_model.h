// SPDX-License-Identifier: Apache-2.0
// Predicted time of ops and programs: work over ceilings (a roofline), corrected by what was measured
// before. A prediction always carries its error and says what it rests on.
#pragma once

#include "core/cost/hardware.h"
#include "core/ir/type.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::cost {

/// What one machine can do at best, measured by `weft bench machine` (PERF.md 3.1) with all cores.
struct Ceilings {
    double bf16_flops = 0; // A: bf16 in the matrix or vector units, FLOP/s
    double f32_flops = 0;  // F: f32 fused multiply-add, FLOP/s
    double bandwidth = 0;  // W: read-modify-write from RAM, bytes/s
    double overhead_s = 0; // of one kernel call
    int threads = 0;
    std::string cpu;       // model name: ceilings of another machine are not used
    double measured_time = 0; // s, UTC epoch
};

/// One execution of one kernel, as the model sees it.
struct Work {
    std::string kind;   // op kind, e.g. "matmul", "fused"
    std::string kernel; // "onednn matmul"; "" for planned-for hardware
    ir::DType dtype = ir::DType::f32; // that it computes in
    double flops = 0;
    double bytes = 0;
    double times = 1; // executions per call of the program
};

/// Measured over modelled time of one class of work, e.g. "onednn matmul/bf16".
struct Correction {
    double factor = 1; // multiplies the roofline's time
    double spread = 0; // relative standard deviation of the factor
    std::int64_t samples = 0;
};

/// What past measurements on this machine taught. Kept in a JSON file of the user's cache folder,
/// written by `weft bench machine` and by finished runs.
struct Calibration {
    std::optional<Ceilings> ceilings;
    std::map<std::string, Correction> classes;
};
/// An empty calibration when the file is absent or belongs to another machine (see Ceilings::cpu,
/// threads). Throws weft::Error{data} when it is damaged.
Calibration read_calibration(const std::filesystem::path& file, const std::string& cpu, int threads);
/// Written beside and renamed into place.
void write_calibration(const std::filesystem::path& file, const Calibration& calibration);

/// The class that a piece of work is corrected by.
std::string class_of(const Work& work);

struct Prediction {
    double ms = 0;
    double error = 0; // relative, one standard deviation; 0.5 = within a half
};

class CostModel {
public:
    /// This machine. Without ceilings there is no model: see `available`.
    explicit CostModel(Calibration calibration);
    /// Catalogue hardware: published limits times an assumed share of them (stated in basis()).
    explicit CostModel(const Hardware& hardware);

    bool available() const;
    /// Of one execution.
    double op_ms(const Work& work) const;
    /// Of all the work of one call of a program.
    Prediction predict(const std::vector<Work>& work) const;
    /// One line: "ceilings of 2026-11-21, calibrated on 3 runs" or "published limits of ...".
    const std::string& basis() const;

private:
    Calibration calibration_;
    const Hardware* hardware_ = nullptr;
    std::string basis_;
};

} // namespace weft::cost
