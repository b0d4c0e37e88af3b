// SPDX-License-Identifier: Apache-2.0
#include "core/ops/builder.h"

#include "core/base/error.h"
#include "core/ops/call_check.h"
#include "core/ops/rules.h"

namespace weft::ops {

using ir::ValueId;
using ir::ValueIds;

ValueIds Builder::emit_all(ir::Name kind, ValueIds inputs, ir::Attributes attributes) {
    const OpDef& def = op_def(kind);
    for (const ValueId input : inputs) {
        WEFT_CHECK(input.valid(), "an operand of " + kind + " is not a value");
    }
    ir::Op op;
    op.kind = kind;
    op.inputs = std::move(inputs);
    op.attributes = std::move(attributes);
    op.path = path_;
    op.phase = phase_;
    const Inferred inferred = check_call(def, {*program_, op});
    if (!inferred.error.empty()) {
        throw Error(ErrorKind::usage, path_, op.kind + ": " + inferred.error);
    }
    for (const ir::Type& type : inferred.outputs) {
        op.outputs.push_back(program_->add_value(type));
    }
    block_->ops.push_back(std::move(op));
    return block_->ops.back().outputs;
}

ValueId Builder::emit(ir::Name kind, ValueIds inputs, ir::Attributes attributes) {
    return emit_all(kind, std::move(inputs), std::move(attributes))[0];
}

void Builder::append(ir::Op op) {
    block_->ops.push_back(std::move(op));
}

ValueId constant(Builder& b, double value, ir::Shape shape, ir::DType dtype) {
    return b.emit("constant", {},
                  {{"value", value},
                   {"dtype", std::string(ir::dtype_name(dtype))},
                   {"shape", list_of_shape(shape)}});
}

ValueId add(Builder& b, ValueId x, ValueId y) {
    return b.emit("add", {x, y});
}

ValueId sub(Builder& b, ValueId x, ValueId y) {
    return b.emit("sub", {x, y});
}

ValueId mul(Builder& b, ValueId x, ValueId y) {
    return b.emit("mul", {x, y});
}

ValueId div(Builder& b, ValueId x, ValueId y) {
    return b.emit("div", {x, y});
}

ValueId maximum(Builder& b, ValueId x, ValueId y) {
    return b.emit("maximum", {x, y});
}

ValueId minimum(Builder& b, ValueId x, ValueId y) {
    return b.emit("minimum", {x, y});
}

ValueId affine(Builder& b, ValueId x, double scale, double shift) {
    return b.emit("affine", {x}, {{"scale", scale}, {"shift", shift}});
}

ValueId select(Builder& b, ValueId condition, ValueId yes, ValueId no) {
    return b.emit("select", {condition, yes, no});
}

ValueId cast(Builder& b, ValueId x, ir::DType dtype) {
    if (b.type(x).dtype == dtype) {
        return x;
    }
    return b.emit("cast", {x}, {{"dtype", std::string(ir::dtype_name(dtype))}});
}

ValueId reshape(Builder& b, ValueId x, ir::Shape shape) {
    return b.emit("reshape", {x}, {{"shape", list_of_shape(shape)}});
}

ValueId transpose(Builder& b, ValueId x, std::vector<std::int64_t> permutation) {
    return b.emit("transpose", {x}, {{"permutation", std::move(permutation)}});
}

ValueId slice(Builder& b, ValueId x, std::vector<std::int64_t> starts,
              std::vector<std::int64_t> sizes) {
    return b.emit("slice", {x}, {{"starts", std::move(starts)}, {"sizes", std::move(sizes)}});
}

ValueId reduce_sum(Builder& b, ValueId x, std::vector<std::int64_t> dims, bool keep) {
    return b.emit("reduce_sum", {x}, {{"dims", std::move(dims)}, {"keep", keep}});
}

ValueId reduce_mean(Builder& b, ValueId x, std::vector<std::int64_t> dims, bool keep) {
    double count = 1;
    for (const std::int64_t dim : dims) {
        count *= static_cast<double>(b.shape(x)[static_cast<int>(dim)]);
    }
    return affine(b, reduce_sum(b, x, std::move(dims), keep), 1.0 / count);
}

ValueId matmul(Builder& b, ValueId x, ValueId y, bool transpose_x, bool transpose_y) {
    return b.emit("matmul", {x, y}, {{"transpose_x", transpose_x}, {"transpose_y", transpose_y}});
}

ValueId linear(Builder& b, ValueId x, ValueId weight, ValueId bias) {
    return bias.valid() ? b.emit("linear", {x, weight, bias}) : b.emit("linear", {x, weight});
}

} // namespace weft::ops
