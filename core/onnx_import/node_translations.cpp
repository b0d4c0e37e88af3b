// SPDX-License-Identifier: Apache-2.0
// Nodes that compute element by element, change shapes, or reduce.
#include "core/onnx_import/importer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace weft::onnx_import {
namespace {

using Attributes = ir::Attributes;

// --- elementwise -------------------------------------------------------------------------------

/// Applies to every element, so that a picture's order does not matter.
Imported each(Importer& m, const Imported& x, const char* op) {
    return {.id = m.builder().emit(op, {x.channels_last ? m.last(x) : m.plain(x)}),
            .channels_last = x.channels_last};
}

template <const char* op>
void unary(Importer& m) {
    m.out(each(m, m.in(0), op));
}
constexpr char kAbs[] = "abs", kExp[] = "exp", kLog[] = "log", kNeg[] = "neg", kRelu[] = "relu",
               kSigmoid[] = "sigmoid", kSign[] = "sign", kSqrt[] = "sqrt", kTanh[] = "tanh";

Imported applied(Importer& m, const char* op, const Imported& x, const Imported& y) {
    const bool last = x.channels_last && y.channels_last;
    return {.id = m.builder().emit(op, last ? ir::ValueIds{m.last(x), m.last(y)}
                                            : ir::ValueIds{m.plain(x), m.plain(y)}),
            .channels_last = last};
}

/// A number that leaves the other's shape as it is.
std::optional<double> number_beside(Importer& m, const Imported& number, const Imported& x) {
    const bool is = number.constant && number.constant->scalar() && !x.constant &&
                    number.constant->shape.size() <= m.shape(x).size() &&
                    std::isfinite(number.constant->values[0]);
    return is ? std::optional(number.constant->values[0]) : std::nullopt;
}

Imported shifted(Importer& m, const Imported& x, double by) {
    Imported out = x;
    if (x.erf) {
        out.shift += by;
        return out;
    }
    const ir::ValueId id = x.channels_last ? m.last(x) : m.plain(x);
    return {.id = ops::affine(m.builder(), id, 1.0, by), .channels_last = x.channels_last};
}

Imported times(Imported x, double by) {
    if (x.constant) {
        for (double& value : x.constant->values) {
            value *= by;
        }
        return x;
    }
    x.factor *= by;
    x.shift *= by;
    return x;
}

template <const char* op, int sign>
void add_or_sub(Importer& m) {
    const Imported& x = m.in(0);
    const Imported& y = m.in(1);
    if (const auto by = number_beside(m, y, x)) {
        m.out(shifted(m, x, sign * *by));
    } else if (const auto from = number_beside(m, x, y); from && (sign == 1 || !y.erf)) {
        m.out(shifted(m, times(y, sign), *from));
    } else {
        m.out(applied(m, op, x, y));
    }
}
constexpr char kAdd[] = "add", kSub[] = "sub", kMul[] = "mul", kDiv[] = "div";

/// x (1 + erf(x / sqrt 2)) / 2 is a GELU; `gate` is s (1 + erf).
bool gelu_of(Importer& m, const Imported& x, const Imported& gate) {
    const bool is = gate.erf && !x.erf && gate.factor == gate.shift && x.id == gate.id &&
                    x.channels_last == gate.channels_last && x.swapped == gate.swapped;
    if (is) {
        Imported plain = x;
        plain.factor = 1;
        m.out(times(each(m, plain, "gelu_erf"), 2 * gate.factor * x.factor));
    }
    return is;
}

void mul(Importer& m) {
    const Imported& x = m.in(0);
    const Imported& y = m.in(1);
    if (const auto by = number_beside(m, y, x)) {
        m.out(times(x, *by));
    } else if (const auto other = number_beside(m, x, y)) {
        m.out(times(y, *other));
    } else if (!gelu_of(m, x, y) && !gelu_of(m, y, x)) {
        m.out(applied(m, "mul", x, y));
    }
}

void div(Importer& m) {
    const auto by = number_beside(m, m.in(1), m.in(0));
    m.out(by && *by != 0 ? times(m.in(0), 1 / *by) : applied(m, "div", m.in(0), m.in(1)));
}

void erf(Importer& m) {
    Imported x = m.in(0);
    if (x.constant || x.erf || std::abs(x.factor * std::numbers::sqrt2 - 1) > 1e-6) {
        throw Unsupported{"an Erf that is no part of a GELU"};
    }
    x.factor = 1;
    x.erf = true;
    m.out(x);
}

void pow(Importer& m) {
    const Imported& x = m.in(0);
    const auto exponent = number_beside(m, m.in(1), x);
    if (exponent == 2.0) {
        m.out(each(m, x, "square"));
    } else if (exponent == 3.0) {
        m.out(applied(m, "mul", x, each(m, x, "square")));
    } else if (exponent == 0.5) {
        m.out(each(m, x, "sqrt"));
    } else {
        m.out(applied(m, "pow", x, m.in(1)));
    }
}

void reciprocal(Importer& m) {
    m.out(applied(m, "div", {.constant = Constant{1, {}, {1.0}}}, m.in(0)));
}

void gelu(Importer& m) {
    const auto& attributes = m.node().attributes;
    const auto found = attributes.find("approximate");
    const bool tanh = found != attributes.end() && found->second.text == "tanh";
    m.out(each(m, m.in(0), tanh ? "gelu" : "gelu_erf"));
}

void leaky_relu(Importer& m) {
    const double slope = real_of(m.node(), "alpha", 0.01);
    if (slope > 1) {
        throw Unsupported{"its slope is above 1"};
    }
    m.out(applied(m, "maximum", m.in(0), times(m.in(0), slope)));
}

template <const char* op>
void many(Importer& m) {
    Imported out = m.in(0);
    for (std::size_t i = 1; m.has(i); ++i) {
        out = applied(m, op, out, m.in(i));
    }
    m.out(out);
}
constexpr char kMaximum[] = "maximum", kMinimum[] = "minimum";

void clip(Importer& m) {
    Imported out = m.in(0);
    for (std::size_t i = 1; i <= 2; ++i) {
        if (m.constant(i) != nullptr) {
            const ir::ValueId bound = m.plain(m.in(i));
            const ir::ValueId x = out.channels_last ? m.last(out) : m.plain(out);
            out = {.id = m.builder().emit(i == 1 ? "maximum" : "minimum", {x, bound}),
                   .channels_last = out.channels_last};
        }
    }
    m.out(out);
}

/// A condition that is the same everywhere chooses before the run.
void where(Importer& m) {
    const std::optional<Constant>& condition = m.in(0).constant;
    if (!condition || condition->values.empty() ||
        std::adjacent_find(condition->values.begin(), condition->values.end(),
                           std::not_equal_to<>()) != condition->values.end()) {
        m.out(ops::select(m.builder(), m.plain(0), m.plain(1), m.plain(2)));
        return;
    }
    const Imported& chosen = m.in(condition->values.front() != 0 ? 1 : 2);
    const Extents shape = broadcast_extents(m.shape(0), broadcast_extents(m.shape(1), m.shape(2)));
    m.out(shape == m.shape(chosen) ? chosen
                                   : Imported{.id = m.builder().emit("broadcast", {m.plain(chosen)},
                                                                     {{"shape", shape}})});
}

/// Attention of exporters zeroes what no position may see. Masks of whole rows are refused
/// (emit_constant), so that no softmax gives what is no number unless training failed, which is
/// told then. Of others nobody knows.
void is_nan(Importer& m) {
    const StoredNode* from = m.maker(0);
    if (from == nullptr || from->op != "Softmax") {
        throw Unsupported{"it asks for what is no number among others than results of a Softmax"};
    }
    Constant none{9, m.shape(0), {}};
    none.values.assign(constant_elements(none.shape), 0.0);
    m.out({.constant = std::move(none)});
}

/// Throws Unsupported for a sequence.
ir::DType kind_of(Importer& m, const Imported& value) {
    if (!value.id.valid()) {
        throw Unsupported{"it reads a sequence"};
    }
    return m.builder().type(value.id).dtype;
}

/// Tokens stay i32, numbers f32.
void cast(Importer& m) {
    if (m.node().op == "CastLike") {
        const Imported& like = m.in(1);
        const bool number = !like.constant && ir::is_float(kind_of(m, like));
        if (!m.in(0).constant || !number) {
            throw Unsupported{"it casts what is known in a run only"};
        }
        Constant same = *m.in(0).constant;
        same.element = 1;
        m.out({.constant = std::move(same)});
        return;
    }
    const std::int64_t to = integer_of(m.node(), "to", 1);
    const ir::DType from = kind_of(m, m.in(0));
    const bool number = float_type(to).has_value();
    if (to == 9 || (ir::is_float(from) && !number)) {
        throw Unsupported{"it casts what is known in a run only to another kind of number"};
    }
    m.out(ir::is_float(from) == number
              ? m.in(0)
              : Imported{.id = ops::cast(m.builder(), m.plain(0), ir::DType::f32)});
}

void identity(Importer& m) {
    m.out(m.in(0));
}

/// Drops where the graph is one of training, as the standard has it.
void dropout(Importer& m) {
    const Constant* ratio = m.constant(1);
    const double rate = ratio != nullptr ? number_at(*ratio) : 0.5;
    const Constant* training = m.constant(2);
    const bool drops = training != nullptr && number_at(*training) != 0;
    if (!drops && rate != 0) {
        m.warn("drops nothing, as its training_mode is not true: export the model in training mode "
               "to train with dropout");
    }
    if (!drops || rate == 0) {
        m.out(m.in(0));
        return;
    }
    const auto& outputs = m.node().outputs;
    m.out(m.builder().emit(
        "dropout", {m.plain(0), m.random()},
        {{"rate", rate}, {"stream", outputs.empty() ? std::string() : outputs[0]}}));
}

// --- shapes ------------------------------------------------------------------------------------

void shape_node(Importer& m) {
    const Extents all = m.shape(0);
    const auto rank = static_cast<std::int64_t>(all.size());
    const auto [from, to] = clamped(static_cast<double>(integer_of(m.node(), "start", 0)),
                                    static_cast<double>(integer_of(m.node(), "end", rank)), rank);
    Constant out{7, {std::max<std::int64_t>(0, to - from)}, {}};
    for (std::int64_t i = from; i < to; ++i) {
        out.values.push_back(static_cast<double>(all[static_cast<std::size_t>(i)]));
    }
    m.out({.constant = out});
}

void to_shape(Importer& m, const Extents& shape) {
    m.out(m.builder().emit("reshape", {m.plain(0)}, {{"shape", shape}}));
}

const Constant& fixed(Importer& m, std::size_t i) {
    m.in(i);
    return *m.constant(i);
}

void reshape(Importer& m) {
    to_shape(m, reshaped(m.shape(0), fixed(m, 1), integer_of(m.node(), "allowzero", 0) != 0));
}

void flatten(Importer& m) {
    const Extents from = m.shape(0);
    const std::int64_t axis = integer_of(m.node(), "axis", 1);
    const auto at =
        axis == static_cast<std::int64_t>(from.size()) ? axis : axis_of(axis, from.size());
    const auto middle = from.begin() + at;
    to_shape(m, {std::accumulate(from.begin(), middle, std::int64_t{1}, ir::capped_product),
                 std::accumulate(middle, from.end(), std::int64_t{1}, ir::capped_product)});
}

Extents axes_input(Importer& m, std::size_t rank) {
    return sorted_axes(integers_of(m.node(), "axes", m.constant(1)).value_or(Extents{}), rank);
}

void squeeze(Importer& m) {
    Extents shape = m.shape(0);
    const Extents axes = axes_input(m, shape.size());
    if (axes.empty()) {
        std::erase(shape, 1);
    }
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        shape.erase(shape.begin() + *axis);
    }
    to_shape(m, shape);
}

