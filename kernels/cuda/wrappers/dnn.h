// SPDX-License-Identifier: Apache-2.0
// Convolutions and attention by a library. dnn.cpp and dnn_attention.cpp ask cuDNN;
// tests/kernels/emulation computes on the host.
#pragma once

#include "kernels/attention_shape.h"
#include "kernels/cuda/wrappers/runtime.h"
#include "kernels/window_shape.h"

#include <memory>

namespace weft::kernels::cuda {

/// Images [N,H,W,C], results [N,H',W',O], weights [O,kh,kw,C], all dense; f32-accumulating, in an
/// order that the shape alone decides.
struct ConvolutionShape {
    WindowShape window;
    ConvolutionPass pass;
    std::int32_t dtype;  // of the operands: WEFT_F32, WEFT_BF16 or WEFT_F16
    std::int32_t result; // the same, or WEFT_F32 for a weight's gradient
    bool tf32 = false;   // operands of f32 are rounded to it; else f32 stays f32
};

/// Where operands and workspace must begin: at multiples of so many bytes.
inline constexpr int kDnnAlignment = 16;

class Convolution {
public:
    Convolution() = default;
    Convolution(const Convolution&) = delete;
    Convolution& operator=(const Convolution&) = delete;
    virtual ~Convolution() = default;
    virtual std::int64_t workspace_bytes() const = 0;
    /// Queues image, weight -> result; result, weight -> image; or image, result -> weight. Throws
    /// Failure.
    virtual void run(weft_stream* stream, const void* first, const void* second, void* to,
                     void* workspace) = 0;
};

/// Chooses how to compute it. Throws Failure: UNSUPPORTED where the library has nothing.
std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape);

/// Without dropout and not on a ring; causal where there are as many queries as keys.
struct PlannedAttentionShape {
    AttentionShape attention;
    std::int32_t dtype; // of all but the logsumexp: WEFT_BF16 or WEFT_F16
};

class PlannedAttention {
public:
    PlannedAttention() = default;
    PlannedAttention(const PlannedAttention&) = delete;
    PlannedAttention& operator=(const PlannedAttention&) = delete;
    virtual ~PlannedAttention() = default;
    virtual std::int64_t workspace_bytes() const = 0;
    /// Queues q [N,T,H,D], k and v [N,S,K,D] -> out [N,T,H,D] and logsumexp [N,H,T] f32 of the
    /// scaled scores. Throws Failure.
    virtual void run(weft_stream* stream, const void* q, const void* k, const void* v, void* out,
                     void* logsumexp, void* workspace) = 0;
};

/// Chooses how to compute it. Throws Failure: UNSUPPORTED where the library has nothing.
std::unique_ptr<PlannedAttention> make_planned_attention(const PlannedAttentionShape& shape);

/// Where the gradient's operands are, and where it goes.
struct AttentionGradArrays {
    const void *q, *k, *v, *out, *logsumexp, *dout;
    void *dq, *dk, *dv;
};

class PlannedAttentionGrad {
public:
    PlannedAttentionGrad() = default;
    PlannedAttentionGrad(const PlannedAttentionGrad&) = delete;
    PlannedAttentionGrad& operator=(const PlannedAttentionGrad&) = delete;
    virtual ~PlannedAttentionGrad() = default;
    virtual std::int64_t workspace_bytes() const = 0;
    /// Queues it; all of one element type but the logsumexp. Throws Failure.
    virtual void run(weft_stream* stream, const AttentionGradArrays& arrays, void* workspace) = 0;
};

/// Chooses how to compute it. Throws Failure: UNSUPPORTED where the library has nothing.
std::unique_ptr<PlannedAttentionGrad>
make_planned_attention_grad(const PlannedAttentionShape& shape);

} // namespace weft::kernels::cuda
