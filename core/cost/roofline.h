// SPDX-License-Identifier: Apache-2.0
// The roofline (Williams, Waterman, Patterson 2009): a kernel takes as long as its arithmetic at
// the peak rate or its traffic at the peak bandwidth, whichever is longer, and a call costs
// something.
#pragma once

#include "core/ir/operands.h"
#include "core/ir/type.h"

#include <cstdint>
#include <string>

namespace weft::cost {

/// Peak rates of a machine or device, per second.
struct Limits {
    double bf16_flops = 0; // A: bf16 products in the matrix or vector units
    double f32_flops = 0;  // F: f32 fused multiply-adds
    double bandwidth = 0;  // W: read-modify-write from memory, bytes/s
    double overhead_s = 0; // of one kernel call
    double f16_flops = 0;  // f16 products in units of their own; 0: they run in f32
    double tf32_flops = 0; // products of f32 rounded to tf32; 0: they run in f32
    double fp8_flops = 0;  // products of 8-bit numbers; 0: they run in the stored type
};

/// One execution of one kernel, as the model sees it; or what a call of a program takes beside its
/// kernels.
struct Work {
    std::string kind;                 // op kind, e.g. "matmul", "fused"; "" beside all kernels
    std::string kernel;               // "onednn matmul"; "" for planned-for hardware
    ir::DType dtype = ir::DType::f32; // of its floating-point operands
    double flops = 0;
    double product_flops = 0; // of these, multiply-adds of matrix products and convolutions
    double bytes = 0;         // operands, each once
    double times = 1;         // executions per call of the program
    ir::Operands operands = ir::Operands::as_stored; // of its products
};

/// Whether arithmetic or traffic takes longer.
enum class Bound : std::uint8_t { products, arithmetic, memory };
Bound bound_of(const Work& work, const Limits& limits);

/// Seconds of one execution at the limits, call included. Products run at the rate of their element
/// type, other arithmetic in f32 everywhere. Every limit must be positive, overhead_s may be 0.
double roofline_s(const Work& work, const Limits& limits);

/// Rate of products of this element type, rounded to `operands`.
double product_rate(ir::DType dtype, ir::Operands operands, const Limits& limits);

} // namespace weft::cost
