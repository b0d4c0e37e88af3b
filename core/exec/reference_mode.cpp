// SPDX-License-Identifier: Apache-2.0
#include "core/exec/reference_mode.h"

#include "kernels/numbers.h"

#include <algorithm>

namespace weft::exec {
namespace {

bool is_narrow(ir::DType dtype) {
    return dtype == ir::DType::f32 || dtype == ir::DType::bf16 || dtype == ir::DType::f16;
}

void widen(ir::Block& block) {
    for (ir::Op& op : block.ops) {
        if (op.attributes.has("dtype")) {
            const auto dtype = ir::parse_dtype(op.attributes.text("dtype"));
            if (dtype && is_narrow(*dtype)) {
                op.attributes.set("dtype", std::string(ir::dtype_name(ir::DType::f64)));
            }
        }
        for (ir::Block& body : op.body) {
            widen(body);
        }
    }
}

} // namespace

void widen(ir::Program& program) {
    for (ir::Value& value : program.values) {
        value.type.dtype = is_narrow(value.type.dtype) ? ir::DType::f64 : value.type.dtype;
    }
    widen(program.body);
}

Tensor widened(const Tensor& tensor) {
    if (!is_narrow(tensor.type.dtype)) {
        return tensor;
    }
    Tensor out({ir::DType::f64, tensor.type.shape});
    const std::span<double> to = out.span<double>();
    switch (tensor.type.dtype) {
    case ir::DType::bf16: // of parameters that stay as they are
        std::transform(tensor.span<kernels::bf16>().begin(), tensor.span<kernels::bf16>().end(),
                       to.begin(), [](kernels::bf16 value) { return kernels::to_float(value); });
        break;
    case ir::DType::f32: {
        const auto from = tensor.span<float>();
        std::copy(from.begin(), from.end(), to.begin());
        break;
    }
    default: WEFT_CHECK(false, "programs take f32 and bf16");
    }
    return out;
}

} // namespace weft::exec
