// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"
#include "kernels/cpu/cpu_list.h"

#include <dnnl.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace weft::kernels::cpu {
namespace {

template <std::size_t I>
Made make_row_in_f32(const Op& op) {
    return make_in_f32(op, kCpuList[I].make);
}

/// The list once more, as what an op falls back on.
template <std::size_t... I>
std::vector<KernelEntry> list_in_f32(std::index_sequence<I...>) {
    static const std::array<std::string, sizeof...(I)> names = {
        (std::string(kCpuList[I].name) + " in f32")...};
    std::vector<KernelEntry> out = {{kCpuList[I].op, names[I].c_str(), kCpuList[I].min_inputs,
                                     kCpuList[I].max_inputs, kCpuList[I].outputs,
                                     make_row_in_f32<I>}...};
    std::erase_if(out, [](const KernelEntry& row) { // groups round after each step
        return std::string_view(row.op) == "fused" || std::string_view(row.op) == "sweep";
    });
    return out;
}

std::span<const KernelEntry> cpu_list() {
    static const auto entries = [] {
        auto list = with_elementwise(kCpuList, "jit elementwise", make_compiled_group);
        list = with_elementwise(list, "cpu elementwise", make_interpreted_group);
        for (const KernelEntry& row :
             list_in_f32(std::make_index_sequence<std::size(kCpuList)>())) {
            list.push_back(row);
        }
        return list;
    }();
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
