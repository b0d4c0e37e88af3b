// SPDX-License-Identifier: Apache-2.0
#include "core/nn/models/experts.h"

#include "core/nn/layers/layer_list.h"

#include <algorithm>
#include <cmath>

namespace weft::nn {
namespace {

using config::Json;
using ir::ValueId;

constexpr double kExpertDeviation = 0.02;
constexpr double kDefaultCapacity = 1.25; // Fedus et al. 2022, section 2.2
constexpr double kDefaultBalance = 0.01;  // the same
constexpr std::int64_t kMostExperts = 4096;

/// A weight of all experts, applied to their rows [E, M, in] -> [E, M, out].
ValueId each_expert(ModelContext& context, const char* name, ValueId rows, std::int64_t out,
                    Init init, const char* from, const char* to) {
    const Scope scope(context, name);
    const ir::Shape shape = context.shape(rows);
    const ValueId weight =
        context.parameter("weight", {shape[0], shape[2], out}, init, {"expert", from, to});
    return ops::matmul(context.builder(), rows, weight);
}

ValueId networks(ModelContext& context, const ExpertNetwork& network, ValueId rows) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "experts");
    const std::int64_t width = context.shape(rows).back();
    const std::string activation(network.activation);
    const auto into = [&](const char* name) {
        return each_expert(context, name, rows, network.inner, network.init, "embed", "mlp");
    };
    ValueId inner;
    if (network.gated) {
        const ValueId gate = b.emit(activation, {into("gate")});
        inner = ops::mul(b, gate, into("up"));
    } else {
        inner = b.emit(activation, {into("up")});
    }
    return each_expert(context, "down", inner, width, network.down_init, "mlp", "embed");
}

// Of each sample: E sum over the experts of (share of choices) (mean probability), which is 1 where
// the load is even (Fedus et al. 2022, equation 4).
void balance(ModelContext& context, const ExpertSettings& s, ValueId probabilities,
             ValueId indices) {
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(indices); // [B, T, K]
    const ValueId ones = ops::constant(b, 1.0, shape);
    const ValueId chosen = b.emit("top_k_grad", {indices, ones}, {{"extent", s.experts}});
    const ValueId counts = ops::reduce_sum(b, chosen, {1}); // [B, E]
    const ValueId mass = ops::reduce_sum(b, probabilities, {1});
    const ValueId product = ops::reduce_sum(b, ops::mul(b, counts, mass), {1}); // [B]
    const auto tokens = static_cast<double>(shape[1]);
    const double scale = s.balance * static_cast<double>(s.experts) /
                         (tokens * static_cast<double>(shape[2]) * tokens);
    context.penalise(ops::affine(b, product, scale));
}

} // namespace

config::FieldTable expert_fields(const char* help_of_experts) {
    return {config::integer_field("experts", nullptr, help_of_experts)
                .or_null()
                .range(1, static_cast<double>(kMostExperts)),
            config::integer_field("experts_per_token", 2, "Experts that each token is given to.")
                .range(1, static_cast<double>(kMostExperts)),
            config::real_field("expert_capacity", kDefaultCapacity,
                               "Tokens of a sample that an expert takes, as a multiple of an even "
                               "share; later ones are dropped. Null: all, at the cost of as much "
                               "room for every expert.")
                .or_null()
                .above(0.0),
            config::real_field("expert_balance", kDefaultBalance,
                               "Weight of the loss that spreads tokens over the experts; it is not "
                               "part of the loss that is reported.")
                .at_least(0.0)
                .for_experts()};
}

ExpertSettings expert_settings(const Json& settings, std::int64_t experts) {
    ExpertSettings out;
    out.experts =
        settings.at("experts").is_null() ? experts : settings.at("experts").get<std::int64_t>();
    out.per_token = settings.at("experts_per_token").get<std::int64_t>();
    if (const Json& capacity = settings.at("expert_capacity"); !capacity.is_null()) {
        out.capacity = capacity.get<double>();
    }
    out.balance = settings.at("expert_balance").get<double>();
    return out;
}

