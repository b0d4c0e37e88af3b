// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/ceilings.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace weft::bench {

Ceilings measure_ceilings() {
    weft_ceilings best{};
    if (weft_measure_ceilings(&best) != WEFT_OK) {
        std::fprintf(stderr, "the ceilings were not measured: %s\n", weft_last_error());
        std::exit(1);
    }
    constexpr std::int64_t kSize = 1 << 25; // 128 MiB: beyond the caches
    std::vector<float> a(kSize, 1.0f);
    std::vector<float> b(kSize, 2.0f);
    const double copy_gbs = 8.0 * kSize / 1e9 / best_seconds([&] {
#pragma omp parallel for simd
                                for (std::int64_t i = 0; i < kSize; ++i) {
                                    b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>(i)];
                                }
                            });
    return {best.f32_flops / 1e9, best.bf16_flops / 1e9, copy_gbs, best.bandwidth / 1e9};
}

} // namespace weft::bench
