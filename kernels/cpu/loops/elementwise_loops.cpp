// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/elementwise_loops.h"

#include "kernels/cpu/loops/simd.h"
#include "kernels/weft_kernels.h"

#include <array>
#include <cmath>

namespace weft::kernels::cpu {
namespace {

template <class F>
WEFT_VECTOR void unary(const float* a, const float*, const float*, float* out, std::int64_t count,
                       float, float) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = F::of(a[i]);
    }
}

template <class F>
WEFT_VECTOR void binary(const float* a, const float* b, const float*, float* out,
                        std::int64_t count, float, float) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = F::of(a[i], b[i]);
    }
}

WEFT_VECTOR void affine(const float* a, const float*, const float*, float* out, std::int64_t count,
                        float scale, float shift) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = a[i] * scale + shift;
    }
}

WEFT_VECTOR void select(const float* a, const float* b, const float* c, float* out,
                        std::int64_t count, float, float) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        const float yes = b[i];
        const float no = c[i];
        out[i] = a[i] != 0.0f ? yes : no;
    }
}

constexpr float kGeluScale = 0.7978845608f; // sqrt(2 / pi)
constexpr float kGeluCubic = 0.044715f;

// clang-format off
struct Cast { static WEFT_INLINE float of(float x) { return x; } };
struct Neg { static WEFT_INLINE float of(float x) { return -x; } };
struct Abs { static WEFT_INLINE float of(float x) { return std::fabs(x); } };
struct Exp { static WEFT_INLINE float of(float x) { return exp_f(x); } };
struct Log { static WEFT_INLINE float of(float x) { return log_f(x); } };
struct Sqrt { static WEFT_INLINE float of(float x) { return std::sqrt(x); } };
struct Rsqrt { static WEFT_INLINE float of(float x) { return 1.0f / std::sqrt(x); } };
struct Tanh { static WEFT_INLINE float of(float x) { return tanh_f(x); } };
struct Sigmoid { static WEFT_INLINE float of(float x) { return sigmoid_f(x); } };
struct Square { static WEFT_INLINE float of(float x) { return x * x; } };
struct Sign { static WEFT_INLINE float of(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; } };
struct IsFinite { static WEFT_INLINE float of(float x) { return x - x == 0.0f ? 1.0f : 0.0f; } };
struct Relu { static WEFT_INLINE float of(float x) { return x < 0.0f ? 0.0f : x; } };
struct GeluErf { static WEFT_INLINE float of(float x) { return x * normal_distribution_f(x); } };
struct Silu { static WEFT_INLINE float of(float x) { return x * sigmoid_f(x); } };
struct Symlog { static WEFT_INLINE float of(float x) { return symlog_f(x); } };
struct Add { static WEFT_INLINE float of(float x, float y) { return x + y; } };
struct Sub { static WEFT_INLINE float of(float x, float y) { return x - y; } };
struct Mul { static WEFT_INLINE float of(float x, float y) { return x * y; } };
struct Div { static WEFT_INLINE float of(float x, float y) { return x / y; } };
struct Maximum { static WEFT_INLINE float of(float x, float y) { return (x >= y) | (x != x) ? x : y; } };
struct Minimum { static WEFT_INLINE float of(float x, float y) { return (x <= y) | (x != x) ? x : y; } };
struct Atan2 { static WEFT_INLINE float of(float y, float x) { return atan2_f(y, x); } };
struct Less { static WEFT_INLINE float of(float x, float y) { return x < y ? 1.0f : 0.0f; } };
struct Equal { static WEFT_INLINE float of(float x, float y) { return x == y ? 1.0f : 0.0f; } };
struct ReluGrad { static WEFT_INLINE float of(float x, float dy) { return x > 0.0f ? dy : 0.0f; } };
struct TanhGrad { static WEFT_INLINE float of(float y, float dy) { return dy * (1.0f - y * y); } };
struct SigmoidGrad { static WEFT_INLINE float of(float y, float dy) { return dy * y * (1.0f - y); } };
// clang-format on

