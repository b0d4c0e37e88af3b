// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/dialect.h"
#include "kernels/cuda/module.h"

namespace weft::kernels::cuda {
namespace {

static_assert(kF32 == WEFT_F32 && kBf16 == WEFT_BF16 && kF64 == WEFT_F64 && kI32 == WEFT_I32 &&
              kI64 == WEFT_I64 && kU8 == WEFT_U8 && kF16 == WEFT_F16);

std::span<const KernelEntry> cuda_list() {
    static const auto entries = with_elementwise(kCudaList, "cuda generated", make_elementwise);
    return entries;
}

constexpr weft_backend kBackend = BackendOf<cuda_list>::named("cuda");

} // namespace
} // namespace weft::kernels::cuda

extern "C" const weft_backend* weft_cuda_backend(void) {
    return &weft::kernels::cuda::kBackend;
}
