// SPDX-License-Identifier: Apache-2.0
// Speed of the CPU kernels on the shapes of small models, each beside a ceiling that was measured
// in the same run: fused multiply-adds or bf16 dot products in registers, copy and
// read-modify-write bandwidth. The last column, the ratio, is the figure to quote. An argument
// chooses: only rows whose name holds it are measured.
#include "kernels/weft_kernels.h"
#include "tests/perf/ceilings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using weft::bench::best_seconds;
using weft::bench::Ceilings;
using Shape = std::vector<std::int64_t>;

std::string_view chosen; // part of the names of the rows to measure

struct Bench {
    std::string label, kind;
    std::vector<weft_tensor_type> inputs, outputs;
    std::vector<weft_attribute> attributes;
    std::vector<weft_elementwise_step> steps;
    std::vector<std::int32_t> output_registers;
    double flops = 0; // 0: bound by memory
};

weft_tensor_type type_of(weft_dtype dtype, const Shape& shape) {
    weft_tensor_type type{dtype, static_cast<std::int32_t>(shape.size()), {}};
    std::copy(shape.begin(), shape.end(), type.shape);
    return type;
}

std::int64_t bytes_of(const weft_tensor_type& type) {
    constexpr std::int64_t sizes[] = {4, 2, 8, 4, 8, 1};
    std::int64_t bytes = sizes[type.dtype];
    for (int d = 0; d < type.rank; ++d) {
        bytes *= type.shape[d];
    }
    return bytes;
}

weft_attribute flag(const char* name, bool value) {
    return {name, WEFT_ATTRIBUTE_FLAG, value, 0, nullptr, nullptr, 0};
}
weft_attribute real(const char* name, double value) {
    return {name, WEFT_ATTRIBUTE_REAL, 0, value, nullptr, nullptr, 0};
}
weft_attribute list(const char* name, const Shape& value) { // `value` must outlive the benchmark
    return {name,
            WEFT_ATTRIBUTE_LIST,
            0,
            0,
            nullptr,
            value.data(),
            static_cast<std::int64_t>(value.size())};
}

/// About 0.01 in f32, and twice so in bf16. They differ, so that a branch that data decide is seen.
float two_small_numbers() {
    static std::uint32_t state = 1;
    std::uint32_t bits = 0x3c003c00u;
    for (const int shift : {0, 16}) {
        state = state * 1664525u + 1013904223u; // Numerical Recipes
        bits |= (state >> 25) << shift;
    }
    return std::bit_cast<float>(bits);
}

void measure(const Bench& bench, const Ceilings& ceilings) {
    if (bench.label.find(chosen) == std::string::npos) {
        return;
    }
    const weft_backend* backend = weft_cpu_backend();
    const weft_op_desc desc{bench.kind.c_str(),
                            static_cast<std::int32_t>(bench.inputs.size()),
                            static_cast<std::int32_t>(bench.outputs.size()),
                            static_cast<std::int32_t>(bench.attributes.size()),
                            static_cast<std::int32_t>(bench.steps.size()),
                            bench.inputs.data(),
                            bench.outputs.data(),
                            bench.attributes.data(),
                            bench.steps.data(),
                            bench.output_registers.data()};
    weft_query query{};
    weft_kernel* kernel = nullptr;
    if (backend->query(&desc, &query) != WEFT_OK || backend->prepare(&desc, &kernel) != WEFT_OK) {
        std::printf("%-44s not available: %s\n", bench.label.c_str(), weft_last_error());
        return;
    }
    double bytes = 0;
    std::vector<std::vector<float>> memory;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    auto allocate = [&](const weft_tensor_type& type) {
        const std::int64_t size = bytes_of(type);
        bytes += static_cast<double>(size);
        memory.emplace_back(static_cast<std::size_t>(size / 4 + 16));
        if (type.dtype == WEFT_I32) { // zeros are valid ids
            return memory.back().data();
        }
        for (float& number : memory.back()) {
            number = two_small_numbers();
        }
        return memory.back().data();
    };
    for (const auto& type : bench.inputs) {
        inputs.push_back(allocate(type));
    }
    for (const auto& type : bench.outputs) {
        outputs.push_back(allocate(type));
    }
    std::vector<float> workspace(static_cast<std::size_t>(query.workspace_bytes / 4 + 32));
    void* aligned =
        workspace.data() + (64 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 64) % 64 / 4;
    const weft_run_args args{inputs.data(), outputs.data(), aligned, nullptr};
    const double seconds = best_seconds([&] { backend->run(kernel, &args); });
    const bool brief = bench.inputs[0].dtype == WEFT_BF16;
    if (bench.flops > 0) {
        const double rate = bench.flops / seconds / 1e9;
        std::printf("%-44s %9.3f ms %8.0f GFLOP/s  %4.2f\n", bench.label.c_str(), seconds * 1e3,
                    rate, rate / (brief ? ceilings.bf16_gflops : ceilings.f32_gflops));
    } else {
        const double rate = bytes / seconds / 1e9;
        std::printf("%-44s %9.3f ms %8.1f GB/s     %4.2f\n", bench.label.c_str(), seconds * 1e3,
                    rate, rate / ceilings.copy_gbs);
    }
    backend->release(kernel);
}

