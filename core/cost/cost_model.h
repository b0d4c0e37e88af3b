// SPDX-License-Identifier: Apache-2.0
// Predicted time of ops and programs: work over ceilings (a roofline), corrected by what was
// measured before. A prediction always carries its error and says what it rests on. Values only:
// any thread.
#pragma once

#include "core/cost/calibration.h"
#include "core/cost/exchange.h"
#include "core/cost/hardware.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::cost {

struct Prediction {
    double ms = 0;
    double error = 0; // relative, one standard deviation; 0.5 = within a half
};

/// What every device of a mesh does in one call of a program.
struct MeshWork {
    std::vector<Work> work;
    std::vector<Exchange> exchanges;
    std::int64_t devices = 1; // of the mesh
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
    /// Of one execution of an exchange on a mesh of `devices`; 0 without a model.
    double exchange_ms(const Exchange& exchange, std::int64_t devices) const;
    /// How many times longer a device of a mesh takes than one on its own: simulated devices share
    /// the machine's cores and memory, catalogue hardware shares nothing.
    double share(std::int64_t devices) const;
    /// Whether a device computes while it exchanges: catalogue hardware does, on a stream of its
    /// own; simulated devices have one core each.
    bool overlaps() const { return threads_ == 0 && available(); }
    /// Devices that one host joins by its links; 0: all there are.
    std::int64_t host_devices() const { return links_.host_devices; }
    /// What is reckoned with: what can be had of the ceilings.
    const Limits& limits() const { return limits_; }
    /// What exchanges are reckoned with, one line.
    std::string exchange_basis(std::int64_t devices) const;
    /// Of all the work of one call of a program. With its key (see program_key) a finished run of
    /// the same program corrects the sum. Error: the spread of each class weighted by its share of
    /// the time; classes are independent of each other, what is in one class is not.
    Prediction predict(const std::vector<Work>& work, std::string_view program_key = {}) const;
    /// The same on a mesh, one after the other: nothing of an exchange is hidden behind work.
    Prediction predict(const MeshWork& mesh, std::string_view program_key = {}) const;
    /// FLOP/s of matrix products at best: what a utilisation (MFU) is a share of. 0 without a
    /// model.
    double peak_flops(ir::DType dtype, ir::Operands operands = ir::Operands::as_stored) const;
    /// One line: "ceilings measured on 2026-11-21, 61 classes of kernels" or "published limits of
    /// NVIDIA H200 SXM, ..."; why there is no prediction when there is none.
    const std::string& basis() const { return basis_; }

private:
    Links links_of(std::int64_t devices) const;

    Limits limits_;   // what is reckoned with
    Limits peaks_;    // what the machine can do at best
    Links links_;     // of catalogue hardware; of this machine they follow from its memory
    int threads_ = 0; // team that limits_ are of; 0: catalogue hardware
    std::map<std::string, Correction> classes_;
    double default_spread_ = 0; // of work that no class covers
    std::string basis_;
};

} // namespace weft::cost
