// SPDX-License-Identifier: Apache-2.0
// The rows: at least one per op in core/ops/op_list.cpp, in its order.
#include "tests/ops/op_case.h"

#include "core/ops/op_def.h"

namespace weft::test {
namespace {

using ir::ValueId;

using ir::ValueIds;
using List = std::vector<std::int64_t>;
using Rows = std::vector<OpCase>;

const std::string kStream = "layer.dropout";
const std::string kOneOperand = "takes 1 operand, but has 2";

void add_elementwise(Rows& rows) {
    const std::vector<Refused> unary_refused = {
        {{"f64[2]", "f64[2]"}, {}, kOneOperand},
        {{"i32[2]"}, {}, "operands must be floating point, but operand 0 is i32[2]"}};
    for (const char* kind : {"neg", "abs", "exp", "tanh", "sigmoid", "square", "sign", "is_finite",
                             "relu", "gelu", "gelu_erf", "silu", "symlog"}) {
        rows.push_back({.kind = kind, .operands = {"f64[3,4]"}, .refused = unary_refused});
    }
    for (const char* kind : {"log", "sqrt", "rsqrt"}) {
        rows.push_back({.kind = kind, .operands = {"f64[3,4]+"}, .refused = unary_refused});
    }
    const std::vector<Refused> binary_refused = {
        {{"f64[2,3]", "f64[2]"}, {}, "shapes [2,3] and [2] do not broadcast"},
        {{"f64[2]", "f32[2]"}, {}, "element types f64 and f32 do not mix"},
        {{"f64[2]"}, {}, "takes 2 operands, but has 1"}};
    for (const char* kind :
         {"add", "sub", "mul", "maximum", "minimum", "less", "relu_grad", "gelu_grad",
          "gelu_erf_grad", "silu_grad", "tanh_grad", "sigmoid_grad"}) {
        rows.push_back(
            {.kind = kind, .operands = {"f64[2,3]", "f64[2,3]"}, .refused = binary_refused});
    }
    rows.push_back(
        {.kind = "div", .operands = {"f64[2,3]", "f64[2,3]"}, .refused = binary_refused});
    rows.push_back(
        {.kind = "pow", .operands = {"f64[2,3]+", "f64[2,3]"}, .refused = binary_refused});
    rows.push_back(
        {.kind = "atan2", .operands = {"f64[2,3]", "f64[2,3]"}, .refused = binary_refused});
    rows.push_back(
        {.kind = "equal", .operands = {"f64[2,3]=1", "f64[2,3]"}, .refused = binary_refused});
    // Broadcasting: a row, a column, a scalar and both at once.
    for (const char* kind : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
        rows.push_back({.kind = kind, .operands = {"f64[2,4]", "f64[4]"}});
        rows.push_back({.kind = kind, .operands = {"f64[2,1]", "f64[4]"}});
        rows.push_back({.kind = kind, .operands = {"f64[]", "f64[2,4]"}});
    }
    rows.push_back({.kind = "pow", .operands = {"f64[2,4]+", "f64[4]"}});
    rows.push_back({.kind = "atan2", .operands = {"f64[4]", "f64[2,4]"}});
    rows.push_back({.kind = "affine",
                    .operands = {"f64[2,3]"},
                    .attributes = {{"scale", -1.5}, {"shift", 0.25}},
                    .refused = {{{"f64[2]"}, {{"scale", 1.0}}, "attribute 'shift' is missing"},
                                {{"f64[2]"},
                                 {{"scale", true}, {"shift", 0.0}},
                                 "attribute 'scale' must be a number"}}});
    rows.push_back(
        {.kind = "cast",
         .operands = {"f64[2,3]"},
         .attributes = {{"dtype", std::string("f64")}},
         .refused = {
             {{"f64[2]"}, {{"dtype", std::string("f8")}}, "'f8' is not an element type"}}});
    rows.push_back(
        {.kind = "select",
         .operands = {"f64[2,3]?", "f64[2,3]", "f64[3]"},
         .refused = {{{"f64[2]", "f64[2]", "f64[3]"}, {}, "shapes [2] and [3] do not broadcast"},
                     {{"f64[2]", "f64[2]"}, {}, "takes 3 operands, but has 2"}}});
}

// tanh(x * y) * scale of the group's inputs.
ValueIds emit_fused(ops::Builder& b, const ValueIds& inputs) {
    ir::Op op;
    op.kind = "fused";
    op.path = b.path();
    op.inputs = inputs;
    ir::Block& body = op.body.emplace_back();
    for (const ValueId input : inputs) {
        body.arguments.push_back(b.program().add_value(b.type(input)));
    }
    ops::Builder inner(b.program(), body);
    const ValueId product = mul(inner, body.arguments[0], body.arguments[1]);
    const ValueId bent = inner.emit("tanh", {product});
    body.results = {affine(inner, bent, 0.5), product};
    for (int i = 0; i < 2; ++i) {
        op.outputs.push_back(b.program().add_value(b.type(product)));
    }
    const ValueIds outputs = op.outputs;
    b.append(std::move(op));
    return outputs;
}

// tanh(x * y) * number of every three operands.
ValueIds emit_sweep(ops::Builder& b, const ValueIds& inputs) {
    ir::Op op;
    op.kind = "sweep";
    op.path = b.path();
    op.inputs = inputs;
    op.attributes = {{"tensors", static_cast<std::int64_t>(inputs.size() / 3)}};
    ir::Block& body = op.body.emplace_back();
    for (std::size_t i = 0; i < 3; ++i) {
        body.arguments.push_back(b.program().add_value(b.type(inputs[i])));
    }
    ops::Builder inner(b.program(), body);
    const ValueId product = mul(inner, body.arguments[0], body.arguments[1]);
    body.results = {mul(inner, inner.emit("tanh", {product}), body.arguments[2]), product};
    for (std::size_t i = 0; i < inputs.size(); i += 3) {
        for (int result = 0; result < 2; ++result) {
            op.outputs.push_back(b.program().add_value(b.type(inputs[i])));
        }
    }
    const ValueIds outputs = op.outputs;
    b.append(std::move(op));
    return outputs;
}

// state <- tanh(state * x_i + captured), handing out state * state each time.
ValueIds emit_repeat(ops::Builder& b, const ValueIds& inputs) {
    ir::Op op;
    op.kind = "repeat";
    op.path = b.path();
    op.inputs = {inputs[0], inputs[1]};
    const std::int64_t count = b.shape(inputs[1])[0];
    op.attributes = {{"count", count}, {"carried", 1}, {"reverse", false}};
    ir::Block& body = op.body.emplace_back();
    const ir::Type state = b.type(inputs[0]);
    body.arguments = {b.program().add_value(state), b.program().add_value(state)};
    ops::Builder inner(b.program(), body);
    const ValueId sum = add(inner, mul(inner, body.arguments[0], body.arguments[1]), inputs[2]);
    body.results = {inner.emit("tanh", {sum}), inner.emit("square", {body.arguments[0]})};
    op.outputs = {b.program().add_value(state),
                  b.program().add_value({state.dtype, {count, state.shape[0]}})};
    const ValueIds outputs = op.outputs;
    b.append(std::move(op));
    return outputs;
}

void add_structure(Rows& rows) {
    rows.push_back({.kind = "fused",
                    .operands = {"f64[2,3]", "f64[3]"},
                    .refused = {{{"f64[2]"}, {}, "needs one body block"}},
                    .build = emit_fused});
    rows.push_back({.kind = "sweep",
                    .operands = {"f64[2,3]", "f64[2,3]", "f64[]", "f64[5]", "f64[5]", "f64[]"},
                    .refused = {{{"f64[2]"}, {{"tensors", 1}}, "needs one body block"}},
                    .build = emit_sweep});
    rows.push_back(
        {.kind = "constant",
         .attributes = {{"value", 2.5}, {"dtype", std::string("f64")}, {"shape", List{2, 4}}},
         .refused = {{{},
                      {{"value", 1.0}, {"dtype", std::string("f64")}, {"shape", List{-1}}},
                      "shape needs at most 8 extents, none negative"}}});
    rows.push_back({.kind = "reshape",
                    .operands = {"f64[4,6]"},
                    .attributes = {{"shape", List{2, 2, 3, 2}}},
                    .refused = {{{"f64[4,6]"},
                                 {{"shape", List{5, 5}}},
                                 "cannot turn f64[4,6] into [5,5]: 24 and 25 elements"}}});
    for (const List& shape : {List{24}, List{2, 12}, List{6, 4}, List{4, 1, 6}, List{8, 3}}) {
        rows.push_back(
            {.kind = "reshape", .operands = {"f64[4,6]"}, .attributes = {{"shape", shape}}});
    }
    rows.push_back({.kind = "transpose",
                    .operands = {"f64[2,3,4]"},
                    .attributes = {{"permutation", List{2, 0, 1}}},
                    .refused = {{{"f64[2,3]"},
                                 {{"permutation", List{0, 0}}},
                                 "permutation must name each dimension once"},
                                {{"f64[2,3]"},
                                 {{"permutation", List{0}}},
                                 "permutation has 1 entries for f64[2,3]"}}});
    rows.push_back(
        {.kind = "broadcast",
         .operands = {"f64[2,1,3]"},
         .attributes = {{"shape", List{2, 2, 4, 3}}},
         .refused = {{{"f64[2]"}, {{"shape", List{3}}}, "f64[2] does not broadcast to [3]"}}});
    rows.push_back({.kind = "slice",
                    .operands = {"f64[4,5]"},
                    .attributes = {{"starts", List{0, 1}}, {"sizes", List{4, 3}}},
                    .refused = {{{"f64[4]"},
                                 {{"starts", List{2}}, {"sizes", List{3}}},
                                 "elements 2 to 4 of dimension 0 are outside f64[4]"}}});
    rows.push_back({.kind = "pad",
                    .operands = {"f64[2,3]"},
                    .attributes = {{"low", List{0, 1}}, {"high", List{0, 2}}, {"value", 0.5}},
                    .refused = {{{"f64[2]"},
                                 {{"low", List{-1}}, {"high", List{0}}, {"value", 0.0}},
                                 "padding of dimension 0 is negative"}}});
    rows.push_back({.kind = "concat",
                    .operands = {"f64[2,3]", "f64[2,1]", "f64[2,2]"},
                    .attributes = {{"dim", 1}},
                    .refused = {{{"f64[2,3]", "f64[3,3]"},
                                 {{"dim", 1}},
                                 "operand 1 is f64[3,3], which does not continue f64[2,3] along "
                                 "dimension 1"}}});
    rows.push_back({.kind = "copy",
                    .operands = {"f64[2,3]"},
                    .refused = {{{"f64[2]", "f64[2]"}, {}, kOneOperand}}});
    rows.push_back({.kind = "stop_gradient",
                    .operands = {"f64[2,3]"},
                    .refused = {{{"f64[2]", "f64[2]"}, {}, kOneOperand}},
                    .constant_operands = {0}});
    rows.push_back({.kind = "repeat",
                    .operands = {"f64[3]", "f64[4,3]", "f64[3]"},
                    .refused = {{{"f64[2]"},
                                 {{"count", 1}, {"carried", 1}, {"reverse", false}},
                                 "needs one body block"}},
                    .build = emit_repeat});
}

void add_reductions(Rows& rows) {
    for (const char* kind : {"reduce_sum", "reduce_max"}) {
        rows.push_back(
            {.kind = kind,
             .operands = {"f64[2,3,4]"},
             .attributes = {{"dims", List{0, 2}}, {"keep", false}},
             .refused = {{{"f64[2]"},
                          {{"dims", List{1}}, {"keep", false}},
                          "dims must be ascending dimensions of f64[2]; entry 0 is 1"}}});
        rows.push_back({.kind = kind,
                        .operands = {"f64[2,4]"},
                        .attributes = {{"dims", List{1}}, {"keep", true}}});
    }
    rows.push_back(
        {.kind = "sum_squares",
         .operands = {"f64[3,4]"},
         .refused = {{{"i32[2]"}, {}, "x must be floating point, but is i32[2]"},
                     {{"f32[2]", "f64[2]"}, {}, "element types f32 and f64 do not mix"}}});
    rows.push_back({.kind = "sum_squares", .operands = {"f64[3,4]", "f64[5]"}});
    rows.push_back(
        {.kind = "argmax",
         .operands = {"f64[4,5]"},
         .refused = {{{"f64[]"}, {}, "x needs a last dimension to search, but is f64[]"}}});
}

void add_products(Rows& rows) {
    const auto matmul = [&](std::vector<std::string> operands, bool tx, bool ty) {
        rows.push_back({.kind = "matmul",
                        .operands = std::move(operands),
                        .attributes = {{"transpose_x", tx}, {"transpose_y", ty}}});
    };
    rows.push_back(
        {.kind = "matmul",
         .operands = {"f64[2,4]", "f64[4,6]"},
         .refused = {{{"f64[2,3]", "f64[4,5]"},
                      {},
                      "inner dimensions 3 of f64[2,3] and 4 of f64[4,5] differ"},
                     {{"f64[2]", "f64[2,3]"},
                      {},
                      "operands need at least 2 dimensions, but are f64[2] and f64[2,3]"},
                     {{"f64[2,3]", "f64[3,2]"},
                      {{"transpose", true}},
                      "there is no attribute 'transpose'"}}});
    matmul({"f64[4,2]", "f64[4,3]"}, true, false);
    matmul({"f64[2,4]", "f64[3,4]"}, false, true);
    matmul({"f64[4,2]", "f64[3,4]"}, true, true);
    matmul({"f64[2,3,2,4]", "f64[2,3,4,2]"}, false, false);
    matmul({"f64[2,4,2]", "f64[2,3,4]"}, true, true);
    matmul({"f64[2,3,4]", "f64[4,2]"}, false, false);
    matmul({"f64[2,3,4]", "f64[2,4]"}, false, true);
    matmul({"f64[2,4,3]", "f64[4,2]"}, true, false);
    matmul({"f64[2,4,3]", "f64[2,4]"}, true, true);
    rows.push_back(
        {.kind = "linear",
         .operands = {"f64[2,4]", "f64[4,3]", "f64[3]"},
         .refused = {
             {{"f64[2,784]", "f64[512,10]"}, {}, "input has 784 features, but weight expects 512"},
             {{"f64[2,4]", "f64[4,3]", "f64[4]"},
              {},
              "bias must have the shape [3], but is f64[4]"}}});
    rows.push_back({.kind = "linear", .operands = {"f64[2,3,4]", "f64[4,2]", "f64[2]"}});
    rows.push_back({.kind = "linear", .operands = {"f64[3,4]", "f64[4,2]"}});
    rows.push_back({.kind = "linear", .operands = {"f64[4]", "f64[4,2]", "f64[2]"}});
    rows.push_back({.kind = "linear_gelu",
                    .operands = {"f64[2,3,4]", "f64[4,2]", "f64[2]"},
                    .refused = {{{"f64[2,784]", "f64[512,10]"},
                                 {},
                                 "input has 784 features, but weight expects 512"}}});
    rows.push_back({.kind = "linear_gelu", .operands = {"f64[3,4]", "f64[4,2]"}});
    rows.push_back({.kind = "matmul_gelu_grad",
                    .operands = {"f64[2,3,4]", "f64[2,4]", "f64[2,3,2]"},
                    .attributes = {{"transpose_y", true}},
                    .refused = {{{"f64[3,4]", "f64[4,2]", "f64[3,3]"},
                                 {},
                                 "x must be as the product, f64[3,2], but is f64[3,3]"}}});
    rows.push_back({.kind = "matmul_gelu_grad",
                    .operands = {"f64[2,4,3]", "f64[2,4,5]", "f64[2,3,5]"},
                    .attributes = {{"transpose_x", true}}});
    rows.push_back({.kind = "matmul_add",
                    .operands = {"f64[4,3]", "f64[4,2]", "f64[3,2]"},
                    .attributes = {{"transpose_x", true}},
                    .refused = {{{"f64[3,4]", "f64[4,2]", "f64[2]"},
                                 {},
                                 "what is added to must be as the product, f64[3,2], but is "
                                 "f64[2]"}}});
    rows.push_back({.kind = "matmul_add",
                    .operands = {"f64[2,3,4]", "f64[2,5,4]", "f64[2,3,5]"},
                    .attributes = {{"transpose_y", true}}});
    rows.push_back({.kind = "matmul_sums",
                    .operands = {"f64[6,4]", "f64[6,2]"},
                    .attributes = {{"transpose_x", true}},
                    .refused = {{{"f64[2,3,4]", "f64[4,2]"},
                                 {},
                                 "operands need 2 dimensions, but are f64[2,3,4] and f64[4,2]"}}});
    rows.push_back({.kind = "matmul_sums", .operands = {"f64[4,6]", "f64[6,2]"}});
    rows.push_back({.kind = "embedding",
                    .operands = {"f64[5,2]", "i32[2,4]<5"},
                    .refused = {{{"f64[5,2]", "f64[3]"}, {}, "ids must be i32, but is f64[3]"}}});
    rows.push_back({.kind = "embedding_grad",
                    .operands = {"i32[2,4]<5", "f64[2,4,2]"},
                    .attributes = {{"rows", 5}},
                    .refused = {{{"i32[3]", "f64[4,2]"},
                                 {{"rows", 5}},
                                 "dy f64[4,2] must be the ids' shape [3] with a feature dimension, "
                                 "and rows positive"}}});
    rows.push_back({.kind = "read_rows",
                    .operands = {"f64[5,2]", "i32[2,4]<5"},
                    .refused = {{{"f64[5,2]", "i64[3]"}, {}, "ids must be i32, but is i64[3]"}}});
    rows.push_back({.kind = "sum_rows",
                    .operands = {"i32[2,4]<3", "f64[2,4,2]"},
                    .refused = {{{"i32[3]", "f64[4,2]"},
                                 {},
                                 "rows f64[4,2] must have the ids' shape [3] with a feature "
                                 "dimension"}}});
    rows.push_back({.kind = "write_rows",
                    .operands = {"f64[6,2]", "i32[3]%5", "f64[3,2]"},
                    .refused = {{{"f64[6,2]", "i32[3]", "f64[3,4]"},
                                 {},
                                 "rows f64[3,4] do not fit into the table f64[6,2]"}}});
    rows.push_back({.kind = "softmax",
                    .operands = {"f64[2,2,5]"},
                    .refused = {{{"f64[]"}, {}, "x needs a last dimension, but is f64[]"}}});
    rows.push_back(
        {.kind = "softmax_grad",
         .operands = {"f64[4,5]", "f64[4,5]"},
         .refused = {{{"f64[4,5]", "f64[5]"}, {}, "dy must have the shape [4,5], but is f64[5]"}}});
}

void add_norms(Rows& rows) {
    const ir::Attributes eps = {{"eps", 0.1}};
    rows.push_back(
        {.kind = "layer_norm",
         .operands = {"f64[2,2,4]", "f64[4]+", "f64[4]"},
         .attributes = eps,
         .refused = {
             {{"f64[2,4]", "f64[3]", "f64[4]"}, eps, "x has 4 features, but scale is f64[3]"}}});
    rows.push_back({.kind = "layer_norm_input_grad",
                    .operands = {"f64[4,3]", "f64[3]", "f64[4]", "f64[4]+", "f64[4,3]"},
                    .refused = {{{"f64[4,3]", "f64[3]", "f64[3]", "f64[4]", "f64[4,3]"},
                                 {},
                                 "mean must have the shape [4], but is f64[3]"}},
                    .derived = {{2, "layer_norm", {0, 1, 1}, 1}, {3, "layer_norm", {0, 1, 1}, 2}}});
    rows.push_back({.kind = "layer_norm_param_grad",
                    .operands = {"f64[2,2,4]", "f64[2,2]", "f64[2,2]+", "f64[2,2,4]"},
                    .refused = {{{"f64[4,3]", "f64[4]", "f64[4]", "f64[4]"},
                                 {},
                                 "dy must have the shape [4,3], but is f64[4]"}}});
    rows.push_back(
        {.kind = "rms_norm",
         .operands = {"f64[2,2,4]", "f64[4]+"},
         .attributes = eps,
         .refused = {{{"f64[2,4]", "f64[3]"}, eps, "x has 4 features, but scale is f64[3]"}}});
    rows.push_back({.kind = "rms_norm_input_grad",
                    .operands = {"f64[4,3]", "f64[3]", "f64[4]+", "f64[4,3]"},
                    .refused = {{{"f64[4,3]", "f64[3]", "f64[3]", "f64[4,3]"},
                                 {},
                                 "rstd must have the shape [4], but is f64[3]"}},
                    .derived = {{2, "rms_norm", {0, 1}, 1}}});
    rows.push_back({.kind = "rms_norm_param_grad",
                    .operands = {"f64[2,2,4]", "f64[2,2]+", "f64[2,2,4]"},
                    .refused = {{{"f64[4,3]", "f64[4]", "f64[4]"},
                                 {},
                                 "dy must have the shape [4,3], but is f64[4]"}}});
    rows.push_back({.kind = "batch_norm",
                    .operands = {"f64[3,2,2,4]", "f64[4]+", "f64[4]"},
                    .attributes = eps,
                    .refused = {{{"f64[4]", "f64[4]", "f64[4]"},
                                 eps,
                                 "x needs a sample and a feature dimension, but is f64[4]"}}});
    rows.push_back({.kind = "batch_norm",
                    .operands = {"f64[4,2]", "f64[2]+", "f64[2]", "f64[4]?"},
                    .attributes = eps,
                    .refused = {{{"f64[4,2]", "f64[2]", "f64[2]", "f64[2]"},
                                 eps,
                                 "weights must have the shape [4], but is f64[2]"}},
                    .constant_operands = {3}});
    rows.push_back(
        {.kind = "batch_norm_grad",
         .operands = {"f64[4,2]", "f64[2]+", "f64[2]", "f64[2]+", "f64[4,2]", "f64[4]?"},
         .attributes = eps,
         .refused = {{{"f64[4,2]", "f64[2]", "f64[2]", "f64[2]", "f64[2]"},
                      eps,
                      "dy must have the shape [4,2], but is f64[2]"}},
         .derived = {{2, "batch_norm", {0, 1, 1, 5}, 1}, {3, "batch_norm", {0, 1, 1, 5}, 2}}});
}

void add_batch_norm_inference(Rows& rows) {
    rows.push_back({.kind = "batch_norm_inference",
                    .operands = {"f64[3,2,4]", "f64[4]+", "f64[4]", "f64[4]", "f64[4]+"},
                    .attributes = {{"eps", 0.1}},
                    .refused = {{{"f64[3,4]", "f64[4]", "f64[4]", "f64[3]", "f64[4]"},
                                 {{"eps", 0.1}},
                                 "x has 4 features, but mean is f64[3]"}}});
}

void add_experts(Rows& rows) {
    const ir::Attributes sizes = {{"experts", 3}, {"capacity", 2}};
    rows.push_back(
        {.kind = "top_k",
         .operands = {"f64[2,3,5]"},
         .attributes = {{"k", 2}},
         .refused = {
             {{"f64[2,3]"}, {{"k", 4}}, "cannot choose 4 of the last dimension of f64[2,3]"}}});
    rows.push_back({.kind = "top_k_grad",
                    .operands = {"i32[2,3,2]<4", "f64[2,3,2]"},
                    .attributes = {{"extent", 4}},
                    .refused = {{{"i32[2,3]", "f64[2,2]"},
                                 {{"extent", 4}},
                                 "dvalues must have the shape [2,3], but is f64[2,2]"}}});
    rows.push_back(
        {.kind = "expert_rows",
         .operands = {"i32[4,5,2]<3"},
         .attributes = sizes,
         .refused = {{{"i32[4,5]"}, sizes, "indices needs 3 dimensions, but is i32[4,5]"}}});
    const std::vector<Derived> placed = {{1, "expert_rows", {1}, 0}};
    rows.push_back({.kind = "dispatch",
                    .operands = {"f64[4,5,2]", "i32[4,5,2]<3"},
                    .attributes = sizes,
                    .refused = {{{"f64[4,5,2]", "i32[4,4,2]"},
                                 sizes,
                                 "rows i32[4,4,2] do not place the tokens [4,5,2]"}},
                    .derived = placed});
    rows.push_back({.kind = "dispatch",
                    .operands = {"f64[2,5,4]", "i32[2,5,2]<3", "f64[2,5,2]+"},
                    .attributes = sizes,
                    .derived = placed});
    rows.push_back({.kind = "combine",
                    .operands = {"f64[3,4,2,2]", "i32[4,5,2]<6"},
                    .refused = {{{"f64[3,4,2,2]", "i32[4,5,2]", "f64[4,5,1]"},
                                 {},
                                 "gates must have the shape [4,5,2], but is f64[4,5,1]"}}});
    rows.push_back(
        {.kind = "combine", .operands = {"f64[3,2,2,4]", "i32[2,5,2]<6", "f64[2,5,2]+"}});
    rows.push_back({.kind = "gate_grad",
                    .operands = {"f64[3,4,2,4]", "i32[4,5,2]<6", "f64[4,5,4]"},
                    .refused = {{{"f64[3,4,2,2]", "i32[4,5,2]", "f64[4,5,1]"},
                                 {},
                                 "dout must have the shape [4,5,2], but is f64[4,5,1]"}}});
}

void add_rotary(Rows& rows) {
    const ir::Attributes options = {{"theta", 100.0}, {"inverse", false}};
    rows.push_back(
        {.kind = "rotary",
         .operands = {"f64[2,3,2,4]"},
         .attributes = options,
         .refused = {
             {{"f64[2,3,4]"}, options, "x needs 4 dimensions, but is f64[2,3,4]"},
             {{"f64[1,2,2,3]"}, options, "x turns pairs of channels, but its head width is 3"},
             {{"f64[1,2,2,4]"}, {{"theta", 0.0}, {"inverse", false}}, "theta must be positive"},
             {{"f64[1,2,2,4]", "i32[]"}, options, "position must be i64[], but is i32[]"}}});
    rows.push_back({.kind = "rotary",
                    .operands = {"f64[1,2,2,6]", "i64[]=5"},
                    .attributes = {{"theta", 100.0}, {"inverse", true}}});
    rows.push_back({.kind = "rotary",
                    .operands = {"f64[2,5,1,2]"},
                    .attributes = {{"theta", 100.0}, {"inverse", true}}});
}

void add_attention(Rows& rows) {
    const ir::Attributes plain = {{"causal", false}, {"scale", 0.7}};
    const ir::Attributes causal = {{"causal", true}, {"scale", 0.7}};
    const ir::Attributes dropped = {
        {"causal", true}, {"scale", 0.7}, {"rate", 0.4}, {"stream", kStream}};
    const auto on_ring = [&](std::int64_t step) {
        ir::Attributes out = causal;
        out.set("ring", List{6, step, 3});
        return out;
    };
    const std::vector<std::string> shared_heads = {"f64[2,2,4,3]", "f64[2,3,2,3]", "f64[2,3,2,3]"};
    rows.push_back(
        {.kind = "attention",
         .operands = shared_heads,
         .attributes = plain,
         .refused = {{{"f64[1,2,3,4]", "f64[1,2,2,4]", "f64[1,2,2,4]"},
                      plain,
                      "3 query heads cannot share 2 key and value heads"},
                     {{"f64[1,2,2,4]", "f64[1,3,2,4]", "f64[1,3,2,4]"},
                      causal,
                      "causal attention needs as many queries as keys, but q is f64[1,2,2,4] and k "
                      "is f64[1,3,2,4]"},
                     {{"f64[1,2,2,4]", "f64[1,2,2,4]", "f64[1,2,2,4]"},
                      dropped,
                      "a dropout rate needs the random operand"},
                     {{"f64[1,2,2,4]", "f64[1,2,2,4]", "f64[1,2,2,4]", "i64[]"},
                      on_ring(2),
                      "the place on a ring must be i64[1], but is i64[]"},
                     {{"f64[1,2,2,4]", "f64[1,2,2,4]", "f64[1,2,2,4]", "i64[1]"},
                      on_ring(3),
                      "ring is [all positions, step, devices] with a step below devices"}}});
    rows.push_back({.kind = "attention",
                    .operands = {"f64[2,3,2,2]", "f64[2,3,2,2]", "f64[2,3,2,2]"},
                    .attributes = causal});
    rows.push_back({.kind = "attention",
                    .operands = {"f64[2,3,2,2]", "f64[2,3,1,2]", "f64[2,3,1,2]", "i64[3]"},
                    .attributes = dropped});
    rows.push_back({.kind = "attention_grad",
                    .operands = {"f64[2,2,4,3]", "f64[2,3,2,3]", "f64[2,3,2,3]", "f64[2,2,4,3]",
                                 "f64[2,4,2]", "f64[2,2,4,3]"},
                    .attributes = plain,
                    .refused = {{{"f64[1,2,2,4]", "f64[1,2,2,4]", "f64[1,2,2,4]", "f64[1,2,2,4]",
                                  "f64[1,2,2]", "f64[1,2,2]"},
                                 plain,
                                 "dout must have the shape [1,2,2,4], but is f64[1,2,2]"}},
                    .derived = {{3, "attention", {0, 1, 2}, 0}, {4, "attention", {0, 1, 2}, 1}}});
    // As many keys as queries, enough for four devices and not a multiple of two.
    for (const ir::Attributes& attributes : {plain, causal, dropped}) {
        const std::string q = "f64[2,5,4,2]", k = "f64[2,5,2,2]";
        OpCase forward{.kind = "attention", .operands = {q, k, k}, .attributes = attributes};
        OpCase backward{
            .kind = "attention_grad",
            .operands = {q, k, k, q, "f64[2,4,5]", q},
            .attributes = attributes,
            .derived = {{3, "attention", {0, 1, 2}, 0}, {4, "attention", {0, 1, 2}, 1}}};
        if (attributes.has("rate")) {
            forward.operands.emplace_back("i64[3]");
            backward.operands.emplace_back("i64[3]");
            for (Derived& one : backward.derived) {
                one.inputs.push_back(6);
            }
        }
        rows.push_back(forward);
        rows.push_back(backward);
    }
    // The same in sequences of two, two and one positions.
    for (const bool drops : {false, true}) {
        const std::string q = "f64[2,5,4,2]", k = "f64[2,5,2,2]", positions = "i32[2,5]%2";
        ir::Attributes attributes = drops ? dropped : causal;
        attributes.set("packed", true);
        OpCase forward{
            .kind = "attention", .operands = {q, k, k, positions}, .attributes = attributes};
        OpCase backward{
            .kind = "attention_grad",
            .operands = {q, k, k, q, "f64[2,4,5]", q, positions},
            .attributes = attributes,
            .derived = {{3, "attention", {0, 1, 2, 6}, 0}, {4, "attention", {0, 1, 2, 6}, 1}}};
        if (drops) {
            forward.operands.emplace_back("i64[3]");
            backward.operands.emplace_back("i64[3]");
            for (Derived& one : backward.derived) {
                one.inputs.push_back(7);
            }
        } else {
            ir::Attributes across = attributes;
            across.set("causal", false);
            forward.refused = {
                {{q, k, k, positions},
                 across,
                 "only causal attention of a sample to itself can be packed"},
                {{q, k, k, "i32[2,4]"}, attributes, "packed attention needs positions i32[2,5]"}};
        }
        rows.push_back(forward);
        rows.push_back(backward);
    }
    rows.push_back({.kind = "attention_cached",
                    .operands = {"f64[2,2,4,3]", "f64[2,5,2,3]", "f64[2,5,2,3]", "i64[]=1"},
                    .attributes = {{"scale", 0.7}},
                    .refused = {{{"f64[1,1,2,4]", "f64[1,4,2,4]", "f64[1,4,2,4]", "i32[]"},
                                 {{"scale", 1.0}},
                                 "position must be i64[], but is i32[]"}}});
    rows.push_back({.kind = "cache_write",
                    .operands = {"f64[2,5,2,3]", "f64[2,2,2,3]", "i64[]=1"},
                    .refused = {{{"f64[1,2,2,4]", "f64[1,3,2,4]", "i64[]"},
                                 {},
                                 "new rows f64[1,3,2,4] do not fit into the cache f64[1,2,2,4]"}}});
}

void add_convolutions(Rows& rows) {
    const ir::Attributes same = {{"stride", List{1, 1}}, {"padding", List{1, 1, 1, 1}}};
    const ir::Attributes strided = {{"stride", List{2, 1}}, {"padding", List{0, 1, 1, 0}}};
    const auto with = [](ir::Attributes attributes, const char* name, List list) {
        attributes.set(name, std::move(list));
        return attributes;
    };
    rows.push_back(
        {.kind = "conv2d",
         .operands = {"f64[2,4,3,2]", "f64[3,3,2,2]"},
         .attributes = same,
         .refused = {
             {{"f64[1,4,4,3]", "f64[3,3,1,8]"}, same, "input has 3 channels, but weight expects 1"},
             {{"f64[1,2,2,1]", "f64[5,5,1,8]"},
              same,
              "a window of 5 x 5 does not fit into f64[1,2,2,1] with its padding"}}});
    rows.push_back(
        {.kind = "conv2d", .operands = {"f64[2,5,4,2]", "f64[3,2,2,2]"}, .attributes = strided});
    rows.push_back({.kind = "conv2d_input_grad",
                    .operands = {"f64[2,2,4,2]", "f64[3,2,2,2]"},
                    .attributes = with(strided, "shape", {2, 5, 4, 2}),
                    .refused = {{{"f64[2,2,2,2]", "f64[3,2,2,2]"},
                                 with(strided, "shape", {2, 5, 4, 2}),
                                 "dy f64[2,2,2,2] is not the result of [2,5,4,2] with weight "
                                 "f64[3,2,2,2]"}}});
    rows.push_back(
        {.kind = "conv2d_weight_grad",
         .operands = {"f64[2,5,4,2]", "f64[2,2,4,2]"},
         .attributes = with(strided, "kernel", {3, 2}),
         .refused = {{{"f64[2,5,4,2]", "f64[2,2,3,2]"},
                      with(strided, "kernel", {3, 2}),
                      "dy f64[2,2,3,2] is not the result of f64[2,5,4,2] with a kernel of "
                      "3 x 2"}}});
    const ir::Attributes pool = with(strided, "window", {3, 2});
    for (const char* kind : {"max_pool", "avg_pool"}) {
        rows.push_back(
            {.kind = kind,
             .operands = {"f64[2,5,4,2]"},
             .attributes = pool,
             .refused = {{{"f64[5,4,2]"}, pool, "x needs 4 dimensions, but is f64[5,4,2]"},
                         {{"f64[1,5,4,2]"},
                          with(pool, "padding", {3, 0, 0, 0}),
                          "padding must be smaller than the window"}}});
    }
    ir::Attributes inside = pool;
    inside.set("exclude_padding", true);
    rows.push_back({.kind = "avg_pool", .operands = {"f64[2,5,4,2]"}, .attributes = inside});
    rows.push_back({.kind = "avg_pool_grad",
                    .operands = {"f64[2,2,4,2]"},
                    .attributes = with(inside, "shape", {2, 5, 4, 2})});
    rows.push_back({.kind = "max_pool_grad",
                    .operands = {"f64[2,5,4,2]", "f64[2,2,4,2]", "f64[2,2,4,2]"},
                    .attributes = pool,
                    .refused = {{{"f64[2,5,4,2]", "f64[2,2,4,2]", "f64[2,2,4,1]"},
                                 pool,
                                 "y f64[2,2,4,2] and dy f64[2,2,4,1] are not results of pooling "
                                 "f64[2,5,4,2]"}},
                    .derived = {{1, "max_pool", {0}, 0}}});
    rows.push_back({.kind = "avg_pool_grad",
                    .operands = {"f64[2,2,4,2]"},
                    .attributes = with(pool, "shape", {2, 5, 4, 2}),
                    .refused = {{{"f64[2,2,3,2]"},
                                 with(pool, "shape", {2, 5, 4, 2}),
                                 "dy f64[2,2,3,2] is not the result of pooling [2,5,4,2]"}}});
}

void add_random(Rows& rows) {
    rows.push_back({.kind = "dropout",
                    .operands = {"f64[4,3]", "i64[3]"},
                    .attributes = {{"rate", 0.5}, {"stream", kStream}},
                    .refused = {{{"f64[4]", "i64[2]"},
                                 {{"rate", 0.5}, {"stream", kStream}},
                                 "random must be i64[3] (seed, step, first sample), but is i64[2]"},
                                {{"f64[4]", "i64[3]"},
                                 {{"rate", 1.0}, {"stream", kStream}},
                                 "rate must be at least 0 and less than 1, but is 1.000000"}}});
    const auto random = [&](const char* kind, const char* first, const char* second) {
        rows.push_back(
            {.kind = kind,
             .operands = {"i64[3]"},
             .attributes =
                 {{"shape", List{4, 3}}, {first, 0.0}, {second, 1.0}, {"stream", kStream}},
             .refused = {{{"f64[3]"},
                          {{"shape", List{2}}, {first, 0.0}, {second, 1.0}, {"stream", kStream}},
                          "random must be i64[3] (seed, step, first sample), but is f64[3]"}}});
    };
    random("random_uniform", "low", "high");
    random("random_normal", "mean", "stddev");
    random("random_truncated_normal", "mean", "stddev");
}

void add_losses(Rows& rows) {
    const std::vector<Refused> refused = {
        {{"f64[4,5]", "i32[3]"}, {}, "labels must have the shape [4], but is i32[3]"},
        {{"f64[4,5]", "i64[4]"}, {}, "labels must be i32, but is i64[4]"}};
    rows.push_back(
        {.kind = "cross_entropy", .operands = {"f64[4,5]", "i32[4]<5"}, .refused = refused});
    rows.push_back({.kind = "cross_entropy",
                    .operands = {"f64[4,5]", "i32[4]<5"},
                    .attributes = {{"label_smoothing", 0.2}}});
    rows.push_back({.kind = "cross_entropy", .operands = {"f64[4,5]", "i32[4]=-1"}});
    rows.push_back({.kind = "cross_entropy",
                    .operands = {"f64[4,5]", "i32[4]<5"},
                    .build = [](ops::Builder& b, const ValueIds& inputs) { // both have a slope
                        return b.emit_all("cross_entropy", inputs, {{"label_smoothing", 0.2}});
                    }});
    rows.push_back({.kind = "cross_entropy_grad",
                    .operands = {"f64[4,5]", "i32[4]<5", "f64[4]", "f64[4]"},
                    .refused = {{{"f64[4,5]", "i32[4]", "f64[4]", "f64[]"},
                                 {},
                                 "dloss must have the shape [4], but is f64[]"}},
                    .derived = {{2, "cross_entropy", {0, 1}, 1}}});
    rows.push_back({.kind = "correct", .operands = {"f64[4,5]", "i32[4]<5"}, .refused = refused});
}

void add_shards(Rows& rows) {
    rows.push_back({.kind = "mesh_index",
                    .operands = {"i64[2]<3"},
                    .attributes = {{"strides", List{4, 1, 0, 7}}, {"base", List{0, 5}}},
                    .refused = {{{"i64[2]"},
                                 {{"strides", List{4}}, {"base", List{0}}},
                                 "strides need 2 entries for each of base"}}});
    rows.push_back(
        {.kind = "pick",
         .operands = {"f64[2,3,4]", "i64[1]<3"},
         .attributes = {{"dim", 1}},
         .refused = {
             {{"f64[2]", "i64[1]"}, {{"dim", 1}}, "dimension 1 does not exist in f64[2]"}}});
    rows.push_back({.kind = "mask",
                    .operands = {"f64[2,3,4]", "i64[1]=2"},
                    .attributes = {{"dim", 1}, {"extent", 4}, {"value", -1.0}},
                    .refused = {{{"f64[2]", "i64[2]"},
                                 {{"dim", 0}, {"extent", 1}, {"value", 0.0}},
                                 "the index must be i64[1], but is i64[2]"}}});
}

void add_exchanges(Rows& rows) {
    const auto with = [](ir::Attributes more) {
        more.set("axes", std::string("data"));
        more.set("count", std::int64_t{2});
        more.set("cause", std::string("a test"));
        return more;
    };
    const auto sum = [&](const char* how) { return with({{"reduce", std::string(how)}}); };
    const std::string halves = "x needs a leading dimension of 2, but is f64[3]";
    rows.push_back({.kind = "all_reduce",
                    .operands = {"f64[3]"},
                    .attributes = sum("max"),
                    .refused = {{{"f64[3]"}, sum("mean"), "reduce is sum or max, not mean"}}});
    rows.push_back({.kind = "all_gather",
                    .operands = {"f64[3]"},
                    .attributes = with({}),
                    .refused = {{{"f64[1,1,1,1,1,1,1,1]"},
                                 with({}),
                                 "x has no room for the dimension of the parts"}}});
    rows.push_back({.kind = "reduce_scatter",
                    .operands = {"f64[2,3]"},
                    .attributes = sum("sum"),
                    .refused = {{{"f64[3]"}, sum("sum"), halves}}});
    rows.push_back({.kind = "all_to_all",
                    .operands = {"f64[2,3]"},
                    .attributes = with({}),
                    .refused = {{{"f64[3]"}, with({}), halves}}});
    rows.push_back({.kind = "permute",
                    .operands = {"f64[3]"},
                    .attributes = with({{"shift", 1}}),
                    .refused = {{{"f64[3]", "f64[3]"}, with({{"shift", 1}}), kOneOperand}}});
    const auto peer = with({{"peer", 1}});
    rows.push_back({.kind = "send",
                    .operands = {"f64[3]"},
                    .attributes = peer,
                    .refused = {{{"f64[3]", "f64[3]"}, peer, kOneOperand}}});
    rows.push_back({.kind = "sent",
                    .operands = {"f64[3]", "i32[]"},
                    .attributes = peer,
                    .refused = {{{"f64[3]"}, peer, "takes 2 operands, but has 1"}}});
    const auto message = [&](const char* dtype) {
        return with({{"peer", 1}, {"dtype", std::string(dtype)}, {"shape", List{3}}});
    };
    rows.push_back({.kind = "receive",
                    .operands = {},
                    .attributes = message("f64"),
                    .refused = {{{}, message("f7"), "there is no element type f7"}}});
}

Rows make_cases() {
    Rows rows;
    add_elementwise(rows);
    add_structure(rows);
    add_reductions(rows);
    add_products(rows);
    add_norms(rows);
    add_batch_norm_inference(rows);
    add_experts(rows);
    add_rotary(rows);
    add_attention(rows);
    add_convolutions(rows);
    add_random(rows);
    add_shards(rows);
    add_exchanges(rows);
    add_losses(rows);
    add_block_cases(rows);
    return rows;
}

} // namespace

const std::vector<OpCase>& op_cases() {
    static const Rows rows = make_cases();
    return rows;
}

} // namespace weft::test