void unsqueeze(Importer& m) {
    Extents shape = m.shape(0);
    const auto count = integers_of(m.node(), "axes", m.constant(1)).value_or(Extents{}).size();
    for (const std::int64_t axis : axes_input(m, shape.size() + count)) {
        shape.insert(shape.begin() + axis, 1);
    }
    to_shape(m, shape);
}

void expand(Importer& m) {
    const Extents shape = broadcast_extents(m.shape(0), *integers_of(m.node(), "", &fixed(m, 1)));
    m.out(shape == m.shape(0) ? m.plain(0)
                              : m.builder().emit("broadcast", {m.plain(0)}, {{"shape", shape}}));
}

void transpose(Importer& m) {
    Imported x = m.in(0);
    const std::size_t rank = m.shape(0).size();
    Extents order(rank);
    std::iota(order.rbegin(), order.rend(), 0);
    order = integers_of(m.node(), "perm", nullptr).value_or(order);
    Extents swap(rank);
    std::iota(swap.begin(), swap.end(), 0);
    if (x.channels_last && order == Extents{0, 2, 3, 1}) {
        x.channels_last = false;
        m.out(x);
        return;
    }
    if (!x.channels_last && !x.swapped && order == Extents{0, 3, 1, 2}) {
        x.channels_last = true;
        m.out(x);
        return;
    }
    if (rank >= 2) {
        std::swap(swap[rank - 1], swap[rank - 2]);
    }
    if (!x.channels_last && rank >= 2 && order == swap) {
        x.swapped = !x.swapped;
        m.out(x);
        return;
    }
    m.out(ops::transpose(m.builder(), m.plain(x), order));
}

