// SPDX-License-Identifier: Apache-2.0
// Convolutions by a library. dnn.cpp asks cuDNN; tests/kernels/emulation convolves on the host.
#pragma once

#include "kernels/cuda/wrappers/runtime.h"
#include "kernels/window_shape.h"

#include <memory>

namespace weft::kernels::cuda {

/// Images [N,H,W,C], results [N,H',W',O], weights [O,kh,kw,C], all dense; f32-accumulating, in an
/// order that the shape alone decides. f32 stays f32: no tf32.
struct ConvolutionShape {
    WindowShape window;
    ConvolutionPass pass;
    std::int32_t dtype;  // of the operands: WEFT_F32, WEFT_BF16 or WEFT_F16
    std::int32_t result; // the same, or WEFT_F32 for a weight's gradient
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

} // namespace weft::kernels::cuda
