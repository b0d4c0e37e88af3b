// SPDX-License-Identifier: Apache-2.0
// Products on AMX: tiles of 16 rows by 64 bytes, TDPBF16PS.
#pragma once

#include "kernels/cpu/tiles/avx512_bf16.h"
#include "kernels/cpu/tiles/pairs.h"

#define WEFT_TILES                                                                                 \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma,amx-tile,amx-bf16")))

namespace weft::kernels::cpu {

/// Whether this machine has tiles, and they gave the right result when they were first asked.
bool tiles_serve();

/// While it lives, products on the calling thread may use its tile registers; scopes do not nest.
/// Nothing where tiles_serve() is false.
class TileScope {
public:
    TileScope();
    ~TileScope();
    TileScope(const TileScope&) = delete;
    TileScope& operator=(const TileScope&) = delete;
};

/// Whether a scope is there for the calling thread.
bool tiles_are_ready();

/// multiply_pairs for m, n and pairs that are multiples of 16, within a scope.
void multiply_tiles(const Rows16& left, const Pairs& right, float* out, std::int64_t out_row,
                    std::int64_t m, std::int64_t n, std::int64_t pairs, bool accumulate);

} // namespace weft::kernels::cpu