void concat(Importer& m) {
    std::vector<Imported> all;
    bool last = true;
    for (std::size_t i = 0; i < m.node().inputs.size(); ++i) {
        all.push_back(m.in(i));
        last = last && all.back().channels_last;
    }
    const std::int64_t axis = m.axis("axis", 0, m.shape(0).size());
    last = last && axis == 1;
    ir::ValueIds ids;
    for (const Imported& one : all) {
        ids.push_back(last ? m.last(one) : m.plain(one));
    }
    const std::int64_t dim = last ? 3 : axis;
    m.out({.id = m.builder().emit("concat", ids, {{"dim", dim}}), .channels_last = last});
}

ir::ValueId cut(Importer& m, ir::ValueId x, std::int64_t axis, std::int64_t from,
                std::int64_t count) {
    Extents starts(static_cast<std::size_t>(m.builder().shape(x).rank()), 0);
    Extents sizes(m.builder().shape(x).begin(), m.builder().shape(x).end());
    starts[static_cast<std::size_t>(axis)] = from;
    sizes[static_cast<std::size_t>(axis)] = count;
    return sizes == Extents(m.builder().shape(x).begin(), m.builder().shape(x).end())
               ? x
               : ops::slice(m.builder(), x, starts, sizes);
}

constexpr std::int64_t kMostParts = 4096;

