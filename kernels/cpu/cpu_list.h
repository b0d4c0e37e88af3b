// SPDX-License-Identifier: Apache-2.0
// The CPU back end's kernels, best first within an op: the first that accepts the description wins.
// What none accepts is tried once more in f32 (widened.cpp); the rest goes to the reference back
// end. Elementwise ops share one kernel and are listed with their names in kernels/elementwise.h.
#pragma once

#include "kernels/op.h"

namespace weft::kernels::cpu {

using Made = std::unique_ptr<Kernel>;

/// What `make` makes of the op with bf16 and f16 operands as f32, between conversions of them.
Made make_in_f32(const Op& op, Made (*make)(const Op&));
Made make_compiled_group(const Op& op);
Made make_interpreted_group(const Op& op);
Made make_constant(const Op& op);
Made make_copy(const Op& op);
Made make_transpose(const Op& op);
Made make_broadcast(const Op& op);
Made make_slice(const Op& op);
Made make_pad(const Op& op);
Made make_concat(const Op& op);
Made make_reduce_sum(const Op& op);
Made make_reduce_max(const Op& op);
Made make_sum_squares(const Op& op);
Made make_argmax(const Op& op);
Made make_row_matmul(const Op& op);
Made make_row_linear(const Op& op);
Made make_tile_matmul(const Op& op);
Made make_tile_linear(const Op& op);
Made make_tile_linear_gelu(const Op& op);
Made make_tile_matmul_gelu_grad(const Op& op);
Made make_tile_matmul_add(const Op& op);
Made make_vector_matmul(const Op& op); // these two where they are fastest, the next anywhere
Made make_vector_linear(const Op& op);
Made make_any_vector_matmul(const Op& op);
Made make_any_vector_linear(const Op& op);
Made make_vector_linear_gelu(const Op& op);
Made make_vector_matmul_gelu_grad(const Op& op);
Made make_vector_matmul_add(const Op& op);
Made make_matmul(const Op& op);
Made make_linear(const Op& op);
Made make_matmul_add(const Op& op);
Made make_embedding(const Op& op);
Made make_embedding_grad(const Op& op);
Made make_sum_rows(const Op& op);
Made make_write_rows(const Op& op);
Made make_softmax(const Op& op);
Made make_softmax_grad(const Op& op);
Made make_layer_norm(const Op& op);
Made make_layer_norm_input_grad(const Op& op);
Made make_layer_norm_param_grad(const Op& op);
Made make_rms_norm(const Op& op);
Made make_rms_norm_input_grad(const Op& op);
Made make_rms_norm_param_grad(const Op& op);
Made make_batch_norm(const Op& op);
Made make_batch_norm_grad(const Op& op);
Made make_batch_norm_inference(const Op& op);
Made make_top_k(const Op& op);
Made make_top_k_grad(const Op& op);
Made make_expert_rows(const Op& op);
Made make_dispatch(const Op& op);
Made make_combine(const Op& op);
Made make_gate_grad(const Op& op);
Made make_rotary(const Op& op);
Made make_vector_attention(const Op& op);
Made make_vector_attention_grad(const Op& op);
Made make_pair_attention(const Op& op);
Made make_pair_attention_grad(const Op& op);
Made make_attention(const Op& op);
Made make_attention_grad(const Op& op);
Made make_attention_cached(const Op& op);
Made make_cache_write(const Op& op);
Made make_tile_conv2d(const Op& op);
Made make_tile_conv2d_input_grad(const Op& op);
Made make_tile_conv2d_weight_grad(const Op& op);
Made make_vector_conv2d(const Op& op); // these three where they are fastest, the next anywhere
Made make_vector_conv2d_input_grad(const Op& op);
Made make_vector_conv2d_weight_grad(const Op& op);
Made make_any_vector_conv2d(const Op& op);
Made make_any_vector_conv2d_input_grad(const Op& op);
Made make_any_vector_conv2d_weight_grad(const Op& op);
Made make_conv2d(const Op& op);
Made make_conv2d_input_grad(const Op& op);
Made make_conv2d_weight_grad(const Op& op);
Made make_max_pool(const Op& op);
Made make_max_pool_grad(const Op& op);
Made make_avg_pool(const Op& op);
Made make_avg_pool_grad(const Op& op);
Made make_dropout(const Op& op);
Made make_random_uniform(const Op& op);
Made make_random_normal(const Op& op);
Made make_random_truncated_normal(const Op& op);
Made make_cross_entropy(const Op& op);
Made make_cross_entropy_grad(const Op& op);
Made make_correct(const Op& op);
Made make_quantize(const Op& op);
Made make_dequantize(const Op& op);
Made make_ctc(const Op& op);
Made make_ctc_grad(const Op& op);
Made make_mesh_index(const Op& op);
Made make_pick(const Op& op);
Made make_mask(const Op& op);

inline constexpr KernelEntry kCpuList[] = {
    // op, name, fewest inputs, most inputs (-1: any), outputs (-1: any), make
    {"fused", "jit group", 1, -1, -1, make_compiled_group},
    {"fused", "cpu group", 1, -1, -1, make_interpreted_group},
    {"sweep", "jit sweep", 1, -1, -1, make_compiled_group},
    {"sweep", "cpu sweep", 1, -1, -1, make_interpreted_group},
    {"constant", "cpu constant", 0, 0, 1, make_constant},
    {"copy", "cpu copy", 1, 1, 1, make_copy},
    {"reshape", "cpu copy", 1, 1, 1, make_copy},
    {"stop_gradient", "cpu copy", 1, 1, 1, make_copy},
    {"transpose", "cpu transpose", 1, 1, 1, make_transpose},
    {"broadcast", "cpu broadcast", 1, 1, 1, make_broadcast},
    {"slice", "cpu slice", 1, 1, 1, make_slice},
    {"pad", "cpu pad", 1, 1, 1, make_pad},
    {"concat", "cpu concat", 1, -1, 1, make_concat},
    {"reduce_sum", "cpu reduce", 1, 1, 1, make_reduce_sum},
    {"reduce_max", "cpu reduce", 1, 1, 1, make_reduce_max},
    {"sum_squares", "cpu reduce", 1, -1, 1, make_sum_squares},
    {"argmax", "cpu argmax", 1, 1, 1, make_argmax},
    {"matmul", "cpu row matmul", 2, 2, 1, make_row_matmul},
    {"matmul", "cpu tile matmul", 2, 2, 1, make_tile_matmul},
    {"matmul", "vector matmul", 2, 2, 1, make_vector_matmul},
    {"matmul", "onednn matmul", 2, 2, 1, make_matmul},
    {"matmul", "vector matmul", 2, 2, 1, make_any_vector_matmul},
    {"linear", "cpu row matmul", 2, 3, 1, make_row_linear},
    {"linear", "cpu tile matmul", 2, 3, 1, make_tile_linear},
    {"linear", "vector matmul", 2, 3, 1, make_vector_linear},
    {"linear", "onednn matmul", 2, 3, 1, make_linear},
    {"linear", "vector matmul", 2, 3, 1, make_any_vector_linear},
    {"linear_gelu", "cpu tile matmul", 2, 3, 2, make_tile_linear_gelu},
    {"linear_gelu", "vector matmul", 2, 3, 2, make_vector_linear_gelu},
    {"matmul_gelu_grad", "cpu tile matmul", 3, 3, 1, make_tile_matmul_gelu_grad},
    {"matmul_gelu_grad", "vector matmul", 3, 3, 1, make_vector_matmul_gelu_grad},
    {"matmul_add", "cpu tile matmul", 3, 3, 1, make_tile_matmul_add},
    {"matmul_add", "vector matmul", 3, 3, 1, make_vector_matmul_add},
    {"matmul_add", "onednn matmul", 3, 3, 1, make_matmul_add},
    {"embedding", "cpu embedding", 2, 2, 1, make_embedding},
    {"embedding_grad", "cpu embedding", 2, 2, 1, make_embedding_grad},
    {"read_rows", "cpu embedding", 2, 2, 1, make_embedding},
    {"sum_rows", "cpu rows", 2, 2, 2, make_sum_rows},
    {"write_rows", "cpu rows", 3, 3, 1, make_write_rows},
    {"softmax", "cpu softmax", 1, 1, 1, make_softmax},
    {"softmax_grad", "cpu softmax", 2, 2, 1, make_softmax_grad},
    {"layer_norm", "cpu layer norm", 3, 3, 3, make_layer_norm},
    {"layer_norm_input_grad", "cpu layer norm", 5, 5, 1, make_layer_norm_input_grad},
    {"layer_norm_param_grad", "cpu layer norm", 4, 4, 2, make_layer_norm_param_grad},
    {"rms_norm", "cpu rms norm", 2, 2, 2, make_rms_norm},
    {"rms_norm_input_grad", "cpu rms norm", 4, 4, 1, make_rms_norm_input_grad},
    {"rms_norm_param_grad", "cpu rms norm", 3, 3, 1, make_rms_norm_param_grad},
    {"batch_norm", "cpu batch norm", 3, 4, 3, make_batch_norm},
    {"batch_norm_grad", "cpu batch norm", 5, 6, 3, make_batch_norm_grad},
    {"batch_norm_inference", "cpu batch norm", 5, 5, 1, make_batch_norm_inference},
    {"top_k", "cpu top k", 1, 1, 2, make_top_k},
    {"top_k_grad", "cpu top k", 2, 2, 1, make_top_k_grad},
    {"expert_rows", "cpu experts", 1, 1, 1, make_expert_rows},
    {"dispatch", "cpu experts", 2, 3, 1, make_dispatch},
    {"combine", "cpu experts", 2, 3, 1, make_combine},
    {"gate_grad", "cpu experts", 3, 3, 1, make_gate_grad},
    {"rotary", "cpu rotary", 1, 2, 1, make_rotary},
    {"attention", "vector attention", 3, 6, 2, make_vector_attention},
    {"attention", "cpu pair attention", 3, 6, 2, make_pair_attention},
    {"attention", "cpu attention", 3, 6, 2, make_attention},
    {"attention_grad", "vector attention", 6, 9, 3, make_vector_attention_grad},
    {"attention_grad", "cpu pair attention", 6, 9, 3, make_pair_attention_grad},
    {"attention_grad", "cpu attention", 6, 9, 3, make_attention_grad},
    {"attention_cached", "cpu attention", 4, 4, 1, make_attention_cached},
    {"cache_write", "cpu cache write", 3, 3, 1, make_cache_write},
    {"conv2d", "cpu tile convolution", 2, 2, 1, make_tile_conv2d},
    {"conv2d", "vector convolution", 2, 2, 1, make_vector_conv2d},
    {"conv2d", "onednn convolution", 2, 2, 1, make_conv2d},
    {"conv2d", "vector convolution", 2, 2, 1, make_any_vector_conv2d},
    {"conv2d_input_grad", "cpu tile convolution", 2, 2, 1, make_tile_conv2d_input_grad},
    {"conv2d_input_grad", "vector convolution", 2, 2, 1, make_vector_conv2d_input_grad},
    {"conv2d_input_grad", "onednn convolution", 2, 2, 1, make_conv2d_input_grad},
    {"conv2d_input_grad", "vector convolution", 2, 2, 1, make_any_vector_conv2d_input_grad},
    {"conv2d_weight_grad", "cpu tile convolution", 2, 2, 1, make_tile_conv2d_weight_grad},
    {"conv2d_weight_grad", "vector convolution", 2, 2, 1, make_vector_conv2d_weight_grad},
    {"conv2d_weight_grad", "onednn convolution", 2, 2, 1, make_conv2d_weight_grad},
    {"conv2d_weight_grad", "vector convolution", 2, 2, 1, make_any_vector_conv2d_weight_grad},
    {"max_pool", "cpu pooling", 1, 1, 1, make_max_pool},
    {"max_pool_grad", "cpu pooling", 3, 3, 1, make_max_pool_grad},
    {"avg_pool", "cpu pooling", 1, 1, 1, make_avg_pool},
    {"avg_pool_grad", "cpu pooling", 1, 1, 1, make_avg_pool_grad},
    {"dropout", "cpu dropout", 2, 2, 1, make_dropout},
    {"random_uniform", "cpu random", 1, 1, 1, make_random_uniform},
    {"random_normal", "cpu random", 1, 1, 1, make_random_normal},
    {"random_truncated_normal", "cpu random", 1, 1, 1, make_random_truncated_normal},
    {"quantize", "cpu quantize", 4, 4, 2, make_quantize},
    {"dequantize", "cpu quantize", 2, 2, 1, make_dequantize},
    {"ctc", "cpu ctc", 2, 2, 2, make_ctc},
    {"ctc_grad", "cpu ctc", 5, 5, 1, make_ctc_grad},
    {"cross_entropy", "cpu cross-entropy", 2, 2, 2, make_cross_entropy},
    {"cross_entropy_grad", "cpu cross-entropy", 4, 4, 1, make_cross_entropy_grad},
    {"correct", "cpu correct", 2, 2, 1, make_correct},
    {"mesh_index", "cpu mesh index", 1, 1, 1, make_mesh_index},
    {"pick", "cpu pick", 2, 2, 1, make_pick},
    {"mask", "cpu mask", 2, 2, 1, make_mask},
};

} // namespace weft::kernels::cpu
