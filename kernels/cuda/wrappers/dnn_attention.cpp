// SPDX-License-Identifier: Apache-2.0
// Attention as graphs of cuDNN, which knows them and computes each in one kernel or two (Dao et al.
// 2022). Forward no score is stored. The gradient's graph sums that of the queries over stored
// scores, not in an array that all blocks add to in the order in which they come.
#include "kernels/cuda/wrappers/attention_graph.h"

#include <algorithm>
#include <array>
#include <limits>

namespace weft::kernels::cuda {
namespace {

enum Number : std::int64_t { kQueries, kKeys, kValues, kOut, kLogsumexp, kScale };
constexpr std::int64_t kHidden = 6; // of the forward graph, if it is causal
enum GradNumber : std::int64_t {
    kOne = 6,
    kOutGrad,
    kQueryGrad,
    kKeyGrad,
    kValueGrad,
    kRowSums,   // of out times its gradient
    kGradHidden // if it is causal
};

// Numbers that the library reads at an address.
float nothing_seen = -std::numeric_limits<float>::infinity();
float no_dropout = 1.0f;

/// The scaled scores, of which those of later keys are hidden.
DnnPart visible_scores(AttentionGraph& g, bool causal, std::int64_t hidden, const DnnPart* minus) {
    const DnnPart scale = AttentionGraph::scalar(kScale);
    const DnnPart product = g.product(g.queries(kQueries), g.turned_keys(kKeys));
    DnnPart score = g.applied(CUDNN_POINTWISE_MUL, product, &scale);
    if (minus != nullptr) {
        score = g.applied(CUDNN_POINTWISE_SUB, score, minus);
    }
    return causal ? g.causal(score, AttentionGraph::scalar(hidden)) : std::move(score);
}

DnnPart forward_graph(const PlannedAttentionShape& shape) {
    AttentionGraph g(shape);
    const DnnPart score = visible_scores(g, shape.attention.causal, kHidden, nullptr);
    const DnnPart max = g.reduced(CUDNN_REDUCE_TENSOR_MAX, score);
    const DnnPart below = g.applied(CUDNN_POINTWISE_SUB, score, &max);
    const DnnPart exponential = g.applied(CUDNN_POINTWISE_EXP, below);
    const DnnPart sum = g.reduced(CUDNN_REDUCE_TENSOR_ADD, exponential);
    const DnnPart logarithm = g.applied_to_rows(CUDNN_POINTWISE_LOG, sum);
    g.apply(CUDNN_POINTWISE_ADD, max, &logarithm, g.rows(kLogsumexp));
    const DnnPart weights = g.rounded(CUDNN_POINTWISE_DIV, exponential, sum);
    g.multiply(weights, g.keys(kValues), g.queries(kOut));
    return g.graph();
}

/// With P = exp(scores - logsumexp) and r the row sums of out dout: dV = P' dout,
/// dS = scale P (dout V' - r), dQ = dS K, dK = dS' Q.
DnnPart gradient_graph(const PlannedAttentionShape& shape) {
    AttentionGraph g(shape);
    const DnnPart scale = AttentionGraph::scalar(kScale);
    const DnnPart unit = AttentionGraph::scalar(kOne);
    const DnnPart out_grad = g.queries(kOutGrad);
    const DnnPart row_sums = g.rows(kRowSums);
    const DnnPart logsumexp = g.rows(kLogsumexp);
    const DnnPart keys = g.turned_keys(kKeys);
    const DnnPart sums = g.reduced(CUDNN_REDUCE_TENSOR_ADD, g.elements(out_grad, g.queries(kOut)));
    g.apply(CUDNN_POINTWISE_MUL, sums, &unit, row_sums); // the pattern has it for dropout
    const DnnPart score = visible_scores(g, shape.attention.causal, kGradHidden, &logsumexp);
    const DnnPart weights = g.applied(CUDNN_POINTWISE_EXP, score);
    g.multiply_for_keys(g.turned(weights), out_grad, g.keys(kValueGrad));
    const DnnPart weight_grad = g.product(out_grad, g.turned_keys(kValues));
    const DnnPart centred = g.applied(CUDNN_POINTWISE_SUB, weight_grad, &row_sums);
    const DnnPart weighted = g.applied(CUDNN_POINTWISE_MUL, centred, &weights);
    const DnnPart score_grad = g.applied(CUDNN_POINTWISE_MUL, weighted, &scale);
    g.multiply_for_keys(g.turned(score_grad), g.queries(kQueries), g.keys(kKeyGrad));
    g.multiply(score_grad, g.turned_back(keys), g.queries(kQueryGrad));
    return g.graph();
}

/// All that a plan hangs on but the GPU; of another length than that of a convolution.
std::vector<std::int64_t> attention_key(const PlannedAttentionShape& shape, bool gradient) {
    const AttentionShape& a = shape.attention;
    return {gradient ? 1 : 0, shape.dtype, a.n, a.t, a.s, a.h, a.k, a.d, a.causal ? 1 : 0};
}

// The library's operands are not const, though it only reads them.
void* operand_address(const void* operand) {
    return const_cast<void*>(operand);
}

class DnnAttention final : public PlannedAttention {
public:
    explicit DnnAttention(const PlannedAttentionShape& shape)
        : execution_(
              kept_plan(attention_key(shape, false),
                        [&](const DnnDevice& device) { return plan_attention(shape, device); })),
          scale_(static_cast<float>(shape.attention.scale)), causal_(shape.attention.causal) {}