struct Layer {
    const char* name;
    std::int64_t m, k, n;
};
constexpr Layer kLayers[] = {
    {"mlp in 256x784x512", 256, 784, 512},         {"mlp hidden 256x512x512", 256, 512, 512},
    {"mlp out 256x512x10", 256, 512, 10},          {"gpt qkv 2048x128x384", 2048, 128, 384},
    {"gpt mlp 2048x384x1536", 2048, 384, 1536},    {"gpt mlp 2048x1536x384", 2048, 1536, 384},
    {"gpt head 2048x384x256", 2048, 384, 256},     {"gpt up 512x384x1536", 512, 384, 1536},
    {"gpt2 head 1024x768x50257", 1024, 768, 50257}};

void bench_layers(weft_dtype t, const char* name, const Ceilings& c) {
    for (const Layer& l : kLayers) {
        const double flops = 2.0 * static_cast<double>(l.m * l.k * l.n);
        const std::string label = std::string(name) + " " + l.name;
        measure({label + " fwd",
                 "linear",
                 {type_of(t, {l.m, l.k}), type_of(t, {l.k, l.n}), type_of(WEFT_F32, {l.n})},
                 {type_of(t, {l.m, l.n})},
                 {},
                 {},
                 {},
                 flops},
                c);
        measure({label + " dx",
                 "matmul",
                 {type_of(t, {l.m, l.n}), type_of(t, {l.k, l.n})},
                 {type_of(t, {l.m, l.k})},
                 {flag("transpose_y", true)},
                 {},
                 {},
                 flops},
                c);
        measure({label + " dw",
                 "matmul",
                 {type_of(t, {l.m, l.k}), type_of(t, {l.m, l.n})},
                 {type_of(WEFT_F32, {l.k, l.n})},
                 {flag("transpose_x", true)},
                 {},
                 {},
                 flops},
                c);
        measure({label + " dw added",
                 "matmul_add",
                 {type_of(t, {l.m, l.k}), type_of(t, {l.m, l.n}), type_of(WEFT_F32, {l.k, l.n})},
                 {type_of(WEFT_F32, {l.k, l.n})},
                 {flag("transpose_x", true)},
                 {},
                 {},
                 flops},
                c);
    }
}

/// A row at a time, as tokens are made: bound by the reading of the weights.
void bench_tokens(weft_dtype t, const char* name, const Ceilings& c) {
    const std::string prefix = std::string(name) + " token ";
    measure({prefix + "1x768x3072",
             "linear",
             {type_of(t, {1, 768}), type_of(t, {768, 3072}), type_of(t, {3072})},
             {type_of(t, {1, 3072})},
             {},
             {},
             {},
             0},
            c);
    measure({prefix + "1x3072x768",
             "linear",
             {type_of(t, {1, 3072}), type_of(t, {3072, 768}), type_of(t, {768})},
             {type_of(t, {1, 768})},
             {},
             {},
             {},
             0},
            c);
    measure({prefix + "head 1x768x50257",
             "matmul",
             {type_of(t, {1, 1, 768}), type_of(t, {50257, 768})},
             {type_of(WEFT_F32, {1, 1, 50257})},
             {flag("transpose_y", true), flag("wide", true)},
             {},
             {},
             0},
            c);
}

struct Windows {
    const char* name;
    std::int64_t batch, size, in, out, window, stride, padding;
};
constexpr Windows kWindows[] = {
    {"28 1->32", 128, 28, 1, 32, 3, 1, 1},        {"28 32->32", 128, 28, 32, 32, 3, 1, 1},
    {"14 32->64", 128, 14, 32, 64, 3, 1, 1},      {"32 64->64", 64, 32, 64, 64, 3, 1, 1},
    {"8 256->256", 64, 8, 256, 256, 3, 1, 1},     {"1x1 28 256->64", 32, 28, 256, 64, 1, 1, 0},
    {"1x1 28 64->256", 32, 28, 64, 256, 1, 1, 0}, {"patches 224 3->192", 8, 224, 3, 192, 16, 16, 0},
};

