// SPDX-License-Identifier: Apache-2.0
// Routing of tokens to experts. Rows that tokens name are summed in the order of the tokens.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/row_launch.h"
#include "kernels/cuda/sorted_sums.h"
#include "kernels/expert_shape.h"

namespace weft::kernels::cuda {

/// Larger numbers have larger keys, NaN the largest; both zeros are one.
WEFT_DEVICE u32 order_key(float value) {
    const u32 bits = bits_of_float(value + 0.0f);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

/// A warp to a row. Each of the k rounds takes the largest that comes after the last one taken:
/// smaller, or equal and further on.
WEFT_KERNEL top_k_rows(i64 rows, i64 width, i64 k, const float* x, float* values, int* indices) {
    const i64 row = block() * (threads() / kWarp) + thread() / kWarp;
    if (row >= rows) {
        return;
    }
    const int lane = thread() % kWarp;
    const float* from = x + row * width;
    u32 last_key = 0xffffffffu;
    i64 last = -1;
    for (i64 round = 0; round < k; ++round) {
        u32 best_key = 0;
        i64 best = width; // none
        for (i64 v = lane; v < width; v += kWarp) {
            const u32 key = order_key(from[v]);
            const bool after = round == 0 || key < last_key || (key == last_key && v > last);
            if (after && (best == width || key > best_key)) {
                best_key = key;
                best = v;
            }
        }
        for (int mask = kWarp / 2; mask > 0; mask /= 2) {
            const u32 key = shuffle_xor(best_key, mask);
            const i64 place = shuffle_xor(best, mask);
            if (place < width &&
                (best == width || key > best_key || (key == best_key && place < best))) {
                best_key = key;
                best = place;
            }
        }
        last_key = best_key;
        last = best;
        if (lane == 0) {
            indices[row * k + round] = static_cast<int>(best);
            values[row * k + round] = from[best];
        }
    }
}

WEFT_KERNEL top_k_grad_elements(i64 rows, i64 width, i64 k, const int* indices,
                                const float* dvalues, float* out, volatile int* faults) {
    for (i64 i = block() * threads() + thread(); i < rows * width; i += blocks() * threads()) {
        const i64 row = i / width;
        const i64 v = i % width;
        float sum = 0.0f;
        for (i64 j = 0; j < k; ++j) {
            const int index = indices[row * k + j];
            sum += index == v ? dvalues[row * k + j] : 0.0f;
            if (v == 0 && (index < 0 || index >= width)) {
                report_fault(faults, kIndexOfTopK);
            }
        }
        out[i] = sum;
    }
}

constexpr int kMostExperts = 4096;

/// A warp to a sample: 32 choices at a time, counted per expert in their order.
WEFT_KERNEL expert_rows_samples(i64 choices, int experts, i64 capacity, const int* indices,
                                int* rows, volatile int* faults) {
    WEFT_SHARED(int, counts, kMostExperts);
    const int lane = thread();
    for (int e = lane; e < experts; e += kWarp) {
        counts[e] = 0;
    }
    warp_barrier();
    const i64 base = block() * choices;
    for (i64 start = 0; start < choices; start += kWarp) {
        const i64 i = start + lane;
        int expert = i < choices ? indices[base + i] : -1;
        if (i < choices && (expert < 0 || expert >= experts)) {
            report_fault(faults, kNoSuchExpert);
            expert = -1;
        }
        int before = 0; // of this round
        int all = 0;
        for (int other = 0; other < kWarp; ++other) {
            const bool same = shuffle(expert, other) == expert;
            before += same && other < lane ? 1 : 0;
            all += same ? 1 : 0;
        }
        const int counted = expert >= 0 ? int(counts[expert]) : 0;
        warp_barrier();
        if (expert >= 0 && before == 0) {
            counts[expert] = counted + all;
        }
        warp_barrier();
        if (i < choices) {
            const i64 place = counted + before;
            rows[base + i] =
                expert >= 0 && place < capacity ? static_cast<int>(expert * capacity + place) : -1;
        }
    }
}

/// The row [E, N, A] of each choice; one past the last for none.
WEFT_KERNEL expert_keys(const ExpertShape s, const int* rows, u32* keys, volatile int* faults) {
    const i64 count = s.samples * s.tokens * s.choices;
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const i64 row = rows[i];
        const i64 none = s.experts * s.samples * s.capacity;
        if (row >= 0 && !s.is_row(row)) {
            report_fault(faults, kRowOutsideExperts);
        }
        const i64 sample = i / (s.tokens * s.choices);
        keys[i] = static_cast<u32>(s.is_row(row) ? s.element_of(sample, row) / s.channels : none);
    }
}

/// A row of `s` is a token: the sum of its choices' rows times their gates.
WEFT_WIDE_KERNEL combine_rows(const RowShape s, const ExpertShape e, const Source y,
                              const int* rows, const float* gates, const Target out,
                              volatile int* faults) {
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    for (i64 tile = 0; tile < p.tiles; ++tile) {
        float sums[kRowTile] = {};
        for (i64 k = 0; k < e.choices; ++k) {
            const i64 choice = p.row * e.choices + k;
            const i64 row = rows[choice];
            if (row >= 0 && !e.is_row(row) && p.lane == 0) {
                report_fault(faults, kRowOutsideExperts);
            }
            if (e.is_row(row)) {
                const float gate = gates != nullptr ? gates[choice] : 1.0f;
                float values[kRowTile];
                load_tile(s, p, y, e.element_of(p.row / e.tokens, row), tile, 0.0f, values);
                WEFT_UNROLL
                for (int i = 0; i < kRowTile; ++i) {
                    sums[i] += gate * values[i];
                }
            }
        }
        store_tile(s, p, out, p.row * s.width, tile, sums);
    }
}

/// A warp to a choice: its expert's row times its token's gradient.
WEFT_KERNEL gate_grad_choices(const ExpertShape s, const Source y, const int* rows,
                              const Source dout, float* out, volatile int* faults) {
    const i64 choice = block() * (threads() / kWarp) + thread() / kWarp;
    if (choice >= s.samples * s.tokens * s.choices) {
        return;
    }
    const int lane = thread() % kWarp;
    const i64 row = rows[choice];
    const i64 token = choice / s.choices;
    float sum = 0.0f;
    if (s.is_row(row)) {
        const i64 from = s.element_of(token / s.tokens, row);
        for (i64 c = lane; c < s.channels; c += kWarp) {
            sum += load(y, from + c) * load(dout, token * s.channels + c);
        }
    } else if (row >= 0 && lane == 0) {
        report_fault(faults, kRowOutsideExperts);
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        out[choice] = sum;
    }
}

Made make_top_k(const Op& op) { // x -> values, indices
    const i64 rows = row_count(op.input(0));
    const i64 width = last_dim(op.input(0));
    const i64 k = op.integer("k");
    require(k >= 1 && k <= width && element_count(op.output(0)) == rows * k &&
                element_count(op.output(1)) == rows * k,
            "top_k gives k values and indices per row");
    want_dtype(op.input(0), WEFT_F32);
    want_dtype(op.output(0), WEFT_F32);
    want_dtype(op.output(1), WEFT_I32);
    return launches([=](const Run& run) {
        run.launch(Grid{ceil_divide(rows, 4), 1, 128}, top_k_rows, rows, width, k,
                   static_cast<const float*>(run.in(0)), static_cast<float*>(run.out(0)),
                   static_cast<int*>(run.out(1)));
    });
}

Made make_top_k_grad(const Op& op) { // indices, dvalues -> dx
    const i64 rows = row_count(op.input(0));
    const i64 k = last_dim(op.input(0));
    const i64 width = last_dim(op.output(0));
    require(same_shape(op.input(0), op.input(1)) && row_count(op.output(0)) == rows,
            "indices and gradients of top_k have one shape");
    want_dtype(op.input(0), WEFT_I32);
    want_dtype(op.input(1), WEFT_F32);
    want_dtype(op.output(0), WEFT_F32);
    return launches([=, faults = fault_word()](const Run& run) {
        run.launch(grid_over(rows * width), top_k_grad_elements, rows, width, k,
                   static_cast<const int*>(run.in(0)), static_cast<const float*>(run.in(1)),
                   static_cast<float*>(run.out(0)), faults);
    });
}

Made make_expert_rows(const Op& op) { // indices [N, T, K] -> rows
    const Type& type = op.input(0);
    require(type.rank == 3 && same_shape(type, op.output(0)),
            "expert_rows needs indices [N, T, K]");
    want_dtype(type, WEFT_I32);
    want_dtype(op.output(0), WEFT_I32);
    const i64 samples = type.shape[0];
    const i64 choices = type.shape[1] * type.shape[2];
    const i64 experts = op.integer("experts");
    const i64 capacity = op.integer("capacity");
    if (experts > kMostExperts) {
        unsupported("at most 4096 experts");
    }
    return launches([=, faults = fault_word()](const Run& run) {
        run.launch(Grid{samples, 1, kWarp}, expert_rows_samples, choices, static_cast<int>(experts),
                   capacity, static_cast<const int*>(run.in(0)), static_cast<int*>(run.out(0)),
                   faults);
    });
}

namespace {

/// Types of the ops that move tokens; `gates` is the index of the optional operand.
void want_routing(const Op& op, int gates) {
    want_dtype(op.input(1), WEFT_I32);
    if (op.inputs() > gates) {
        require(same_shape(op.input(1), op.input(gates)), "there is one gate per place");
        want_dtype(op.input(gates), WEFT_F32);
    }
}

} // namespace

Made make_dispatch(const Op& op) { // x, rows, gates? -> [E, N, A, C]
    const ExpertShape s = expert_shape(op.output(0), op.input(1), op.input(0));
    want_routing(op, 2);
    const bool gated = op.inputs() > 2;
    const int x = float_dtype(op.input(0));
    const int out = float_dtype(op.output(0));
    const SortedSums sums{s.samples * s.tokens * s.choices, s.experts * s.samples * s.capacity,
                          s.channels, s.choices};
    return launches(sums.workspace_bytes(), [=, faults = fault_word()](const Run& run) {
        run.launch(grid_over(sums.count), expert_keys, s, static_cast<const int*>(run.in(1)),
                   sums.key_array(run), faults);
        sums.queue(run, {run.in(0), x}, gated ? static_cast<const float*>(run.in(2)) : nullptr,
                   {run.out(0), out});
    });
}

Made make_combine(const Op& op) { // y, rows, gates? -> [N, T, C]
    const ExpertShape e = expert_shape(op.input(0), op.input(1), op.output(0));
    want_routing(op, 2);
    const bool gated = op.inputs() > 2;
    const int y = float_dtype(op.input(0));
    const int out = float_dtype(op.output(0));
    return launches([=, faults = fault_word()](const Run& run) {
        const RowShape s = row_shape(e.samples * e.tokens, e.channels, {run.in(0), run.out(0)});
        run.launch(row_grid(s), combine_rows, s, e, Source{run.in(0), y},
                   static_cast<const int*>(run.in(1)),
                   gated ? static_cast<const float*>(run.in(2)) : nullptr, Target{run.out(0), out},
                   faults);
    });
}

Made make_gate_grad(const Op& op) { // y, rows, dout -> dgates
    const ExpertShape s = expert_shape(op.input(0), op.input(1), op.input(2));
    require(same_shape(op.input(1), op.output(0)), "there is one gradient per gate");
    want_routing(op, op.inputs());
    want_dtype(op.output(0), WEFT_F32);
    const int y = float_dtype(op.input(0));
    const int dout = float_dtype(op.input(2));
    return launches([=, faults = fault_word()](const Run& run) {
        run.launch(Grid{ceil_divide(s.samples * s.tokens * s.choices, 4), 1, 128},
                   gate_grad_choices, s, Source{run.in(0), y}, static_cast<const int*>(run.in(1)),
                   Source{run.in(2), dout}, static_cast<float*>(run.out(0)), faults);
    });
}

} // namespace weft::kernels::cuda
