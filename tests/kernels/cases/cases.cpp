// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/cases.h"

#include <cmath>

namespace weft::test {

double relative_error(weft_dtype dtype, double wide) {
    return dtype == WEFT_BF16 ? 0x1p-7 : dtype == WEFT_F16 ? 0x1p-10 : wide;
}

Tolerance elementwise_tolerance(weft_dtype dtype) {
    return {relative_error(dtype, 2e-6), 1e-6};
}

Tolerance sum_tolerance(weft_dtype out, std::int64_t terms) {
    const double absolute = 8.0 * 0x1p-24 * std::sqrt(static_cast<double>(terms) + 1.0);
    return {relative_error(out, 4e-6), absolute};
}

bool is_for_gpus(const Call& call) {
    const bool followed =
        call.kind == "linear_gelu" || call.kind == "matmul_gelu_grad" || call.kind == "matmul_sums";
    return followed ||
           std::any_of(call.attributes.begin(), call.attributes.end(), [](const Attribute& one) {
               return one.name == "operands" && one.text != "tf32";
           });
}

const std::vector<Case>& kernel_cases() {
    static const std::vector<Case> cases = [] {
        std::vector<Case> list;
        add_elementwise_cases(list);
        add_structure_cases(list);
        add_reduce_cases(list);
        add_matmul_cases(list);
        add_norm_cases(list);
        add_expert_cases(list);
        add_attention_cases(list);
        add_convolution_cases(list);
        add_random_cases(list);
        add_loss_cases(list);
        add_shard_cases(list);
        return list;
    }();
    return cases;
}

} // namespace weft::test