void bench_convolutions(weft_dtype t, const char* name, const Ceilings& c) {
    for (const Windows& w : kWindows) {
        const Shape stride(2, w.stride);
        const Shape padding(4, w.padding);
        const std::vector<weft_attribute> window = {list("stride", stride),
                                                    list("padding", padding)};
        const std::int64_t side = (w.size + 2 * w.padding - w.window) / w.stride + 1;
        const auto image = type_of(t, {w.batch, w.size, w.size, w.in});
        const auto result = type_of(t, {w.batch, side, side, w.out});
        const auto weight = type_of(t, {w.window, w.window, w.in, w.out});
        const double flops =
            2.0 * static_cast<double>(w.window * w.window * w.batch * side * side * w.in * w.out);
        const std::string label = std::string(name) + " conv " + w.name;
        measure({label + " fwd", "conv2d", {image, weight}, {result}, window, {}, {}, flops}, c);
        measure(
            {label + " dx", "conv2d_input_grad", {result, weight}, {image}, window, {}, {}, flops},
            c);
        measure({label + " dw",
                 "conv2d_weight_grad",
                 {image, result},
                 {type_of(WEFT_F32, {w.window, w.window, w.in, w.out})},
                 window,
                 {},
                 {},
                 flops},
                c);
    }
}

void bench_attention(weft_dtype t, const char* name, const Ceilings& c) {
    for (const auto& [heads, width] : {std::array<std::int64_t, 2>{4, 32}, {6, 64}}) {
        const auto x = type_of(t, {8, 256, heads, width});
        const auto lse = type_of(WEFT_F32, {8, heads, 256});
        const std::vector<weft_attribute> options = {flag("causal", true), real("scale", 0.125)};
        const double flops =
            4.0 * 8 * 256 * 256 * static_cast<double>(heads * width) / 2; // half is masked
        const std::string label = std::string(name) + " attention 8x256x" + std::to_string(heads) +
                                  "x" + std::to_string(width);
        measure({label + " fwd", "attention", {x, x, x}, {x, lse}, options, {}, {}, flops}, c);
        measure({label + " bwd",
                 "attention_grad",
                 {x, x, x, x, lse, x},
                 {x, x, x},
                 options,
                 {},
                 {},
                 2.5 * flops},
                c);
    }
}

void bench_memory(weft_dtype t, const char* name, const Ceilings& c) {
    const auto x = type_of(t, {8192, 768});
    const auto row = type_of(WEFT_F32, {8192});
    const auto channel = type_of(WEFT_F32, {768});
    const std::string prefix = std::string(name) + " ";
    const std::vector<weft_attribute> eps = {real("eps", 1e-5)};
    measure({prefix + "gelu 8192x768", "gelu", {x}, {x}, {}, {}, {}}, c);
    measure({prefix + "gelu_grad", "gelu_grad", {x, x}, {x}, {}, {}, {}}, c);
    measure({prefix + "add", "add", {x, x}, {x}, {}, {}, {}}, c);
    measure(
        {prefix + "layer_norm", "layer_norm", {x, channel, channel}, {x, row, row}, eps, {}, {}},
        c);
    measure({prefix + "layer_norm_input_grad",
             "layer_norm_input_grad",
             {x, channel, row, row, x},
             {x},
             {},
             {},
             {}},
            c);
    measure({prefix + "layer_norm_param_grad",
             "layer_norm_param_grad",
             {x, row, row, x},
             {channel, channel},
             {},
             {},
             {}},
            c);
    for (const std::int64_t channels : {64, 256}) {
        const auto image = type_of(t, {64, 32, 32, channels});
        const auto statistic = type_of(WEFT_F32, {channels});
        const auto weights = type_of(WEFT_F32, {64});
        const std::string label = prefix + "batch_norm 64x32x32x" + std::to_string(channels);
        measure({label,
                 "batch_norm",
                 {image, statistic, statistic, weights},
                 {image, statistic, statistic},
                 eps,
                 {},
                 {}},
                c);
        measure({label + " grad",
                 "batch_norm_grad",
                 {image, statistic, statistic, statistic, image, weights},
                 {image, statistic, statistic},
                 eps,
                 {},
                 {}},
                c);
    }
    static const Shape two{2, 2}, none{0, 0, 0, 0};
    const auto pixels = type_of(t, {128, 28, 28, 24});
    const auto pooled = type_of(t, {128, 14, 14, 24});
    const std::vector<weft_attribute> pool = {list("window", two), list("stride", two),
                                              list("padding", none)};
    measure({prefix + "max_pool 128x28x28x24", "max_pool", {pixels}, {pooled}, pool, {}, {}}, c);
    measure({prefix + "max_pool_grad",
             "max_pool_grad",
             {pixels, pooled, pooled},
             {pixels},
             pool,
             {},
             {}},
            c);
    static const Shape first{0}, turned{1, 0};
    measure({prefix + "reduce_sum over rows",
             "reduce_sum",
             {x},
             {type_of(t, {768})},
             {list("dims", first)},
             {},
             {}},
            c);
    measure({prefix + "transpose",
             "transpose",
             {x},
             {type_of(t, {768, 8192})},
             {list("permutation", turned)},
             {},
             {}},
            c);
    measure({prefix + "softmax 8192x768", "softmax", {x}, {x}, {}, {}, {}}, c);
    const auto logits = type_of(t, {2048, 5000});
    const auto n = type_of(WEFT_F32, {2048});
    const auto labels = type_of(WEFT_I32, {2048});
    measure(
        {prefix + "cross_entropy 2048x5000", "cross_entropy", {logits, labels}, {n, n}, {}, {}, {}},
        c);
    measure({prefix + "cross_entropy_grad",
             "cross_entropy_grad",
             {logits, labels, n, n},
             {logits},
             {},
             {},
             {}},
            c);
    const weft_attribute stream{"stream", WEFT_ATTRIBUTE_TEXT, 0, 0, "x", nullptr, 0};
    measure({prefix + "dropout",
             "dropout",
             {x, type_of(WEFT_I64, {3})},
             {x},
             {real("rate", 0.1), stream},
             {},
             {}},
            c);
}

