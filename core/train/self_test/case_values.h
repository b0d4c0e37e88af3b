// SPDX-License-Identifier: Apache-2.0
// What the arguments of a case hold, and how near a result must be to the right one.
#pragma once

#include "core/exec/interpreter.h"
#include "core/ir/program.h"

#include <string>

namespace weft::train {

/// The argument that the name of a port describes (cases.h).
exec::Tensor case_argument(const ir::Program& program, const ir::Port& port, std::uint64_t seed);

struct Difference {
    double largest = 0; // of all elements; infinite where one is not a number and shall be one
    double allowed = 0;
    std::int64_t element = 0; // where it is largest
    double is = 0;
    double shall = 0;
    bool ok() const { return largest <= allowed; }
};
/// Whole numbers must be equal. Others may differ by a share of the largest right one that is well
/// above what another order of sums makes in that type and well below any mistake: 2^-14 for f32
/// (2^-24 a rounding, some hundred terms), 2^-6 for bf16, 2^-9 for f16 (two roundings, one of them
/// of what goes into a product). Where operands are rounded first (`operands`), 2^-8: units read
/// f32 with 10 bits and sum products of 8 bits with not many more.
Difference difference(const exec::Tensor& result, const exec::Tensor& right,
                      bool rounds_operands = false);

/// "element 7 is 0.25 and shall be 0.5; the largest difference is 0.25 where 1e-05 is allowed"
std::string to_text(const Difference& difference);

} // namespace weft::train
