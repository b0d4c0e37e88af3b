// SPDX-License-Identifier: Apache-2.0
// Convolutions of any type and shape, for what no library takes: a product of matrices whose left
// one is gathered, tile by tile in shared memory. Rows, columns and terms of the product are
//   forward      results [N,H',W']   channels [O]   window and channels [kh,kw,C]
//   input_grad   pixels [N,H,W]      channels [C]   window and channels [kh,kw,O]
//   weight_grad  [kh,kw,C]           channels [O]   results [N,H',W']
// The many terms of a weight's gradient are cut into chunks, whose sums are added in their order.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/window_shape.h"

namespace weft::kernels::cuda {

constexpr int kConvolvedTile = 64; // rows and columns of a block's result
constexpr int kConvolvedDeep = 16; // terms at a time
constexpr int kConvolvedOwn = 4;   // rows, and columns, of a thread: every 16th

/// A convolution as a product.
struct Convolved {
    WindowShape window;
    i64 rows, columns, terms;
    i64 column_tiles;
    i64 chunk_terms, chunks;
};

/// A row or a term: what it adds to the place in the gathered array.
struct Spot {
    i64 n;
    int y, x, c;
};

WEFT_DEVICE Spot spot_of_tap(const WindowShape& s, i64 i, i64 width) {
    const int tap = static_cast<int>(i / width);
    const int across = static_cast<int>(s.kw);
    return {0, tap / across, tap % across, static_cast<int>(i % width)};
}
WEFT_DEVICE Spot spot_of_result(const WindowShape& s, i64 i) {
    const i64 row = i / s.out_w;
    return {row / s.out_h, static_cast<int>(row % s.out_h * s.stride_h - s.top),
            static_cast<int>(i % s.out_w * s.stride_w - s.left), 0};
}
WEFT_DEVICE Spot spot_of_pixel(const WindowShape& s, i64 i) {
    const i64 row = i / s.w;
    return {row / s.h, static_cast<int>(row % s.h + s.top), static_cast<int>(i % s.w + s.left), 0};
}

template <ConvolutionPass P>
WEFT_DEVICE Spot row_spot(const Convolved& d, i64 row) {
    return P == ConvolutionPass::forward      ? spot_of_result(d.window, row)
           : P == ConvolutionPass::input_grad ? spot_of_pixel(d.window, row)
                                              : spot_of_tap(d.window, row, d.window.c);
}
template <ConvolutionPass P>
WEFT_DEVICE Spot term_spot(const Convolved& d, i64 term) {
    return P == ConvolutionPass::forward      ? spot_of_tap(d.window, term, d.window.c)
           : P == ConvolutionPass::input_grad ? spot_of_tap(d.window, term, d.window.o)
                                              : spot_of_result(d.window, term);
}

/// The element that a row has in a term; 0 outside.
template <ConvolutionPass P>
WEFT_DEVICE float gathered(const WindowShape& s, const Source& from, const Spot& row,
                           const Spot& term) {
    if constexpr (P == ConvolutionPass::input_grad) {
        const int y = row.y - term.y;
        const int x = row.x - term.x;
        const int stride_h = static_cast<int>(s.stride_h);
        const int stride_w = static_cast<int>(s.stride_w);
        const bool met = y >= 0 && x >= 0 && y % stride_h == 0 && x % stride_w == 0 &&
                         y / stride_h < s.out_h && x / stride_w < s.out_w;
        return met ? load(from, s.result(row.n, y / stride_h, x / stride_w) + term.c) : 0.0f;
    } else {
        const int y = row.y + term.y;
        const int x = row.x + term.x;
        const bool inside = y >= 0 && x >= 0 && y < s.h && x < s.w;
        return inside ? load(from, s.image(row.n + term.n, y, x) + row.c + term.c) : 0.0f;
    }
}

/// Where the right matrix, weight [kh,kw,C,O] or result [N,H',W',O], has (term, column).
template <ConvolutionPass P>
WEFT_DEVICE i64 right_index(const WindowShape& s, i64 term, i64 column) {
    return P == ConvolutionPass::input_grad ? (term / s.o * s.c + column) * s.o + term % s.o
                                            : term * s.o + column;
}

/// to [chunks, rows, columns]. Grid: tiles of rows x (chunks, tiles of columns).
template <ConvolutionPass P>
WEFT_LARGE_KERNEL convolve(const Convolved d, const Source left, const Source right, const Target to) {
    WEFT_SHARED(float, lefts, kConvolvedDeep*(kConvolvedTile + 1));
    WEFT_SHARED(float, rights, kConvolvedDeep* kConvolvedTile);
    const i64 chunk = block_y() / d.column_tiles;
    const i64 first_row = block() * kConvolvedTile;
    const i64 first_column = block_y() % d.column_tiles * kConvolvedTile;
    const int low = thread() % kConvolvedDeep;
    const int high = thread() / kConvolvedDeep;
    Spot rows[kConvolvedOwn];
    float sums[kConvolvedOwn][kConvolvedOwn] = {};
    WEFT_UNROLL
    for (int r = 0; r < kConvolvedOwn; ++r) {
        const i64 row = first_row + high + r * kConvolvedDeep;
        rows[r] = row_spot<P>(d, row < d.rows ? row : 0);
    }
    const i64 start = chunk * d.chunk_terms;
    const i64 end = start + d.chunk_terms < d.terms ? start + d.chunk_terms : d.terms;
    WEFT_ROLLED
    for (i64 term = start; term < end; term += kConvolvedDeep) {
        barrier(); // the tiles are read no more
        const bool real = term + low < end;
        const Spot spot = term_spot<P>(d, real ? term + low : start);
        WEFT_UNROLL
        for (int r = 0; r < kConvolvedOwn; ++r) {
            const int line = high + r * kConvolvedDeep;
            lefts[low * (kConvolvedTile + 1) + line] =
                real && first_row + line < d.rows ? gathered<P>(d.window, left, rows[r], spot)
                                                  : 0.0f;
        }
        WEFT_UNROLL
        for (int i = thread(); i < kConvolvedDeep * kConvolvedTile; i += 256) {
            const i64 at = term + i / kConvolvedTile;
            const i64 column = first_column + i % kConvolvedTile;
            rights[i] = at < end && column < d.columns
                            ? load(right, right_index<P>(d.window, at, column))
                            : 0.0f;
        }
        barrier();
        WEFT_ROLLED
        for (int k = 0; k < kConvolvedDeep; ++k) {
            float own[kConvolvedOwn];
            WEFT_UNROLL
            for (int r = 0; r < kConvolvedOwn; ++r) {
                own[r] = lefts[k * (kConvolvedTile + 1) + high + r * kConvolvedDeep];
            }
            WEFT_UNROLL
            for (int c = 0; c < kConvolvedOwn; ++c) {
                const float other = rights[k * kConvolvedTile + low + c * kConvolvedDeep];
                WEFT_UNROLL
                for (int r = 0; r < kConvolvedOwn; ++r) {
                    sums[r][c] += own[r] * other;
                }
            }
        }
    }
    WEFT_UNROLL
    for (int r = 0; r < kConvolvedOwn; ++r) {
        const i64 row = first_row + high + r * kConvolvedDeep;
        WEFT_UNROLL
        for (int c = 0; c < kConvolvedOwn; ++c) {
            const i64 column = first_column + low + c * kConvolvedDeep;
            if (row < d.rows && column < d.columns) {
                store(to, (chunk * d.rows + row) * d.columns + column, sums[r][c]);
            }
        }
    }
}

WEFT_KERNEL combine_chunks(i64 chunks, i64 count, const float* sums, const Target to) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        float sum = 0.0f;
        for (i64 chunk = 0; chunk < chunks; ++chunk) {
            sum += sums[chunk * count + i];
        }
        store(to, i, sum);
    }
}