void bench_optimizer(const Ceilings& c) {
    const auto x = type_of(WEFT_F32, {1 << 22});
    const auto s = type_of(WEFT_F32, {});
    const auto f = WEFT_F32;
    auto affine = [&](int a, float scale, float shift = 0) {
        return weft_elementwise_step{WEFT_EW_AFFINE, f, {a, -1, -1}, scale, shift};
    };
    auto binary = [&](int op, int a, int b) {
        return weft_elementwise_step{op, f, {a, b, -1}, 1, 0};
    };
    const std::vector<weft_elementwise_step> steps = {affine(2, 0.9f),
                                                      affine(1, 0.1f),
                                                      binary(WEFT_EW_ADD, 5, 6),
                                                      {WEFT_EW_SQUARE, f, {1, -1, -1}, 1, 0},
                                                      affine(8, 0.001f),
                                                      affine(3, 0.999f),
                                                      binary(WEFT_EW_ADD, 9, 10),
                                                      {WEFT_EW_SQRT, f, {11, -1, -1}, 1, 0},
                                                      affine(12, 1.0f, 1e-8f),
                                                      binary(WEFT_EW_DIV, 7, 13),
                                                      binary(WEFT_EW_MUL, 14, 4),
                                                      binary(WEFT_EW_SUB, 0, 15)};
    measure({"f32 fused AdamW, 4M parameters",
             "fused",
             {x, x, x, x, s},
             {x, x, x},
             {},
             steps,
             {16, 7, 11}},
            c);
    measure({"f32 sum_squares 4M", "sum_squares", {x}, {s}, {}, {}, {}}, c);
    const auto ids = type_of(WEFT_I32, {2048});
    measure({"f32 embedding_grad 2048 of 256x384",
             "embedding_grad",
             {ids, type_of(f, {2048, 384})},
             {type_of(f, {256, 384})},
             {},
             {},
             {}},
            c);
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        chosen = argv[1];
    }
    const Ceilings c = weft::bench::measure_ceilings();
    std::printf("%s on %s, %d threads\nceilings: f32 %.0f GFLOP/s, bf16 vector %.0f GFLOP/s, copy "
                "%.1f GB/s, "
                "update %.1f GB/s\n\n",
                weft_cpu_library_version(), weft_cpu_instruction_set(), weft_threads(),
                c.f32_gflops, c.bf16_gflops, c.copy_gbs, c.update_gbs);
    for (const auto& [dtype, name] : {std::pair{WEFT_F32, "f32"}, std::pair{WEFT_BF16, "bf16"}}) {
        bench_layers(dtype, name, c);
        bench_tokens(dtype, name, c);
        bench_convolutions(dtype, name, c);
        bench_attention(dtype, name, c);
        bench_memory(dtype, name, c);
    }
    bench_optimizer(c);
    return 0;
}
