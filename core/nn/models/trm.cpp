// SPDX-License-Identifier: Apache-2.0
// Tiny Recursive Model (Jolicoeur-Martineau 2025): one small stack of layers improves an answer
// `high` and a scratch pad `low` cycle after cycle. A step is h_cycles times: l_cycles times
// low = stack(low + high + x), then high = stack(high + low); the last of these cycles is learnt
// through. Steps are repeated on a sample until the model says that it is solved (Graves 2016,
// Dehghani et al. 2019), each one an update: what a training row has reached is carried to the next
// update. Layers are post-norm without learned gains. Shape letters: B samples, N cells, P
// positions before them, T = P + N, C width, H heads, D = C / H, F and G inner widths over channels
// and positions, V vocabulary.
#include "core/nn/models/model_list.h"
#include "core/nn/models/transformer.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace weft::nn {
namespace {

using config::Json;
using ir::ValueId;
using ir::ValueIds;

constexpr std::int64_t kInnerMultiple = 256;
constexpr double kUnsolved = -5.0; // the verdict's logit at the start

struct TrmSettings {
    bool mixes_positions; // by a network over them, instead of attention
    bool rotary, prefix_row;
    bool puzzle_rows; // where the data tell kinds of puzzles apart
    std::int64_t layers, width, heads, prefix, h_cycles, l_cycles, most_steps;
    double expansion, exploration, halting_weight, rope_theta, norm_eps;
};

TrmSettings trm_settings(const Json& s) {
    const auto whole = [&](const char* name) { return s.at(name).get<std::int64_t>(); };
    const auto real = [&](const char* name) { return s.at(name).get<double>(); };
    return {.mixes_positions = s.at("mixer") == "mlp",
            .rotary = s.at("positions") == "rotary",
            .prefix_row = s.at("prefix_row").get<bool>(),
            .puzzle_rows = s.at("puzzle_rows") == "auto",
            .layers = whole("layers"),
            .width = whole("width"),
            .heads = whole("heads"),
            .prefix = whole("prefix"),
            .h_cycles = whole("h_cycles"),
            .l_cycles = whole("l_cycles"),
            .most_steps = whole("halt_max_steps"),
            .expansion = real("expansion"),
            .exploration = real("halt_exploration"),
            .halting_weight = real("halting_weight"),
            .rope_theta = real("rope_theta"),
            .norm_eps = real("norm_eps")};
}

config::FieldTable trm_fields() {
    return {
        config::choice_field("mixer", "attention", {"attention", "mlp"},
                             "What mixes positions: attention, or a network over all of them, "
                             "which suits small boards."),
        config::integer_field("layers", 2, "Layers of the stack that is repeated.").range(1, 100),
        config::integer_field("width", 512, "Channels.").range(1, 1 << 16),
        config::integer_field("heads", 8, "Attention heads.").range(1, 1024),
        config::real_field("expansion", 4.0,
                           "Inner width of a network: 2/3 of as many times its width, rounded up "
                           "to a multiple of 256.")
            .range(0.1, 64.0),
        config::integer_field("h_cycles", 3, "Improvements of the answer in a step.").range(1, 64),
        config::integer_field("l_cycles", 6, "Improvements of the scratch pad before each of them.")
            .range(1, 64),
        config::integer_field("halt_max_steps", 16,
                              "Steps on a sample at most; evaluation takes as many.")
            .range(1, 1024)
            .in("steps"),
        config::real_field("halt_exploration", 0.1,
                           "Share of training rows that go on for a random number of steps even "
                           "where the model says that it has done.")
            .range(0.0, 1.0),
        config::real_field("halting_weight", 0.5,
                           "Weight of the loss that teaches when a sample is solved.")
            .at_least(0.0),
        config::integer_field("prefix", 16,
                              "Positions before the sample's own; the first one tells whether it "
                              "is solved.")
            .range(0, 1 << 16),
        config::boolean_field("prefix_row", false,
                              "The first of them has a learned embedding, one for all samples."),
        config::choice_field(
            "puzzle_rows", "auto", {"auto", "off"},
            "Where data tell kinds of puzzles apart (a published set with "
            "identifiers, arc) each kind has a learned embedding there instead, a "
            "row of a table that begins at zero. An update changes the rows of its "
            "batch alone: optimizer.groups has to give prefix.rows a type that "
            "keeps nothing of a weight, such as sign_sgd. off: kinds are ignored."),
        config::choice_field("positions", "rotary", {"rotary", "none"},
                             "How attention knows positions."),
        config::real_field("rope_theta", 10000.0, "Base of the rotary wave lengths.").above(0.0),
        config::real_field("norm_eps", 1e-5, "Added to the mean square by every norm.")
            .above(0.0)
            .for_experts()};
}

void check_trm(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    const TrmSettings s = trm_settings(settings);
    const auto report = [&](const char* field, std::string message, std::string hint) {
        out.push_back(
            {pointer + "/" + field, config::Severity::error, std::move(message), std::move(hint)});
    };
    if (!s.mixes_positions && s.width % (2 * s.heads) != 0) {
        report("heads",
               "width " + std::to_string(s.width) + " does not divide into " +
                   std::to_string(s.heads) + " heads of an even width",
               "Choose a number of heads whose double divides the width.");
    }
    if (s.prefix_row && s.prefix == 0) {
        report("prefix_row", "there is no position for it", "Set model.prefix to 1 or more.");
    }
}

/// 2/3 of `expansion` widths, rounded up.
std::int64_t trm_inner(double expansion, std::int64_t width) {
    const auto two_thirds =
        static_cast<std::int64_t>(std::llround(expansion * static_cast<double>(width) * 2.0 / 3.0));
    return std::max<std::int64_t>(1, (two_thirds + kInnerMultiple - 1) / kInnerMultiple) *
           kInnerMultiple;
}

Init scaled_by(std::int64_t inputs) {
    return Init::truncated_normal(1.0 / std::sqrt(static_cast<double>(inputs)));
}

/// down(silu(gate) * up), gate and up of one product (Shazeer 2020).
struct GatedWeights {
    ValueId up, down; // [K, 2 F], [F, K]
};

struct TrmLayer {
    ValueId qkv, output; // [C, 3 C], [C, C]; invalid where a network mixes positions
    GatedWeights tokens; // over T; invalid where attention does
    GatedWeights channels;
};

/// All weights are asked for before the loops: what loops read belongs to the block around them.
struct TrmWeights {
    std::vector<TrmLayer> layers;
    ValueId first; // [1, C] or, one for each sample, [B, C]; invalid: zeros stand there
    ValueId embedding, head, halt_weight, halt_bias, start_high, start_low;
};

GatedWeights gated_weights(ModelContext& context, const char* name, std::int64_t width,
                           double expansion, const char* outer, const char* inner) {
    const Scope scope(context, name);
    const std::int64_t f = trm_inner(expansion, width);
    return {context.parameter("up.weight", {width, 2 * f}, scaled_by(width),
                              {outer, *inner == '\0' ? "" : "2*" + std::string(inner)}),
            context.parameter("down.weight", {f, width}, scaled_by(f), {inner, outer})};
}

/// What stands at the first position; `kinds` i32[B], invalid where data do not tell any.
ValueId first_position(ModelContext& context, const TrmSettings& s, ValueId kinds) {
    if (kinds.valid() && s.puzzle_rows) {
        if (s.prefix == 0) {
            context.fail("the data tell " + std::to_string(context.data().identifiers) +
                             " kinds of puzzles apart, and there is no position for what is learnt "
                             "of each",
                         "Set model.prefix to 1 or more, or model.puzzle_rows to \"off\".");
        }
        const Scope scope(context, "prefix");
        return context.table_rows("rows", context.data().identifiers, s.width, kinds);
    }
    return s.prefix_row
               ? context.parameter("prefix.weight", {1, s.width}, Init::zeros(), {"", "embed"})
               : ValueId();
}

TrmWeights trm_weights(ModelContext& context, const TrmSettings& s, std::int64_t positions,
                       ValueId kinds) {
    TrmWeights out;
    const std::int64_t c = s.width;
    const std::int64_t vocab = context.data().classes;
    out.embedding =
        context.parameter("embedding.weight", {vocab, c}, scaled_by(c), {"vocab", "embed"});
    out.first = first_position(context, s, kinds);
    for (std::int64_t i = 0; i < s.layers; ++i) {
        const Scope scope(context, "layers." + std::to_string(i));
        TrmLayer layer;
        if (s.mixes_positions) {
            layer.tokens = gated_weights(context, "positions", positions, s.expansion, "", "");
        } else {
            const std::int64_t d = c / s.heads;
            layer.qkv = context.parameter("attention.qkv.weight", {c, 3 * c}, scaled_by(c),
                                          {"embed", heads_axis("heads", d, 3)});
            layer.output = context.parameter("attention.output.weight", {c, c}, scaled_by(c),
                                             {heads_axis("heads", d), "embed"});
        }
        layer.channels = gated_weights(context, "mlp", c, s.expansion, "embed", "mlp");
        out.layers.push_back(layer);
    }
    out.head = context.parameter("head.weight", {c, vocab}, scaled_by(c), {"embed", "vocab"});
    out.halt_weight = context.parameter("halt.weight", {c, 2}, Init::zeros(), {"embed", ""});
    out.halt_bias = context.parameter("halt.bias", {2}, Init::constant(kUnsolved), {""});
    out.start_high = context.statistic("start.high", {c}, Init::truncated_normal(1.0));
    out.start_low = context.statistic("start.low", {c}, Init::truncated_normal(1.0));
    return out;
}

/// Answer and scratch pad, [B, T, C] each.
struct Thought {
    ValueId high, low;
};

using Cycle = std::function<ValueIds(ops::Builder& b, const ValueIds& carried)>;

/// Values that go `count` times through `body`, which may read any other; what it gives beyond them
/// comes out stacked, [count, ...].
ValueIds repeated(ops::Builder& b, std::int64_t count, const ValueIds& start, const Cycle& body) {
    ir::Program& program = b.program();
    ir::Op loop;
    loop.kind = "repeat";
    loop.path = b.path();
    loop.phase = b.phase();
    loop.attributes = {
        {"count", count}, {"carried", static_cast<std::int64_t>(start.size())}, {"reverse", false}};
    loop.inputs = start;
    ir::Block& block = loop.body.emplace_back();
    for (const ValueId value : start) {
        block.arguments.push_back(program.add_value(ir::Type(program.type(value))));
    }
    ops::Builder inner(program, block);
    inner.set_path(b.path());
    inner.set_phase(b.phase());
    block.results = body(inner, block.arguments);
    for (std::size_t i = 0; i < block.results.size(); ++i) {
        const ir::Type type = program.type(block.results[i]);
        ir::Shape shape;
        if (i >= start.size()) {
            shape.push_back(count);
        }
        for (const std::int64_t extent : type.shape) {
            shape.push_back(extent);
        }
        loop.outputs.push_back(program.add_value({type.dtype, shape}));
    }
    ValueIds outputs = loop.outputs;
    b.append(std::move(loop));
    return outputs;
}

/// What a step computes with; the builder changes from loop to loop.
class TrmSteps {
public:
    TrmSteps(const TrmSettings& settings, const TrmWeights& weights, ValueId x, bool learns)
        : s_(settings), w_(weights), x_(x), learns_(learns) {}

