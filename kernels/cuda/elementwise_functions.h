// SPDX-License-Identifier: Apache-2.0
// What generated elementwise kernels call, in the dialect: a function per opcode of
// weft_elementwise, in f32, some in f64, too, and the ways to read operands. NaN survives where
// kernels/README.md says so.
#pragma once

#include "kernels/cuda/dialect.h"

// Before a generated entry point: the compiler may give up blocks on a processor for registers.
#if defined(__CUDACC__)
#define WEFT_GROUP_KERNEL __global__ void __launch_bounds__(256)
#else
#define WEFT_GROUP_KERNEL void
#endif

namespace weft::kernels::cuda {

/// Element `at` as f32.
template <int Dtype>
WEFT_DEVICE float load_as(u64 address, i64 at) {
    const void* data = reinterpret_cast<const void*>(address);
    if constexpr (Dtype == kI32) {
        return static_cast<float>(static_cast<const int*>(data)[at]);
    } else if constexpr (Dtype == kU8) {
        return static_cast<float>(static_cast<const unsigned char*>(data)[at]);
    } else {
        return load({data, Dtype}, at);
    }
}

/// N elements of a dense array from `at` on; in packs its address is aligned to them.
template <int N, int Dtype>
WEFT_DEVICE void read_run(u64 address, i64 at, float (&to)[N]) {
    if constexpr (N > 1 && (Dtype == kF32 || Dtype == kBf16 || Dtype == kF16)) {
        load_pack<N>({reinterpret_cast<const void*>(address), Dtype}, at, to);
    } else {
        WEFT_UNROLL
        for (int k = 0; k < N; ++k) {
            to[k] = load_as<Dtype>(address, at + k);
        }
    }
}

/// N times the element `at`.
template <int N, int Dtype>
WEFT_DEVICE void read_one(u64 address, i64 at, float (&to)[N]) {
    const float value = load_as<Dtype>(address, at);
    WEFT_UNROLL
    for (int k = 0; k < N; ++k) {
        to[k] = value;
    }
}

template <int N, int Dtype>
WEFT_DEVICE void write_run(u64 address, i64 at, const float (&from)[N]) {
    const Target to{reinterpret_cast<void*>(address), Dtype};
    if constexpr (N > 1) {
        store_pack<N>(to, at, from);
    } else {
        store(to, at, from[0]);
    }
}

// Of f32 and f64.

WEFT_DEVICE float exp_of(float x) {
    return expf(x);
}
WEFT_DEVICE double exp_of(double x) {
    return exp(x);
}
WEFT_DEVICE float log_of(float x) {
    return logf(x);
}
WEFT_DEVICE double log_of(double x) {
    return log(x);
}
WEFT_DEVICE float root_of(float x) {
    return sqrtf(x);
}
WEFT_DEVICE double root_of(double x) {
    return sqrt(x);
}
WEFT_DEVICE float size_of(float x) {
    return fabsf(x);
}
WEFT_DEVICE double size_of(double x) {
    return fabs(x);
}
WEFT_DEVICE float power_of(float x, float y) {
    return powf(x, y);
}
WEFT_DEVICE double power_of(double x, double y) {
    return pow(x, y);
}
WEFT_DEVICE float signed_log_of(float x) {
    return copysignf(log1pf(fabsf(x)), x);
}
WEFT_DEVICE double signed_log_of(double x) {
    return copysign(log1p(fabs(x)), x);
}
WEFT_DEVICE float angle_of(float y, float x) {
    return atan2f(y, x);
}
WEFT_DEVICE double angle_of(double y, double x) {
    return atan2(y, x);
}

template <class T>
WEFT_DEVICE T ew_cast(T x) {
    return x;
}
template <class T>
WEFT_DEVICE T ew_neg(T x) {
    return -x;
}
template <class T>
WEFT_DEVICE T ew_abs(T x) {
    return size_of(x);
}
template <class T>
WEFT_DEVICE T ew_exp(T x) {
    return exp_of(x);
}
template <class T>
WEFT_DEVICE T ew_log(T x) {
    return log_of(x);
}
template <class T>
WEFT_DEVICE T ew_sqrt(T x) {
    return root_of(x);
}
template <class T>
WEFT_DEVICE T ew_rsqrt(T x) {
    return T(1) / root_of(x);
}
template <class T>
WEFT_DEVICE T ew_square(T x) {
    return x * x;
}
template <class T>
WEFT_DEVICE T ew_sign(T x) {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}
template <class T>
WEFT_DEVICE T ew_symlog(T x) {
    return signed_log_of(x);
}
template <class T>
WEFT_DEVICE T ew_affine(T x, T scale, T shift) {
    return x * scale + shift;
}
template <class T>
WEFT_DEVICE T ew_add(T x, T y) {
    return x + y;
}
template <class T>
WEFT_DEVICE T ew_sub(T x, T y) {
    return x - y;
}
template <class T>
WEFT_DEVICE T ew_mul(T x, T y) {
    return x * y;
}
template <class T>
WEFT_DEVICE T ew_div(T x, T y) {
    return x / y;
}
template <class T>
WEFT_DEVICE T ew_maximum(T x, T y) {
    return x >= y || x != x ? x : y;
}
template <class T>
WEFT_DEVICE T ew_minimum(T x, T y) {
    return x <= y || x != x ? x : y;
}
template <class T>
WEFT_DEVICE T ew_pow(T x, T y) {
    return power_of(x, y);
}
template <class T>
WEFT_DEVICE T ew_atan2(T y, T x) {
    return angle_of(y, x);
}
template <class T>
WEFT_DEVICE T ew_less(T x, T y) {
    return x < y ? T(1) : T(0);
}
template <class T>
WEFT_DEVICE T ew_equal(T x, T y) {
    return x == y ? T(1) : T(0);
}
template <class T>
WEFT_DEVICE T ew_select(T condition, T a, T b) {
    return condition != T(0) ? a : b;
}

// Of f32 alone.

WEFT_DEVICE float ew_tanh(float x) {
    return tanhf(x);
}
WEFT_DEVICE float ew_sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}
WEFT_DEVICE float ew_is_finite(float x) {
    return (bits_of_float(x) & 0x7f800000u) != 0x7f800000u ? 1.0f : 0.0f;
}
WEFT_DEVICE float ew_relu(float x) {
    return x < 0.0f ? 0.0f : x;
}