std::vector<Imported> parts_of(Importer& m, std::int64_t axis, const Extents& sizes) {
    if (sizes.size() > static_cast<std::size_t>(kMostParts)) {
        throw Unsupported{"it has too many parts"};
    }
    const ir::ValueId x = m.plain(0);
    std::vector<Imported> out;
    std::int64_t from = 0;
    for (const std::int64_t size : sizes) {
        out.push_back({.id = cut(m, x, axis, from, size)});
        from += size;
    }
    if (from != m.shape(0)[static_cast<std::size_t>(axis)]) {
        throw Unsupported{"its parts are not the whole"};
    }
    return out;
}

/// As many of `size` as fit, and what is left.
Extents even_parts(std::int64_t extent, std::int64_t size) {
    if (size < 1 || extent / size > kMostParts) {
        throw Unsupported{"its parts have no extent, or are too many"};
    }
    Extents out(static_cast<std::size_t>(extent / size), size);
    if (extent % size != 0) {
        out.push_back(extent % size);
    }
    return out;
}

void split(Importer& m) {
    const Extents shape = m.shape(0);
    const std::int64_t axis = m.axis("axis", 0, shape.size());
    const std::int64_t count =
        integer_of(m.node(), "num_outputs", static_cast<std::int64_t>(m.node().outputs.size()));
    const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
    if (count < 1 || count > kMostParts) {
        throw Unsupported{"it has no results, or too many"};
    }
    const auto sizes = integers_of(m.node(), "split", m.constant(1));
    const std::vector<Imported> parts =
        parts_of(m, axis, sizes ? *sizes : even_parts(extent, (extent + count - 1) / count));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        m.out(parts[i], i);
    }
}

void split_to_sequence(Importer& m) {
    const Extents shape = m.shape(0);
    const std::int64_t axis = m.axis("axis", 0, shape.size());
    const Constant& sizes = fixed(m, 1);
    Imported out;
    out.parts = parts_of(m, axis,
                         sizes.shape.empty()
                             ? even_parts(shape[static_cast<std::size_t>(axis)], whole_at(sizes))
                             : *integers_of(m.node(), "", &sizes));
    m.out(out);
}

void sequence_at(Importer& m) {
    const std::vector<Imported>& parts = m.in(0).parts;
    m.out(parts[static_cast<std::size_t>(axis_of(whole_at(fixed(m, 1)), parts.size()))]);
}

void slice(Importer& m) {
    const Constant& starts = fixed(m, 1);
    const Constant& ends = fixed(m, 2);
    const Constant* axes = m.constant(3);
    const Constant* steps = m.constant(4);
    ir::ValueId x = m.plain(0);
    for (std::size_t i = 0; i < starts.values.size(); ++i) {
        const auto at = axes != nullptr ? whole_at(*axes, i) : static_cast<std::int64_t>(i);
        const std::int64_t axis = axis_of(at, m.shape(0).size());
        if (steps != nullptr && number_at(*steps, i) != 1) {
            throw Unsupported{"it leaves out elements between others"};
        }
        const auto [from, to] = clamped(starts.values[i], number_at(ends, i),
                                        m.shape(0)[static_cast<std::size_t>(axis)]);
        x = cut(m, x, axis, from, std::max<std::int64_t>(0, to - from));
    }
    m.out(x);
}