    /// One step: h_cycles improvements of the answer.
    Thought step(ops::Builder& b, Thought z) const {
        if (s_.h_cycles > 1) {
            const ValueIds out =
                repeated(b, s_.h_cycles - 1, {z.high, z.low},
                         [this](ops::Builder& inner, const ValueIds& carried) {
                             const Thought next = cycle(inner, {carried[0], carried[1]});
                             return ValueIds{next.high, next.low};
                         });
            z = {out[0], out[1]};
        }
        return cycle(b, learns_ ? stopped(b, z) : z);
    }

    Thought stopped(ops::Builder& b, const Thought& z) const {
        return {b.emit("stop_gradient", {z.high}), b.emit("stop_gradient", {z.low})};
    }

    /// f32[B]: that the sample is solved.
    ValueId verdict(ops::Builder& b, ValueId high) const {
        b.set_path("halt");
        const std::int64_t rows = b.shape(high)[0];
        const ValueId first =
            ops::reshape(b, ops::slice(b, high, {0, 0, 0}, {rows, 1, s_.width}), {rows, s_.width});
        const ValueId both = ops::linear(b, first, w_.halt_weight, w_.halt_bias);
        return ops::cast(b, ops::reshape(b, ops::slice(b, both, {0, 0}, {rows, 1}), {rows}),
                         ir::DType::f32);
    }