// 0.5 (1 + tanh u) = sigmoid(2 u): one exponential, and no cancellation in the negative tail.
struct Gelu {
    static WEFT_INLINE float of(float x) {
        return x * sigmoid_f(2.0f * kGeluScale * (x + kGeluCubic * x * x * x));
    }
};

struct GeluGrad {
    static WEFT_INLINE float of(float x, float dy) {
        const float s = sigmoid_f(2.0f * kGeluScale * (x + kGeluCubic * x * x * x));
        const float slope = 2.0f * kGeluScale * (1.0f + 3.0f * kGeluCubic * x * x);
        return dy * (s + x * s * (1.0f - s) * slope);
    }
};

struct GeluErfGrad {
    static WEFT_INLINE float of(float x, float dy) {
        const float density = 0.3989422804f * exp_f(-0.5f * x * x);
        return dy * (normal_distribution_f(x) + x * density);
    }
};

struct SiluGrad {
    static WEFT_INLINE float of(float x, float dy) {
        const float s = sigmoid_f(x);
        return dy * s * (1.0f + x * (1.0f - s));
    }
};

// Rare and mostly on scalars (bias correction of optimizers): the library's accuracy, no vectors.
void power(const float* a, const float* b, const float*, float* out, std::int64_t count, float,
           float) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = std::pow(a[i], b[i]);
    }
}

constexpr std::array<ElementwiseLoop, WEFT_EW_COUNT> make_table() {
    std::array<ElementwiseLoop, WEFT_EW_COUNT> t{};
    t[WEFT_EW_CAST] = unary<Cast>;
    t[WEFT_EW_NEG] = unary<Neg>;
    t[WEFT_EW_ABS] = unary<Abs>;
    t[WEFT_EW_EXP] = unary<Exp>;
    t[WEFT_EW_LOG] = unary<Log>;
    t[WEFT_EW_SQRT] = unary<Sqrt>;
    t[WEFT_EW_RSQRT] = unary<Rsqrt>;
    t[WEFT_EW_TANH] = unary<Tanh>;
    t[WEFT_EW_SIGMOID] = unary<Sigmoid>;
    t[WEFT_EW_SQUARE] = unary<Square>;
    t[WEFT_EW_SIGN] = unary<Sign>;
    t[WEFT_EW_IS_FINITE] = unary<IsFinite>;
    t[WEFT_EW_RELU] = unary<Relu>;
    t[WEFT_EW_GELU] = unary<Gelu>;
    t[WEFT_EW_GELU_ERF] = unary<GeluErf>;
    t[WEFT_EW_SILU] = unary<Silu>;
    t[WEFT_EW_SYMLOG] = unary<Symlog>;
    t[WEFT_EW_AFFINE] = affine;
    t[WEFT_EW_ADD] = binary<Add>;
    t[WEFT_EW_SUB] = binary<Sub>;
    t[WEFT_EW_MUL] = binary<Mul>;
    t[WEFT_EW_DIV] = binary<Div>;
    t[WEFT_EW_MAXIMUM] = binary<Maximum>;
    t[WEFT_EW_MINIMUM] = binary<Minimum>;
    t[WEFT_EW_POW] = power;
    t[WEFT_EW_ATAN2] = binary<Atan2>;
    t[WEFT_EW_LESS] = binary<Less>;
    t[WEFT_EW_EQUAL] = binary<Equal>;
    t[WEFT_EW_RELU_GRAD] = binary<ReluGrad>;
    t[WEFT_EW_GELU_GRAD] = binary<GeluGrad>;
    t[WEFT_EW_GELU_ERF_GRAD] = binary<GeluErfGrad>;
    t[WEFT_EW_SILU_GRAD] = binary<SiluGrad>;
    t[WEFT_EW_TANH_GRAD] = binary<TanhGrad>;
    t[WEFT_EW_SIGMOID_GRAD] = binary<SigmoidGrad>;
    t[WEFT_EW_SELECT] = select;
    return t;
}

} // namespace

ElementwiseLoop elementwise_loop(std::int32_t opcode) {
    static const std::array<ElementwiseLoop, WEFT_EW_COUNT> table = make_table();
    return table[static_cast<std::size_t>(opcode)];
}

} // namespace weft::kernels::cpu
