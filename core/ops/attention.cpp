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

using ir::ValueIds;

constexpr AttributeDef kScale{"scale", AttributeKind::real, true, "factor of the scores"};
const std::vector<AttributeDef> kAttentionAttributes{
    {"causal", AttributeKind::flag, true, "position t sees positions up to t only"},
    kScale,
    {"rate", AttributeKind::real, false, "dropout of the probabilities; needs random"},
    {"stream", AttributeKind::text, false, "name of the random stream; needs random"},
    {"extents", AttributeKind::list, false,
     "[all heads]: random goes on with the first sample and key head of this part"},
    {"ring", AttributeKind::list, false,
     "[all positions, step, devices]: queries are the part that starts at the last operand i64[1], "
     "keys that of the device `step` places before"},
    {"packed", AttributeKind::flag, false,
     "samples are several sequences, apart from each other; needs positions"}};

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

bool is_ring(const OpView& view) {
    return view.attributes().has("ring");
}

bool is_packed(const ir::Attributes& attributes) {
    return attributes.flag("packed", false);
}

/// The operand random, where there is one; `optional` is the first that may be absent.
int random_operand(const OpView& view, int optional) {
    return optional + (is_packed(view.attributes()) ? 1 : 0);
}

/// Whether there is that, and not only the place on the ring.
bool has_random(const OpView& view, int optional) {
    return view.inputs() > random_operand(view, optional) + (is_ring(view) ? 1 : 0);
}

// Position t of a sample is number positions[t] of its sequence, and t - positions[t], where that
// begins, never falls.
std::string want_positions(const OpView& view, int optional) {
    if (!is_packed(view.attributes())) {
        return {};
    }
    const ir::Type& q = view.input(0);
    if (!view.attributes().flag("causal") || q.shape[1] != view.input(1).shape[1]) {
        return "only causal attention of a sample to itself can be packed";
    }
    const ir::Type expected{ir::DType::i32, {q.shape[0], q.shape[1]}};
    if (view.inputs() <= optional || view.input(optional) != expected) {
        return "packed attention needs positions " + word(expected);
    }
    return {};
}

std::string want_ring(const OpView& view) {
    if (!is_ring(view)) {
        return {};
    }
    const auto& ring = view.attributes().list("ring");
    const ir::Type& place = view.input(view.inputs() - 1);
    if (ring.size() != 3 || ring[0] < 1 || ring[1] < 0 || ring[1] >= ring[2]) {
        return "ring is [all positions, step, devices] with a step below devices";
    }
    if (place != ir::Type{ir::DType::i64, {1}}) {
        return "the place on a ring must be i64[1], but is " + word(place);
    }
    return view.input(0).shape[1] == view.input(1).shape[1]
               ? ""
               : "parts on a ring have as many queries as keys";
}

