// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/vectors/avx512.h"

#include <dnnl.h>

namespace weft::kernels::cpu {

bool machine_has_avx512() {
    static const bool has =
        (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core &&
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("fma");
    return has;
}

} // namespace weft::kernels::cpu
