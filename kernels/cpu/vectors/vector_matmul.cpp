// SPDX-License-Identifier: Apache-2.0
// matmul and linear of f32 and bf16 on AVX-512, alone, with the gelu that follows, and added to a
// sum.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/row_product.h"
#include "kernels/cpu/vectors/vector_block.h"
#include "kernels/cpu/vectors/vector_packing.h"
#include "kernels/cpu/vectors/vector_product.h"
#include "kernels/matmul_shape.h"
#include "kernels/operand_format.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

using Last = VectorProduct::Last;

template <class T>
class Matrices final : public ProductOperands {
public:
    Matrices(const MatmulShape& s, const void* left, const void* right)
        : left_{static_cast<const T*>(left), s.transpose_x ? s.m : s.k},
          right_{static_cast<const T*>(right), s.transpose_y ? s.k : s.n},
          left_lies_turned_(s.transpose_x), packs_turned_(packs_turned(s)),
          right_turned_(s.transpose_y) {}

    /// A turned left operand is read in one stream, which gains more than turning it costs where it
    /// meets many columns.
    static bool packs_turned(const MatmulShape& s) {
        constexpr std::int64_t kMany = 256;
        return s.transpose_x || s.n >= kMany;
    }

    void left(std::int64_t row, std::int64_t rows, std::int64_t step, std::int64_t depth,
              float* to) const override {
        if (left_lies_turned_) {
            pack_left_turned(left_.part(step, row), rows, depth, to);
        } else if (packs_turned_) {
            for (std::int64_t r = 0; r < rows; r += kBlockRows) {
                turn(left_.part(row + r, step), std::min(rows - r, kBlockRows), depth, to,
                     kTurnedRow);
                to += depth * kTurnedRow;
            }
        } else {
            pack_left(left_.part(row, step), rows, depth, to);
        }
    }

    void right(std::int64_t column, std::int64_t columns, std::int64_t step, std::int64_t depth,
               float* to) const override {
        if (right_turned_) {
            pack_right_turned(right_.part(column, step), columns, {0, depth, depth}, to);
        } else {
            pack_right(right_.part(step, column), columns, {0, depth, depth}, to);
        }
    }

private:
    Rows<T> left_, right_;
    bool left_lies_turned_, packs_turned_, right_turned_;
};

// x, y, bias? -> out, and before the gelu; or x, y, before the gelu or what is added -> out
class VectorMatmul final : public Kernel {
public:
    VectorMatmul(const Op& op, const MatmulShape& s, Last last)
        : shape_(s), in_(op.input(0).dtype), product_{s.m,
                                                      s.k,
                                                      s.n,
                                                      Matrices<float>::packs_turned(s),
                                                      op.output(0).dtype == WEFT_BF16,
                                                      team_size(),
                                                      last} {
        if (op.inputs() == 3 && (last == Last::nothing || last == Last::gelu)) {
            bias_ = op.input(2).dtype;
            require(is_float(bias_), "a bias is f32 or bf16");
        }
        workspace_bytes_ = bias_bytes() + product_.workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const float* bias = bias_ < 0 ? nullptr
                                      : as_floats(args.inputs[2], bias_,
                                                  static_cast<float*>(args.workspace), shape_.n);
        void* workspace = static_cast<char*>(args.workspace) + bias_bytes();
        for (std::int64_t b = 0; b < shape_.batch; ++b) {
            const void* x = element(args.inputs[0], in_, b * shape_.m * shape_.k);
            const void* y =
                element(args.inputs[1], in_, shape_.shared_y ? 0 : b * shape_.k * shape_.n);
            const std::int64_t result = b * shape_.m * shape_.n;
            const std::int32_t out = product_.brief_out ? WEFT_BF16 : WEFT_F32;
            VectorProduct::Results results{bias, element(args.outputs[0], out, result)};
            if (product_.last == Last::gelu) {
                results.beside = element(args.outputs[1], out, result);
            } else if (product_.last != Last::nothing) {
                results.before = element(args.inputs[2], out, result);
            }
            if (in_ == WEFT_F32) {
                product_.run(Matrices<float>(shape_, x, y), results, workspace);
            } else {
                product_.run(Matrices<bf16>(shape_, x, y), results, workspace);
            }
        }
        return WEFT_OK;
    }

private:
    std::int64_t bias_bytes() const {
        return bias_ == WEFT_BF16 ? round_up_to_line(shape_.n * 4) : 0;
    }

    MatmulShape shape_;
    std::int32_t in_;
    VectorProduct product_;
    std::int32_t bias_ = -1; // type; none
};

Made multiply(const Op& op, const MatmulShape& s, Last last = Last::nothing) {
    require_vectors(op);
    if (s.batch * s.m * s.n * s.k == 0 || operand_formats(op).scaled()) {
        unsupported("an empty product, or one of 8-bit numbers");
    }
    return std::make_unique<VectorMatmul>(op, s, last);
}

} // namespace

Made make_any_vector_matmul(const Op& op) {
    return multiply(op, matmul_shape(op));
}

Made make_any_vector_linear(const Op& op) {
    return multiply(op, linear_shape(op));
}

Made make_vector_matmul(const Op& op) {
    require_vectors_win(op);
    return make_any_vector_matmul(op);
}

Made make_vector_linear(const Op& op) {
    require_vectors_win(op);
    return make_any_vector_linear(op);
}

Made make_vector_linear_gelu(const Op& op) {
    require(same_shape(op.output(0), op.output(1)) && op.output(0).dtype == op.output(1).dtype,
            "the outputs are not both [..., N]");
    require_vectors_win(op);
    const MatmulShape s = linear_shape(op);
    if (s.m <= kFewRows) {
        unsupported("a few rows");
    }
    return multiply(op, s, Last::gelu);
}

Made make_vector_matmul_gelu_grad(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "x is not [..., M, N]");
    if (op.input(2).dtype != op.output(0).dtype) {
        unsupported("a gelu of another type");
    }
    require_vectors_win(op);
    return multiply(op, matmul_shape(op), Last::gelu_grad);
}

Made make_vector_matmul_add(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "what is added to is not [..., M, N]");
    if (op.input(2).dtype != op.output(0).dtype) {
        unsupported("a sum of another type");
    }
    require_vectors_win(op);
    return multiply(op, matmul_shape(op), Last::sum);
}

} // namespace weft::kernels::cpu
