// SPDX-License-Identifier: Apache-2.0
// Blocks of numbers as eight-bit codes and a scale, found without a search.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/simd.h"
#include "kernels/eight_bit_map.h"

#include <algorithm>
#include <array>
#include <limits>

namespace weft::kernels::cpu {
namespace {

WEFT_VECTOR float largest_size(const float* x, std::int64_t count) {
    constexpr int kLanes = 16;
    float lanes[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
#pragma GCC ivdep
        for (int lane = 0; lane < kLanes; ++lane) {
            const float value = x[i + lane];
            const float size = value < 0.0F ? -value : value;
            lanes[lane] = size > lanes[lane] ? size : lanes[lane];
        }
    }
    float out = 0.0F;
    for (const float lane : lanes) {
        out = lane > out ? lane : out;
    }
    for (; i < count; ++i) {
        const float size = x[i] < 0.0F ? -x[i] : x[i];
        out = size > out ? size : out;
    }
    return out;
}

constexpr int kTogether = 64; // numbers whose codes are found side by side

/// eight_bit_code of x / scale. Its decade and the part of it give a code next to the right one at
/// most; the middles around it decide. `middles` has one before the first code and behind the last.
WEFT_VECTOR void find_codes(const float* x, float scale, bool has_sign, const float* middles,
                            std::uint8_t* codes, std::int64_t count) {
    const float least = has_sign ? 1.0F : 2.0F;  // parts of the lowest decade
    const float none = has_sign ? 127.0F : 0.0F; // the code of 0
    const float before = has_sign ? 0.0F : 1.0F; // items below the first
    float shares[kTogether];
    int found[kTogether];
    for (std::int64_t first = 0; first < count; first += kTogether) {
        const auto together = static_cast<int>(std::min<std::int64_t>(kTogether, count - first));
        for (int i = 0; i < kTogether; ++i) {
            shares[i] = i < together ? x[first + i] : 0.0F;
        }
#pragma GCC ivdep
        for (int i = 0; i < kTogether; ++i) {
            const float share = shares[i] / scale;
            const float size = share < 0.0F ? -share : share;
            float parts = least;
            float grown = size * 1e6F; // up to 1 in its decade
#pragma GCC unroll 6
            for (int decade = 1; decade < 7; ++decade) {
                const float higher = grown * 0.1F;
                const float more = parts * 2.0F;
                parts = grown > 1.0F ? more : parts;
                grown = grown > 1.0F ? higher : grown;
            }
            float part = (grown - 0.1F) * parts * (1.0F / 0.9F);
            part = part < parts - 1.0F ? part : parts - 1.0F;
            part = part > 0.0F ? part : 0.0F;
            const float item = static_cast<float>(static_cast<int>(parts + part)) - before;
            shares[i] = share;
            found[i] = static_cast<int>(share < 0.0F ? none - item : none + item);
        }
#pragma GCC ivdep
        for (int i = 0; i < kTogether; ++i) {
            const int lower = shares[i] > middles[found[i]] ? 0 : 1;
            const int higher = shares[i] > middles[found[i] + 1] ? 1 : 0;
            found[i] += higher - lower;
        }
        for (int i = 0; i < together; ++i) {
            codes[first + i] = static_cast<std::uint8_t>(found[i]);
        }
    }
}

WEFT_VECTOR void find_numbers(const std::uint8_t* codes, float scale, const float* values, float* x,
                              std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        x[i] = values[codes[i]] * scale;
    }
}

class InBlocks : public Kernel {
public:
    InBlocks(const Op& op, const Type& numbers, const Type& codes, const Type& scales)
        : has_sign_(op.flag("has_sign")), size_(op.integer("block")),
          blocks_(element_count(scales)), threads_(team_size()) {
        require(size_ > 0 && blocks_ * size_ == element_count(numbers),
                "there is not one scale per block");
        require(same_shape(numbers, codes), "codes have the shape of the numbers");
        if (numbers.dtype != WEFT_F32 || scales.dtype != WEFT_F32 || codes.dtype != WEFT_U8) {
            unsupported("numbers and scales in f32 and codes in bytes only");
        }
        for (int code = 0; code < kEightBitCodes; ++code) {
            values_[static_cast<std::size_t>(code)] = eight_bit_value(code, has_sign_);
        }
        middles_.front() = -std::numeric_limits<float>::infinity();
        for (std::size_t code = 1; code < values_.size(); ++code) {
            middles_[code] = (values_[code - 1] + values_[code]) * 0.5F;
        }
        middles_.back() = std::numeric_limits<float>::infinity();
    }

protected:
    template <class Fn>
    void for_each_block(const Fn& fn) const {
        parallel_each(blocks_, blocks_ * size_, threads_,
                      [&](std::int64_t block, int) { fn(block, block * size_); });
    }

    bool has_sign_;
    std::int64_t size_, blocks_;
    int threads_;
    std::array<float, kEightBitCodes> values_{};
    std::array<float, kEightBitCodes + 1> middles_{}; // before each code, and behind the last
};

class Quantize final : public InBlocks {
public:
    explicit Quantize(const Op& op) : InBlocks(op, op.input(0), op.output(0), op.output(1)) {
        require(same_shape(op.input(0), op.input(2)) && same_shape(op.input(3), op.output(1)),
                "what may be kept has another shape");
        require(element_count(op.input(1)) == 1, "what says whether to keep is one number");
        if (op.input(1).dtype != WEFT_F32) {
            unsupported("a flag in f32 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        const auto* x = static_cast<const float*>(args.inputs[0]);
        const auto* old_codes = static_cast<const std::uint8_t*>(args.inputs[2]);
        const auto* old_scales = static_cast<const float*>(args.inputs[3]);
        auto* codes = static_cast<std::uint8_t*>(args.outputs[0]);
        auto* scales = static_cast<float*>(args.outputs[1]);
        const bool keep = *static_cast<const float*>(args.inputs[1]) != 0.0F;
        for_each_block([&](std::int64_t block, std::int64_t first) {
            if (keep) {
                std::copy(old_codes + first, old_codes + first + size_, codes + first);
                scales[block] = old_scales[block];
                return;
            }
            const float scale = largest_size(x + first, size_);
            scales[block] = scale;
            find_codes(x + first, scale > 0.0F ? scale : 1.0F, has_sign_, middles_.data(),
                       codes + first, size_);
        });
        return WEFT_OK;
    }
};

class Dequantize final : public InBlocks {
public:
    explicit Dequantize(const Op& op) : InBlocks(op, op.output(0), op.input(0), op.input(1)) {}

    weft_status run(const weft_run_args& args) override {
        const auto* codes = static_cast<const std::uint8_t*>(args.inputs[0]);
        const auto* scales = static_cast<const float*>(args.inputs[1]);
        auto* x = static_cast<float*>(args.outputs[0]);
        for_each_block([&](std::int64_t block, std::int64_t first) {
            find_numbers(codes + first, scales[block], values_.data(), x + first, size_);
        });
        return WEFT_OK;
    }
};

} // namespace

Made make_quantize(const Op& op) {
    return std::make_unique<Quantize>(op);
}

Made make_dequantize(const Op& op) {
    return std::make_unique<Dequantize>(op);
}

} // namespace weft::kernels::cpu
