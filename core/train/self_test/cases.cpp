// SPDX-License-Identifier: Apache-2.0
#include "core/train/self_test/cases.h"

#include "core/base/crc32c.h"
#include "core/ir/text.h"

#include <string_view>

namespace weft::train {
namespace {

struct CaseText {
    std::string_view name;
    std::string_view text; // of the program's body
    bool everywhere = true;
};

// Extents are neither all multiples of a tile nor all odd: most kernels have a way for each.
constexpr CaseText kTexts[] = {
    {"elementwise group", R"(
  in %0 batch "noise 0" : F[33,40]
  in %1 batch "positive 1" : F[40]
  in %2 batch "noise 2" : F[33,40]
  %90, %91, %92, %93 = fused(%0, %1, %2) : F[33,40], F[33,40], F[33,40], F[33,40] @ "" forward {
    in %3 : F[33,40]
    in %4 : F[40]
    in %5 : F[33,40]
    %10 = neg(%3) : F[33,40] @ "" forward
    %11 = abs(%3) : F[33,40] @ "" forward
    %12 = exp(%3) : F[33,40] @ "" forward
    %13 = log(%4) : F[40] @ "" forward
    %14 = sqrt(%4) : F[40] @ "" forward
    %15 = rsqrt(%4) : F[40] @ "" forward
    %16 = tanh(%3) : F[33,40] @ "" forward
    %17 = sigmoid(%3) : F[33,40] @ "" forward
    %18 = square(%3) : F[33,40] @ "" forward
    %19 = sign(%3) : F[33,40] @ "" forward
    %20 = is_finite(%3) : F[33,40] @ "" forward
    %21 = relu(%3) : F[33,40] @ "" forward
    %22 = gelu(%3) : F[33,40] @ "" forward
    %23 = gelu_erf(%3) : F[33,40] @ "" forward
    %24 = silu(%3) : F[33,40] @ "" forward
    %25 = affine(%3) {scale=1.75, shift=-0.25} : F[33,40] @ "" forward
    %26 = add(%3, %4) : F[33,40] @ "" forward
    %27 = sub(%3, %5) : F[33,40] @ "" forward
    %28 = mul(%26, %27) : F[33,40] @ "" forward
    %29 = div(%3, %4) : F[33,40] @ "" forward
    %30 = maximum(%3, %5) : F[33,40] @ "" forward
    %31 = minimum(%3, %5) : F[33,40] @ "" forward
    %32 = pow(%4, %3) : F[33,40] @ "" forward
    %33 = less(%3, %5) : F[33,40] @ "" forward
    %34 = equal(%3, %5) : F[33,40] @ "" forward
    %35 = relu_grad(%3, %5) : F[33,40] @ "" forward
    %36 = gelu_grad(%3, %5) : F[33,40] @ "" forward
    %37 = gelu_erf_grad(%3, %5) : F[33,40] @ "" forward
    %38 = silu_grad(%3, %5) : F[33,40] @ "" forward
    %39 = tanh_grad(%3, %5) : F[33,40] @ "" forward
    %40 = sigmoid_grad(%3, %5) : F[33,40] @ "" forward
    %41 = select(%33, %12, %16) : F[33,40] @ "" forward
    %42 = symlog(%3) : F[33,40] @ "" forward
    %43 = atan2(%3, %4) : F[33,40] @ "" forward
    %50 = add(%10, %11) : F[33,40] @ "" forward
    %51 = add(%50, %13) : F[33,40] @ "" forward
    %52 = add(%51, %14) : F[33,40] @ "" forward
    %53 = add(%52, %15) : F[33,40] @ "" forward
    %54 = add(%53, %17) : F[33,40] @ "" forward
    %55 = add(%54, %18) : F[33,40] @ "" forward
    %56 = add(%55, %19) : F[33,40] @ "" forward
    %57 = add(%56, %20) : F[33,40] @ "" forward
    %60 = add(%21, %22) : F[33,40] @ "" forward
    %61 = add(%60, %23) : F[33,40] @ "" forward
    %62 = add(%61, %24) : F[33,40] @ "" forward
    %63 = add(%62, %25) : F[33,40] @ "" forward
    %64 = add(%63, %28) : F[33,40] @ "" forward
    %65 = add(%64, %29) : F[33,40] @ "" forward
    %70 = add(%30, %31) : F[33,40] @ "" forward
    %71 = add(%70, %32) : F[33,40] @ "" forward
    %72 = add(%71, %33) : F[33,40] @ "" forward
    %73 = add(%72, %34) : F[33,40] @ "" forward
    %74 = add(%73, %35) : F[33,40] @ "" forward
    %75 = add(%74, %36) : F[33,40] @ "" forward
    %76 = add(%75, %37) : F[33,40] @ "" forward
    %77 = add(%76, %38) : F[33,40] @ "" forward
    %80 = add(%39, %40) : F[33,40] @ "" forward
    %81 = add(%80, %41) : F[33,40] @ "" forward
    %82 = add(%81, %42) : F[33,40] @ "" forward
    %83 = add(%82, %43) : F[33,40] @ "" forward
    yield %57, %65, %77, %83
  }
  out %90 output "y")"},
    {"sweep over tensors", R"(
  in %0 batch "noise 0" : f32[33,40]
  in %1 batch "noise 1" : F[33,40]
  in %2 batch "positive 2" : f32[]
  in %3 batch "noise 3" : f32[20001]
  in %4 batch "noise 4" : F[20001]
  in %5 batch "noise 5" : f32[7]
  in %6 batch "noise 6" : F[7]
  %20, %21, %22, %23, %24, %25 = sweep(%0, %1, %2, %3, %4, %2, %5, %6, %2) {tensors=3} : f32[33,40], F[33,40], f32[20001], F[20001], f32[7], F[7] @ "" update {
    in %10 : f32[33,40]
    in %11 : F[33,40]
    in %12 : f32[]
    %13 = mul(%11, %12) : f32[33,40] @ "" update
    %14 = sub(%10, %13) : f32[33,40] @ "" update
    %15 = affine(%11) {scale=0.75, shift=0.5} : F[33,40] @ "" update
    yield %14, %15
  }
  out %20 output "y")"},
    {"cast", R"(
  in %0 batch "noise 0" : f32[33,40]
  %1 = cast(%0) {dtype="bf16"} : bf16[33,40] @ "" forward
  %2 = cast(%0) {dtype="f16"} : f16[33,40] @ "" forward
  %3 = cast(%1) {dtype="f32"} : f32[33,40] @ "" forward
  %4 = cast(%2) {dtype="f32"} : f32[33,40] @ "" forward
  out %4 output "y")"},
    {"moves", R"(
  in %0 batch "noise 0" : F[6,20,24]
  %1 = transpose(%0) {permutation=[2,0,1]} : F[24,6,20] @ "" forward
  %2 = slice(%0) {sizes=[2,20,8], starts=[3,0,8]} : F[2,20,8] @ "" forward
  %3 = pad(%2) {high=[1,0,3], low=[0,2,0], value=0.5} : F[3,22,11] @ "" forward
  %4 = concat(%2, %2) {dim=1} : F[2,40,8] @ "" forward
  %5 = broadcast(%2) {shape=[5,2,20,8]} : F[5,2,20,8] @ "" forward
  %6 = reshape(%0) {shape=[120,24]} : F[120,24] @ "" forward
  %7 = copy(%6) : F[120,24] @ "" forward
  %8 = stop_gradient(%7) : F[120,24] @ "" forward
  out %8 output "y")"},
    {"constant", R"(
  %0 = constant() {dtype="f32", shape=[130], value=3.25} : f32[130] @ "" forward
  out %0 output "y")"},
    {"reduction", R"(
  in %0 batch "noise 0" : F[37,120]
  in %6 batch "noise 6" : F[20001]
  %1 = reduce_sum(%0) {dims=[1], keep=false} : F[37] @ "" forward
  %2 = reduce_sum(%0) {dims=[0], keep=true} : F[1,120] @ "" forward
  %3 = reduce_max(%0) {dims=[1], keep=false} : F[37] @ "" forward
  %4 = sum_squares(%0, %6) : f32[] @ "" forward
  %5 = argmax(%0) : i32[37] @ "" forward
  out %5 output "y")"},
    {"matrix product", R"(
  in %0 batch "noise 0" : F[48,64]
  in %1 batch "noise 1" : F[64,40]
  in %2 batch "noise 2" : F[40,64]
  in %3 batch "noise 3" : F[3,17,24]
  in %4 batch "noise 4" : F[3,24,9]
  in %5 batch "noise 5" : F[40]
  %6 = matmul(%0, %1) : F[48,40] @ "" forward
  %7 = matmul(%0, %2) {transpose_y=true} : F[48,40] @ "" forward
  %8 = matmul(%0, %6) {transpose_x=true, wide=true} : f32[64,40] @ "" forward
  %9 = matmul(%3, %4) : F[3,17,9] @ "" forward
  %10 = linear(%0, %1, %5) : F[48,40] @ "" forward
  out %10 output "y")"},
    {"product in tf32", R"(
  in %0 batch "noise 0" : f32[48,64]
  in %1 batch "noise 1" : f32[64,40]
  in %2 batch "noise 2" : f32[2,9,8,16]
  in %3 batch "noise 3" : f32[3,3,16,24]
  %4 = matmul(%0, %1) {operands="tf32"} : f32[48,40] @ "" forward
  %5 = conv2d(%2, %3) {operands="tf32", padding=[1,1,1,1], stride=[1,1]} : f32[2,9,8,24] @ "" forward
  out %5 output "y")"},
    {"product and what follows", R"(
  in %0 batch "noise 0" : F[48,64]
  in %1 batch "noise 1" : F[64,40]
  in %2 batch "noise 2" : F[40]
  in %3 batch "noise 3" : F[48,40]
  in %4 batch "noise 4" : F[64,9]
  %5, %6 = linear_gelu(%0, %1, %2) : F[48,40], F[48,40] @ "" forward
  %7, %8 = linear_gelu(%0, %4) : F[48,9], F[48,9] @ "" forward
  %9 = matmul_gelu_grad(%3, %1, %0) {transpose_y=true} : F[48,64] @ "" forward
  %10, %11 = matmul_sums(%0, %3) {transpose_x=true, wide=true} : f32[64,40], f32[40] @ "" forward
  %12 = matmul_add(%0, %3, %10) {transpose_x=true, wide=true} : f32[64,40] @ "" forward
  out %12 output "y")"},
    {"product of 8-bit numbers", R"(
  in %0 batch "noise 0" : bf16[48,64]
  in %1 batch "noise 1" : bf16[64,80]
  in %2 batch "noise 2" : bf16[48,80]
  %3 = linear(%0, %1) {operands="e4m3 e4m3"} : bf16[48,80] @ "" forward
  %4 = matmul(%2, %1) {operands="e5m2 e4m3", transpose_y=true} : bf16[48,64] @ "" forward
  %5 = matmul(%0, %2) {operands="e4m3 e5m2", transpose_x=true, wide=true} : f32[64,80] @ "" forward
  out %5 output "y")",
     false},
    {"embedding", R"(
  in %0 batch "noise 0" : F[50,48]
  in %1 batch "below 50" : i32[7,11]
  in %2 batch "noise 2" : F[7,11,48]
  %3 = embedding(%0, %1) : F[7,11,48] @ "" forward
  %4 = embedding_grad(%1, %2) {rows=50} : f32[50,48] @ "" forward
  out %4 output "y")"},
    {"rows of tables", R"(
  in %0 batch "noise 0" : f32[50,48]
  in %1 batch "below 50" : i32[7,11]
  in %2 batch "noise 2" : F[7,11,48]
  %3, %4 = sum_rows(%1, %2) : i32[7,11], f32[7,11,48] @ "" forward
  %5 = write_rows(%0, %3, %4) : f32[50,48] @ "" forward
  %6 = read_rows(%5, %1) : f32[7,11,48] @ "" forward
  out %6 output "y")"},
    {"softmax", R"(
  in %0 batch "noise 0" : F[33,130]
  in %1 batch "noise 1" : F[33,130]
  %2 = softmax(%0) : F[33,130] @ "" forward
  %3 = softmax_grad(%2, %1) : F[33,130] @ "" forward
  out %3 output "y")"},
    {"layer norm", R"(
  in %0 batch "noise 0" : F[19,136]
  in %1 batch "positive 1" : f32[136]
  in %2 batch "noise 2" : f32[136]
  in %3 batch "noise 3" : F[19,136]
  %4, %5, %6 = layer_norm(%0, %1, %2) {eps=1e-05} : F[19,136], f32[19], f32[19] @ "" forward
  %7 = layer_norm_input_grad(%0, %1, %5, %6, %3) : F[19,136] @ "" forward
  %8, %9 = layer_norm_param_grad(%0, %5, %6, %3) : f32[136], f32[136] @ "" forward
  out %4 output "y")"},
    {"rms norm", R"(
  in %0 batch "noise 0" : F[19,136]
  in %1 batch "positive 1" : f32[136]
  in %2 batch "noise 2" : F[19,136]
  %3, %4 = rms_norm(%0, %1) {eps=1e-05} : F[19,136], f32[19] @ "" forward
  %5 = rms_norm_input_grad(%0, %1, %4, %2) : F[19,136] @ "" forward
  %6 = rms_norm_param_grad(%0, %4, %2) : f32[136] @ "" forward
  out %3 output "y")"},
    {"batch norm", R"(
  in %0 batch "noise 0" : F[6,5,7,24]
  in %1 batch "positive 1" : f32[24]
  in %2 batch "noise 2" : f32[24]
  in %3 batch "noise 3" : F[6,5,7,24]
  %4, %5, %6 = batch_norm(%0, %1, %2) {eps=0.001} : F[6,5,7,24], f32[24], f32[24] @ "" forward
  %7, %8, %9 = batch_norm_grad(%0, %1, %5, %6, %3) {eps=0.001} : F[6,5,7,24], f32[24], f32[24] @ "" forward
  %10 = batch_norm_inference(%0, %1, %2, %5, %6) {eps=0.001} : F[6,5,7,24] @ "" forward
  out %4 output "y")"},
    {"experts", R"(
  in %0 batch "noise 0" : f32[2,9,4]
  in %1 batch "noise 1" : F[2,9,24]
  in %2 batch "positive 2" : f32[2,9,2]
  in %3 batch "noise 3" : F[2,9,24]
  %4, %5 = top_k(%0) {k=2} : f32[2,9,2], i32[2,9,2] @ "" forward
  %6 = top_k_grad(%5, %2) {extent=4} : f32[2,9,4] @ "" forward
  %7 = expert_rows(%5) {capacity=6, experts=4} : i32[2,9,2] @ "" forward
  %8 = dispatch(%1, %7, %2) {capacity=6, experts=4} : F[4,2,6,24] @ "" forward
  %9 = combine(%8, %7, %2) : F[2,9,24] @ "" forward
  %10 = gate_grad(%8, %7, %3) : f32[2,9,2] @ "" forward
  out %9 output "y")"},
    {"rotary", R"(
  in %0 batch "noise 0" : F[2,13,3,16]
  in %1 scalar "at 7" : i64[]
  %2 = rotary(%0, %1) {inverse=false, theta=10000.0} : F[2,13,3,16] @ "" forward
  out %2 output "y")"},
    {"attention", R"(
  in %0 batch "noise 0" : F[2,40,4,64]
  in %1 batch "noise 1" : F[2,40,2,64]
  in %2 batch "noise 2" : F[2,40,2,64]
  in %3 batch "noise 3" : F[2,40,4,64]
  %4, %5 = attention(%0, %1, %2) {causal=true, scale=0.125} : F[2,40,4,64], f32[2,4,40] @ "" forward
  %6, %7, %8 = attention_grad(%0, %1, %2, %4, %5, %3) {causal=true, scale=0.125} : F[2,40,4,64], F[2,40,2,64], F[2,40,2,64] @ "" forward
  out %4 output "y")"},
    {"attention with dropout", R"(
  in %0 batch "noise 0" : F[1,20,2,24]
  in %1 batch "noise 1" : F[1,36,2,24]
  in %2 batch "noise 2" : F[1,36,2,24]
  in %3 batch "noise 3" : F[1,20,2,24]
  in %4 scalar "random" : i64[3]
  %5, %6 = attention(%0, %1, %2, %4) {causal=false, rate=0.3, scale=0.25, stream="a"} : F[1,20,2,24], f32[1,2,20] @ "" forward
  %7, %8, %9 = attention_grad(%0, %1, %2, %5, %6, %3, %4) {causal=false, rate=0.3, scale=0.25, stream="a"} : F[1,20,2,24], F[1,36,2,24], F[1,36,2,24] @ "" forward
  out %5 output "y")"},
    {"attention in packed sequences", R"(
  in %0 batch "noise 0" : F[2,40,4,24]
  in %1 batch "noise 1" : F[2,40,2,24]
  in %2 batch "noise 2" : F[2,40,2,24]
  in %3 batch "noise 3" : F[2,40,4,24]
  in %4 batch "restart 13" : i32[2,40]
  %5, %6 = attention(%0, %1, %2, %4) {causal=true, packed=true, scale=0.25} : F[2,40,4,24], f32[2,4,40] @ "" forward
  %7, %8, %9 = attention_grad(%0, %1, %2, %5, %6, %3, %4) {causal=true, packed=true, scale=0.25} : F[2,40,4,24], F[2,40,2,24], F[2,40,2,24] @ "" forward
  out %5 output "y")"},
    {"attention over a cache", R"(
  in %0 batch "noise 0" : F[2,3,4,24]
  in %1 batch "noise 1" : F[2,32,2,24]
  in %2 batch "noise 2" : F[2,32,2,24]
  in %3 batch "noise 3" : F[2,3,2,24]
  in %4 scalar "at 9" : i64[]
  %5 = cache_write(%1, %3, %4) : F[2,32,2,24] @ "" forward
  %6 = attention_cached(%0, %5, %2, %4) {scale=0.2} : F[2,3,4,24] @ "" forward
  out %6 output "y")"},
    {"convolution", R"(
  in %0 batch "noise 0" : F[2,11,9,16]
  in %1 batch "noise 1" : F[3,3,16,24]
  in %2 batch "noise 2" : F[1,1,16,8]
  %3 = conv2d(%0, %1) {padding=[1,1,1,1], stride=[2,2]} : F[2,6,5,24] @ "" forward
  %4 = conv2d_input_grad(%3, %1) {padding=[1,1,1,1], shape=[2,11,9,16], stride=[2,2]} : F[2,11,9,16] @ "" forward
  %5 = conv2d_weight_grad(%0, %3) {kernel=[3,3], padding=[1,1,1,1], stride=[2,2], wide=true} : f32[3,3,16,24] @ "" forward
  %6 = conv2d(%0, %2) {padding=[0,0,0,0], stride=[1,1]} : F[2,11,9,8] @ "" forward
  out %6 output "y")"},
    {"pooling", R"(
  in %0 batch "noise 0" : F[2,9,7,16]
  in %1 batch "noise 1" : F[2,5,4,16]
  %2 = max_pool(%0) {padding=[1,1,1,1], stride=[2,2], window=[3,3]} : F[2,5,4,16] @ "" forward
  %3 = max_pool_grad(%0, %2, %1) {padding=[1,1,1,1], stride=[2,2], window=[3,3]} : F[2,9,7,16] @ "" forward
  %4 = avg_pool(%0) {padding=[1,1,1,1], stride=[2,2], window=[3,3]} : F[2,5,4,16] @ "" forward
  %5 = avg_pool_grad(%1) {padding=[1,1,1,1], shape=[2,9,7,16], stride=[2,2], window=[3,3]} : F[2,9,7,16] @ "" forward
  out %5 output "y")"},
    {"random numbers", R"(
  in %0 batch "noise 0" : F[33,70]
  in %1 scalar "random" : i64[3]
  %2 = dropout(%0, %1) {rate=0.25, stream="a"} : F[33,70] @ "" forward
  %3 = random_uniform(%1) {high=2.0, low=-0.5, shape=[33,70], stream="b"} : f32[33,70] @ "" forward
  %4 = random_normal(%1) {mean=0.5, shape=[33,70], stddev=0.02, stream="c"} : f32[33,70] @ "" forward
  %5 = random_truncated_normal(%1) {mean=0.0, shape=[33,70], stddev=0.02, stream="d"} : f32[33,70] @ "" forward
  out %2 output "y")"},
    {"loss", R"(
  in %0 batch "noise 0" : F[37,130]
  in %1 batch "below 130" : i32[37]
  in %2 batch "positive 2" : f32[37]
  %3, %4 = cross_entropy(%0, %1) {label_smoothing=0.1} : f32[37], f32[37] @ "" forward
  %5 = cross_entropy_grad(%0, %1, %4, %2) {label_smoothing=0.1} : F[37,130] @ "" forward
  %6 = correct(%0, %1) : f32[37] @ "" forward
  out %6 output "y")"},
    {"numbers in eight bits", R"(
  in %0 batch "noise 0" : f32[6,96]
  in %1 scalar "at 0" : f32[]
  in %2 batch "below 256" : u8[6,96]
  in %3 batch "positive 3" : f32[6,3]
  %4, %5 = quantize(%0, %1, %2, %3) {block=32, has_sign=true} : u8[6,96], f32[6,3] @ "" forward
  %6 = dequantize(%4, %5) {block=32, has_sign=true} : f32[6,96] @ "" forward
  out %6 output "y")"},
    {"loss of sequences", R"(
  in %0 batch "noise 0" : f32[3,14,6]
  in %1 batch "below 6" : i32[3,5]
  in %2 batch "positive 2" : f32[3]
  %3, %4 = ctc(%0, %1) : f32[3], f32[3,14,11] @ "" forward
  %5 = ctc_grad(%0, %1, %3, %4, %2) : f32[3,14,6] @ "" forward
  out %5 output "y")"},
    {"parts of a mesh", R"(
  in %0 batch "noise 0" : F[5,3,40]
  in %1 scalar "below 3" : i64[2]
  in %2 scalar "at 2" : i64[1]
  %3 = mesh_index(%1) {base=[0,5], strides=[100,10,0,7]} : i64[2] @ "" forward
  %4 = pick(%0, %2) {dim=1} : F[5,40] @ "" forward
  %5 = mask(%0, %2) {dim=1, extent=4, value=-0.5} : F[5,3,40] @ "" forward
  out %5 output "y")"},
};

std::string with_type(std::string_view text, std::string_view dtype) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool stands_for_type = text[i] == 'F' && i + 1 < text.size() && text[i + 1] == '[';
        out += stands_for_type ? dtype : text.substr(i, 1);
    }
    return out;
}

} // namespace

std::vector<SelfTestCase> self_test_cases() {
    std::vector<SelfTestCase> out;
    for (const CaseText& one : kTexts) {
        const bool typed = one.text.find("F[") != std::string_view::npos;
        for (const char* dtype : {"f32", "bf16", "f16"}) {
            const std::string name = std::string(one.name) + (typed ? " in " : "");
            out.push_back({typed ? name + dtype : name,
                           ir::parse("program case {" + with_type(one.text, dtype) + "\n}\n"),
                           one.everywhere});
            if (!typed) {
                break;
            }
        }
    }
    return out;
}

std::uint32_t self_test_edition() {
    std::uint32_t sum = 0;
    for (const CaseText& one : kTexts) {
        sum = crc32c(one.text, sum);
    }
    return sum;
}

} // namespace weft::train
