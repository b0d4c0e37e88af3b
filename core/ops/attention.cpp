// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention (Vaswani et al. 2017) without storing the score matrix (Dao et al.
// 2022). H query heads share K key/value heads: query head h reads key head h / (H / K).
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "core/ops/split.h"

#include <array>

namespace weft::ops {
namespace {

using ir::ValueId;

constexpr AttributeDef kScale{"scale", AttributeKind::real, true, "factor of the scores"};
const std::vector<AttributeDef> kAttentionAttributes{
    {"causal", AttributeKind::flag, true, "position t sees positions up to t only"},
    kScale,
    {"rate", AttributeKind::real, false, "dropout of the probabilities; needs random"},
    {"stream", AttributeKind::text, false, "name of the random stream; needs random"},
    {"extents", AttributeKind::list, false,
     "[all heads]: random goes on with the first sample and key head of this part"}};

// q [N, T, H, D] against k and v [N, S, K, D]; empty: fine.
std::string want_heads(const ir::Type& q, const ir::Type& k, const ir::Type& v,
                       std::string_view keys) {
    const std::string wrong = first_of(
        {want_rank("q", q, 4), want_rank(keys, k, 4), want_float("q", q), want_float(keys, k)});
    if (!wrong.empty()) {
        return wrong;
    }
    if (k != v) {
        return "keys are " + word(k) + ", but values are " + word(v);
    }
    if (k.shape[0] != q.shape[0] || k.shape[3] != q.shape[3]) {
        return "q " + word(q) + " and " + word(keys) + " " + word(k) +
               " differ in batch or head width";
    }
    if (k.shape[2] == 0 || q.shape[2] % k.shape[2] != 0) {
        return word(q.shape[2]) + " query heads cannot share " + word(k.shape[2]) +
               " key and value heads";
    }
    return {};
}

std::string want_dropout(const OpView& view, int random) {
    const double rate = view.attributes().real("rate", 0.0);
    if (!(rate >= 0.0 && rate < 1.0)) {
        return "rate must be at least 0 and less than 1, but is " + std::to_string(rate);
    }
    if (view.inputs() <= random) {
        return rate > 0.0 ? "a dropout rate needs the random operand" : "";
    }
    if (!view.attributes().has("stream")) {
        return "random needs a stream";
    }
    if (view.attributes().has("extents")) {
        const ir::Type expected{ir::DType::i64, {5}};
        return view.input(random) == expected ? "" : "random of a part needs i64[5]";
    }
    return want_random(view.input(random));
}

Inferred infer_attention(const OpView& view) {
    const ir::Type& q = view.input(0);
    const ir::Type& k = view.input(1);
    std::string wrong = want_heads(q, k, view.input(2), "k");
    if (wrong.empty() && view.attributes().flag("causal") && q.shape[1] != k.shape[1]) {
        wrong = "causal attention needs as many queries as keys, but q is " + word(q) +
                " and k is " + word(k);
    }
    if (wrong.empty()) {
        wrong = want_dropout(view, 3);
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type logsumexp{statistics_dtype(q.dtype), {q.shape[0], q.shape[2], q.shape[1]}};
    return {{q, logsumexp}, {}};
}

void attention_gradient(GradientContext& c) {
    only_first_output(c);
    std::vector<ValueId> operands{c.input(0),  c.input(1),  c.input(2),
                                  c.output(0), c.output(1), c.upstream()};
    if (c.inputs() == 4) {
        operands.push_back(c.input(3));
    }
    const auto grads = c.builder().emit_all("attention_grad", operands, c.op().attributes);
    for (int i = 0; i < 3; ++i) {
        c.set(i, grads[static_cast<std::size_t>(i)]);
    }
}

// A causal mask depends on the query's position, so queries stay whole under it. Dropout needs the
// index of each probability: samples and key heads tell theirs (split_attention), the others stay
// whole.
FactorRule attention_rule(const OpView& view, std::string_view notation, bool backward,
                          int random) {
    constexpr Combine whole = Combine::whole;
    const bool dropout = view.inputs() > random;
    const Combine free = backward ? Combine::sum : Combine::pointwise;
    return einsum(view, notation,
                  {{'t', dropout || view.attributes().flag("causal") ? whole : free},
                   {'g', dropout ? whole : free},
                   {'s', whole},
                   {'d', whole},
                   {'r', whole}});
}

FactorRule attention_factors(const OpView& view) {
    return attention_rule(view, "nt(kg)d,nskd,nskd,r->nt(kg)d,n(kg)t", false, 3);
}

void split_attention(SplitContext& c, std::size_t random) {
    std::vector<ValueId> inputs = c.inputs();
    if (inputs.size() <= random) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const std::array factors{factor_of(c.rule().inputs[1], 0), factor_of(c.rule().inputs[1], 2)};
    const ValueId origin = c.origin(factors, std::array<std::int64_t, 2>{0, 0});
    inputs[random] = b.emit("concat", {inputs[random], origin}, {{"dim", std::int64_t{0}}});
    ir::Attributes attributes = c.attributes();
    attributes.set("extents", std::vector<std::int64_t>{c.whole().input(0).shape[2]});
    c.set_all(b.emit_all(c.whole().op.kind, inputs, attributes));
}

void split_forward(SplitContext& c) {
    split_attention(c, 3);
}

void split_backward(SplitContext& c) {
    split_attention(c, 6);
}

// `products` products of T S D per head, and per score `others` FLOPs and its share of dropout;
// half of it all under a causal mask.
OpCost scores_cost(const OpView& view, double products, double others) {
    const ir::Shape& q = view.input(0).shape;
    const double half = view.attributes().flag("causal") ? 0.5 : 1.0;
    const double random = view.attributes().real("rate", 0.0) > 0 ? kRandomFlops : 0.0;
    const auto keys = static_cast<double>(view.input(1).shape[1]);
    const double scores = half * static_cast<double>(q[0] * q[1] * q[2]) * keys;
    OpCost out = product_cost(view, 2.0 * products * scores * static_cast<double>(q[3]));
    out.flops += scores * (others + random);
    return out;
}

// Scores and weighted values, with a softmax between them.
OpCost attention_cost(const OpView& view) {
    return scores_cost(view, 2, kExpFlops + 4);
}

Inferred infer_attention_grad(const OpView& view) {
    const ir::Type& q = view.input(0);
    const ir::Type& k = view.input(1);
    std::string wrong = want_heads(q, k, view.input(2), "k");
    if (wrong.empty()) {
        wrong =
            first_of({want_shape("out", view.input(3), q.shape),
                      want_shape("logsumexp", view.input(4), {q.shape[0], q.shape[2], q.shape[1]}),
                      want_shape("dout", view.input(5), q.shape), want_dropout(view, 6)});
    }
    return wrong.empty() ? Inferred{{q, k, k}, {}} : fail(wrong);
}

FactorRule attention_grad_factors(const OpView& view) {
    return attention_rule(view, "nt(kg)d,nskd,nskd,nt(kg)d,n(kg)t,nt(kg)d,r->nt(kg)d,nskd,nskd",
                          true, 6);
}

// The scores and their exponentials again, and a product for each of dv, dp, dq, dk.
OpCost attention_grad_cost(const OpView& view) {
    return scores_cost(view, 5, kExpFlops + 4);
}

// --- Key/value cache ---------------------------------------------------------------------------

Inferred infer_attention_cached(const OpView& view) {
    const ir::Type& q = view.input(0);
    const std::string wrong = first_of(
        {want_heads(q, view.input(1), view.input(2), "k_cache"), want_position(view.input(3))});
    return wrong.empty() ? Inferred{{q}, {}} : fail(wrong);
}

FactorRule attention_cached_factors(const OpView& view) {
    constexpr Combine whole = Combine::whole;
    return einsum(view, "nt(kg)d,nskd,nskd,->nt(kg)d", {{'t', whole}, {'s', whole}, {'d', whole}});
}

Inferred infer_cache_write(const OpView& view) {
    const ir::Type& cache = view.input(0);
    const ir::Type& fresh = view.input(1);
    const std::string wrong = first_of(
        {want_rank("cache", cache, 4), want_rank("new", fresh, 4), want_position(view.input(2))});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    ir::Type expected = cache;
    expected.shape[1] = fresh.shape[1];
    if (fresh != expected || fresh.shape[1] > cache.shape[1]) {
        return fail("new rows ", fresh, " do not fit into the cache ", cache);
    }
    return {{cache}, {}};
}

FactorRule cache_write_factors(const OpView& view) {
    return einsum(view, "nskd,ntkd,->nskd", {{'s', Combine::whole}, {'t', Combine::whole}});
}

// Written in place: only the new rows move.
OpCost cache_write_cost(const OpView& view) {
    return {0, 2.0 * static_cast<double>(view.input(1).bytes()), 0};
}

} // namespace

const OpDef kAttention{
    .name = "attention",
    .help = "q [N, T, H, D], k, v [N, S, K, D], random? -> out [N, T, H, D], logsumexp [N, H, T]",
    .min_inputs = 3,
    .max_inputs = 4,
    .attributes = kAttentionAttributes,
    .infer = infer_attention,
    .gradient = attention_gradient,
    .factors = attention_factors,
    .cost = attention_cost,
    .split = split_forward,
    .full_outputs = {1},
    .random = true};

const OpDef kAttentionGrad{.name = "attention_grad",
                           .help = "q, k, v, out, logsumexp, dout, random? -> dq, dk, dv",
                           .min_inputs = 6,
                           .max_inputs = 7,
                           .attributes = kAttentionAttributes,
                           .infer = infer_attention_grad,
                           .factors = attention_grad_factors,
                           .cost = attention_grad_cost,
                           .split = split_backward,
                           .full_inputs = {4},
                           .random = true};

const OpDef kAttentionCached{
    .name = "attention_cached",
    .help = "q [N, T, H, D], k_cache, v_cache [N, S, K, D], position -> [N, T, H, D]; query t sees "
            "cache rows up to position + t",
    .min_inputs = 4,
    .max_inputs = 4,
    .attributes = {kScale},
    .infer = infer_attention_cached,
    .factors = attention_cached_factors,
    .cost = attention_cost};

const OpDef kCacheWrite{.name = "cache_write",
                        .help = "cache [N, S, K, D], new [N, T, K, D], position -> cache",
                        .min_inputs = 3,
                        .max_inputs = 3,
                        .infer = infer_cache_write,
                        .factors = cache_write_factors,
                        .cost = cache_write_cost,
                        .aliases = {{0, 0}}};

} // namespace weft::ops
