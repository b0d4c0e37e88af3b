// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/reduce.h"

#include "kernels/numbers.h"

#include <array>
#include <cstring>
#include <type_traits>

namespace weft::exec::comm {
namespace {

using kernels::bf16;
using kernels::f16;

/// Stored in two bytes, summed in f32.
template <class T>
concept Narrow = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;

template <Narrow T>
float wide(T value) {
    return kernels::to_float(value);
}

template <class T>
T wide(T value) {
    return value;
}

template <class T>
T narrow(T value) {
    return value;
}

template <Narrow T>
T narrow(float value) {
    return kernels::from_float<T>(value);
}

template <class T>
using Wide = decltype(wide(T{}));

struct Sum {
    template <class W>
    static W of(W a, W b) {
        if constexpr (std::is_integral_v<W>) {
            using Unsigned = std::make_unsigned_t<W>; // wraps around without undefined behaviour
            return static_cast<W>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
        } else {
            return a + b;
        }
    }
};

struct Max {
    template <class W>
    static W of(W a, W b) {
        return a > b || a != a ? a : b;
    }
};

struct Min {
    template <class W>
    static W of(W a, W b) {
        return a < b || a != a ? a : b;
    }
};

template <class W>
W mean_of(W sum, std::int64_t ranks) {
    return sum / static_cast<W>(ranks);
}

constexpr std::int64_t kBlock = 1024; // of accumulators: they stay in the first-level cache

// `left` elements from `offset`; a full block has a constant count, for which loops are vectorised.
template <class T, class Op, bool kFull>
void fold_block(std::span<const std::byte* const> sources, std::int64_t offset, std::int64_t left,
                bool mean, std::byte* dst) {
    const std::int64_t count = kFull ? kBlock : left;
    const auto at = [offset](const std::byte* base) {
        return reinterpret_cast<const T*>(base) + offset;
    };
    std::array<Wide<T>, kBlock> sum;
    const T* first = at(sources[0]);
    for (std::int64_t i = 0; i < count; ++i) {
        sum[static_cast<std::size_t>(i)] = wide(first[i]);
    }
    for (const std::byte* base : sources.subspan(1)) {
        const T* source = at(base);
        for (std::int64_t i = 0; i < count; ++i) {
            auto& total = sum[static_cast<std::size_t>(i)];
            total = Op::of(total, wide(source[i]));
        }
    }
    T* out = reinterpret_cast<T*>(dst) + offset;
    if (mean) {
        const auto ranks = static_cast<std::int64_t>(sources.size());
        for (std::int64_t i = 0; i < count; ++i) {
            out[i] = narrow<T>(mean_of(sum[static_cast<std::size_t>(i)], ranks));
        }
        return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = narrow<T>(sum[static_cast<std::size_t>(i)]);
    }
}

template <class T, class Op>
void fold(std::span<const std::byte* const> sources, bool mean, std::span<std::byte> dst) {
    const auto count = static_cast<std::int64_t>(dst.size() / sizeof(T));
    std::int64_t offset = 0;
    for (; offset + kBlock <= count; offset += kBlock) {
        fold_block<T, Op, true>(sources, offset, kBlock, mean, dst.data());
    }
    if (offset < count) {
        fold_block<T, Op, false>(sources, offset, count - offset, mean, dst.data());
    }
}

template <class T>
void fold_by_reduction(Reduction reduction, std::span<const std::byte* const> sources,
                       std::span<std::byte> dst) {
    switch (reduction) {
    case Reduction::sum: return fold<T, Sum>(sources, false, dst);
    case Reduction::mean: return fold<T, Sum>(sources, true, dst);
    case Reduction::max: return fold<T, Max>(sources, false, dst);
    case Reduction::min: return fold<T, Min>(sources, false, dst);
    }
}

template <class T>
void divide(const std::byte* src, std::byte* dst, std::int64_t count, int ranks) {
    const auto* from = reinterpret_cast<const Wide<T>*>(src);
    auto* to = reinterpret_cast<T*>(dst);
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = narrow<T>(mean_of(from[i], ranks));
    }
}

template <Narrow T>
void widen_run(const std::byte* src, std::byte* dst, std::int64_t count) {
    const auto* from = reinterpret_cast<const T*>(src);
    auto* to = reinterpret_cast<float*>(dst);
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = wide(from[i]);
    }
}

} // namespace

void reduce(ir::DType dtype, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte> dst) {
    switch (dtype) {
    case ir::DType::f32: return fold_by_reduction<float>(reduction, sources, dst);
    case ir::DType::bf16: return fold_by_reduction<bf16>(reduction, sources, dst);
    case ir::DType::f16: return fold_by_reduction<f16>(reduction, sources, dst);
    case ir::DType::f64: return fold_by_reduction<double>(reduction, sources, dst);
    case ir::DType::i32: return fold_by_reduction<std::int32_t>(reduction, sources, dst);
    case ir::DType::i64: return fold_by_reduction<std::int64_t>(reduction, sources, dst);
    case ir::DType::u8: return fold_by_reduction<std::uint8_t>(reduction, sources, dst);
    }
}

ir::DType partial_dtype(ir::DType dtype) {
    return dtype == ir::DType::bf16 || dtype == ir::DType::f16 ? ir::DType::f32 : dtype;
}

void widen(ir::DType dtype, const std::byte* src, std::byte* dst, std::int64_t count) {
    if (dtype == ir::DType::bf16) {
        widen_run<bf16>(src, dst, count);
    } else if (dtype == ir::DType::f16) {
        widen_run<f16>(src, dst, count);
    } else if (src != dst) {
        std::memcpy(dst, src, static_cast<std::size_t>(count * ir::dtype_bytes(dtype)));
    }
}

void finish(ir::DType dtype, Reduction reduction, int ranks, const std::byte* src, std::byte* dst,
            std::int64_t count) {
    const int divisor = reduction == Reduction::mean ? ranks : 1;
    if (dtype == ir::DType::bf16) {
        divide<bf16>(src, dst, count, divisor);
    } else if (dtype == ir::DType::f16) {
        divide<f16>(src, dst, count, divisor);
    } else if (divisor == 1) {
        widen(dtype, src, dst, count);
    } else if (dtype == ir::DType::f32) {
        divide<float>(src, dst, count, divisor);
    } else if (dtype == ir::DType::f64) {
        divide<double>(src, dst, count, divisor);
    }
}

} // namespace weft::exec::comm
