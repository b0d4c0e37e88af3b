// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/dialect.h"
#include "kernels/cuda/module.h"
#include "kernels/elementwise.h"

namespace weft::kernels::cuda {
namespace {

static_assert(kF32 == WEFT_F32 && kBf16 == WEFT_BF16 && kI32 == WEFT_I32 && kU8 == WEFT_U8);

std::span<const KernelEntry> cuda_list() {
    static const std::vector<KernelEntry> entries = [] {
        std::vector<KernelEntry> list(std::begin(kCudaList), std::end(kCudaList));
        for (const ElementwiseName& name : kElementwiseNames) {
            list.push_back(
                {name.name, "cuda generated", name.arity, name.arity, 1, make_elementwise});
        }
        return list;
    }();
    return entries;
}

using Edge = BackendOf<cuda_list>;
constexpr weft_backend kBackend = {"cuda", Edge::query, Edge::prepare, Edge::run, Edge::release};

} // namespace
} // namespace weft::kernels::cuda

extern "C" const weft_backend* weft_cuda_backend(void) {
    return &weft::kernels::cuda::kBackend;
}

extern "C" const char* weft_cuda_last_error(void) {
    return weft_last_error();
}
