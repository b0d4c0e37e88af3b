// SPDX-License-Identifier: Apache-2.0
// What the opaque stream of the kernel edge is on CUDA.
#pragma once

#include "kernels/op.h"

#include <cuda_runtime_api.h>

struct weft_stream {
    cudaStream_t handle;
};

namespace weft::kernels::cuda {

/// Throws Failure with what the CUDA runtime says.
inline void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        throw Failure{error == cudaErrorMemoryAllocation ? WEFT_OUT_OF_MEMORY : WEFT_LIBRARY_ERROR,
                      std::string(what) + ": " + cudaGetErrorString(error)};
    }
}

inline cudaStream_t handle_of(const weft_stream* stream) {
    if (stream == nullptr) {
        throw Failure{WEFT_BAD_ARGUMENT, "a run on a GPU needs a stream"};
    }
    return stream->handle;
}

} // namespace weft::kernels::cuda
