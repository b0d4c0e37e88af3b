// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/row_launch.h"
#include "kernels/cuda/sorted_sums.h"

namespace weft::kernels::cuda {

WEFT_WIDE_KERNEL embedding_rows(const RowShape s, i64 rows, const Source table, const int* ids,
                                const Target out, volatile int* faults) {
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    const i64 id = ids[p.row];
    const bool known = id >= 0 && id < rows;
    if (!known && p.lane == 0) {
        report_fault(faults, kIdOutsideTable);
    }
    for (i64 tile = 0; tile < p.tiles; ++tile) {
        float values[kRowTile] = {};
        if (known) {
            load_tile(s, p, table, id * s.width, tile, 0.0f, values);
        }
        store_tile(s, p, out, p.row * s.width, tile, values);
    }
}

/// An id outside the table belongs to no row.
WEFT_KERNEL embedding_keys(const int* ids, i64 count, i64 rows, u32* keys, volatile int* faults) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const bool known = ids[i] >= 0 && ids[i] < rows;
        keys[i] = static_cast<u32>(known ? ids[i] : rows);
        if (!known) {
            report_fault(faults, kIdOutsideGradient);
        }
    }
}

Made make_embedding(const Op& op) { // table, ids -> rows
    require(op.input(0).rank == 2, "the table is not [V, C]");
    const i64 rows = op.input(0).shape[0];
    const i64 width = op.input(0).shape[1];
    const i64 count = element_count(op.input(1));
    require(element_count(op.output(0)) == count * width, "the output is not [..., C]");
    want_dtype(op.input(1), WEFT_I32);
    const int table = float_dtype(op.input(0));
    const int out = float_dtype(op.output(0));
    return launches([=, faults = fault_word()](const Run& run) {
        const RowShape s = row_shape(count, width, {run.in(0), run.out(0)});
        run.launch(row_grid(s), embedding_rows, s, rows, Source{run.in(0), table},
                   static_cast<const int*>(run.in(1)), Target{run.out(0), out}, faults);
    });
}

Made make_embedding_grad(const Op& op) { // ids, dy -> dtable
    require(op.output(0).rank == 2, "the table's gradient is not [V, C]");
    const i64 rows = op.output(0).shape[0];
    const i64 width = op.output(0).shape[1];
    const i64 count = element_count(op.input(0));
    require(element_count(op.input(1)) == count * width, "the upstream gradient is not [..., C]");
    want_dtype(op.input(0), WEFT_I32);
    want_dtype(op.output(0), WEFT_F32);
    const int dy = float_dtype(op.input(1));
    const SortedSums sums{count, rows, width, 1};
    return launches(sums.workspace_bytes(), [=, faults = fault_word()](const Run& run) {
        run.launch(grid_over(count), embedding_keys, static_cast<const int*>(run.in(0)), count,
                   rows, sums.key_array(run), faults);
        sums.queue(run, {run.in(1), dy}, nullptr, {run.out(0), WEFT_F32});
    });
}

} // namespace weft::kernels::cuda
