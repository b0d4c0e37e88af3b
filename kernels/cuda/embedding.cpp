// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/move.h"
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

/// Keys are where an id stands first; an id below 0 belongs nowhere.
WEFT_KERNEL first_places(const int* ids, i64 count, u32* keys, int* firsts) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        i64 first = 0;
        while (first < i && ids[first] != ids[i]) {
            ++first;
        }
        keys[i] = static_cast<u32>(ids[i] < 0 ? count : first);
        firsts[i] = first == i ? ids[i] : -1;
    }
}

/// Rows with an id below 0 are left out.
WEFT_WIDE_KERNEL write_table_rows(const RowShape s, i64 rows, const Source fresh, const int* ids,
                                  const Target table, volatile int* faults) {
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    const i64 id = ids[p.row];
    if (id >= rows && p.lane == 0) {
        report_fault(faults, kWrittenOutsideTable);
    }
    if (id < 0 || id >= rows) {
        return;
    }
    for (i64 tile = 0; tile < p.tiles; ++tile) {
        float values[kRowTile];
        load_tile(s, p, fresh, p.row * s.width, tile, 0.0f, values);
        store_tile(s, p, table, id * s.width, tile, values);
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

Made make_sum_rows(const Op& op) { // ids, rows -> firsts, sums
    const i64 count = element_count(op.input(0));
    const i64 width = op.input(1).shape[op.input(1).rank - 1];
    require(element_count(op.input(1)) == count * width, "the rows are not [..., C]");
    require(element_count(op.output(0)) == count && element_count(op.output(1)) == count * width,
            "the outputs are not ids and rows");
    want_dtype(op.input(0), WEFT_I32);
    want_dtype(op.output(0), WEFT_I32);
    want_dtype(op.output(1), WEFT_F32);
    const int rows = float_dtype(op.input(1));
    const SortedSums sums{count, count, width, 1};
    return launches(sums.workspace_bytes(), [=](const Run& run) {
        run.launch(grid_over(count), first_places, static_cast<const int*>(run.in(0)), count,
                   sums.key_array(run), static_cast<int*>(run.out(0)));
        sums.queue(run, {run.in(1), rows}, nullptr, {run.out(1), WEFT_F32});
    });
}

Made make_write_rows(const Op& op) { // table, ids, rows -> table
    const Type& table = op.input(0);
    require(table.rank == 2 && same_shape(table, op.output(0)), "the table is not [V, C]");
    const i64 rows = table.shape[0];
    const i64 width = table.shape[1];
    const i64 count = element_count(op.input(1));
    require(element_count(op.input(2)) == count * width, "the rows are not [..., C]");
    require(op.input(2).dtype == table.dtype && op.output(0).dtype == table.dtype,
            "table and rows differ in dtype");
    want_dtype(op.input(1), WEFT_I32);
    const int dtype = float_dtype(table);
    const i64 size = dtype_size(table.dtype);
    const Box whole = merged({size, {element_count(table)}, {size}, {size}});
    return launches([=, faults = fault_word()](const Run& run) {
        if (run.in(0) != run.out(0)) {
            move_box(run, whole, run.in(0), run.out(0));
        }
        const RowShape s = row_shape(count, width, {run.in(2), run.out(0)});
        run.launch(row_grid(s), write_table_rows, s, rows, Source{run.in(2), dtype},
                   static_cast<const int*>(run.in(1)), Target{run.out(0), dtype}, faults);
    });
}

} // namespace weft::kernels::cuda
