// SPDX-License-Identifier: Apache-2.0
#include "kernels/op.h"
#include "kernels/weft_module.h"

#include <dlfcn.h>

extern "C" weft_status weft_load_module(const char* path, const weft_module** module) {
    using weft::kernels::fail;
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return fail(WEFT_LIBRARY_ERROR, dlerror());
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
