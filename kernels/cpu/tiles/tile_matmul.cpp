// SPDX-License-Identifier: Apache-2.0
// matmul and linear of bf16 on AMX, alone, with the gelu that follows, and added to a sum.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/tiles/matrix_tiles.h"
#include "kernels/cpu/tiles/tile_product.h"
#include "kernels/matmul_shape.h"
#include "kernels/operand_format.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

using Last = TileProduct::Last;

// x, y, bias? -> out, and before the gelu; or x, y, before the gelu -> out
class TileMatmul final : public Kernel {
public:
    TileMatmul(const Op& op, const MatmulShape& s, Last last)
        : product_{s.m,           s.k,           s.n,
                   s.transpose_x, s.transpose_y, op.output(0).dtype == WEFT_BF16,
                   team_size(),   last} {
        if (op.inputs() == 3 && last != Last::gelu_grad) {
            bias_ = op.input(2).dtype;
            require(bias_ == WEFT_F32 || bias_ == WEFT_BF16, "a bias is f32 or bf16");
        }
        workspace_bytes_ = bias_bytes() + product_.workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const float* bias = nullptr;
        if (bias_ == WEFT_F32) {
            bias = static_cast<const float*>(args.inputs[2]);
        } else if (bias_ == WEFT_BF16) {
            auto* wide = static_cast<float*>(args.workspace);
            load_bf16(static_cast<const bf16*>(args.inputs[2]), wide, product_.n);
            bias = wide;
        }
        TileProduct::Operands operands{static_cast<const std::uint16_t*>(args.inputs[0]),
                                       static_cast<const std::uint16_t*>(args.inputs[1]), bias,
                                       args.outputs[0],
                                       static_cast<char*>(args.workspace) + bias_bytes()};
        if (product_.last == Last::gelu) {
            operands.beside = args.outputs[1];
        } else if (product_.last == Last::gelu_grad) {
            operands.before = args.inputs[2];
        }
        product_.run(operands);
        return WEFT_OK;
    }

private:
    std::int64_t bias_bytes() const {
        return bias_ == WEFT_BF16 ? round_up_to_line(product_.n * 4) : 0;
    }

    TileProduct product_;
    std::int32_t bias_ = -1; // type; none
};

/// x, y, sum -> out. The product has memory of its own, since it begins at 0.
class TileMatmulAdd final : public Kernel {
public:
    TileMatmulAdd(const Op& op, const MatmulShape& s)
        : product_{s.m, s.k, s.n, s.transpose_x, s.transpose_y, false, team_size()},
          product_bytes_(round_up_to_line(element_count(op.output(0)) * 4)) {
        workspace_bytes_ = product_bytes_ + product_.workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        auto* product = static_cast<float*>(args.workspace);
        product_.run({static_cast<const std::uint16_t*>(args.inputs[0]),
                      static_cast<const std::uint16_t*>(args.inputs[1]), nullptr, product,
                      static_cast<char*>(args.workspace) + product_bytes_});
        const auto* sum = static_cast<const float*>(args.inputs[2]);
        auto* out = static_cast<float*>(args.outputs[0]);
        const std::int64_t count = product_.m * product_.n;
        parallel_ranges(count, 3 * count, product_.threads,
                        [&](std::int64_t begin, std::int64_t end, int) {
                            if (out != sum) {
                                std::copy(sum + begin, sum + end, out + begin);
                            }
                            add_run(out + begin, product + begin, end - begin);
                        });
        return WEFT_OK;
    }

private:
    TileProduct product_;
    std::int64_t product_bytes_;
};

void require_work_for_tiles(const Op& op, const MatmulShape& s) {
    const std::int32_t out = op.output(0).dtype;
    if (op.input(0).dtype != WEFT_BF16 || op.input(1).dtype != WEFT_BF16 ||
        (out != WEFT_BF16 && out != WEFT_F32) || operand_formats(op).scaled()) {
        unsupported("tiles multiply bf16");
    }
    if (s.batch != 1 || !is_work_for_tiles(s.m, s.k, s.n)) {
        unsupported("too small a product for tiles");
    }
    if (!tiles_serve()) {
        unsupported("no tiles on this machine");
    }
}

Made multiply_on_tiles(const Op& op, const MatmulShape& s, Last last = Last::nothing) {
    if (last != Last::nothing && op.output(0).dtype != WEFT_BF16) {
        unsupported("a gelu of bf16 only");
    }
    require_work_for_tiles(op, s);
    return std::make_unique<TileMatmul>(op, s, last);
}

} // namespace

Made make_tile_matmul(const Op& op) {
    return multiply_on_tiles(op, matmul_shape(op));
}

Made make_tile_linear(const Op& op) {
    return multiply_on_tiles(op, linear_shape(op));
}

Made make_tile_linear_gelu(const Op& op) {
    require(same_shape(op.output(0), op.output(1)) && op.output(0).dtype == op.output(1).dtype,
            "the outputs are not both [..., N]");
    return multiply_on_tiles(op, linear_shape(op), Last::gelu);
}

Made make_tile_matmul_gelu_grad(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "x is not [..., M, N]");
    if (op.input(2).dtype != op.output(0).dtype) {
        unsupported("a gelu of another type");
    }
    return multiply_on_tiles(op, matmul_shape(op), Last::gelu_grad);
}

Made make_tile_matmul_add(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "what is added to is not [..., M, N]");
    if (op.input(2).dtype != WEFT_F32 || op.output(0).dtype != WEFT_F32) {
        unsupported("sums of f32 only");
    }
    const MatmulShape s = matmul_shape(op);
    require_work_for_tiles(op, s);
    return std::make_unique<TileMatmulAdd>(op, s);
}

} // namespace weft::kernels::cpu
