// SPDX-License-Identifier: Apache-2.0
// Operands of products as 8-bit numbers, scaled by what their largest number allows.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/operand_format.h"

namespace weft::kernels::cuda {

/// A matrix [rows, columns] of f32, bf16 or f16, which a run rounds to 8-bit numbers in its
/// workspace, perhaps turned: [columns, rows]. Both are multiples of 16.
class EightBitOperand {
public:
    /// `offset`: of its part of the workspace.
    EightBitOperand(const NumberFormat& format, i64 rows, i64 columns, bool turned, int dtype,
                    std::int64_t offset);

    std::int64_t workspace_bytes() const;
    /// `from` begins at a multiple of 16 bytes.
    void queue(const Run& run, const void* from) const;
    const void* numbers(const Run& run) const { return run.workspace(numbers_at()); }
    /// What to multiply them with to have the operand's own.
    const float* scale(const Run& run) const { return run.workspace<float>(offset_); }

private:
    std::int64_t sizes_at() const { return offset_ + round_up_to_line(sizeof(float)); }
    std::int64_t numbers_at() const;

    bool narrow_range_;
    i64 rows_, columns_;
    bool turned_;
    int dtype_;
    std::int64_t offset_;
    Grid grid_;
};

} // namespace weft::kernels::cuda