    /// [B, N, V]
    ValueId logits(ops::Builder& b, ValueId high) const {
        b.set_path("head");
        const ir::Shape shape = b.shape(high);
        const ValueId cells =
            ops::slice(b, high, {0, s_.prefix, 0}, {shape[0], shape[1] - s_.prefix, s_.width});
        return ops::linear(b, cells, w_.head);
    }

    /// One improvement of the answer.
    Thought cycle(ops::Builder& b, const Thought& z) const {
        b.set_path("cycle");
        const ValueId given = ops::add(b, z.high, x_);
        const ValueIds low =
            repeated(b, s_.l_cycles, {z.low}, [&](ops::Builder& inner, const ValueIds& carried) {
                return ValueIds{stack(inner, ops::add(inner, carried[0], given))};
            });
        b.set_path("cycle");
        return {stack(b, ops::add(b, z.high, low[0])), low[0]};
    }

private:
    ValueId stack(ops::Builder& b, ValueId x) const {
        for (std::size_t i = 0; i < w_.layers.size(); ++i) {
            const TrmLayer& layer = w_.layers[i];
            const std::string path = "layers." + std::to_string(i);
            if (s_.mixes_positions) {
                b.set_path(path + ".positions");
                x = ops::transpose(b, x, {0, 2, 1});
                x = ops::transpose(b, normalised(b, ops::add(b, x, gated(b, layer.tokens, x))),
                                   {0, 2, 1});
            } else {
                b.set_path(path + ".attention");
                x = normalised(b, ops::add(b, x, attention(b, layer, x)));
            }
            b.set_path(path + ".mlp");
            x = normalised(b, ops::add(b, x, gated(b, layer.channels, x)));
        }
        return x;
    }

