// SPDX-License-Identifier: Apache-2.0
// The reference back end: what its kernels look like and the list of them. Every kernel computes in
// double, whatever the stored types: operands are converted before it and results rounded once
// after it (f64 is used in place), so each kernel is its formula and nothing else. One thread.
#pragma once

#include "kernels/op.h"

#include <functional>

namespace weft::kernels::reference {

/// Operands of one run. The double views exist for converted kernels only.
class Call {
public:
    Call(const double* const* inputs, double* const* outputs, const weft_run_args& args)
        : inputs_(inputs), outputs_(outputs), args_(args) {}

    const double* in(int i) const { return inputs_[i]; }
    double* out(int i) const { return outputs_[i]; }
    /// As stored: for 64-bit integers and for kernels that only move bytes.
    const void* raw_in(int i) const { return args_.inputs[i]; }
    void* raw_out(int i) const { return args_.outputs[i]; }
    const std::int64_t* integers(int i) const {
        return static_cast<const std::int64_t*>(args_.inputs[i]);
    }

private:
    const double* const* inputs_;
    double* const* outputs_;
    const weft_run_args& args_;
};

/// The tanh approximation, and its derivative.
double gelu(double x);
double gelu_slope(double x);

/// What make functions return: one execution with everything from the description bound.
using Body = std::function<weft_status(const Call&)>;

enum class Operands { converted, raw };

struct ReferenceRow {
    const char* op;
    int min_inputs, max_inputs, outputs; // -1: any number
    Operands operands;
    Body (*make)(const Op&);
};

// One function per family. Each checks shapes and throws Failure{BAD_ARGUMENT}.
Body make_elementwise(const Op& op);
Body make_fused(const Op& op);
Body make_constant(const Op& op);
Body make_copy(const Op& op);
Body make_transpose(const Op& op);
Body make_broadcast(const Op& op);
Body make_slice(const Op& op);
Body make_pad(const Op& op);
Body make_concat(const Op& op);
Body make_reduce_sum(const Op& op);
Body make_reduce_max(const Op& op);
Body make_sum_squares(const Op& op);
Body make_argmax(const Op& op);
Body make_matmul(const Op& op);
Body make_linear(const Op& op);
Body make_linear_gelu(const Op& op);
Body make_matmul_gelu_grad(const Op& op);
Body make_matmul_add(const Op& op);
Body make_matmul_sums(const Op& op);
Body make_embedding(const Op& op);
Body make_embedding_grad(const Op& op);
Body make_sum_rows(const Op& op);
Body make_write_rows(const Op& op);
Body make_softmax(const Op& op);
Body make_softmax_grad(const Op& op);
Body make_layer_norm(const Op& op);
Body make_layer_norm_input_grad(const Op& op);
Body make_layer_norm_param_grad(const Op& op);
Body make_rms_norm(const Op& op);
Body make_rms_norm_input_grad(const Op& op);
Body make_rms_norm_param_grad(const Op& op);
Body make_batch_norm(const Op& op);
Body make_batch_norm_grad(const Op& op);
Body make_batch_norm_inference(const Op& op);
Body make_top_k(const Op& op);
Body make_top_k_grad(const Op& op);
Body make_expert_rows(const Op& op);
Body make_dispatch(const Op& op);
Body make_combine(const Op& op);
Body make_gate_grad(const Op& op);
Body make_rotary(const Op& op);
Body make_attention(const Op& op);
Body make_attention_grad(const Op& op);
Body make_attention_cached(const Op& op);
Body make_cache_write(const Op& op);
Body make_conv2d(const Op& op);
Body make_conv2d_input_grad(const Op& op);
Body make_conv2d_weight_grad(const Op& op);
Body make_max_pool(const Op& op);
Body make_max_pool_grad(const Op& op);
Body make_avg_pool(const Op& op);
Body make_avg_pool_grad(const Op& op);
Body make_dropout(const Op& op);
Body make_random_uniform(const Op& op);
Body make_random_normal(const Op& op);
Body make_random_truncated_normal(const Op& op);
Body make_cross_entropy(const Op& op);
Body make_cross_entropy_grad(const Op& op);
Body make_correct(const Op& op);
Body make_quantize(const Op& op);
Body make_dequantize(const Op& op);
Body make_ctc(const Op& op);
Body make_ctc_grad(const Op& op);
Body make_mesh_index(const Op& op);
Body make_pick(const Op& op);
Body make_mask(const Op& op);

inline constexpr ReferenceRow kReferenceList[] = {
    {"fused", 1, -1, -1, Operands::converted, make_fused},
    {"sweep", 1, -1, -1, Operands::converted, make_fused},
    {"constant", 0, 0, 1, Operands::converted, make_constant},
    {"reshape", 1, 1, 1, Operands::raw, make_copy},
    {"stop_gradient", 1, 1, 1, Operands::raw, make_copy},
    {"copy", 1, 1, 1, Operands::raw, make_copy},
    {"transpose", 1, 1, 1, Operands::raw, make_transpose},
    {"broadcast", 1, 1, 1, Operands::raw, make_broadcast},
    {"slice", 1, 1, 1, Operands::raw, make_slice},
    {"pad", 1, 1, 1, Operands::converted, make_pad},
    {"concat", 1, -1, 1, Operands::raw, make_concat},
    {"reduce_sum", 1, 1, 1, Operands::converted, make_reduce_sum},
    {"reduce_max", 1, 1, 1, Operands::converted, make_reduce_max},
    {"sum_squares", 1, -1, 1, Operands::converted, make_sum_squares},
    {"argmax", 1, 1, 1, Operands::converted, make_argmax},
    {"matmul", 2, 2, 1, Operands::converted, make_matmul},
    {"linear", 2, 3, 1, Operands::converted, make_linear},
    {"linear_gelu", 2, 3, 2, Operands::converted, make_linear_gelu},
    {"matmul_gelu_grad", 3, 3, 1, Operands::converted, make_matmul_gelu_grad},
    {"matmul_add", 3, 3, 1, Operands::converted, make_matmul_add},
    {"matmul_sums", 2, 2, 2, Operands::converted, make_matmul_sums},
    {"embedding", 2, 2, 1, Operands::converted, make_embedding},
    {"embedding_grad", 2, 2, 1, Operands::converted, make_embedding_grad},
    {"read_rows", 2, 2, 1, Operands::converted, make_embedding},
    {"sum_rows", 2, 2, 2, Operands::converted, make_sum_rows},
    {"write_rows", 3, 3, 1, Operands::raw, make_write_rows},
    {"softmax", 1, 1, 1, Operands::converted, make_softmax},
    {"softmax_grad", 2, 2, 1, Operands::converted, make_softmax_grad},
    {"layer_norm", 3, 3, 3, Operands::converted, make_layer_norm},
    {"layer_norm_input_grad", 5, 5, 1, Operands::converted, make_layer_norm_input_grad},
    {"layer_norm_param_grad", 4, 4, 2, Operands::converted, make_layer_norm_param_grad},
    {"rms_norm", 2, 2, 2, Operands::converted, make_rms_norm},
    {"rms_norm_input_grad", 4, 4, 1, Operands::converted, make_rms_norm_input_grad},
    {"rms_norm_param_grad", 3, 3, 1, Operands::converted, make_rms_norm_param_grad},
    {"batch_norm", 3, 4, 3, Operands::converted, make_batch_norm},
    {"batch_norm_grad", 5, 6, 3, Operands::converted, make_batch_norm_grad},
    {"batch_norm_inference", 5, 5, 1, Operands::converted, make_batch_norm_inference},
    {"top_k", 1, 1, 2, Operands::converted, make_top_k},
    {"top_k_grad", 2, 2, 1, Operands::converted, make_top_k_grad},
    {"expert_rows", 1, 1, 1, Operands::converted, make_expert_rows},
    {"dispatch", 2, 3, 1, Operands::converted, make_dispatch},
    {"combine", 2, 3, 1, Operands::converted, make_combine},
    {"gate_grad", 3, 3, 1, Operands::converted, make_gate_grad},
    {"rotary", 1, 2, 1, Operands::converted, make_rotary},
    {"attention", 3, 6, 2, Operands::converted, make_attention},
    {"attention_grad", 6, 9, 3, Operands::converted, make_attention_grad},
    {"attention_cached", 4, 4, 1, Operands::converted, make_attention_cached},
    {"cache_write", 3, 3, 1, Operands::raw, make_cache_write},
    {"conv2d", 2, 2, 1, Operands::converted, make_conv2d},
    {"conv2d_input_grad", 2, 2, 1, Operands::converted, make_conv2d_input_grad},
    {"conv2d_weight_grad", 2, 2, 1, Operands::converted, make_conv2d_weight_grad},
    {"max_pool", 1, 1, 1, Operands::converted, make_max_pool},
    {"max_pool_grad", 3, 3, 1, Operands::converted, make_max_pool_grad},
    {"avg_pool", 1, 1, 1, Operands::converted, make_avg_pool},
    {"avg_pool_grad", 1, 1, 1, Operands::converted, make_avg_pool_grad},
    {"dropout", 2, 2, 1, Operands::converted, make_dropout},
    {"random_uniform", 1, 1, 1, Operands::converted, make_random_uniform},
    {"random_normal", 1, 1, 1, Operands::converted, make_random_normal},
    {"random_truncated_normal", 1, 1, 1, Operands::converted, make_random_truncated_normal},
    {"quantize", 4, 4, 2, Operands::converted, make_quantize},
    {"dequantize", 2, 2, 1, Operands::converted, make_dequantize},
    {"ctc", 2, 2, 2, Operands::converted, make_ctc},
    {"ctc_grad", 5, 5, 1, Operands::converted, make_ctc_grad},
    {"cross_entropy", 2, 2, 2, Operands::converted, make_cross_entropy},
    {"cross_entropy_grad", 4, 4, 1, Operands::converted, make_cross_entropy_grad},
    {"correct", 2, 2, 1, Operands::converted, make_correct},
    {"mesh_index", 1, 1, 1, Operands::raw, make_mesh_index},
    {"pick", 2, 2, 1, Operands::raw, make_pick},
    {"mask", 2, 2, 1, Operands::converted, make_mask},
};

} // namespace weft::kernels::reference
