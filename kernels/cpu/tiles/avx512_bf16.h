// SPDX-License-Identifier: Apache-2.0
// What the files of this folder need to write AVX-512 BF16 code that is called only on machines
// that have it. No lambdas in such functions: they would not inherit the instruction set.
#pragma once

#include "kernels/cpu/vectors/avx512.h"

#define WEFT_AVX512_BF16                                                                           \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")))

namespace weft::kernels::cpu {

/// bf16(high) << 16 | bf16(low) in each lane, rounded to nearest even.
WEFT_AVX512_BF16 WEFT_INLINE __m512i pair_of(__m512 low, __m512 high) {
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order,
                                    reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
}

} // namespace weft::kernels::cpu
