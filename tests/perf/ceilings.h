// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best, measured beside every benchmark; and how benchmarks take time.
#pragma once

#include "kernels/weft_kernels.h"

#include <algorithm>
#include <ctime>

namespace weft::bench {

/// Seconds. With one thread its processor time, which other programs disturb least.
inline double now() {
    timespec time{};
    clock_gettime(weft_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Fastest of several timings of fn, in seconds per call; about 0.2 s in all.
template <class Fn>
double best_seconds(const Fn& fn) {
    fn();
    double best = 1e9;
    double spent = 0;
    for (int round = 0; round < 1000 && (spent < 0.2 || round < 3); ++round) {
        const double start = now();
        fn();
        const double seconds = now() - start;
        best = std::min(best, seconds);
        spent += seconds;
    }
    return best;
}

/// Over all threads: what weft_measure_ceilings measures, and the rate of a plain copy.
struct Ceilings {
    double f32_gflops, bf16_gflops, copy_gbs, update_gbs;
};

Ceilings measure_ceilings();

} // namespace weft::bench
