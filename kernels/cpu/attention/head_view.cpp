// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention/block_attention.h"
#include "kernels/cpu/loops/random_runs.h"
#include "kernels/cpu/loops/simd.h"

#include <algorithm>
#include <cstring>

namespace weft::kernels::cpu {
namespace {

/// `count` rows of `d` elements, `stride` apart, into rows of `width` floats; the rest becomes
/// zero.
void load_rows(const void* data, std::int32_t type, std::int64_t start, std::int64_t stride,
               std::int64_t count, std::int64_t d, std::int64_t width, float* to) {
    const LoadRun load = load_run(type);
    for (std::int64_t r = 0; r < kAttentionBlock; ++r) {
        float* row = to + r * width;
        if (r < count) {
            load(element(data, type, start + r * stride), row, d);
            std::memset(row + d, 0, static_cast<std::size_t>(width - d) * 4);
        } else {
            std::memset(row, 0, static_cast<std::size_t>(width) * 4);
        }
    }
}

WEFT_VECTOR void transpose_block(const float* rows, std::int64_t width, std::int64_t d, float* to) {
    for (std::int64_t c = 0; c < d; ++c) {
        for (std::int64_t r = 0; r < kAttentionBlock; ++r) {
            to[c * kAttentionBlock + r] = rows[r * width + c];
        }
    }
}

} // namespace

void HeadView::load_queries(const void* data, std::int64_t first, float* to) const {
    load_rows(data, type, a.q_offset(sample, first, head), a.h * a.d,
              std::min(kAttentionBlock, a.t - first), a.d, width, to);
}

void HeadView::load_keys(const void* data, std::int64_t first, float* to) const {
    load_rows(data, type, a.kv_offset(sample, first, head), a.k * a.d,
              std::min(kAttentionBlock, a.s - first), a.d, width, to);
}

void HeadView::load_keys_transposed(const void* data, std::int64_t first, float* rows,
                                    float* to) const {
    load_keys(data, first, rows);
    transpose_block(rows, width, a.d, to);
}

HeadView::Keys HeadView::seen_by_some(const weft_run_args& args, std::int64_t first,
                                      std::int64_t rows) const {
    Keys out = seen(args, first);
    for (std::int64_t row = first + 1; row < first + rows; ++row) {
        const Keys one = seen(args, row);
        out = {std::min(out.first, one.first), std::max(out.end, one.end)};
    }
    return out;
}

void HeadView::keep_factors(const std::int64_t* random, std::int64_t row, std::int64_t first,
                            std::int64_t count, float* to) const {
    const std::int64_t index = a.index(random, at, sample, head, row, first);
    dropout_factors(Stream(random, a.stream), static_cast<std::uint64_t>(index),
                    static_cast<float>(a.rate), static_cast<float>(1.0 / (1.0 - a.rate)), to,
                    count);
}

} // namespace weft::kernels::cpu