/// Rows of a table by tokens, or a stretch that is known before.
void gather(Importer& m) {
    const Imported& indices = m.in(1);
    const Extents from = m.shape(0);
    const std::int64_t axis = m.axis("axis", 0, from.size());
    if (!indices.constant) {
        if (axis != 0 || from.size() != 2) {
            throw Unsupported{"only rows of a table can be chosen by what is known in a run"};
        }
        m.out(m.builder().emit("embedding", {m.plain(0), m.plain(1)}));
        return;
    }
    const auto at = static_cast<std::size_t>(axis);
    const Extents rows = *integers_of(m.node(), "", &*indices.constant);
    const auto extent = static_cast<std::size_t>(from[at]);
    const std::int64_t first = rows.empty() ? 0 : axis_of(rows[0], extent);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (axis_of(rows[i], extent) != first + static_cast<std::int64_t>(i)) {
            throw Unsupported{"it chooses what does not lie in a row"};
        }
    }
    Extents shape(from.begin(), from.begin() + axis);
    shape.insert(shape.end(), indices.constant->shape.begin(), indices.constant->shape.end());
    shape.insert(shape.end(), from.begin() + axis + 1, from.end());
    const ir::ValueId part =
        cut(m, m.plain(0), axis, first, static_cast<std::int64_t>(rows.size()));
    m.out(m.builder().emit("reshape", {part}, {{"shape", shape}}));
}

// --- reductions --------------------------------------------------------------------------------

void reduce(Importer& m) {
    const Imported& x = m.in(0);
    const Extents shape = m.shape(0);
    Extents axes = axes_input(m, shape.size());
    if (axes.empty()) {
        if (integer_of(m.node(), "noop_with_empty_axes", 0) != 0) {
            m.out(x);
            return;
        }
        axes.resize(shape.size());
        std::iota(axes.begin(), axes.end(), 0);
    }
    const bool keep = integer_of(m.node(), "keepdims", 1) != 0;
    const bool last = x.channels_last && keep;
    for (std::int64_t& axis : axes) {
        axis =
            last ? std::array<std::int64_t, 4>{0, 3, 1, 2}[static_cast<std::size_t>(axis)] : axis;
    }
    std::sort(axes.begin(), axes.end());
    const ir::ValueId id = last ? m.last(x) : m.plain(x);
    const std::string& op = m.node().op;
    m.out({.id = op == "ReduceMean" ? ops::reduce_mean(m.builder(), id, axes, keep)
                 : op == "ReduceSum"
                     ? ops::reduce_sum(m.builder(), id, axes, keep)
                     : m.builder().emit("reduce_max", {id}, {{"dims", axes}, {"keep", keep}}),
           .channels_last = last});
}

} // namespace

NodeTranslation find_node_translation(std::string_view op) {
    static const std::map<std::string_view, NodeTranslation> kTranslations = {
        {"Abs", unary<kAbs>},
        {"Add", add_or_sub<kAdd, 1>},
        {"Cast", cast},
        {"CastLike", cast},
        {"Clip", clip},
        {"Concat", concat},
        {"Div", div},
        {"Dropout", dropout},
        {"Erf", erf},
        {"Exp", unary<kExp>},
        {"Expand", expand},
        {"Flatten", flatten},
        {"Gather", gather},
        {"Gelu", gelu},
        {"Identity", identity},
        {"IsNaN", is_nan},
        {"LeakyRelu", leaky_relu},
        {"Log", unary<kLog>},
        {"Max", many<kMaximum>},
        {"Min", many<kMinimum>},
        {"Mul", mul},
        {"Neg", unary<kNeg>},
        {"Pow", pow},
        {"Reciprocal", reciprocal},
        {"ReduceMax", reduce},
        {"ReduceMean", reduce},
        {"ReduceSum", reduce},
        {"Relu", unary<kRelu>},
        {"Reshape", reshape},
        {"SequenceAt", sequence_at},
        {"Shape", shape_node},
        {"Sigmoid", unary<kSigmoid>},
        {"Sign", unary<kSign>},
        {"Slice", slice},
        {"Split", split},
        {"SplitToSequence", split_to_sequence},
        {"Sqrt", unary<kSqrt>},
        {"Squeeze", squeeze},
        {"Sub", add_or_sub<kSub, -1>},
        {"Sum", many<kAdd>},
        {"Tanh", unary<kTanh>},
        {"Transpose", transpose},
        {"Unsqueeze", unsqueeze},
        {"Where", where},
    };
    for (const auto* table : {&kTranslations, &layer_nodes()}) {
        if (const auto found = table->find(op); found != table->end()) {
            return found->second;
        }
    }
    return nullptr;
}

} // namespace weft::onnx_import
