// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wrappers/runtime.h"

#include "kernels/cuda/wrappers/stream.h"

namespace weft::kernels::cuda {

void start_on_device(weft_stream* stream, const Grid& grid, const void* kernel, void** arguments) {
    const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
    check(cudaLaunchKernel(kernel, blocks, dim3(static_cast<unsigned>(grid.threads)), arguments, 0,
                           handle_of(stream)),
          "starting a kernel");
}

void* memory_of_host_and_device(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
          "allocating memory of host and device");
    __builtin_memset(memory, 0, bytes);
    return memory;
}

} // namespace weft::kernels::cuda
