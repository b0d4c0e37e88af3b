// SPDX-License-Identifier: Apache-2.0
#include "kernels/op.h"
#include "kernels/weft_module.h"

#include <dlfcn.h>

#include <string>

namespace {

struct Wanted {
    const char* library;
    const char* install;
};
constexpr Wanted kWanted[] = {
    {"libcublasLt", "cuBLAS (NVIDIA's package libcublas-13-0)"},
    {"libcudnn", "cuDNN 9 (NVIDIA's package libcudnn9-cuda-13)"},
    {"libnvrtc", "NVRTC (NVIDIA's package cuda-nvrtc-13-0)"},
};

/// What the loader says, and what to do about it.
std::string with_advice(const std::string& text) {
    for (const Wanted& one : kWanted) {
        if (text.starts_with(one.library)) {
            return text + "; install " + one.install + ", or add its folder to LD_LIBRARY_PATH";
        }
    }
    return text;
}

} // namespace

extern "C" weft_status weft_load_module(const char* path, const weft_module** module) {
    using weft::kernels::fail;
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return fail(WEFT_LIBRARY_ERROR, with_advice(dlerror()).c_str());
    }
    const auto entry =
        reinterpret_cast<const weft_module* (*)()>(dlsym(library, "weft_cuda_module"));
    if (entry == nullptr) {
        dlclose(library);
        return fail(WEFT_LIBRARY_ERROR, "the file is no module of this program");
    }
    const weft_module* const found = entry();
    if (found->edge != WEFT_EDGE) {
        dlclose(library);
        return fail(WEFT_LIBRARY_ERROR, "the module belongs to another version of this program");
    }
    *module = found;
    return WEFT_OK;
}
