// SPDX-License-Identifier: Apache-2.0
// Predicted time of ops and programs: work over ceilings (a roofline), corrected by what was
// measured before. A prediction always carries its error and says what it rests on. Values only:
// any thread.
#pragma once

#include "core/cost/calibration.h"
#include "core/cost/hardware.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::cost {

struct Prediction {
    double ms = 0;
    double error = 0; // relative, one standard deviation; 0.5 = within a half
};

class CostModel {
public:
    /// This machine. Without ceilings there is no model: see `available`. `problem` says why there
    /// is no calibration when that is not simply its absence; it becomes the basis.
    explicit CostModel(Calibration calibration, std::string problem = {});
    /// Catalogue hardware: published limits times an assumed share of them (stated in basis()).
    /// `hardware` must outlive the model; catalogue entries do.
    explicit CostModel(const Hardware& hardware);

    bool available() const { return limits_.bandwidth > 0; }
    /// Of one execution; 0 without a model.
    double op_ms(const Work& work) const;
    /// Of all the work of one call of a program. With its key (see program_key) a finished run of
    /// the same program corrects the sum. Error: the spread of each class weighted by its share of
    /// the time; classes are independent of each other, what is in one class is not.
    Prediction predict(const std::vector<Work>& work, std::string_view program_key = {}) const;
    /// FLOP/s of matrix products at best: what a utilisation (MFU) is a share of. 0 without a
    /// model.
    double peak_flops(ir::DType dtype) const;
    /// One line: "ceilings measured on 2026-11-21, 61 classes of kernels" or "published limits of
    /// NVIDIA H200 SXM, ..."; why there is no prediction when there is none.
    const std::string& basis() const { return basis_; }

private:
    Limits limits_; // what is reckoned with
    Limits peaks_;  // what the machine can do at best
    std::map<std::string, Correction> classes_;
    double default_spread_ = 0; // of work that no class covers
    std::string basis_;
};

} // namespace weft::cost
