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

#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

namespace weft::kernels::cpu {
namespace {

bool lie_together(const WindowShape& s) {
    return s.kh == 1 && s.kw == 1 && s.stride_h == 1 && s.stride_w == 1;
}

/// Where the pixels of the windows lie in an image, [N, H', W', kh, kw C] as a weight has them.
Dims window_shape(const WindowShape& s) {
    return {s.n, s.out_h, s.out_w, s.kh, s.kw * s.c};
}
Dims window_strides(const WindowShape& s) {
    return {s.h * s.w * s.c, s.stride_h * s.w * s.c, s.stride_w * s.c, s.w * s.c, 1};
}

/// Between an image and a matrix with a row for each window.
enum class Moved : std::uint8_t { nothing, into_rows, out_of_rows };

class TileConvolution final : public Kernel {
public:
    TileConvolution(const TileProduct& product, const WindowShape& s, Moved moved)
        : product_(product), moved_(moved) {
        const Dims shape = window_shape(s);
        const std::int64_t out_size = dtype_size(product.brief_out ? WEFT_BF16 : WEFT_F32);
        if (moved == Moved::into_rows) {
            move_.emplace(shape, window_strides(s), 0, dense_strides(shape), 0,
                          dtype_size(WEFT_BF16));
            row_bytes_ = round_up_to_line(count(shape) * dtype_size(WEFT_BF16));
        } else if (moved == Moved::out_of_rows) {
            move_.emplace(shape, dense_strides(shape), 0, window_strides(s), 0, out_size);
            row_bytes_ = round_up_to_line(count(shape) * out_size);
            image_bytes_ = s.n * s.h * s.w * s.c * out_size;
            covers_ = count(shape) * out_size == image_bytes_;
        }
        workspace_bytes_ = row_bytes_ + product.workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const void* left = args.inputs[0];
        if (moved_ == Moved::into_rows) {
            move_->run(left, args.workspace, product_.threads);
            left = args.workspace;
        }
        void* out = moved_ == Moved::out_of_rows ? args.workspace : args.outputs[0];
        product_.run({static_cast<const std::uint16_t*>(left),
                      static_cast<const std::uint16_t*>(args.inputs[1]), nullptr, out,
                      static_cast<char*>(args.workspace) + row_bytes_});
        if (moved_ == Moved::out_of_rows) {
            if (!covers_) { // pixels that no window has
                std::memset(args.outputs[0], 0, static_cast<std::size_t>(image_bytes_));
            }
            move_->run(out, args.outputs[0], product_.threads);
        }
        return WEFT_OK;
    }

private:
    static std::int64_t count(const Dims& shape) {
        return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    }

    TileProduct product_;
    Moved moved_;
    std::optional<StridedCopy> move_;
    std::int64_t row_bytes_ = 0;
    std::int64_t image_bytes_ = 0;
    bool covers_ = true;
};

Made convolve_on_tiles(const Op& op, const WindowShape& s, std::int64_t m, std::int64_t k,
                       std::int64_t n, bool left_turned, bool right_turned, Moved moved) {
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
    return std::make_unique<TileConvolution>(product, s, lie_together(s) ? Moved::nothing : moved);
}

} // namespace

Made make_tile_conv2d(const Op& op) {
    const WindowShape s = conv_shape(op, op.input(0), op.input(1), op.output(0));
    return convolve_on_tiles(op, s, s.n * s.out_h * s.out_w, s.kh * s.kw * s.c, s.o, false, false,
                             Moved::into_rows);
}

Made make_tile_conv2d_input_grad(const Op& op) { // dy, weight -> dx
    const WindowShape s = conv_shape(op, op.output(0), op.input(1), op.input(0));
    return convolve_on_tiles(op, s, s.n * s.out_h * s.out_w, s.o, s.kh * s.kw * s.c, false, true,
                             Moved::out_of_rows);
}

Made make_tile_conv2d_weight_grad(const Op& op) { // x, dy -> dweight
    const WindowShape s = conv_shape(op, op.input(0), op.output(0), op.input(1));
    return convolve_on_tiles(op, s, s.kh * s.kw * s.c, s.n * s.out_h * s.out_w, s.o, true, false,
                             Moved::into_rows);
}

} // namespace weft::kernels::cpu
