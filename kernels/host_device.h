// SPDX-License-Identifier: Apache-2.0
// Before what kernels on every device compute with: nvcc then compiles it for both sides.
#pragma once

#if defined(__CUDACC__)
#define WEFT_HOST_DEVICE __host__ __device__
#else
#define WEFT_HOST_DEVICE
#endif
