// SPDX-License-Identifier: Apache-2.0
// Work on the one OpenMP team. Pieces are numbered and their results do not depend on who computes
// them, so a kernel gives the same bits for every team size.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace weft::kernels::cpu {

/// Below this much work (in elements moved) waking the team costs more than it saves.
inline constexpr std::int64_t kParallelWork = 32768;

/// Size of the team that kernels prepared now will have.
inline int team_size() {
    return omp_get_max_threads();
}

/// Calls fn(begin, end, thread) for contiguous shares of [0, pieces). `work` is the total number of
/// elements touched; `threads` the largest team.
template <class Fn>
void parallel_ranges(std::int64_t pieces, std::int64_t work, int threads, const Fn& fn) {
    const auto team = static_cast<int>(
        work < kParallelWork ? 1
                             : std::min<std::int64_t>(threads, std::max<std::int64_t>(pieces, 1)));
    if (team == 1) {
        fn(std::int64_t{0}, pieces, 0);
        return;
    }
#pragma omp parallel num_threads(team)
    {
        const std::int64_t size = omp_get_num_threads();
        const std::int64_t self = omp_get_thread_num();
        fn(pieces * self / size, pieces * (self + 1) / size, static_cast<int>(self));
    }
}

/// Calls fn(piece, thread) for every piece.
template <class Fn>
void parallel_each(std::int64_t pieces, std::int64_t work, int threads, const Fn& fn) {
    parallel_ranges(pieces, work, threads, [&](std::int64_t begin, std::int64_t end, int thread) {
        for (std::int64_t piece = begin; piece < end; ++piece) {
            fn(piece, thread);
        }
    });
}

/// A piece of the workspace for each thread of the team.
struct ThreadScratch {
    std::int64_t base = 0;  // bytes of the workspace before the first piece, a multiple of 64
    std::int64_t bytes = 0; // of each piece, a multiple of 64

    float* of(void* workspace, int thread) const {
        return reinterpret_cast<float*>(static_cast<unsigned char*>(workspace) + base +
                                        thread * bytes);
    }
};

} // namespace weft::kernels::cpu
