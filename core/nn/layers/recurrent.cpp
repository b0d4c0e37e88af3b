// SPDX-License-Identifier: Apache-2.0
// Recurrent layers over sequences [B, T, C], one position after the other in a loop. Gates stand in
// the order of PyTorch; what the input says to them is one product over all positions.
#include "core/nn/layers/layer_list.h"
#include "core/nn/loop.h"

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable recurrent_fields(int) {
    return {config::integer_field("units", nullptr, "Numbers of the state.")
                .must_be_given()
                .range(1, 1 << 20),
            config::choice_field("output", "sequence", {"sequence", "last"},
                                 "The state at every position, or at the last one alone.")};
}

/// The state that follows at a position: from those before it [B, H] each, and what the input says
/// to the gates [B, gates H]. The first one is what the layer puts out.
using Cell = ir::ValueIds (*)(ModelContext& context, const ir::ValueIds& states, ir::ValueId input);

ir::ValueId gate_product(ModelContext& context, const char* name, ir::ValueId x, std::int64_t width,
                         bool bias) {
    const Scope scope(context, name);
    return ops::cast(
        context.builder(),
        dense(context, x, width, Init::fan_in(context.shape(x).back()), {"embed", ""}, bias),
        ir::DType::f32);
}

ir::ValueId gate(ops::Builder& b, ir::ValueId gates, std::int64_t index, std::int64_t units) {
    return ops::slice(b, gates, {0, index * units}, {b.shape(gates)[0], units});
}

// Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000: input, forget, cell,
// output.
ir::ValueIds lstm_cell(ModelContext& context, const ir::ValueIds& states, ir::ValueId input) {
    ops::Builder& b = context.builder();
    const std::int64_t units = context.shape(states[0])[1];
    const ir::ValueId gates =
        ops::add(b, input, gate_product(context, "state", states[0], 4 * units, false));
    const auto open = [&](std::int64_t index) {
        return b.emit("sigmoid", {gate(b, gates, index, units)});
    };
    const ir::ValueId fresh = b.emit("tanh", {gate(b, gates, 2, units)});
    const ir::ValueId cell =
        ops::add(b, ops::mul(b, open(1), states[1]), ops::mul(b, open(0), fresh));
    return {ops::mul(b, open(3), b.emit("tanh", {cell})), cell};
}

// Cho et al. 2014 as PyTorch has it, where the reset gate acts behind the product: reset, update,
// new.
ir::ValueIds gru_cell(ModelContext& context, const ir::ValueIds& states, ir::ValueId input) {
    ops::Builder& b = context.builder();
    const std::int64_t units = context.shape(states[0])[1];
    const ir::ValueId said = gate_product(context, "state", states[0], 3 * units, true);
    const auto open = [&](std::int64_t index) {
        return b.emit("sigmoid",
                      {ops::add(b, gate(b, input, index, units), gate(b, said, index, units))});
    };
    const ir::ValueId fresh = b.emit(
        "tanh",
        {ops::add(b, gate(b, input, 2, units), ops::mul(b, open(0), gate(b, said, 2, units)))});
    return {ops::add(b, fresh, ops::mul(b, open(1), ops::sub(b, states[0], fresh)))};
}

ir::ValueId build_recurrent(ModelContext& context, const Json& settings, ir::ValueId x, Cell cell,
                            std::int64_t gates, std::size_t states) {
    if (context.shape(x).rank() != 3 || !ir::is_float(context.builder().type(x).dtype)) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs sequences [batch, positions, channels]",
                     "Use it after an embedding layer, or on data of that shape.");
    }
    ops::Builder& b = context.builder();
    const auto units = settings.at("units").get<std::int64_t>();
    const std::int64_t samples = context.shape(x)[0];
    const std::int64_t positions = context.shape(x)[1];
    const ir::ValueId inputs = ops::transpose(
        b, gate_product(context, "input", x, gates * units, true), {1, 0, 2}); // [T, B, gates H]
    ir::ValueIds start;
    while (start.size() < states) {
        start.push_back(ops::constant(b, 0.0, {samples, units}));
    }
    const bool last = settings.at("output") == "last";
    const ir::ValueIds out = scanned(b, positions, start, {inputs}, [&](const ir::ValueIds& taken) {
        const ir::ValueIds before(taken.begin(), taken.end() - 1);
        ir::ValueIds next = cell(context, before, taken.back());
        if (!last) {
            next.push_back(next.front());
        }
        return next;
    });
    return last ? out.front() : ops::transpose(b, out.back(), {1, 0, 2});
}

ir::ValueId build_lstm(ModelContext& context, const Json& settings, ir::ValueId x) {
    return build_recurrent(context, settings, x, lstm_cell, 4, 2);
}

ir::ValueId build_gru(ModelContext& context, const Json& settings, ir::ValueId x) {
    return build_recurrent(context, settings, x, gru_cell, 3, 1);
}

} // namespace

const LayerDef kLstmLayer = {"lstm",
                             "Long short-term memory: [B, T, C] to [B, T, units] or [B, units].",
                             recurrent_fields, build_lstm};
const LayerDef kGruLayer = {"gru",
                            "Gated recurrent unit: [B, T, C] to [B, T, units] or [B, units].",
                            recurrent_fields, build_gru};

} // namespace weft::nn
