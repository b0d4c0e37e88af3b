// SPDX-License-Identifier: Apache-2.0
// A device's place on the mesh, its part of a value, and the padding of a split dimension.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/shard_shape.h"

namespace weft::kernels::cuda {

constexpr int kMostIndices = 32;

/// Rows of strides and the numbers that they start from, by value.
struct IndexTable {
    int rows, axes;
    i64 base[kMostIndices];
    i64 strides[kMostIndices * WEFT_MAX_RANK];
};

WEFT_KERNEL mesh_indices(const IndexTable table, const i64* coordinates, i64* out) {
    const int r = thread();
    if (r < table.rows) {
        i64 sum = table.base[r];
        for (int a = 0; a < table.axes; ++a) {
            sum += table.strides[r * table.axes + a] * coordinates[a];
        }
        out[r] = sum;
    }
}

/// Rows of `run` pieces; an index outside the dimension gives zeros.
template <int Bytes>
WEFT_KERNEL pick_pieces(i64 outer, i64 extent, i64 run, const unsigned char* x, const i64* index,
                        unsigned char* out, volatile int* faults) {
    const i64 at = *index;
    const bool inside = at >= 0 && at < extent;
    if (!inside && block() == 0 && thread() == 0) {
        report_fault(faults, kPickOutside);
    }
    for (i64 i = block() * threads() + thread(); i < outer * run; i += blocks() * threads()) {
        u64 words[2] = {0, 0};
        if (inside) {
            load_vector<Bytes>(x + ((i / run * extent + at) * run + i % run) * Bytes, words);
        }
        store_vector<Bytes>(out + i * Bytes, words);
    }
}

WEFT_KERNEL mask_elements(const ShardShape s, const Source x, const i64* first, i64 end,
                          float value, const Target out) {
    const i64 count = s.outer * s.extent * s.inner;
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const bool real = *first + i / s.inner % s.extent < end;
        store(out, i, real ? load(x, i) : value);
    }
}

Made make_mesh_index(const Op& op) { // coordinates -> indices
    const Dims strides = op.list("strides");
    const Dims base = op.list("base");
    const auto axes = static_cast<std::size_t>(element_count(op.input(0)));
    require(op.input(0).dtype == WEFT_I64 && op.output(0).dtype == WEFT_I64,
            "coordinates and indices are not i64");
    require(strides.size() == base.size() * axes &&
                element_count(op.output(0)) == static_cast<std::int64_t>(base.size()),
            "strides do not fit coordinates and base");
    if (base.size() > kMostIndices || axes > WEFT_MAX_RANK) {
        unsupported("at most 32 indices over 8 axes");
    }
    IndexTable table{static_cast<int>(base.size()), static_cast<int>(axes), {}, {}};
    std::copy(base.begin(), base.end(), table.base);
    std::copy(strides.begin(), strides.end(), table.strides);
    return launches([=](const Run& run) {
        run.launch(Grid{1, 1, kMostIndices}, mesh_indices, table,
                   static_cast<const i64*>(run.in(0)), static_cast<i64*>(run.out(0)));
    });
}

Made make_pick(const Op& op) { // x, index -> part
    const ShardShape s = shard_shape(op);
    return launches([=, faults = fault_word()](const Run& run) {
        with_bytes(widest_bytes(s.inner * s.size, {run.in(0), run.out(0)}), [&](auto bytes) {
            const i64 pieces = s.inner * s.size / bytes;
            run.launch(grid_over(s.outer * pieces), pick_pieces<bytes>, s.outer, s.extent, pieces,
                       static_cast<const unsigned char*>(run.in(0)),
                       static_cast<const i64*>(run.in(1)), static_cast<unsigned char*>(run.out(0)),
                       faults);
        });
    });
}

Made make_mask(const Op& op) { // x, first -> x, with `value` behind the end
    const ShardShape s = shard_shape(op);
    const int x = float_dtype(op.input(0));
    const i64 end = op.integer("extent");
    const auto value = static_cast<float>(padding_value(op));
    return launches([=](const Run& run) {
        run.launch(grid_over(s.outer * s.extent * s.inner), mask_elements, s, Source{run.in(0), x},
                   static_cast<const i64*>(run.in(1)), end, value, Target{run.out(0), x});
    });
}

} // namespace weft::kernels::cuda
