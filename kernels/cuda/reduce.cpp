// SPDX-License-Identifier: Apache-2.0
// Reductions over any dimensions. Either a warp or block takes the terms of one output side by side
// (the innermost dimension is summed), or neighbouring threads take neighbouring outputs. Long sums
// are cut into chunks, whose results are reduced in the same way.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row_launch.h"

namespace weft::kernels::cuda {

/// Some dimensions of an array, merged where they lie one after another, outermost first.
struct Walk {
    int rank;
    i64 count;
    i64 dense[WEFT_MAX_RANK], shape[WEFT_MAX_RANK], strides[WEFT_MAX_RANK];
};

WEFT_DEVICE i64 offset_in(const Walk& walk, i64 index) {
    if (walk.rank == 1) {
        return index * walk.strides[0];
    }
    i64 offset = 0;
    for (int d = 0; d < walk.rank; ++d) {
        offset += index / walk.dense[d] % walk.shape[d] * walk.strides[d];
    }
    return offset;
}

enum class Fold : int { sum, max };

WEFT_DEVICE float start_of(Fold fold) {
    return fold == Fold::max ? -INFINITY : 0.0f;
}
WEFT_DEVICE float folded(Fold fold, float so_far, float x) {
    return fold == Fold::max ? larger(x, so_far) : so_far + x;
}

/// `outputs` numbers of `terms` each; results of chunk c stand at to[c][output].
struct ReduceShape {
    Walk outputs, terms;
    i64 chunk_terms;
    int lanes; // threads that share an output
};

/// A warp or a block to an output.
WEFT_KERNEL reduce_lines(const ReduceShape s, Fold fold, const Source from, const Target to) {
    WEFT_SHARED(float, totals, kWarp);
    const RowPlace p{block() * (threads() / s.lanes) + thread() / s.lanes, thread() % s.lanes,
                     s.lanes, 1};
    if (p.row >= s.outputs.count) { // a whole warp: no barrier is missed
        return;
    }
    const i64 base = offset_in(s.outputs, p.row);
    const i64 first = block_y() * s.chunk_terms;
    const i64 last = first + s.chunk_terms < s.terms.count ? first + s.chunk_terms : s.terms.count;
    // Four at a time: loads that do not wait for each other.
    float parts[4] = {start_of(fold), start_of(fold), start_of(fold), start_of(fold)};
    for (i64 i = first + p.lane; i < last; i += 4 * p.lanes) {
        WEFT_UNROLL
        for (int k = 0; k < 4; ++k) {
            const i64 term = i + k * static_cast<i64>(p.lanes);
            if (term < last) {
                parts[k] = folded(fold, parts[k], load(from, base + offset_in(s.terms, term)));
            }
        }
    }
    float value = 0.0f;
    if (fold == Fold::max) {
        value = row_max(p, larger(larger(parts[0], parts[1]), larger(parts[2], parts[3])), totals);
    } else {
        value = row_sum(p, (parts[0] + parts[1]) + (parts[2] + parts[3]), totals);
    }
    if (p.lane == 0) {
        store(to, block_y() * s.outputs.count + p.row, value);
    }
}

/// A lane to an output; eight warps of a block share its terms.
WEFT_KERNEL reduce_across(const ReduceShape s, Fold fold, const Source from, const Target to) {
    WEFT_SHARED(float, scratch, 256);
    const i64 output = block() * kWarp + thread() % kWarp;
    const i64 first = block_y() * s.chunk_terms;
    const i64 last = first + s.chunk_terms < s.terms.count ? first + s.chunk_terms : s.terms.count;
    float value = start_of(fold);
    if (output < s.outputs.count) {
        const i64 base = offset_in(s.outputs, output);
        for (i64 term = first + thread() / kWarp; term < last; term += 8) {
            value = folded(fold, value, load(from, base + offset_in(s.terms, term)));
        }
    }
    scratch[thread()] = value;
    barrier();
    if (thread() < kWarp && output < s.outputs.count) {
        for (int part = 1; part < 8; ++part) {
            value = folded(fold, value, scratch[part * kWarp + thread()]);
        }
        store(to, block_y() * s.outputs.count + output, value);
    }
}

/// Some arrays: `first` is the number of chunks before each.
struct Arrays {
    static constexpr int kMost = 128;
    static constexpr i64 kChunk = 16384;
    int count, dtype;
    i64 chunks; // of all
    i64 first[kMost], elements[kMost];
    const void* from[kMost];
};

/// A block to a chunk of whichever array it belongs to.
WEFT_KERNEL squares_of_arrays(const Arrays a, float* to) {
    WEFT_SHARED(float, totals, kWarp);
    const i64 chunk = block();
    int low = 0;
    int high = a.count;
    while (high - low > 1) { // the last that begins with the chunk or before
        const int middle = (low + high) / 2;
        const bool before = a.first[middle] <= chunk;
        low = before ? middle : low;
        high = before ? high : middle;
    }
    const RowPlace p{chunk, thread(), threads(), 1};
    const Source from{a.from[low], a.dtype};
    const i64 begin = (chunk - a.first[low]) * Arrays::kChunk;
    const i64 left = a.elements[low] - begin;
    const i64 last = begin + (left < Arrays::kChunk ? left : Arrays::kChunk);
    float parts[4] = {};
    for (i64 i = begin + p.lane; i < last; i += 4 * p.lanes) {
        WEFT_UNROLL
        for (int k = 0; k < 4; ++k) {
            const i64 term = i + k * static_cast<i64>(p.lanes);
            const float x = term < last ? load(from, term) : 0.0f;
            parts[k] += x * x;
        }
    }
    const float value = row_sum(p, (parts[0] + parts[1]) + (parts[2] + parts[3]), totals);
    if (p.lane == 0) {
        to[chunk] = value;
    }
}

WEFT_WIDE_KERNEL argmax_rows(const RowShape s, const Source x, int* out) {
    WEFT_SHARED(float, values, kWarp);
    WEFT_SHARED(int, places, kWarp);
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    const i64 start = p.row * s.width;
    float best = -INFINITY;
    int place = 0x7fffffff;
    const auto take = [&](float value, int at) {
        if (value > best || (value == best && at < place)) {
            best = value;
            place = at;
        }
    };
    for (i64 v = p.lane; v < s.width; v += p.lanes) {
        take(load(x, start + v), static_cast<int>(v));
    }
    const auto across_warp = [&] {
        for (int mask = kWarp / 2; mask > 0; mask /= 2) {
            const float value = shuffle_xor(best, mask);
            const int at = shuffle_xor(place, mask);
            take(value, at);
        }
    };
    across_warp();
    if (p.lanes > kWarp) {
        if (thread() % kWarp == 0) {
            values[thread() / kWarp] = best;
            places[thread() / kWarp] = place;
        }
        barrier();
        const int lane = thread() % kWarp;
        best = lane < p.lanes / kWarp ? float(values[lane]) : -INFINITY;
        place = lane < p.lanes / kWarp ? int(places[lane]) : 0x7fffffff;
        across_warp();
    }
    if (p.lane == 0) {
        const float first = load(x, start);
        out[p.row] = first != first || place == 0x7fffffff ? 0 : place;
    }
}

namespace {

/// Adds a dimension behind the others.
void append(Walk& walk, i64 size, i64 stride) {
    if (size == 1) {
        return;
    }
    const int last = walk.rank - 1;
    if (last >= 0 && walk.strides[last] == stride * size) {
        walk.shape[last] *= size;
        walk.strides[last] = stride;
    } else {
        walk.shape[walk.rank] = size;
        walk.strides[walk.rank++] = stride;
    }
}

void finish(Walk& walk) {
    walk.count = 1;
    for (int d = walk.rank; d-- > 0;) {
        walk.dense[d] = walk.count;
        walk.count *= walk.shape[d];
    }
}

/// One launch, and how many numbers it leaves.
struct Stage {
    ReduceShape shape;
    i64 chunks;
    bool across;