    ValueId normalised(ops::Builder& b, ValueId x) const {
        const ValueId gain = ops::constant(b, 1.0, {b.shape(x).back()});
        return b.emit("rms_norm", {x, gain}, {{"eps", s_.norm_eps}});
    }

    static ValueId gated(ops::Builder& b, const GatedWeights& weights, ValueId x) {
        const ValueId both = ops::linear(b, x, weights.up);
        const ir::Shape shape = b.shape(both);
        const std::int64_t f = shape[2] / 2;
        const auto half = [&](std::int64_t index) {
            return ops::slice(b, both, {0, 0, index * f}, {shape[0], shape[1], f});
        };
        const ValueId gate = b.emit("silu", {half(0)});
        return ops::linear(b, ops::mul(b, gate, half(1)), weights.down);
    }

    ValueId attention(ops::Builder& b, const TrmLayer& layer, ValueId x) const {
        const ir::Shape shape = b.shape(x);
        const std::int64_t d = s_.width / s_.heads;
        const ValueId qkv = ops::linear(b, x, layer.qkv);
        const auto part = [&](std::int64_t index) {
            const ValueId third =
                ops::slice(b, qkv, {0, 0, index * s_.width}, {shape[0], shape[1], s_.width});
            const ValueId heads = ops::reshape(b, third, {shape[0], shape[1], s_.heads, d});
            return s_.rotary && index < 2
                       ? b.emit("rotary", {heads}, {{"theta", s_.rope_theta}, {"inverse", false}})
                       : heads;
        };
        const ValueId query = part(0);
        const ValueId key = part(1);
        const ValueId value = part(2);
        const ValueId mixed =
            b.emit("attention", {query, key, value},
                   {{"causal", false}, {"scale", 1.0 / std::sqrt(static_cast<double>(d))}});
        return ops::linear(b, ops::reshape(b, mixed, shape), layer.output);
    }

