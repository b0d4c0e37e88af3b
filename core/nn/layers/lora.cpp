// SPDX-License-Identifier: Apache-2.0
#include "core/nn/layers/lora.h"

#include "core/base/text.h"
#include "core/nn/layers/layer_def.h"
#include "core/ops/builder.h"

#include <algorithm>

namespace weft::nn {
namespace {

constexpr std::string_view kWeight = "weight";
constexpr std::string_view kLoraScope = "lora";

} // namespace

bool Lora::adapts(std::string_view weight) const {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const std::string& pattern) { return glob_match(pattern, weight); });
}

std::optional<Lora> lora_settings(const config::Json& init) {
    const auto settings = init.find("lora");
    if (settings == init.end() || settings->is_null()) {
        return std::nullopt;
    }
    return Lora{.rank = settings->at("rank").get<std::int64_t>(),
                .alpha = settings->at("alpha").get<double>(),
                .dropout = settings->at("dropout").get<double>(),
                .targets = settings->at("targets").get<std::vector<std::string>>(),
                .save_base = settings->at("save_base").get<bool>()};
}

std::string lora_name(std::string_view weight, std::string_view factor) {
    WEFT_CHECK(weight.ends_with(kWeight), "adapters are for weights: " + std::string(weight));
    weight.remove_suffix(kWeight.size());
    return std::string(weight) + std::string(kLoraScope) + "." + std::string(factor);
}

std::optional<std::string> adapted_by(std::string_view factor) {
    for (const std::string_view own : {kLoraA, kLoraB}) {
        const std::string ending = lora_name(kWeight, own); // "lora.a"
        const bool alone = factor == ending;
        if (alone || factor.ends_with("." + ending)) {
            factor.remove_suffix(ending.size());
            return std::string(factor) + std::string(kWeight);
        }
    }
    return std::nullopt;
}

ir::ValueId with_adapter(ModelContext& context, ir::ValueId x, ir::ValueId y,
                         const std::vector<std::string>& axes) {
    const Lora* lora = context.lora();
    const std::string& path = context.path();
    if (lora == nullptr ||
        !lora->adapts(path.empty() ? std::string(kWeight) : path + "." + std::string(kWeight))) {
        return y;
    }
    ops::Builder& b = context.builder();
    const Scope scope(context, kLoraScope);
    const std::int64_t in = context.shape(x).back();
    const std::int64_t out = context.shape(y).back();
    const ir::ValueId down =
        context.parameter(kLoraA, {in, lora->rank}, Init::fan_in(in), {axes.front(), ""});
    const ir::ValueId up =
        context.parameter(kLoraB, {lora->rank, out}, Init::zeros(), {"", axes.back()});
    const ir::ValueId inner = ops::linear(b, dropout(context, x, lora->dropout), down);
    return ops::add(b, y, ops::linear(b, ops::affine(b, inner, lora->scale()), up));
}

} // namespace weft::nn
