// SPDX-License-Identifier: Apache-2.0
// What the opaque stream of the kernel edge is on CUDA.
#pragma once

#include "kernels/op.h"

#include <cuda_runtime_api.h>

#include <new>

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

/// What `body` throws, as a status with its text.
template <class Body>
weft_status as_status(const char* out_of_memory, Body body) noexcept {
    try {
        body();
        return WEFT_OK;
    } catch (const Failure& failure) {
        return fail(failure.status, failure.text.c_str());
    } catch (const std::bad_alloc&) {
        return fail(WEFT_OUT_OF_MEMORY, out_of_memory);
    }
}

inline cudaStream_t handle_of(const weft_stream* stream) {
    if (stream == nullptr) {
        throw Failure{WEFT_BAD_ARGUMENT, "a run on a GPU needs a stream"};
    }
    return stream->handle;
}

} // namespace weft::kernels::cuda
