// SPDX-License-Identifier: Apache-2.0
// Many uniform numbers at once, in the convention of kernels/philox.h.
#pragma once

#include "kernels/numbers.h"
#include "kernels/philox.h"

#include <cstdint>

namespace weft::kernels::cpu {

/// out[i] = uniform number of the word of logical index first + i. Exact, so the same on every
/// instruction set.
void uniform_words(const Stream& stream, std::uint64_t first, float* out, std::int64_t count);

/// keep[i] = `kept` where that number of logical index first + i is >= rate, else 0.
void dropout_factors(const Stream& stream, std::uint64_t first, float rate, float kept, float* keep,
                     std::int64_t count);

/// out = x times the factor that dropout_factors has for it. `out` may be `x`.
template <class T>
void drop_run(const Stream& stream, std::uint64_t first, float rate, float kept, const T* x, T* out,
              std::int64_t count);

} // namespace weft::kernels::cpu
