// SPDX-License-Identifier: Apache-2.0
// A driver of NVIDIA's for nothing: cuDNN hands the kernels that it has compiled to it, and so
// finishes plans that would need a GPU otherwise. It has no GPU and runs nothing.

#define WEFT_DRIVER extern "C" __attribute__((visibility("default"))) int

namespace {
constexpr int kStub = 34; // CUDA_ERROR_STUB_LIBRARY
int thing;                // what every handle points to
} // namespace

WEFT_DRIVER cuInit(unsigned) {
    return kStub;
}
WEFT_DRIVER cuLibraryLoadData(void** library) {
    *library = &thing;
    return 0;
}
WEFT_DRIVER cuLibraryGetKernel(void** kernel) {
    *kernel = &thing;
    return 0;
}
WEFT_DRIVER cuLibraryUnload(void*) {
    return 0;
}

// The others need to be there.
#define WEFT_ABSENT(name)                                                                          \
    WEFT_DRIVER name() {                                                                           \
        return kStub;                                                                              \
    }
WEFT_ABSENT(cuCtxGetCurrent)
WEFT_ABSENT(cuCtxGetLimit)
WEFT_ABSENT(cuCtxPopCurrent)
WEFT_ABSENT(cuCtxPushCurrent)
WEFT_ABSENT(cuDeviceGet)
WEFT_ABSENT(cuDeviceGetCount)
WEFT_ABSENT(cuDriverGetVersion)
WEFT_ABSENT(cuGetErrorName)
WEFT_ABSENT(cuGetErrorString)
WEFT_ABSENT(cuKernelGetAttribute)
WEFT_ABSENT(cuKernelSetAttribute)
WEFT_ABSENT(cuLaunchCooperativeKernel)
WEFT_ABSENT(cuLaunchKernel)
WEFT_ABSENT(cuLaunchKernelEx)
WEFT_ABSENT(cuLibraryLoadFromFile)
WEFT_ABSENT(cuLinkAddData)
WEFT_ABSENT(cuLinkComplete)
WEFT_ABSENT(cuLinkCreate)
WEFT_ABSENT(cuLinkDestroy)
WEFT_ABSENT(cuOccupancyMaxPotentialClusterSize)
WEFT_ABSENT(cuStreamGetCtx)