// Hendrycks and Gimpel, "Gaussian error linear units", section 2: the tanh approximation.
constexpr float kGeluCubic = 0.044715f;
constexpr float kGeluScale = 0.79788456080286536f; // sqrt(2 / pi)

/// (1 + tanh u) / 2 = sigmoid(2 u), which keeps its digits where it is small.
WEFT_DEVICE float gelu_gate(float x) {
    return ew_sigmoid(2.0f * kGeluScale * (x + kGeluCubic * x * x * x));
}
WEFT_DEVICE float ew_gelu(float x) {
    return x * gelu_gate(x);
}
/// Phi(x); erfc keeps its digits where Phi is small.
WEFT_DEVICE float normal_distribution(float x) {
    return 0.5f * erfcf(-x * 0.70710678118654752f);
}
WEFT_DEVICE float ew_gelu_erf(float x) {
    return x * normal_distribution(x);
}
WEFT_DEVICE float ew_silu(float x) {
    return x * ew_sigmoid(x);
}

WEFT_DEVICE float ew_relu_grad(float x, float dy) {
    return x > 0.0f ? dy : 0.0f;
}
WEFT_DEVICE float ew_gelu_grad(float x, float dy) {
    const float gate = gelu_gate(x);
    const float slope =
        2.0f * gate * (1.0f - gate) * kGeluScale * (1.0f + 3.0f * kGeluCubic * x * x);
    return dy * (gate + x * slope);
}
WEFT_DEVICE float ew_gelu_erf_grad(float x, float dy) {
    const float density = 0.39894228040143268f * expf(-0.5f * x * x);
    return dy * (normal_distribution(x) + x * density);
}
WEFT_DEVICE float ew_silu_grad(float x, float dy) {
    const float s = ew_sigmoid(x);
    return dy * s * (1.0f + x * (1.0f - s));
}
WEFT_DEVICE float ew_tanh_grad(float y, float dy) {
    return dy * (1.0f - y * y);
}
WEFT_DEVICE float ew_sigmoid_grad(float y, float dy) {
    return dy * y * (1.0f - y);
}

// For groups with f64 or i64: few numbers, as those of a learning rate.

/// Element `at` as f64.
template <int Dtype>
WEFT_DEVICE double wide_load(u64 address, i64 at) {
    const void* data = reinterpret_cast<const void*>(address);
    if constexpr (Dtype == kF64) {
        return static_cast<const double*>(data)[at];
    } else if constexpr (Dtype == kI64) {
        return static_cast<double>(static_cast<const i64*>(data)[at]);
    } else if constexpr (Dtype == kI32) {
        return static_cast<double>(static_cast<const int*>(data)[at]);
    } else if constexpr (Dtype == kU8) {
        return static_cast<double>(static_cast<const unsigned char*>(data)[at]);
    } else {
        return static_cast<double>(load({data, Dtype}, at));
    }
}

/// Rounds once.
template <int Dtype>
WEFT_DEVICE void wide_store(u64 address, i64 at, double value) {
    if constexpr (Dtype == kF64) {
        reinterpret_cast<double*>(address)[at] = value;
    } else if constexpr (Dtype == kI64) {
        reinterpret_cast<i64*>(address)[at] = static_cast<i64>(value);
    } else if constexpr (Dtype == kI32) {
        reinterpret_cast<int*>(address)[at] = static_cast<int>(value);
    } else {
        store({reinterpret_cast<void*>(address), Dtype}, at, static_cast<float>(value));
    }
}

} // namespace weft::kernels::cuda