    const TrmSettings& s_;
    const TrmWeights& w_;
    ValueId x_; // [B, T, C]
    bool learns_;
};

/// [B, T, C]: positions of the prefix, then the cells, times sqrt(C).
ValueId embedded(ops::Builder& b, const TrmSettings& s, const TrmWeights& w, ValueId ids) {
    b.set_path("embedding");
    const double scale = std::sqrt(static_cast<double>(s.width));
    const ValueId cells = ops::affine(b, b.emit("embedding", {w.embedding, ids}), scale);
    const std::int64_t rows = b.shape(ids)[0];
    const auto padded = [&](ValueId x, std::int64_t before, std::int64_t behind) {
        return before + behind == 0 ? x
                                    : b.emit("pad", {x},
                                             {{"low", std::vector<std::int64_t>{0, before, 0}},
                                              {"high", std::vector<std::int64_t>{0, behind, 0}},
                                              {"value", 0.0}});
    };
    if (!w.first.valid()) {
        return padded(cells, s.prefix, 0);
    }
    const ValueId scaled = ops::affine(b, w.first, scale);
    const ValueId row = b.shape(scaled)[0] == rows
                            ? ops::reshape(b, scaled, {rows, 1, s.width})
                            : b.emit("broadcast", {scaled},
                                     {{"shape", std::vector<std::int64_t>{rows, 1, s.width}}});
    return b.emit("concat", {padded(row, 0, s.prefix - 1), cells}, {{"dim", std::int64_t{1}}});
}

ValueId broadcast_rows(ops::Builder& b, ValueId x, const ir::Shape& shape) {
    return b.emit("broadcast", {x},
                  {{"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
}

/// 1 where steps [B] are `count` or more.
ValueId at_least(ops::Builder& b, ValueId steps, double count) {
    return b.emit("less", {ops::constant(b, count - 0.5), steps});
}

/// f32[B]: 1 where a row takes another sample in the next step: at the last step, or where the
/// model says so and chance does not ask for more. It does in a share of the rows, for a number of
/// steps between 2 and the most.
ValueId done_with(ModelContext& context, const TrmSettings& s, ValueId logit, ValueId steps) {
    ops::Builder& b = context.builder();
    b.set_path("halt");
    const std::vector<std::int64_t> rows = {b.shape(logit)[0]};
    const auto chance = [&](const char* stream) {
        return b.emit("random_uniform", {context.random()},
                      {{"shape", rows}, {"low", 0.0}, {"high", 1.0}, {"stream", stream}});
    };
    const ValueId last = at_least(b, steps, static_cast<double>(s.most_steps));
    ValueId stops = b.emit("less", {ops::constant(b, 0.0), logit});
    if (s.exploration > 0.0 && s.most_steps > 1) {
        const ValueId explores =
            b.emit("less", {chance("halt.explores"), ops::constant(b, s.exploration)});
        // steps >= 2 + floor(u k) of k choices is u k < steps - 1
        const auto choices = static_cast<double>(s.most_steps - 1);
        const ValueId least = ops::affine(b, chance("halt.least"), choices);
        const ValueId enough = b.emit("less", {least, ops::affine(b, steps, 1.0, -1.0)});
        stops = ops::mul(b, stops, ops::maximum(b, ops::affine(b, explores, -1.0, 1.0), enough));
    }
    return ops::maximum(b, last, stops);
}

/// One step of every row, from where it was left.
Thought trained_step(ModelContext& context, const TrmSettings& s, const TrmWeights& w,
                     const TrmSteps& steps, const ir::Shape& shape) {
    ops::Builder& b = context.builder();
    b.set_path("carry");
    Thought z;
    ValueId done_before; // steps on the sample
    if (context.fresh().valid()) {
        const ValueId fresh = ops::reshape(b, context.fresh(), {shape[0], 1, 1});
        const ir::Shape row{shape[1], shape[2]};
        z.high = ops::select(b, fresh, w.start_high, context.carry("high", row));
        z.low = ops::select(b, fresh, w.start_low, context.carry("low", row));
        done_before =
            ops::select(b, context.fresh(), ops::constant(b, 0.0), context.carry("steps", {}));
    } else {
        z = {broadcast_rows(b, w.start_high, shape), broadcast_rows(b, w.start_low, shape)};
        done_before = ops::constant(b, 0.0, {shape[0]});
    }
    z = steps.step(b, z);
    const ValueId logit = steps.verdict(b, z.high);
    const ValueId count = ops::affine(b, done_before, 1.0, 1.0);
    context.judge({.logit = logit, .weight = s.halting_weight, .steps = count});
    if (context.fresh().valid()) {
        context.finish(done_with(context, s, logit, count));
        b.set_path("carry");
        context.update("high", ops::cast(b, z.high, ir::DType::f32));
        context.update("low", ops::cast(b, z.low, ir::DType::f32));
        context.update("steps", count);
    }
    b.set_path("");
    return z;
}

/// Every step there may be, from the start.
Thought evaluated_steps(ModelContext& context, const TrmSettings& s, const TrmWeights& w,
                        const TrmSteps& steps, const ir::Shape& shape) {
    ops::Builder& b = context.builder();
    b.set_path("steps");
    const ValueId zero = ops::constant(b, 0.0, {shape[0]});
    const ValueIds start = {broadcast_rows(b, w.start_high, shape),
                            broadcast_rows(b, w.start_low, shape), zero,
                            ops::affine(b, zero, 1.0, 1.0)};
    const ValueIds out =
        repeated(b, s.most_steps, start, [&](ops::Builder& inner, const ValueIds& carried) {
            const Thought z = steps.step(inner, {carried[0], carried[1]});
            const ValueId logit = steps.verdict(inner, z.high);
            const ValueId stops = inner.emit("less", {ops::constant(inner, 0.0), logit});
            const ValueId goes_on =
                ops::mul(inner, carried[3], ops::affine(inner, stops, -1.0, 1.0));
            return ValueIds{z.high, z.low, ops::add(inner, carried[2], carried[3]), goes_on};
        });
    context.judge({.logit = steps.verdict(b, out[0]), .weight = 0.0, .steps = out[2]});
    b.set_path("");
    return {out[0], out[1]};
}

/// What is said after each cycle of those steps. Nothing is learnt from the last cycle of a step
/// alone there, so that all are one loop.
void trace_cycles(ModelContext& context, const TrmSettings& s, const TrmWeights& w,
                  const TrmSteps& steps, const ir::Shape& shape) {
    ops::Builder& b = context.builder();
    b.set_path("cycles");
    const ValueIds start = {broadcast_rows(b, w.start_high, shape),
                            broadcast_rows(b, w.start_low, shape)};
    const ValueIds out = repeated(
        b, s.most_steps * s.h_cycles, start, [&](ops::Builder& inner, const ValueIds& carried) {
            const Thought z = steps.cycle(inner, {carried[0], carried[1]});
            return ValueIds{z.high, z.low, steps.logits(inner, z.high),
                            steps.verdict(inner, z.high)};
        });
    b.set_path("cycles");
    const auto by_step = [&](ValueId stacked) { // [steps * cycles, ...]
        const ir::Shape all = b.shape(stacked);
        ir::Shape split{s.most_steps, s.h_cycles};
        for (int dim = 1; dim < all.rank(); ++dim) {
            split.push_back(all[dim]);
        }
        return ops::reshape(b, stacked, split);
    };
    context.trace({.outputs = by_step(out[2]), .verdicts = by_step(out[3])});
    b.set_path("");
}

ValueId build_trm(ModelContext& context, const Json& settings, ValueId inputs) {
    const TrmSettings s = trm_settings(settings);
    ops::Builder& b = context.builder();
    const bool told = context.data().identifiers > 0;
    const ir::Type type = b.type(inputs);
    const ir::Shape& target = context.data().target.shape;
    if (type.dtype != ir::DType::i32 || type.shape.rank() != 2 || context.data().classes < 2 ||
        target.rank() != 1 || target[0] != type.shape[1] - (told ? 1 : 0)) {
        context.fail("trm needs cells i32[N] and an answer of as many, but the data delivers " +
                         ir::to_text(context.data().input) + " and " +
                         ir::to_text(context.data().target),
                     "Use data of puzzles, such as sudoku.");
    }
    const std::int64_t rows = type.shape[0];
    ValueId kinds;
    if (told) {
        b.set_path("prefix");
        kinds = ops::reshape(b, ops::slice(b, inputs, {0, 0}, {rows, 1}), {rows});
        inputs = ops::slice(b, inputs, {0, 1}, {rows, target[0]});
        b.set_path("");
    }
    const ir::Shape shape{rows, s.prefix + target[0], s.width};
    const TrmWeights w = trm_weights(context, s, shape[1], kinds);
    const TrmSteps steps(s, w, embedded(b, s, w, inputs), context.training());
    b.set_path("");
    if (context.traces()) {
        trace_cycles(context, s, w, steps, shape);
    }
    const Thought z = context.training() ? trained_step(context, s, w, steps, shape)
                                         : evaluated_steps(context, s, w, steps, shape);
    const ValueId out = steps.logits(b, z.high);
    b.set_path("");
    return out;
}

constexpr std::string_view kTrmTensors =
    "embedding.weight [V, C]\n"
    "prefix.weight [1, C]: with prefix_row\n"
    "prefix.rows [kinds, C]: where data tell kinds of puzzles apart; not counted as parameters\n"
    "layers.*.attention.qkv.weight [C, 3C]: query, key, value\n"
    "layers.*.attention.output.weight [C, C]\n"
    "layers.*.positions.up.weight [T, 2G]: with mixer mlp in place of attention; gate, up\n"
    "layers.*.positions.down.weight [G, T]\n"
    "layers.*.mlp.up.weight [C, 2F]: gate, up\n"
    "layers.*.mlp.down.weight [F, C]\n"
    "head.weight [C, V]\n"
    "halt.weight [C, 2]: whether the sample is solved; the second is not used\n"
    "halt.bias [2]\n"
    "start.high [C]: where answers begin; not trained\n"
    "start.low [C]: where scratch pads begin; not trained\n"
    "carry.* [n, B, ...]: what training rows have reached\n"
    "held.* [n, B, ...]: the samples that they work on\n";

} // namespace

const ModelDef kTrmModel = {.name = "trm",
                            .help = "Tiny Recursive Model: improves an answer step by step, for "
                                    "puzzles.",
                            .tensors = kTrmTensors,
                            .fields = trm_fields,
                            .build = build_trm,
                            .check = check_trm,
                            .decodes = false,
                            .holds_samples = true};

} // namespace weft::nn
