// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/gemm_block.h"

#include "kernels/cpu/loops/simd.h"

namespace weft::kernels::cpu {
namespace {

struct BlockProduct {
    LeftBlock a;
    const float* b;
    std::int64_t b_row;
    float* out;
    std::int64_t out_row, m, n, k;
    bool accumulate;
};

constexpr int kRows = 4;
constexpr int kColumns = 2; // vectors; with the rows, eight sums cover the latency of an addition

/// `Lanes` floats. A type wider than the registers of the instruction set would go through memory
/// in every step, so each set has its own.
template <int Lanes>
struct Floats {
    typedef float Vector __attribute__((vector_size(Lanes * 4)));
};

// Any alignment, one instruction. By reference: a wide vector as a result would change the ABI.
template <class Vector>
WEFT_INLINE void load(Vector& to, const float* from) {
    __builtin_memcpy(&to, from, sizeof to);
}

template <class Vector>
WEFT_INLINE void store(const Vector& from, float* to) {
    __builtin_memcpy(to, &from, sizeof from);
}

/// Four rows by two vectors, held in registers along k.
template <int Lanes>
WEFT_INLINE void tile(const LeftBlock& a, const float* b, std::int64_t b_row, float* out,
                      std::int64_t out_row, std::int64_t k, bool accumulate) {
    using Vector = typename Floats<Lanes>::Vector;
    Vector sum[kRows][kColumns] = {};
    for (std::int64_t p = 0; p < k; ++p) {
        const float* left = a.data + p * a.column;
        Vector right[kColumns];
#pragma GCC unroll 2
        for (int c = 0; c < kColumns; ++c) {
            load(right[c], b + p * b_row + Lanes * c);
        }
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) {
            const Vector x = left[i * a.row] - Vector{}; // in every lane
#pragma GCC unroll 2
            for (int c = 0; c < kColumns; ++c) {
                sum[i][c] += x * right[c];
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
        for (int c = 0; c < kColumns; ++c) {
            float* to = out + i * out_row + Lanes * c;
            if (accumulate) {
                Vector before;
                load(before, to);
                sum[i][c] += before;
            }
            store(sum[i][c], to);
        }
    }
}

/// The columns from `first` on, in tiles of `2 Lanes`; returns the first one left.
template <int Lanes>
WEFT_INLINE std::int64_t tiles(const BlockProduct& p, std::int64_t first) {
    std::int64_t j = first;
    for (; p.n - j >= kColumns * Lanes; j += kColumns * Lanes) {
        for (std::int64_t i = 0; i < p.m; i += kRows) {
            const LeftBlock rows{p.a.data + i * p.a.row, p.a.row, p.a.column};
            tile<Lanes>(rows, p.b + j, p.b_row, p.out + i * p.out_row + j, p.out_row, p.k,
                        p.accumulate);
        }
    }
    return j;
}

void multiply_any(const BlockProduct& p) {
    tiles<4>(p, 0);
}

__attribute__((target("arch=x86-64-v3"))) void multiply_v3(const BlockProduct& p) {
    tiles<8>(p, 0);
}

__attribute__((target("arch=x86-64-v4"))) void multiply_v4(const BlockProduct& p) {
    tiles<8>(p, tiles<16>(p, 0));
}

auto best_product() {
    return __builtin_cpu_supports("x86-64-v4")   ? &multiply_v4
           : __builtin_cpu_supports("x86-64-v3") ? &multiply_v3
                                                 : &multiply_any;
}

} // namespace

void gemm_block(const LeftBlock& a, const float* b, std::int64_t b_row, float* out,
                std::int64_t out_row, std::int64_t m, std::int64_t n, std::int64_t k,
                bool accumulate) {
    static const auto multiply = best_product();
    multiply({a, b, b_row, out, out_row, m, n, k, accumulate});
}

} // namespace weft::kernels::cpu
