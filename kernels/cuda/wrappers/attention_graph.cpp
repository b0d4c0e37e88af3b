// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wrappers/attention_graph.h"

#include <array>

namespace weft::kernels::cuda {
namespace {

using Four = std::array<std::int64_t, 4>;

Four dense(const Four& dims) {
    return {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
}

} // namespace

DnnPart AttentionGraph::heads(std::int64_t number, std::int64_t count, std::int64_t length) const {
    const Four dims = {a_.n, count, length, a_.d};
    const Four strides = {length * count * a_.d, a_.d, count * a_.d, 1};
    return dnn_array(number, type_, dims, strides);
}
DnnPart AttentionGraph::queries(std::int64_t number) const {
    return heads(number, a_.h, a_.t);
}
DnnPart AttentionGraph::keys(std::int64_t number) const {
    return heads(number, a_.k, a_.s);
}
DnnPart AttentionGraph::turned_keys(std::int64_t number) const {
    const Four dims = {a_.n, a_.k, a_.d, a_.s};
    const Four strides = {a_.s * a_.k * a_.d, a_.d, 1, a_.k * a_.d};
    return dnn_array(number, type_, dims, strides);
}
DnnPart AttentionGraph::rows(std::int64_t number) const {
    const Four dims = {a_.n, a_.h, a_.t, 1};
    return dnn_array(number, CUDNN_DATA_FLOAT, dims, dense(dims));
}
DnnPart AttentionGraph::scalar(std::int64_t number) {
    const Four one = {1, 1, 1, 1};
    return dnn_array(number, CUDNN_DATA_FLOAT, one, one, DnnPlace::host);
}
DnnPart AttentionGraph::scores(cudnnDataType_t type) {
    const Four dims = {a_.n, a_.h, a_.t, a_.s};
    return dnn_array(inner_++, type, dims, dense(dims), DnnPlace::nowhere);
}
DnnPart AttentionGraph::inner_rows() {
    const Four dims = {a_.n, a_.h, a_.t, 1};
    return dnn_array(inner_++, CUDNN_DATA_FLOAT, dims, dense(dims), DnnPlace::nowhere);
}

void AttentionGraph::multiply(const DnnPart& a, const DnnPart& b, const DnnPart& c) {
    DnnPart how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
    DnnPart operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, std::move(how).finished())
        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    operations_.push_back(std::move(operation).finished());
}

void AttentionGraph::reduce(cudnnReduceTensorOp_t by, const DnnPart& x, const DnnPart& y) {
    DnnPart how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_REDUCTION_OPERATOR, by);
    DnnPart operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, std::move(how).finished())
        .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    operations_.push_back(std::move(operation).finished());
}

DnnPart AttentionGraph::function(cudnnPointwiseMode_t mode, cudnnDataType_t type) {
    DnnPart how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, type);
    return how;
}

void AttentionGraph::add_pointwise(DnnPart how, const DnnPart& x, const DnnPart* b,
                                   const DnnPart* choice, const DnnPart& y) {
    DnnPart operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, std::move(how).finished())
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    if (b != nullptr) {
        operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    }
    if (choice != nullptr) {
        operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *choice);
    }
    operations_.push_back(std::move(operation).finished());
}

void AttentionGraph::apply(cudnnPointwiseMode_t mode, const DnnPart& x, const DnnPart* b,
                           const DnnPart& y) {
    add_pointwise(function(mode), x, b, nullptr, y);
}

DnnPart AttentionGraph::product(const DnnPart& a, const DnnPart& b) {
    DnnPart out = scores(CUDNN_DATA_FLOAT);
    multiply(a, b, out);
    return out;
}

DnnPart AttentionGraph::applied(cudnnPointwiseMode_t mode, const DnnPart& score, const DnnPart* b) {
    DnnPart out = scores(CUDNN_DATA_FLOAT);
    apply(mode, score, b, out);
    return out;
}

DnnPart AttentionGraph::applied_to_rows(cudnnPointwiseMode_t mode, const DnnPart& row) {
    DnnPart out = inner_rows();
    apply(mode, row, nullptr, out);
    return out;
}

DnnPart AttentionGraph::reduced(cudnnReduceTensorOp_t by, const DnnPart& from) {
    DnnPart out = inner_rows();
    reduce(by, from, out);
    return out;
}

DnnPart AttentionGraph::causal(const DnnPart& score, const DnnPart& hidden) {
    const auto numbered = [&](std::int64_t dimension) {
        DnnPart index = scores(CUDNN_DATA_INT32);
        DnnPart how = function(CUDNN_POINTWISE_GEN_INDEX);
        how.set(CUDNN_ATTR_POINTWISE_AXIS, dimension);
        add_pointwise(std::move(how), score, nullptr, nullptr, index);
        return index;
    };
    const DnnPart row = numbered(2);
    const DnnPart column = numbered(3);
    const DnnPart seen = scores(CUDNN_DATA_BOOLEAN);
    add_pointwise(function(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN), row, &column, nullptr,
                  seen);
    DnnPart out = scores(CUDNN_DATA_FLOAT);
    add_pointwise(function(CUDNN_POINTWISE_BINARY_SELECT), score, &hidden, &seen, out);
    return out;
}

DnnPart AttentionGraph::rounded(cudnnPointwiseMode_t mode, const DnnPart& score, const DnnPart& b) {
    DnnPart out = scores(type_);
    apply(mode, score, &b, out);
    return out;
}

DnnPart AttentionGraph::reshaped(const DnnPart& x, DnnPart y) {
    DnnPart operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x).set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    operations_.push_back(std::move(operation).finished());
    return y;
}

DnnPart AttentionGraph::turned(const DnnPart& score) {
    const Four dims = {a_.n, a_.h, a_.s, a_.t};
    const Four strides = {a_.h * a_.t * a_.s, a_.t * a_.s, 1, a_.s};
    return reshaped(score, dnn_array(inner_++, type_, dims, strides, DnnPlace::nowhere));
}

DnnPart AttentionGraph::turned_back(const DnnPart& turned_keys) {
    const Four dims = {a_.n, a_.k, a_.s, a_.d};
    const Four strides = {a_.s * a_.k * a_.d, a_.d, a_.k * a_.d, 1};
    return reshaped(turned_keys, dnn_array(inner_++, type_, dims, strides, DnnPlace::nowhere));
}

DnnPart AttentionGraph::elements(const DnnPart& x, const DnnPart& y) {
    const Four dims = {a_.n, a_.h, a_.t, a_.d};
    const Four strides = {a_.h * a_.t * a_.d, a_.t * a_.d, a_.h * a_.d, 1};
    DnnPart out = dnn_array(inner_++, CUDNN_DATA_FLOAT, dims, strides, DnnPlace::nowhere);
    apply(CUDNN_POINTWISE_MUL, x, &y, out);
    return out;
}

void AttentionGraph::multiply_for_keys(const DnnPart& a, const DnnPart& b, const DnnPart& to) {
    if (a_.h == a_.k) {
        multiply(a, b, to);
        return;
    }
    const Four dims = {a_.n, a_.h, a_.s, a_.d};
    const DnnPart each = dnn_array(inner_++, type_, dims, dense(dims), DnnPlace::nowhere);
    multiply(a, b, each);
    reduce(CUDNN_REDUCE_TENSOR_ADD, each, to);
}

DnnPart AttentionGraph::graph() {
    DnnPart graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const DnnPart>(operations_));
    return std::move(graph).finished();
}

} // namespace weft::kernels::cuda