void check_experts(const ExpertSettings& settings, const std::string& pointer,
                   config::Diagnostics& out) {
    if (settings.experts > 0 && settings.per_token > settings.experts) {
        out.push_back({pointer + "/experts_per_token", config::Severity::error,
                       "a token cannot be given to " + std::to_string(settings.per_token) + " of " +
                           std::to_string(settings.experts) +
                           (settings.experts == 1 ? " expert" : " experts"),
                       "Use at most " + std::to_string(settings.experts) + "."});
    }
}

std::int64_t expert_capacity(const ExpertSettings& settings, std::int64_t tokens) {
    if (!settings.capacity) {
        return tokens;
    }
    const double share =
        static_cast<double>(tokens * settings.per_token) / static_cast<double>(settings.experts);
    const double rows = std::ceil(*settings.capacity * share);
    return static_cast<std::int64_t>(std::clamp(rows, 1.0, static_cast<double>(tokens)));
}

ValueId mixture_of_experts(ModelContext& context, const ExpertSettings& s,
                           const ExpertNetwork& network, ValueId x) {
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(x);
    const std::int64_t samples = shape[0];
    const std::int64_t capacity = expert_capacity(s, shape[1]);
    ValueId gates, rows; // [B, T, K]
    {
        const Scope scope(context, "router");
        const ValueId weight = context.parameter("weight", {shape[2], s.experts},
                                                 Init::normal(kExpertDeviation), {"embed", ""});
        const ValueId probabilities = b.emit("softmax", {ops::linear(b, x, weight)}); // [B, T, E]
        const auto chosen = b.emit_all("top_k", {probabilities}, {{"k", s.per_token}});
        gates = s.per_token == 1 ? chosen[0]
                                 : ops::div(b, chosen[0], ops::reduce_sum(b, chosen[0], {2}, true));
        rows = b.emit("expert_rows", {chosen[1]}, {{"experts", s.experts}, {"capacity", capacity}});
        if (context.training() && s.balance > 0.0) {
            balance(context, s, probabilities, chosen[1]);
        }
    }
    ValueId y = b.emit("dispatch", {x, rows}, {{"experts", s.experts}, {"capacity", capacity}});
    y = ops::reshape(b, y, {s.experts, samples * capacity, shape[2]});
    y = networks(context, network, y);
    y = ops::reshape(b, y, {s.experts, samples, capacity, shape[2]});
    return b.emit("combine", {y, rows, gates});
}

namespace {

config::FieldTable moe_fields(int) {
    config::FieldTable table = expert_fields("Feed-forward networks to choose from.");
    table[0].nullable = false;
    table[0].must_be_given();
    table.push_back(config::integer_field("inner", nullptr,
                                          "Inner width of an expert; null: four times the input's.")
                        .or_null()
                        .range(1, 1 << 24));
    table.push_back(config::choice_field("activation", "relu", activation_names(),
                                         "Between an expert's two products."));
    return table;
}

ValueId build_moe(ModelContext& context, const Json& settings, ValueId x) {
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(x);
    if (!ir::is_float(b.type(x).dtype) || shape.rank() < 2) {
        context.fail("its input is " + ir::to_text(b.type(x)) + ", but it needs vectors",
                     "Put an embedding layer or flatten before it.");
    }
    const ExpertSettings experts = expert_settings(settings);
    if (experts.per_token > experts.experts) {
        context.fail("a token cannot be given to " + std::to_string(experts.per_token) + " of " +
                         std::to_string(experts.experts) + " experts",
                     "Lower experts_per_token.");
    }
    const std::int64_t width = shape.back();
    const auto& activation = settings.at("activation").get_ref<const std::string&>();
    const std::int64_t inner =
        settings.at("inner").is_null() ? 4 * width : settings.at("inner").get<std::int64_t>();
    const ExpertNetwork network{.inner = inner,
                                .activation = activation,
                                .init = Init::fan_in(width),
                                .down_init = Init::fan_in(inner)};
    const ValueId tokens =
        ops::reshape(b, x, {shape[0], shape.elements() / (shape[0] * width), width});
    return ops::reshape(b, mixture_of_experts(context, experts, network, tokens), shape);
}

} // namespace

const LayerDef kMoeLayer = {"moe",
                            "Mixture of experts: each token [..., C] goes through some of many "
                            "feed-forward networks.",
                            moe_fields, build_moe};

} // namespace weft::nn
