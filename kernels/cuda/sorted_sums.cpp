// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/sorted_sums.h"

#include <bit>

namespace weft::kernels::cuda {
namespace {

constexpr int kDigits = 256;
constexpr int kSortThreads = 256;
constexpr i64 kSortChunk = 2048; // keys of a block

} // namespace

/// counts[digit][chunk] of the eight bits of each key from `shift` on.
WEFT_KERNEL count_digits(const u32* keys, i64 count, int shift, i64 chunks, int* counts) {
    WEFT_SHARED(int, mine, kDigits);
    mine[thread()] = 0;
    barrier();
    const i64 first = block() * kSortChunk;
    for (i64 i = first + thread(); i < first + kSortChunk && i < count; i += threads()) {
        atomic_add(mine, static_cast<int>(keys[i] >> shift & 255u), 1);
    }
    barrier();
    counts[thread() * chunks + block()] = mine[thread()];
}

/// Replaces counts by the number of keys that come before: one block over all of them.
WEFT_WIDE_KERNEL scan_counts(int* counts, i64 length) {
    WEFT_SHARED(int, totals, kWarp);
    int before = 0;
    for (i64 start = 0; start < length; start += threads()) {
        const i64 i = start + thread();
        const int own = i < length ? counts[i] : 0;
        int sum = own; // of the lanes up to this one
        for (int distance = 1; distance < kWarp; distance *= 2) {
            const int lane = thread() % kWarp;
            const int other = shuffle(sum, lane >= distance ? lane - distance : lane);
            sum += lane >= distance ? other : 0;
        }
        if (thread() % kWarp == kWarp - 1) {
            totals[thread() / kWarp] = sum;
        }
        barrier();
        int warps_before = 0;
        int all = 0;
        for (int warp = 0; warp < threads() / kWarp; ++warp) {
            const int total = totals[warp];
            warps_before += warp < thread() / kWarp ? total : 0;
            all += total;
        }
        if (i < length) {
            counts[i] = before + warps_before + sum - own;
        }
        before += all;
        barrier();
    }
}

/// Moves each key and its number to its place: equal digits keep their order.
WEFT_KERNEL scatter_keys(const u32* keys, const u32* numbers, i64 count, int shift, i64 chunks,
                         const int* starts, u32* sorted_keys, u32* sorted_numbers) {
    constexpr int kWarps = kSortThreads / kWarp;
    WEFT_SHARED(int, next, kDigits);           // place of the next key of a digit
    WEFT_SHARED(int, counts, kWarps* kDigits); // of a warp's keys in this round
    const int lane = thread() % kWarp;
    const int warp = thread() / kWarp;
    next[thread()] = starts[thread() * chunks + block()];
    const i64 first = block() * kSortChunk;
    for (i64 start = first; start < first + kSortChunk; start += kSortThreads) {
        for (int w = 0; w < kWarps; ++w) {
            counts[w * kDigits + thread()] = 0;
        }
        barrier();
        const i64 i = start + thread();
        const bool there = i < count;
        const u32 key = there ? keys[i] : 0;
        const int digit = static_cast<int>(key >> shift & 255u);
        // The lanes of the warp with the same digit.
        u32 same = ballot(there);
        for (int bit = 0; bit < 8; ++bit) {
            const u32 set = ballot((digit >> bit & 1) != 0);
            same &= (digit >> bit & 1) != 0 ? set : ~set;
        }
        const int rank = bits_set(same & ((1u << lane) - 1u));
        if (there && rank == 0) {
            counts[warp * kDigits + digit] = bits_set(same);
        }
        barrier();
        if (there) {
            int place = next[digit] + rank;
            for (int w = 0; w < warp; ++w) {
                place += counts[w * kDigits + digit];
            }
            sorted_keys[place] = key;
            sorted_numbers[place] = numbers != nullptr ? numbers[i] : static_cast<u32>(i);
        }
        barrier();
        int moved = 0;
        for (int w = 0; w < kWarps; ++w) {
            moved += counts[w * kDigits + thread()];
        }
        next[thread()] += moved;
    }
}

/// A block of 256 threads has 32 lanes with four columns each, and eight sums.
WEFT_KERNEL sum_sorted(const u32* keys, const u32* numbers, i64 count, i64 sums, i64 width,
                       i64 choices, const Source x, const float* gates, const Target out) {
    const i64 key = block() * 8 + thread() / kWarp;
    if (key >= sums) {
        return;
    }
    // The first place whose key is not smaller.
    i64 low = 0;
    i64 high = count;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const i64 column = (block_y() * kWarp + thread() % kWarp) * 4;
    float totals[4] = {};
    for (i64 i = low; i < count && keys[i] == key; ++i) {
        const u32 number = numbers[i];
        const float gate = gates != nullptr ? gates[number] : 1.0f;
        const i64 row = number / choices * width;
        WEFT_UNROLL
        for (int k = 0; k < 4; ++k) {
            totals[k] += column + k < width ? gate * load(x, row + column + k) : 0.0f;
        }
    }
    WEFT_UNROLL
    for (int k = 0; k < 4; ++k) {
        if (column + k < width) {
            store(out, key * width + column + k, totals[k]);
        }
    }
}

namespace {

/// Pieces of the workspace.
struct SortSpace {
    i64 chunks;
    int passes;
    std::int64_t array_bytes, count_bytes;

    explicit SortSpace(const SortedSums& s)
        : chunks(std::max<i64>(1, ceil_divide(s.count, kSortChunk))),
          passes((static_cast<int>(std::bit_width(static_cast<u64>(s.keys) | 1)) + 7) / 8),
          array_bytes(round_up_to_line(s.count * 4)),
          count_bytes(round_up_to_line(chunks * kDigits * 4)) {}
    std::int64_t bytes() const { return 4 * array_bytes + count_bytes; }
};

} // namespace

std::int64_t SortedSums::workspace_bytes() const {
    return SortSpace(*this).bytes();
}

u32* SortedSums::key_array(const Run& run) const {
    return run.workspace<u32>();
}

void SortedSums::queue(const Run& run, Source x, const float* gates, Target out) const {
    const SortSpace space(*this);
    const auto array = [&](int i) { return run.workspace<u32>(i * space.array_bytes); };
    int* counts = run.workspace<int>(4 * space.array_bytes);
    u32* keys_now = array(0);
    u32* numbers_now = nullptr; // the rows as they come
    const Grid sorting{space.chunks, 1, kSortThreads};
    for (int pass = 0; pass < space.passes; ++pass) {
        u32* keys_next = array(pass % 2 == 0 ? 1 : 0);
        u32* numbers_next = array(pass % 2 == 0 ? 2 : 3);
        run.launch(sorting, count_digits, keys_now, count, pass * 8, space.chunks, counts);
        run.launch(Grid{1, 1, 1024}, scan_counts, counts, space.chunks * kDigits);
        run.launch(sorting, scatter_keys, keys_now, numbers_now, count, pass * 8, space.chunks,
                   counts, keys_next, numbers_next);
        keys_now = keys_next;
        numbers_now = numbers_next;
    }
    run.launch(Grid{ceil_divide(keys, 8), ceil_divide(width, kWarp * 4), 256}, sum_sorted, keys_now,
               numbers_now, count, keys, width, choices, x, gates, out);
}

} // namespace weft::kernels::cuda
