// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"
#include "kernels/cpu/cpu_list.h"

#include <dnnl.hpp>

#include <array>
#include <cstdio>

namespace weft::kernels::cpu {
namespace {

std::span<const KernelEntry> cpu_list() {
    static const auto entries = with_elementwise(kCpuList, "cpu elementwise", make_elementwise);
    return entries;
}

constexpr weft_backend kBackend = BackendOf<cpu_list>::named("cpu");

} // namespace
} // namespace weft::kernels::cpu

extern "C" const weft_backend* weft_cpu_backend(void) {
    return &weft::kernels::cpu::kBackend;
}

extern "C" const char* weft_cpu_library_version(void) {
    static const auto text = [] { // plans are made in several threads
        std::array<char, 32> out{};
        const dnnl_version_t* version = dnnl_version();
        std::snprintf(out.data(), out.size(), "oneDNN %d.%d.%d", version->major, version->minor,
                      version->patch);
        return out;
    }();
    return text.data();
}

extern "C" const char* weft_cpu_instruction_set(void) {
    switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_avx512_core_amx: return "AVX-512 with AMX";
    case dnnl_cpu_isa_avx512_core_bf16: return "AVX-512 with bf16";
    case dnnl_cpu_isa_avx512_core_vnni:
    case dnnl_cpu_isa_avx512_core: return "AVX-512";
    case dnnl_cpu_isa_avx2_vnni:
    case dnnl_cpu_isa_avx2: return "AVX2";
    case dnnl_cpu_isa_avx: return "AVX";
    case dnnl_cpu_isa_sse41: return "SSE4.1";
    default: return "x86-64";
    }
}
