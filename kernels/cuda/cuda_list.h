// SPDX-License-Identifier: Apache-2.0
// The CUDA back end's kernels. Elementwise ops share one and are listed with their names in
// kernels/elementwise.h.
#pragma once

#include "kernels/op.h"

namespace weft::kernels::cuda {

using Made = std::unique_ptr<Kernel>;

Made make_elementwise(const Op& op);
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
Made make_matmul(const Op& op);
Made make_linear(const Op& op);
Made make_linear_gelu(const Op& op);
Made make_matmul_gelu_grad(const Op& op);
Made make_matmul_add(const Op& op);
Made make_matmul_sums(const Op& op);
Made make_convolution_product(const Op& op);
Made make_library_convolution(const Op& op);
Made make_direct_convolution(const Op& op);
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
Made make_library_attention(const Op& op);
Made make_attention(const Op& op);
Made make_library_attention_grad(const Op& op);
Made make_attention_grad(const Op& op);
Made make_attention_cached(const Op& op);
Made make_cache_write(const Op& op);
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

inline constexpr KernelEntry kCudaList[] = {
    // op, name, fewest inputs, most inputs (-1: any), outputs (-1: any), make
    {"fused", "cuda generated", 1, -1, -1, make_elementwise},
    {"sweep", "cuda sweep", 1, -1, -1, make_elementwise},
    {"constant", "cuda fill", 0, 0, 1, make_constant},
    {"copy", "cuda move", 1, 1, 1, make_copy},
    {"reshape", "cuda move", 1, 1, 1, make_copy},
    {"stop_gradient", "cuda move", 1, 1, 1, make_copy},
    {"transpose", "cuda move", 1, 1, 1, make_transpose},
    {"broadcast", "cuda move", 1, 1, 1, make_broadcast},
    {"slice", "cuda move", 1, 1, 1, make_slice},
    {"pad", "cuda move", 1, 1, 1, make_pad},
    {"concat", "cuda move", 1, -1, 1, make_concat},
    {"reduce_sum", "cuda reduce", 1, 1, 1, make_reduce_sum},
    {"reduce_max", "cuda reduce", 1, 1, 1, make_reduce_max},
    {"sum_squares", "cuda reduce", 1, -1, 1, make_sum_squares},
    {"argmax", "cuda argmax", 1, 1, 1, make_argmax},
    {"matmul", "cublaslt matmul", 2, 2, 1, make_matmul},
    {"linear", "cublaslt matmul", 2, 3, 1, make_linear},
    {"linear_gelu", "cublaslt matmul", 2, 3, 2, make_linear_gelu},
    {"matmul_gelu_grad", "cublaslt matmul", 3, 3, 1, make_matmul_gelu_grad},
    {"matmul_add", "cublaslt matmul", 3, 3, 1, make_matmul_add},
    {"matmul_sums", "cublaslt matmul", 2, 2, 2, make_matmul_sums},
    {"conv2d", "cublaslt matmul", 2, 2, 1, make_convolution_product},
    {"conv2d", "cudnn convolution", 2, 2, 1, make_library_convolution},
    {"conv2d", "cuda convolution", 2, 2, 1, make_direct_convolution},
    {"conv2d_input_grad", "cublaslt matmul", 2, 2, 1, make_convolution_product},
    {"conv2d_input_grad", "cudnn convolution", 2, 2, 1, make_library_convolution},
    {"conv2d_input_grad", "cuda convolution", 2, 2, 1, make_direct_convolution},
    {"conv2d_weight_grad", "cublaslt matmul", 2, 2, 1, make_convolution_product},
    {"conv2d_weight_grad", "cudnn convolution", 2, 2, 1, make_library_convolution},
    {"conv2d_weight_grad", "cuda convolution", 2, 2, 1, make_direct_convolution},
    {"embedding", "cuda embedding", 2, 2, 1, make_embedding},
    {"embedding_grad", "cuda embedding", 2, 2, 1, make_embedding_grad},
    {"read_rows", "cuda embedding", 2, 2, 1, make_embedding},
    {"sum_rows", "cuda rows", 2, 2, 2, make_sum_rows},
    {"write_rows", "cuda rows", 3, 3, 1, make_write_rows},
    {"softmax", "cuda softmax", 1, 1, 1, make_softmax},
    {"softmax_grad", "cuda softmax", 2, 2, 1, make_softmax_grad},
    {"layer_norm", "cuda layer norm", 3, 3, 3, make_layer_norm},
    {"layer_norm_input_grad", "cuda layer norm", 5, 5, 1, make_layer_norm_input_grad},
    {"layer_norm_param_grad", "cuda layer norm", 4, 4, 2, make_layer_norm_param_grad},
    {"rms_norm", "cuda rms norm", 2, 2, 2, make_rms_norm},
    {"rms_norm_input_grad", "cuda rms norm", 4, 4, 1, make_rms_norm_input_grad},
    {"rms_norm_param_grad", "cuda rms norm", 3, 3, 1, make_rms_norm_param_grad},
    {"batch_norm", "cuda batch norm", 3, 4, 3, make_batch_norm},
    {"batch_norm_grad", "cuda batch norm", 5, 6, 3, make_batch_norm_grad},
    {"batch_norm_inference", "cuda batch norm", 5, 5, 1, make_batch_norm_inference},
    {"top_k", "cuda top k", 1, 1, 2, make_top_k},
    {"top_k_grad", "cuda top k", 2, 2, 1, make_top_k_grad},
    {"expert_rows", "cuda experts", 1, 1, 1, make_expert_rows},
    {"dispatch", "cuda experts", 2, 3, 1, make_dispatch},
    {"combine", "cuda experts", 2, 3, 1, make_combine},
    {"gate_grad", "cuda experts", 3, 3, 1, make_gate_grad},
    {"rotary", "cuda rotary", 1, 2, 1, make_rotary},
    {"attention", "cudnn attention", 3, 6, 2, make_library_attention},
    {"attention", "cuda attention", 3, 6, 2, make_attention},
    {"attention_grad", "cudnn attention", 6, 9, 3, make_library_attention_grad},
    {"attention_grad", "cuda attention", 6, 9, 3, make_attention_grad},
    {"attention_cached", "cuda attention", 4, 4, 1, make_attention_cached},
    {"cache_write", "cuda cache write", 3, 3, 1, make_cache_write},
    {"max_pool", "cuda pooling", 1, 1, 1, make_max_pool},
    {"max_pool_grad", "cuda pooling", 3, 3, 1, make_max_pool_grad},
    {"avg_pool", "cuda pooling", 1, 1, 1, make_avg_pool},
    {"avg_pool_grad", "cuda pooling", 1, 1, 1, make_avg_pool_grad},
    {"dropout", "cuda dropout", 2, 2, 1, make_dropout},
    {"random_uniform", "cuda random", 1, 1, 1, make_random_uniform},
    {"random_normal", "cuda random", 1, 1, 1, make_random_normal},
    {"random_truncated_normal", "cuda random", 1, 1, 1, make_random_truncated_normal},
    {"quantize", "cuda quantize", 4, 4, 2, make_quantize},
    {"dequantize", "cuda quantize", 2, 2, 1, make_dequantize},
    {"ctc", "cuda ctc", 2, 2, 2, make_ctc},
    {"ctc_grad", "cuda ctc", 5, 5, 1, make_ctc_grad},
    {"cross_entropy", "cuda cross-entropy", 2, 2, 2, make_cross_entropy},
    {"cross_entropy_grad", "cuda cross-entropy", 4, 4, 1, make_cross_entropy_grad},
    {"correct", "cuda correct", 2, 2, 1, make_correct},
    {"mesh_index", "cuda mesh index", 1, 1, 1, make_mesh_index},
    {"pick", "cuda pick", 2, 2, 1, make_pick},
    {"mask", "cuda mask", 2, 2, 1, make_mask},
};

} // namespace weft::kernels::cuda