std::string want_dropout(const OpView& view, int optional) {
    const double rate = view.attributes().real("rate", 0.0);
    if (!(rate >= 0.0 && rate < 1.0)) {
        return "rate must be at least 0 and less than 1, but is " + std::to_string(rate);
    }
    const int random = random_operand(view, optional);
    if (!has_random(view, optional)) {
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
        wrong = first_of({want_positions(view, 3), want_dropout(view, 3), want_ring(view)});
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type logsumexp{statistics_dtype(q.dtype), {q.shape[0], q.shape[2], q.shape[1]}};
    return {{q, logsumexp}, {}};
}

void attention_gradient(GradientContext& c) {
    only_first_output(c);
    ValueIds operands{c.input(0), c.input(1), c.input(2), c.output(0), c.output(1), c.upstream()};
    for (int i = 3; i < c.inputs(); ++i) {
        operands.push_back(c.input(i));
    }
    const auto grads = c.builder().emit_all("attention_grad", operands, c.op().attributes);
    for (int i = 0; i < 3; ++i) {
        c.set(i, grads[static_cast<std::size_t>(i)]);
    }
}

// Where there are as many keys as queries, their positions are split together, and keys and values
// go around a ring (split_forward). Otherwise a causal mask and dropout, which need the index of
// each probability, keep queries whole, and keys are always whole.
FactorRule attention_rule(const OpView& view, std::string_view self, std::string_view cross,
                          bool backward, int optional) {
    constexpr Combine whole = Combine::whole;
    const bool dropout = has_random(view, optional);
    const Combine free = backward ? Combine::sum : Combine::pointwise;
    const bool alike = view.input(0).shape[1] == view.input(1).shape[1];
    const bool placed = dropout || view.attributes().flag("causal");
    return einsum(view, alike ? self : cross,
                  {{'t', alike    ? Combine::custom
                         : placed ? whole
                                  : free},
                   {'g', dropout ? whole : free},
                   {'s', whole},
                   {'d', whole},
                   {'r', whole}});
}

FactorRule attention_factors(const OpView& view) {
    return is_packed(view.attributes())
               ? attention_rule(view, "nt(kg)d,ntkd,ntkd,nt,r->nt(kg)d,n(kg)t", {}, false, 3)
               : attention_rule(view, "nt(kg)d,ntkd,ntkd,r->nt(kg)d,n(kg)t",
                                "nt(kg)d,nskd,nskd,r->nt(kg)d,n(kg)t", false, 3);
}

/// The op on parts: operands are given without the optional ones.
class Parts {
public:
    Parts(SplitContext& c, std::size_t random) : c_(c), attributes_(c.attributes()) {
        Builder& b = c.builder();
        if (is_packed(attributes_)) {
            behind_.push_back(c.inputs()[random]);
            ++random;
        }
        const int queries = factor_of(c.rule().inputs[0], 1);
        positions_ = queries == factor_of(c.rule().inputs[1], 1) ? queries : -1;
        if (c.inputs().size() > random) {
            const std::array factors{factor_of(c.rule().inputs[1], 0),
                                     factor_of(c.rule().inputs[1], 2)};
            const ValueId origin = c.origin(factors, std::array<std::int64_t, 2>{0, 0});
            behind_.push_back(
                b.emit("concat", {c.inputs()[random], origin}, {{"dim", std::int64_t{0}}}));
            attributes_.set("extents", std::vector<std::int64_t>{c.whole().input(0).shape[2]});
        }
        if (on_ring()) {
            behind_.push_back(c.origin(std::array{positions_}, std::array{std::int64_t{0}}));
        }
    }

    bool on_ring() const { return c_.is_split(positions_); }
    std::int64_t devices() const { return c_.devices(positions_); }
    ValueId from_before(ValueId value) const { return c_.from_part_before(value, positions_); }

    ValueIds emit(ValueIds operands, std::int64_t step) const {
        ir::Attributes attributes = attributes_;
        if (on_ring()) {
            attributes.set(
                "ring", std::vector<std::int64_t>{c_.whole().input(0).shape[1], step, devices()});
        }
        operands.insert(operands.end(), behind_.begin(), behind_.end());
        return c_.builder().emit_all(c_.whole().op.kind, operands, attributes);
    }

private:
    SplitContext& c_;
    ir::Attributes attributes_;
    ValueIds behind_;             // positions, random, place
    int positions_ = -1;          // factor of queries and keys alike
};

/// Results of attention to some of the keys: out, logsumexp.
struct Attended {
    ValueId out, logsumexp;
};

// What softmax over both sets of keys gives (Dao et al. 2022, section 3.1). A query that sees none
// of a set has a very small logsumexp there.
Attended merged(Builder& b, const Attended& x, const Attended& y) {
    const ValueId most = maximum(b, x.logsumexp, y.logsumexp);
    const auto share = [&](const Attended& one) {
        return b.emit("exp", {sub(b, one.logsumexp, most)});
    };
    const ValueId xs = share(x);
    const ValueId ys = share(y);
    const ValueId sum = add(b, xs, ys); // [N, H, T]
    const auto weighted = [&](const Attended& one, ValueId own) {
        ir::Shape rows = b.shape(one.out);
        rows[3] = 1;
        const ValueId weight = reshape(b, transpose(b, div(b, own, sum), {0, 2, 1}), rows);
        return mul(b, cast(b, one.out, b.type(weight).dtype), weight);
    };
    return {add(b, weighted(x, xs), weighted(y, ys)), add(b, most, b.emit("log", {sum}))};
}

// Ring attention (Liu et al. 2023): keys and values go around, and each device's queries meet each
// part of them once.
void split_forward(SplitContext& c) {
    Builder& b = c.builder();
    const Parts parts(c, 3);
    ValueId k = c.input(1);
    ValueId v = c.input(2);
    const auto own = parts.emit({c.input(0), k, v}, 0);
    Attended sum{own[0], own[1]};
    for (std::int64_t step = 1; parts.on_ring() && step < parts.devices(); ++step) {
        k = parts.from_before(k);
        v = parts.from_before(v);
        const auto next = parts.emit({c.input(0), k, v}, step);
        sum = merged(b, sum, {next[0], next[1]});
    }
    c.set(0, cast(b, sum.out, c.output_type(0).dtype));
    c.set(1, sum.logsumexp);
}

// The gradients of keys and values go around behind them and end where they belong. Those of a
// device's own part stay.
void split_backward(SplitContext& c) {
    Builder& b = c.builder();
    const Parts parts(c, 6);
    ValueIds operands(c.inputs().begin(), c.inputs().begin() + 6);
    const auto own = parts.emit(operands, 0);
    ValueId dq = own[0];
    ValueId dk, dv;
    for (std::int64_t step = 1; parts.on_ring() && step < parts.devices(); ++step) {
        operands[1] = parts.from_before(operands[1]);
        operands[2] = parts.from_before(operands[2]);
        const auto next = parts.emit(operands, step);
        dq = add(b, dq, next[0]);
        dk = step == 1 ? next[1] : add(b, parts.from_before(dk), next[1]);
        dv = step == 1 ? next[2] : add(b, parts.from_before(dv), next[2]);
    }
    c.set(0, dq);
    c.set(1, dk.valid() ? add(b, own[1], parts.from_before(dk)) : own[1]);
    c.set(2, dv.valid() ? add(b, own[2], parts.from_before(dv)) : own[2]);
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
                      want_shape("dout", view.input(5), q.shape), want_positions(view, 6),
                      want_dropout(view, 6), want_ring(view)});
    }
    return wrong.empty() ? Inferred{{q, k, k}, {}} : fail(wrong);
}

