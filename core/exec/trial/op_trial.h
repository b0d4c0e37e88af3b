// SPDX-License-Identifier: Apache-2.0
// Single ops and exchanges on devices that work by themselves, with everything carried there and
// back: what a self-test asks. Slow, and nothing of a plan.
#pragma once

#include "core/exec/compute.h"
#include "core/exec/interpreter.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::exec {

class OpenDevice;

/// What an op made of its inputs on a device.
struct Tried {
    std::string kernel;           // "cudnn attention"
    std::vector<Tensor> queued;   // as a call on a stream
    std::vector<Tensor> replayed; // once more, out of a graph
};

/// One device; its thread enters it for good.
class OpTrial {
public:
    /// An op that takes longer than `patience_s` does not end. Throws weft::Error{device}.
    OpTrial(const Compute& compute, int place, double patience_s);
    ~OpTrial();
    OpTrial(const OpTrial&) = delete;
    OpTrial& operator=(const OpTrial&) = delete;

    /// Results begin as bytes 0xff, NaN in every float type, so that what a kernel leaves out is
    /// seen. Throws weft::Error{device, memory}, weft::Error{runtime} where there is no kernel. Not
    /// to be called again after a device error.
    Tried run(const ir::Program& program, const ir::Op& op, std::span<const Tensor* const> inputs);

private:
    const Compute& compute_;
    const int place_;
    const double patience_s_;
    std::unique_ptr<OpenDevice> entered_;
};

/// A call that all devices of a run make together; ends of it differ by rank.
struct ExchangeTrial {
    weft_collective_call call{}; // but for peer and list
    ir::DType dtype = ir::DType::f32;
    std::int64_t count = 0;                     // n of weft_collective
    std::vector<std::vector<std::byte>> inputs; // by rank
    std::int64_t result_bytes = 0;              // of each rank
};

/// Results by trial and rank. Of WEFT_SEND: each rank sends to the next and receives from the one
/// before, the first rank sends first. Throws weft::Error{device} with what went wrong, also when
/// nothing is heard for `patience_s`.
std::vector<std::vector<std::vector<std::byte>>>
try_exchanges(const Compute& compute, std::span<const ExchangeTrial> trials, double patience_s);

} // namespace weft::exec