namespace {

Convolved convolved(const ConvolutionOp& op) {
    const WindowShape& s = op.window;
    const i64 results = s.n * s.out_h * s.out_w;
    const i64 taps = s.kh * s.kw;
    Convolved d{s, results, s.o, taps * s.c, 0, 0, 1};
    if (op.pass == ConvolutionPass::input_grad) {
        d = {s, s.n * s.h * s.w, s.c, taps * s.o, 0, 0, 1};
    } else if (op.pass == ConvolutionPass::weight_grad) {
        d = {s, taps * s.c, s.o, results, 0, 0, 1};
    }
    d.column_tiles = ceil_divide(d.columns, kConvolvedTile);
    if (op.pass == ConvolutionPass::weight_grad) {
        constexpr i64 kBlocks = 1024; // that keep a large GPU busy
        constexpr i64 kLeastTerms = 256;
        const i64 tiles = std::max<i64>(1, ceil_divide(d.rows, kConvolvedTile) * d.column_tiles);
        d.chunks = std::clamp<i64>(kBlocks / tiles, 1,
                                   std::max<i64>(1, ceil_divide(d.terms, kLeastTerms)));
    }
    d.chunk_terms = ceil_divide(d.terms, d.chunks);
    return d;
}

template <ConvolutionPass P>
Made direct(const Op& op, const ConvolutionOp& c) {
    const Convolved d = convolved(c);
    const i64 count = d.rows * d.columns;
    const int left = float_dtype(op.input(0));
    const int right = float_dtype(op.input(1));
    const int result = float_dtype(op.output(0));
    const Grid grid{ceil_divide(d.rows, kConvolvedTile), d.column_tiles * d.chunks, 256};
    return launches(d.chunks == 1 ? 0 : d.chunks * count * 4, [=](const Run& run) {
        const Target out{run.out(0), result};
        float* sums = run.workspace<float>();
        run.launch(grid, convolve<P>, d, Source{run.in(0), left}, Source{run.in(1), right},
                   d.chunks == 1 ? out : Target{sums, WEFT_F32});
        if (d.chunks > 1) {
            run.launch(grid_over(count), combine_chunks, d.chunks, count, sums, out);
        }
    });
}

} // namespace

Made make_direct_convolution(const Op& op) {
    const ConvolutionOp c = convolution_op(op);
    switch (c.pass) {
    case ConvolutionPass::forward: return direct<ConvolutionPass::forward>(op, c);
    case ConvolutionPass::input_grad: return direct<ConvolutionPass::input_grad>(op, c);
    default: return direct<ConvolutionPass::weight_grad>(op, c);
    }
}

} // namespace weft::kernels::cuda
