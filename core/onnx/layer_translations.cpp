// SPDX-License-Identifier: Apache-2.0
// Products, norms, attention, convolutions. Our pictures have channels last, theirs first.
#include "core/onnx/translator.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace weft::onnx {
namespace {

std::string transposed(Translator& t, const std::string& x, Ints permutation) {
    return t.add("Transpose", {x}, {{"perm", std::move(permutation)}});
}

/// An operand of a product, its last two dimensions exchanged where asked.
std::string factor(Translator& t, std::size_t operand, const char* flag) {
    if (!t.op().attributes.flag(flag)) {
        return t.operand(operand);
    }
    Ints permutation(static_cast<std::size_t>(t.rank(operand)));
    std::iota(permutation.begin(), permutation.end(), 0);
    std::swap(permutation.back(), permutation[permutation.size() - 2]);
    return transposed(t, t.operand(operand), permutation);
}

Names matmul(Translator& t) {
    const std::string x = factor(t, 0, "transpose_x");
    return {t.add("MatMul", {x, factor(t, 1, "transpose_y")})};
}

Names linear(Translator& t) {
    const std::string product = t.add("MatMul", {t.operand(0), t.operand(1)});
    return {t.has_operand(2) ? t.add("Add", {product, t.operand(2)}) : product};
}

Names embedding(Translator& t) {
    return {t.add("Gather", {t.operand(0), t.operand(1)})};
}

Names softmax(Translator& t) {
    return {t.add("Softmax", {t.operand(0)}, {{"axis", std::int64_t{-1}}})};
}

float eps_of(Translator& t) {
    return static_cast<float>(t.op().attributes.real("eps"));
}

Names layer_norm(Translator& t) {
    const std::string out = t.add("LayerNormalization", {t.operand(0), t.operand(1), t.operand(2)},
                                  {{"axis", std::int64_t{-1}}, {"epsilon", eps_of(t)}});
    return {out, {}, {}}; // the statistics are for the gradient
}

Names rms_norm(Translator& t) {
    const std::string x = t.operand(0);
    const std::string mean = t.add("ReduceMean", {t.add("Mul", {x, x})},
                                   {{"axes", Ints{-1}}, {"keepdims", std::int64_t{1}}});
    const std::string root = t.add("Sqrt", {t.add("Add", {mean, t.number(eps_of(t))})});
    return {t.add("Mul", {t.add("Div", {x, root}), t.operand(1)}), {}};
}

Names batch_norm_inference(Translator& t) {
    const std::string centred = t.add("Sub", {t.operand(0), t.operand(3)});
    const std::string root = t.add("Sqrt", {t.add("Add", {t.operand(4), t.number(eps_of(t))})});
    const std::string scaled = t.add("Mul", {centred, t.add("Div", {t.operand(1), root})});
    return {t.add("Add", {scaled, t.operand(2)})};
}

/// Channels i and i + D/2 of row t are turned by t theta^(-2i/D).
Names rotary(Translator& t) {
    const std::int64_t rows = t.extent(0, 1);
    const std::int64_t half = t.extent(0, 3) / 2;
    const double theta = t.op().attributes.real("theta");
    const double sign = t.op().attributes.flag("inverse") ? -1 : 1;
    std::vector<float> cosines;
    std::vector<float> sines;
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t i = 0; i < half; ++i) {
            const double angle =
                static_cast<double>(row) *
                std::pow(theta, -static_cast<double>(i) / static_cast<double>(half));
            cosines.push_back(static_cast<float>(std::cos(angle)));
            sines.push_back(static_cast<float>(sign * std::sin(angle)));
        }
    }
    const std::string cosine = t.floats({1, rows, 1, half}, cosines);
    const std::string sine = t.floats({1, rows, 1, half}, sines);
    const Names halves = t.add_all("Split", 2, {t.operand(0)}, {{"axis", std::int64_t{3}}});
    const auto times = [&](const std::string& x, const std::string& y) {
        return t.add("Mul", {x, y});
    };
    const std::string first = t.add("Sub", {times(halves[0], cosine), times(halves[1], sine)});
    const std::string second = t.add("Add", {times(halves[1], cosine), times(halves[0], sine)});
    return {t.add("Concat", {first, second}, {{"axis", std::int64_t{3}}})};
}

