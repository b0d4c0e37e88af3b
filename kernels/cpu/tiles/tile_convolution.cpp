// SPDX-License-Identifier: Apache-2.0
// Convolutions of bf16 whose windows do not overlap, on AMX: a matrix product over the pixels of
// each window, moved together where they do not lie so already. 1x1 convolutions and the patches of
// vision transformers are such.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/strided_copy.h"
#include "kernels/cpu/tiles/matrix_tiles.h"
#include "kernels/cpu/tiles/tile_product.h"
#include "kernels/window_shape.h"

#include <optional>

namespace weft::kernels::cpu {
namespace {

bool lie_together(const WindowShape& s) {
    return s.kh == 1 && s.kw == 1 && s.stride_h == 1 && s.stride_w == 1;
}

/// Rows of windows: [N, H', W'] by [kh, kw, C], as a weight has it.
StridedCopy window_rows(const WindowShape& s) {
    const Dims shape{s.n, s.out_h, s.out_w, s.kh, s.kw * s.c};
    return {shape, {s.h * s.w * s.c, s.stride_h * s.w * s.c, s.stride_w * s.c, s.w * s.c, 1},
            0,     dense_strides(shape),
            0,     dtype_size(WEFT_BF16)};
}

class TileConvolution final : public Kernel {
public:
    /// `moves`: the pixels of a window do not lie together.
    TileConvolution(const TileProduct& product, const WindowShape& s, bool moves)
        : product_(product), bytes_of_rows_(moves ? row_bytes(s) : 0) {
        if (moves) {
            rows_.emplace(window_rows(s));
        }
        workspace_bytes_ = bytes_of_rows_ + product.workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const void* left = args.inputs[0];
        if (rows_) {
            rows_->run(left, args.workspace, product_.threads);
            left = args.workspace;
        }
        product_.run({static_cast<const std::uint16_t*>(left),
                      static_cast<const std::uint16_t*>(args.inputs[1]), nullptr, args.outputs[0],
                      static_cast<char*>(args.workspace) + bytes_of_rows_});
        return WEFT_OK;
    }

private:
    static std::int64_t row_bytes(const WindowShape& s) {
        return round_up_to_line(s.n * s.out_h * s.out_w * s.kh * s.kw * s.c *
                                dtype_size(WEFT_BF16));
    }

    TileProduct product_;
    std::int64_t bytes_of_rows_;
    std::optional<StridedCopy> rows_;
};

Made convolve_on_tiles(const Op& op, const WindowShape& s, std::int64_t m, std::int64_t k,
                       std::int64_t n, bool left_turned, bool right_turned, bool moves) {
    const std::int32_t out = op.output(0).dtype;
    if (op.input(0).dtype != WEFT_BF16 || op.input(1).dtype != WEFT_BF16 ||
        (out != WEFT_BF16 && out != WEFT_F32)) {
        unsupported("tiles multiply bf16");
    }
    if (s.top + s.left + s.bottom + s.right > 0 || s.stride_h < s.kh || s.stride_w < s.kw) {
        unsupported("windows that overlap, or leave the image");
    }
    if (!is_work_for_tiles(m, k, n) || !tiles_serve()) {
        unsupported("too small a product for tiles, or no tiles on this machine");
    }
    const TileProduct product{m, k, n, left_turned, right_turned, out == WEFT_BF16, team_size()};
    return std::make_unique<TileConvolution>(product, s, moves);
}

} // namespace

Made make_tile_conv2d(const Op& op) {
    const WindowShape s = conv_shape(op, op.input(0), op.input(1), op.output(0));
    return convolve_on_tiles(op, s, s.n * s.out_h * s.out_w, s.kh * s.kw * s.c, s.o, false, false,
                             !lie_together(s));
}

Made make_tile_conv2d_input_grad(const Op& op) { // dy, weight -> dx
    const WindowShape s = conv_shape(op, op.output(0), op.input(1), op.input(0));
    if (!lie_together(s)) {
        unsupported("a gradient that is scattered");
    }
    return convolve_on_tiles(op, s, s.n * s.h * s.w, s.o, s.c, false, true, false);
}

Made make_tile_conv2d_weight_grad(const Op& op) { // x, dy -> dweight
    const WindowShape s = conv_shape(op, op.input(0), op.output(0), op.input(1));
    return convolve_on_tiles(op, s, s.kh * s.kw * s.c, s.n * s.out_h * s.out_w, s.o, true, false,
                             !lie_together(s));
}

} // namespace weft::kernels::cpu
