// SPDX-License-Identifier: Apache-2.0
// What the attention kernels share: operand types, block loading and the score of a block of
// 64 queries against 64 keys. Blocks are f32 in scratch memory, padded with zeros.
#pragma once

#include "kernels/attention_shape.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/philox.h"

namespace weft::kernels::cpu {

inline constexpr std::int64_t kAttentionBlock = 64;

/// One (sample, query head) of the operands.
struct HeadView {
    const AttentionShape& a;
    AttentionShape::Place at;
    std::int32_t type;
    std::int64_t sample, head;
    std::int64_t width; // D rounded up to 16

    /// Rows first .. first + 64 of q, out, dout or dq's layout as [64, width].
    void load_queries(const void* data, std::int64_t first, float* to) const;
    /// Rows first .. of k or v as [64, width].
    void load_keys(const void* data, std::int64_t first, float* to) const;
    /// The same transposed, as [D, 64]; `rows` is scratch of [64, width].
    void load_keys_transposed(const void* data, std::int64_t first, float* rows, float* to) const;
    /// The keys that query `row` sees are [first, end).
    struct Keys {
        std::int64_t first, end;
    };
    Keys seen(const weft_run_args& args, std::int64_t row) const {
        const std::int32_t* own = a.positions_of(args.inputs, sample);
        return {own == nullptr ? 0 : a.first_visible(row, at, own[row]), a.visible(row, at)};
    }
    /// Those that some of the queries `first` .. `first` + `rows` see.
    Keys seen_by_some(const weft_run_args& args, std::int64_t first, std::int64_t rows) const;

    /// Dropout factors (0 or 1 / (1 - rate)) of query `row` and keys first .. first + count.
    void keep_factors(const std::int64_t* random, std::int64_t row, std::int64_t first,
                      std::int64_t count, float* to) const;
};

} // namespace weft::kernels::cpu
