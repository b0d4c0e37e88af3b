// SPDX-License-Identifier: Apache-2.0
// What the kernels that normalise rows share: geometry, checks, rows as floats, and sums over rows
// through partial sums of fixed chunks, combined in order.
#pragma once

#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/op.h"

#include <initializer_list>

namespace weft::kernels::cpu {

class RowNormKernel : public Kernel {
public:
    /// Inputs `rows_of_statistics` are [...]; input `other` has the type of x.
    RowNormKernel(const Op& op, std::initializer_list<int> rows_of_statistics, int other)
        : rows_(row_count(op.input(0))), width_(last_dim(op.input(0))), x_(op.input(0).dtype),
          threads_(team_size()), line_(round_up_to_line(width_ * 4)), scratch_{0, 3 * line_} {
        require(op.input(0).rank >= 1, "a row norm takes [..., C]");
        if (!is_float(x_) || op.input(other).dtype != x_) {
            unsupported("norms of f32 or bf16 only");
        }
        for (const int i : rows_of_statistics) {
            check(op.input(i), rows_);
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

protected:
    static void check(const Type& type, std::int64_t count) {
        require(element_count(type) == count,
                "a vector of statistics or parameters has a wrong size");
        if (type.dtype != WEFT_F32) {
            unsupported("statistics and parameters in f32 only");
        }
    }

    /// The type of an output of x's shape.
    static std::int32_t float_type(const Type& type) {
        if (!is_float(type.dtype)) {
            unsupported("norms of f32 or bf16 only");
        }
        return type.dtype;
    }

    const float* row(const void* data, std::int64_t r, float* scratch) const {
        return as_floats(element(data, x_, r * width_), x_, scratch, width_);
    }

    /// Room for `columns` partial sums [C] of each chunk in the workspace.
    void reserve_sums(std::int64_t columns) {
        columns_ = columns;
        scratch_.base = columns * line_ * ((rows_ + kChunkRows - 1) / kChunkRows);
        workspace_bytes_ += scratch_.base;
    }

    /// Calls add(row, scratch, sums) for every row, sums = [columns][line_ / 4]; writes the totals
    /// to the outputs 0 .. columns - 1.
    template <class Add>
    void sum_rows(const weft_run_args& args, const Add& add) const {
        auto* partial = static_cast<float*>(args.workspace);
        const std::int64_t stride = line_ / 4;
        const std::int64_t chunks = (rows_ + kChunkRows - 1) / kChunkRows;
        parallel_each(chunks, rows_ * width_ * 2, threads_, [&](std::int64_t chunk, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            float* sums = partial + columns_ * stride * chunk;
            fill_run(sums, 0.0f, columns_ * stride);
            const std::int64_t end = std::min(rows_, (chunk + 1) * kChunkRows);
            for (std::int64_t r = chunk * kChunkRows; r < end; ++r) {
                add(r, scratch, sums);
            }
        });
        for (std::int64_t o = 0; o < columns_; ++o) {
            auto* out = static_cast<float*>(args.outputs[o]);
            fill_run(out, 0.0f, width_);
            for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
                add_run(out, partial + (columns_ * chunk + o) * stride, width_);
            }
        }
    }

    std::int64_t rows_, width_;
    std::int32_t x_;
    int threads_;
    std::int64_t line_;     // bytes of a row of floats
    ThreadScratch scratch_; // three rows of floats

private:
    static constexpr std::int64_t kChunkRows = 64;
    std::int64_t columns_ = 0;
};

} // namespace weft::kernels::cpu
