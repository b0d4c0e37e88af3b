// SPDX-License-Identifier: Apache-2.0
// matmul and linear of a few rows, as when a text is made token by token: each weight is read once
// and used a few times, so that memory sets the pace. The library's products bring such weights
// into another order first.
#include "kernels/cpu/row_product.h"

#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"
#include "kernels/matmul_shape.h"
#include "kernels/operand_format.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kColumns = 4096; // whose sums stay in the first cache
constexpr std::int64_t kParts = 8;      // of the depth, or more blocks of columns
constexpr std::int64_t kDots = 256;     // of one piece of work
constexpr std::int64_t kDotsAhead = 4;  // rows that are fetched while one is used
constexpr int kTogether = 4;            // rows of weights that are read side by side
constexpr std::int64_t kPiece = 256;    // columns of them, while the next rows are fetched
// From so many bytes a row on; shorter ones are read one after the other, as memory likes it best.
constexpr std::int64_t kLongRow = 4096;

/// sums[i] += x[0] y[i] + x[1] y[row + i] + ..., `depth` of them, for `count` columns.
template <class T>
WEFT_VECTOR void add_weighted_rows(const float* x, const T* y, std::int64_t row, std::int64_t depth,
                                   std::int64_t count, float* sums) {
    std::int64_t k = 0;
    for (; count * static_cast<std::int64_t>(sizeof(T)) >= kLongRow && k + kTogether <= depth;
         k += kTogether) {
        const float x0 = x[k];
        const float x1 = x[k + 1];
        const float x2 = x[k + 2];
        const float x3 = x[k + 3];
        for (std::int64_t begin = 0; begin < count; begin += kPiece) {
            const T* rows = y + k * row + begin;
            for (std::int64_t ahead = kTogether; ahead < 2 * kTogether; ++ahead) {
                fetch_row(rows + ahead * row, kPiece);
            }
            float* to = sums + begin;
            const std::int64_t width = std::min(count - begin, kPiece);
#pragma GCC ivdep
            for (std::int64_t i = 0; i < width; ++i) {
                to[i] += (x0 * to_float(rows[i]) + x1 * to_float(rows[row + i])) +
                         (x2 * to_float(rows[2 * row + i]) + x3 * to_float(rows[3 * row + i]));
            }
        }
    }
    for (; k < depth; ++k) {
        const T* one = y + k * row;
        const float factor = x[k];
        fetch_row(one + kTogether * row, count);
#pragma GCC ivdep
        for (std::int64_t i = 0; i < count; ++i) {
            sums[i] += factor * to_float(one[i]);
        }
    }
}

/// out[j] = x . row j of y, for `count` rows of `depth`.
template <class T>
WEFT_VECTOR void dots(const float* x, const T* y, std::int64_t depth, std::int64_t count,
                      float* out) {
    for (std::int64_t j = 0; j < count; ++j) {
        const T* row = y + j * depth;
        fetch_row(row + kDotsAhead * depth, depth);
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t k = 0; k < depth; ++k) {
            sum += x[k] * to_float(row[k]);
        }
        out[j] = sum;
    }
}

/// x [M, K], y [K, N] or turned, bias [N]? -> [M, N]. Pieces of work do not depend on the team, so
/// that sums are the same for any.
class RowProduct final : public Kernel {
public:
    RowProduct(const Op& op, const MatmulShape& s)
        : s_(s), type_(op.input(0).dtype), out_(op.output(0).dtype),
          bias_(op.inputs() == 3 ? op.input(2).dtype : -1), threads_(team_size()),
          columns_(s.transpose_y ? kDots : std::min(s.n, kColumns)),
          blocks_((s.n + columns_ - 1) / columns_),
          parts_(s.transpose_y || blocks_ >= kParts ? 1 : std::min(s.k, kParts)),
          x_bytes_(round_up_to_line(s.m * s.k * 4)) {
        const std::int64_t sums = round_up_to_line(parts_ * s.m * s.n * 4);
        bias_at_ = x_bytes_ + sums;
        workspace_bytes_ = bias_at_ + round_up_to_line(bias_ >= 0 ? s.n * 4 : 0);
    }

    weft_status run(const weft_run_args& args) override {
        if (type_ == WEFT_F32) {
            multiply<float>(args);
        } else {
            multiply<bf16>(args);
        }
        finish(args);
        return WEFT_OK;
    }

private:
    float* workspace(const weft_run_args& args, std::int64_t at) const {
        return reinterpret_cast<float*>(static_cast<unsigned char*>(args.workspace) + at);
    }
    float* sums(const weft_run_args& args, std::int64_t part, std::int64_t row) const {
        return workspace(args, x_bytes_) + (part * s_.m + row) * s_.n;
    }

    template <class T>
    void multiply(const weft_run_args& args) const {
        const float* x = as_floats(args.inputs[0], type_, workspace(args, 0), s_.m * s_.k);
        const auto* y = static_cast<const T*>(args.inputs[1]);
        parallel_each(blocks_ * parts_, s_.n * s_.k, threads_, [&](std::int64_t piece, int) {
            const std::int64_t first = piece % blocks_ * columns_;
            const std::int64_t count = std::min(columns_, s_.n - first);
            const std::int64_t part = piece / blocks_;
            const std::int64_t top = s_.k * part / parts_;
            const std::int64_t depth = s_.k * (part + 1) / parts_ - top;
            for (std::int64_t row = 0; row < s_.m; ++row) {
                float* to = sums(args, part, row) + first;
                if (s_.transpose_y) {
                    dots(x + row * s_.k, y + first * s_.k, s_.k, count, to);
                } else {
                    fill_run(to, 0.0f, count);
                    add_weighted_rows(x + row * s_.k + top, y + top * s_.n + first, s_.n, depth,
                                      count, to);
                }
            }
        });
    }

    /// Parts and bias together.
    void finish(const weft_run_args& args) const {
        const float* bias =
            bias_ < 0 ? nullptr : as_floats(args.inputs[2], bias_, workspace(args, bias_at_), s_.n);
        for (std::int64_t row = 0; row < s_.m; ++row) {
            float* to = sums(args, 0, row);
            for (std::int64_t part = 1; part < parts_; ++part) {
                add_run(to, sums(args, part, row), s_.n);
            }
            if (bias != nullptr) {
                add_run(to, bias, s_.n);
            }
            store_run(out_)(to, element(args.outputs[0], out_, row * s_.n), s_.n);
        }
    }

    MatmulShape s_;
    std::int32_t type_, out_, bias_;
    int threads_;
    std::int64_t columns_, blocks_, parts_;
    std::int64_t x_bytes_, bias_at_ = 0; // in the workspace: x as floats, sums of all parts, bias
};

Made multiply_rows(const Op& op, const MatmulShape& s) {
    const std::int32_t type = op.input(0).dtype;
    if (s.batch != 1 || s.m > kFewRows || s.transpose_x || operand_formats(op).scaled()) {
        unsupported("more than a few rows, or turned ones");
    }
    if (!is_float(type) || op.input(1).dtype != type || !is_float(op.output(0).dtype) ||
        (op.inputs() == 3 && !is_float(op.input(2).dtype)) || s.m * s.k * s.n == 0) {
        unsupported("products of f32 or of bf16 only");
    }
    return std::make_unique<RowProduct>(op, s);
}

} // namespace

Made make_row_matmul(const Op& op) {
    return multiply_rows(op, matmul_shape(op));
}

Made make_row_linear(const Op& op) {
    return multiply_rows(op, linear_shape(op));
}

} // namespace weft::kernels::cpu
