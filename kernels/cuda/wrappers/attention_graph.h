// SPDX-License-Identifier: Apache-2.0
// What attention's graphs of cuDNN are made of. cuDNN counts arrays [N,H,T,D], which lie in memory
// as [N,T,H,D].
#pragma once

#include "kernels/cuda/wrappers/dnn_plan.h"

namespace weft::kernels::cuda {

/// Operations in the order in which they were added. Arrays within the plan are numbered from
/// kInnerArrays on. Throws Failure.
class AttentionGraph {
public:
    explicit AttentionGraph(const PlannedAttentionShape& shape)
        : a_(shape.attention), type_(dnn_type(shape.dtype)) {}

    // Arrays of a run, which have its element type unless said otherwise.
    DnnPart queries(std::int64_t number) const;     // [N,H,T,D]
    DnnPart keys(std::int64_t number) const;        // [N,K,S,D], of values, too
    DnnPart turned_keys(std::int64_t number) const; // [N,K,D,S]
    DnnPart rows(std::int64_t number) const;        // [N,H,T,1] f32
    static DnnPart scalar(std::int64_t number);     // f32, of the host

    /// c = a b
    void multiply(const DnnPart& a, const DnnPart& b, const DnnPart& c);
    void reduce(cudnnReduceTensorOp_t by, const DnnPart& x, const DnnPart& y);
    /// y = mode(x, b), element by element; `b` may be null.
    void apply(cudnnPointwiseMode_t mode, const DnnPart& x, const DnnPart* b, const DnnPart& y);

    // Of arrays within the plan: scores [N,H,T,S] in f32, rows [N,H,T,1].
    DnnPart product(const DnnPart& a, const DnnPart& b);
    DnnPart applied(cudnnPointwiseMode_t mode, const DnnPart& score, const DnnPart* b = nullptr);
    DnnPart applied_to_rows(cudnnPointwiseMode_t mode, const DnnPart& row);
    DnnPart reduced(cudnnReduceTensorOp_t by, const DnnPart& from);
    /// A query keeps the scores of keys that are not behind it; the others become `hidden`.
    DnnPart causal(const DnnPart& score, const DnnPart& hidden);
    /// mode(score, b), and a score turned to [N,H,S,T], in the run's element type.
    DnnPart rounded(cudnnPointwiseMode_t mode, const DnnPart& score, const DnnPart& b);
    DnnPart turned(const DnnPart& score);
    /// Turned keys, as they are.
    DnnPart turned_back(const DnnPart& turned_keys);
    /// Products of the queries' elements [N,H,T,D] in f32.
    DnnPart elements(const DnnPart& x, const DnnPart& y);
    /// to [N,K,S,D] = a b, added up over the query heads of each key head.
    void multiply_for_keys(const DnnPart& a, const DnnPart& b, const DnnPart& to);

    DnnPart graph();

private:
    DnnPart heads(std::int64_t number, std::int64_t count, std::int64_t length) const;
    DnnPart scores(cudnnDataType_t type);
    DnnPart inner_rows();
    DnnPart reshaped(const DnnPart& x, DnnPart y);
    void add_pointwise(DnnPart how, const DnnPart& x, const DnnPart* b, const DnnPart* choice,
                       const DnnPart& y);
    static DnnPart function(cudnnPointwiseMode_t mode, cudnnDataType_t type = CUDNN_DATA_FLOAT);

    static constexpr std::int64_t kInnerArrays = 100;
    AttentionShape a_;
    cudnnDataType_t type_;
    std::int64_t inner_ = kInnerArrays;
    std::vector<DnnPart> operations_;
};

} // namespace weft::kernels::cuda