    Grid grid() const {
        if (across) {
            return {ceil_divide(shape.outputs.count, kWarp), chunks, 256};
        }
        const int threads = shape.lanes == kWarp ? 128 : shape.lanes;
        return {ceil_divide(shape.outputs.count, threads / shape.lanes), chunks, threads};
    }
    void run(const Run& run, Fold fold, Source from, Target to) const {
        if (across) {
            run.launch(grid(), reduce_across, shape, fold, from, to);
        } else {
            run.launch(grid(), reduce_lines, shape, fold, from, to);
        }
    }
};

Stage stage_of(const Walk& outputs, const Walk& terms, i64 most_chunks) {
    const bool inside = terms.rank > 0 && terms.strides[terms.rank - 1] == 1;
    const bool across = !inside && outputs.count >= kWarp;
    constexpr i64 kBlocks = 1024;
    constexpr i64 kLeastTerms = 2048;
    const i64 blocks = std::max<i64>(1, across ? ceil_divide(outputs.count, kWarp) : outputs.count);
    const i64 least = across ? kLeastTerms / 8 : kLeastTerms;
    const i64 chunks = std::clamp<i64>(std::min(kBlocks / blocks, ceil_divide(terms.count, least)),
                                       1, most_chunks);
    const i64 chunk_terms = ceil_divide(terms.count, chunks);
    int lanes = kWarp;
    while (lanes < 256 && lanes * 8 < chunk_terms) {
        lanes *= 2;
    }
    return {{outputs, terms, chunk_terms, lanes}, chunks, across};
}

/// `terms` of `outputs`, from and into f32, bf16 or f16.
Made reduction(const Op& op, const Walk& outputs, const Walk& terms, Fold fold) {
    const int from = float_dtype(op.input(0));
    const int to = float_dtype(op.output(0));
    const Stage first = stage_of(outputs, terms, 1024);
    Walk left{};
    append(left, outputs.count, 1);
    finish(left);
    Walk chunks{};
    append(chunks, first.chunks, outputs.count);
    finish(chunks);
    const Stage second = stage_of(left, chunks, 1);
    const std::int64_t bytes = first.chunks > 1 ? first.chunks * outputs.count * 4 : 0;
    return launches(bytes, [=](const Run& run) {
        const Source x{run.in(0), from};
        const Target y{run.out(0), to};
        if (first.chunks == 1) {
            first.run(run, fold, x, y);
            return;
        }
        first.run(run, fold, x, {run.workspace(), WEFT_F32});
        second.run(run, fold, {run.workspace(), WEFT_F32}, y);
    });
}

Made reduce_dims(const Op& op, Fold fold) {
    const Dims shape = shape_of(op.input(0));
    std::vector<bool> reduced(shape.size());
    for (std::int64_t dim : op.list("dims")) {
        dim += dim < 0 ? op.input(0).rank : 0;
        require(dim >= 0 && dim < op.input(0).rank, "no such dimension to reduce");
        reduced[static_cast<std::size_t>(dim)] = true;
    }
    const Dims dense = dense_strides(shape);
    Walk outputs{};
    Walk terms{};
    for (std::size_t d = 0; d < shape.size(); ++d) {
        append(reduced[d] ? terms : outputs, shape[d], dense[d]);
    }
    finish(outputs);
    finish(terms);
    require(outputs.count == element_count(op.output(0)),
            "the output's size is not that of the rest");
    return reduction(op, outputs, terms, fold);
}

} // namespace

Made make_reduce_sum(const Op& op) {
    return reduce_dims(op, Fold::sum);
}

Made make_reduce_max(const Op& op) {
    return reduce_dims(op, Fold::max);
}

Made make_sum_squares(const Op& op) {
    require(element_count(op.output(0)) == 1, "the sum of squares is one number");
    const int dtype = float_dtype(op.input(0));
    want_dtype(op.output(0), WEFT_F32);
    std::vector<std::int64_t> counts;
    i64 chunks = 0;
    for (int i = 0; i < op.inputs(); ++i) {
        require(op.input(i).dtype == dtype, "arrays of several element types");
        counts.push_back(element_count(op.input(i)));
        chunks += ceil_divide(counts.back(), Arrays::kChunk);
    }
    Walk one{};
    finish(one);
    Walk partial{};
    append(partial, chunks, 1);
    finish(partial);
    const Stage last = stage_of(one, partial, 1);
    return launches(std::max<i64>(chunks, 1) * 4, [=](const Run& run) {
        i64 before = 0;
        for (std::size_t i = 0; i < counts.size();) {
            Arrays some{};
            some.dtype = dtype;
            for (; i < counts.size() && some.count < Arrays::kMost; ++i) {
                some.first[some.count] = some.chunks;
                some.elements[some.count] = counts[i];
                some.from[some.count++] = run.in(static_cast<int>(i));
                some.chunks += ceil_divide(counts[i], Arrays::kChunk);
            }
            run.launch({some.chunks, 1, 256}, squares_of_arrays, some,
                       run.workspace<float>(before * 4));
            before += some.chunks;
        }
        last.run(run, Fold::sum, {run.workspace(), WEFT_F32}, {run.out(0), WEFT_F32});
    });
}

Made make_argmax(const Op& op) {
    const i64 rows = row_count(op.input(0));
    const i64 width = last_dim(op.input(0));
    require(op.input(0).rank >= 1 && element_count(op.output(0)) == rows,
            "argmax gives one index per row");
    want_dtype(op.output(0), WEFT_I32);
    const int x = float_dtype(op.input(0));
    return launches([=](const Run& run) {
        const RowShape s = row_shape(rows, width, {});
        run.launch(row_grid(s), argmax_rows, s, Source{run.in(0), x},
                   static_cast<int*>(run.out(0)));
    });
}

} // namespace weft::kernels::cuda