/// 0 where query t may see key s, minus infinity where s comes later.
std::string causal_mask(Translator& t, std::int64_t queries, std::int64_t keys) {
    std::vector<float> mask;
    for (std::int64_t query = 0; query < queries; ++query) {
        for (std::int64_t key = 0; key < keys; ++key) {
            mask.push_back(key <= query ? 0.0F : -std::numeric_limits<float>::infinity());
        }
    }
    return t.floats({queries, keys}, mask);
}

/// q [N, T, H, D], k and v [N, S, K, D]: heads in K groups of H/K, each with keys of its own.
Names attention(Translator& t) {
    const std::int64_t queries = t.extent(0, 1);
    const std::int64_t heads = t.extent(0, 2);
    const std::int64_t width = t.extent(0, 3);
    const std::int64_t keys = t.extent(1, 1);
    const std::int64_t groups = t.extent(1, 2);
    const auto grouped = [&](const std::string& x, std::int64_t members, std::int64_t rows,
                             std::int64_t columns) { // 0: as it is
        return t.add("Reshape", {x, t.integers({0, groups, members, rows, columns})});
    };
    const std::string q =
        grouped(transposed(t, t.operand(0), {0, 2, 1, 3}), heads / groups, queries, width);
    const std::string k = grouped(transposed(t, t.operand(1), {0, 2, 3, 1}), 1, width, keys);
    const std::string v = grouped(transposed(t, t.operand(2), {0, 2, 1, 3}), 1, keys, width);
    std::string scores =
        t.add("Mul", {t.add("MatMul", {q, k}), t.number(t.op().attributes.real("scale"))});
    if (t.op().attributes.flag("causal")) {
        scores = t.add("Add", {scores, causal_mask(t, queries, keys)});
    }
    const std::string weights = t.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const std::string mixed = t.add("MatMul", {weights, v});
    const std::string joined = t.add("Reshape", {mixed, t.integers({0, heads, queries, width})});
    return {transposed(t, joined, {0, 2, 1, 3}), {}};
}

std::string channels_first(Translator& t) {
    return transposed(t, t.operand(0), {0, 3, 1, 2});
}
Names channels_last(Translator& t, const std::string& x) {
    return {transposed(t, x, {0, 2, 3, 1})};
}

Names conv2d(Translator& t) {
    const std::string weight = transposed(t, t.operand(1), {3, 2, 0, 1});
    return channels_last(t, t.add("Conv", {channels_first(t), weight},
                                  {{"strides", t.op().attributes.list("stride")},
                                   {"pads", t.op().attributes.list("padding")}}));
}

onnx::Attributes window_of(Translator& t) {
    return {{"kernel_shape", t.op().attributes.list("window")},
            {"strides", t.op().attributes.list("stride")},
            {"pads", t.op().attributes.list("padding")}};
}

Names max_pool(Translator& t) {
    return channels_last(t, t.add("MaxPool", {channels_first(t)}, window_of(t)));
}

Names avg_pool(Translator& t) {
    onnx::Attributes attributes = window_of(t);
    const bool excluded = t.op().attributes.flag("exclude_padding");
    attributes.emplace_back("count_include_pad", std::int64_t{excluded ? 0 : 1});
    return channels_last(t, t.add("AveragePool", {channels_first(t)}, attributes));
}

} // namespace

const std::map<std::string_view, Translation>& layer_translations() {
    static const std::map<std::string_view, Translation> kTranslations = {
        {"attention", attention},
        {"avg_pool", avg_pool},
        {"batch_norm_inference", batch_norm_inference},
        {"conv2d", conv2d},
        {"embedding", embedding},
        {"layer_norm", layer_norm},
        {"linear", linear},
        {"matmul", matmul},
        {"max_pool", max_pool},
        {"rms_norm", rms_norm},
        {"rotary", rotary},
        {"softmax", softmax},
    };
    return kTranslations;
}

} // namespace weft::onnx