FactorRule attention_grad_factors(const OpView& view) {
    return is_packed(view.attributes())
               ? attention_rule(view,
                                "nt(kg)d,ntkd,ntkd,nt(kg)d,n(kg)t,nt(kg)d,nt,r->nt(kg)d,ntkd,ntkd",
                                {}, true, 6)
               : attention_rule(
                     view, "nt(kg)d,ntkd,ntkd,nt(kg)d,n(kg)t,nt(kg)d,r->nt(kg)d,ntkd,ntkd",
                     "nt(kg)d,nskd,nskd,nt(kg)d,n(kg)t,nt(kg)d,r->nt(kg)d,nskd,nskd", true, 6);
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
    .help = "q [N, T, H, D], k, v [N, S, K, D], positions?, random? -> out [N, T, H, D], "
            "logsumexp [N, H, T]",
    .min_inputs = 3,
    .max_inputs = 6,
    .attributes = kAttentionAttributes,
    .infer = infer_attention,
    .gradient = attention_gradient,
    .factors = attention_factors,
    .cost = attention_cost,
    .split = split_forward,
    .full_outputs = {1},
    .random = true};

const OpDef kAttentionGrad{.name = "attention_grad",
                           .help =
                               "q, k, v, out, logsumexp, dout, positions?, random? -> dq, dk, dv",
                           .min_inputs = 6,
                           .max_inputs = 9,
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