    std::int64_t workspace_bytes() const override { return execution_.workspace_bytes(); }

    void run(weft_stream* stream, const void* q, const void* k, const void* v, void* out,
             void* logsumexp, void* workspace) override {
        const std::array arrays = {operand_address(q),
                                   operand_address(k),
                                   operand_address(v),
                                   out,
                                   logsumexp,
                                   operand_address(&scale_),
                                   operand_address(&nothing_seen)};
        const std::span<void* const> all(arrays);
        execution_.run(stream, causal_ ? all : all.first(kHidden), workspace);
    }

private:
    DnnExecution execution_;
    float scale_;
    bool causal_;
};

class DnnAttentionGrad final : public PlannedAttentionGrad {
public:
    explicit DnnAttentionGrad(const PlannedAttentionShape& shape)
        : execution_(kept_plan(
              attention_key(shape, true),
              [&](const DnnDevice& device) { return plan_attention_grad(shape, device); })),
          row_bytes_(
              round_up_to_line(shape.attention.n * shape.attention.h * shape.attention.t * 4)),
          scale_(static_cast<float>(shape.attention.scale)), causal_(shape.attention.causal) {}

    std::int64_t workspace_bytes() const override {
        return row_bytes_ + execution_.workspace_bytes();
    }

    void run(weft_stream* stream, const AttentionGradArrays& a, void* workspace) override {
        const std::array arrays = {operand_address(a.q),
                                   operand_address(a.k),
                                   operand_address(a.v),
                                   operand_address(a.out),
                                   operand_address(a.logsumexp),
                                   operand_address(&scale_),
                                   operand_address(&no_dropout),
                                   operand_address(a.dout),
                                   a.dq,
                                   a.dk,
                                   a.dv,
                                   workspace,
                                   operand_address(&nothing_seen)};
        const std::span<void* const> all(arrays);
        execution_.run(stream, causal_ ? all : all.first(kGradHidden),
                       static_cast<unsigned char*>(workspace) + row_bytes_);
    }

private:
    DnnExecution execution_;
    std::int64_t row_bytes_;
    float scale_;
    bool causal_;
};

} // namespace

DnnPlan plan_attention(const PlannedAttentionShape& shape, const DnnDevice& device) {
    constexpr std::int64_t kMostWorkspace = std::int64_t{64} << 20;
    return choose_plan(forward_graph(shape), device, {}, kMostWorkspace);
}

DnnPlan plan_attention_grad(const PlannedAttentionShape& shape, const DnnDevice& device) {
    constexpr std::int64_t kMostWorkspace = std::int64_t{1} << 30; // for stored scores
    return choose_plan(gradient_graph(shape), device, {}, kMostWorkspace);
}

std::unique_ptr<PlannedAttention> make_planned_attention(const PlannedAttentionShape& shape) {
    return std::make_unique<DnnAttention>(shape);
}

std::unique_ptr<PlannedAttentionGrad>
make_planned_attention_grad(const PlannedAttentionShape& shape) {
    return std::make_unique<DnnAttentionGrad>(shape);
}

} // namespace weft::kernels::cuda
