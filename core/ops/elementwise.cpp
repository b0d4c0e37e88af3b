// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: one value of the output from one value of each input, right-aligned
// broadcasting. Result type: that of the inputs; two of f32, bf16, f16 give f32; f64 mixes with
// nothing. They differ only in opcode and gradient, so one function makes the records.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "kernels/weft_kernels.h"

namespace weft::ops {
namespace {

using ir::ValueId;

Inferred infer_elementwise(const OpView& view) {
    // The condition of a select chooses and takes no part in the arithmetic.
    const int first = op_def(view.op.kind).elementwise == WEFT_EW_SELECT ? 1 : 0;
    ir::Type out = view.input(first);
    for (int i = 0; i < view.inputs(); ++i) {
        const ir::Type& type = view.input(i);
        if (!ir::is_float(type.dtype)) {
            return fail("operands must be floating point, but operand ", i, " is ", type);
        }
        const auto shape = broadcast_shapes(out.shape, type.shape);
        if (!shape) {
            return fail("shapes ", out.shape, " and ", type.shape, " do not broadcast");
        }
        out.shape = *shape;
        if (i >= first) {
            const auto dtype = promote(out.dtype, type.dtype);
            if (!dtype) {
                return fail("element types ", out.dtype, " and ", type.dtype, " do not mix");
            }
            out.dtype = *dtype;
        }
    }
    return {{out}, {}};
}

Inferred infer_cast(const OpView& view) {
    const auto dtype = ir::parse_dtype(view.attributes().text("dtype"));
    if (!dtype) {
        return fail("'", view.attributes().text("dtype"), "' is not an element type");
    }
    return {{{*dtype, view.input(0).shape}}, {}};
}

Partial elementwise_partial(const OpView& view);

OpDef elementwise_op(std::string_view name, std::string_view help, weft_elementwise opcode,
                     int inputs, void (*gradient)(GradientContext&), double element_flops = 1) {
    OpDef out{};
    out.name = name;
    out.help = help;
    out.min_inputs = inputs;
    out.max_inputs = inputs;
    out.infer = infer_elementwise;
    out.gradient = gradient;
    out.factors = elementwise_factors;
    for (int i = 0; i < inputs; ++i) {
        out.aliases.push_back({0, i});
    }
    out.element_flops = element_flops;
    out.elementwise = opcode;
    out.partial = elementwise_partial;
    return out;
}

// Sums a gradient of the output's shape down to the shape of input i.
void set_summed(GradientContext& c, int i, ValueId gradient) {
    c.set(i, sum_to_shape(c.builder(), gradient, c.builder().shape(c.input(i))));
}

void neg_gradient(GradientContext& c) {
    c.set(0, affine(c.builder(), c.upstream(), -1.0));
}

void abs_gradient(GradientContext& c) {
    c.set(0, mul(c.builder(), c.upstream(), c.builder().emit("sign", {c.input(0)})));
}

void exp_gradient(GradientContext& c) {
    c.set(0, mul(c.builder(), c.upstream(), c.output(0)));
}

void log_gradient(GradientContext& c) {
    c.set(0, div(c.builder(), c.upstream(), c.input(0)));
}

// dx = dy / (2 sqrt(x))
void sqrt_gradient(GradientContext& c) {
    c.set(0, div(c.builder(), affine(c.builder(), c.upstream(), 0.5), c.output(0)));
}

// dx = -dy x^(-3/2) / 2
void rsqrt_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId cube = mul(b, b.emit("square", {c.output(0)}), c.output(0));
    c.set(0, mul(b, affine(b, c.upstream(), -0.5), cube));
}

void square_gradient(GradientContext& c) {
    c.set(0, mul(c.builder(), affine(c.builder(), c.upstream(), 2.0), c.input(0)));
}

void tanh_gradient(GradientContext& c) {
    c.set(0, c.builder().emit("tanh_grad", {c.output(0), c.upstream()}));
}

void sigmoid_gradient(GradientContext& c) {
    c.set(0, c.builder().emit("sigmoid_grad", {c.output(0), c.upstream()}));
}

// relu, gelu, gelu_erf, silu: the op named "<kind>_grad" takes x and dy.
void activation_gradient(GradientContext& c) {
    c.set(0, c.builder().emit(c.op().kind + "_grad", {c.input(0), c.upstream()}));
}

// dx = dy / (1 + |x|)
void symlog_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId size = b.emit("abs", {c.input(0)});
    c.set(0, div(b, c.upstream(), affine(b, size, 1.0, 1.0)));
}

void affine_gradient(GradientContext& c) {
    c.set(0, affine(c.builder(), c.upstream(), c.op().attributes.real("scale")));
}

void cast_gradient(GradientContext& c) {
    c.set(0, cast(c.builder(), c.upstream(), c.builder().type(c.input(0)).dtype));
}

void add_gradient(GradientContext& c) {
    set_summed(c, 0, c.upstream());
    set_summed(c, 1, c.upstream());
}

void sub_gradient(GradientContext& c) {
    set_summed(c, 0, c.upstream());
    if (c.needs(1)) {
        set_summed(c, 1, affine(c.builder(), c.upstream(), -1.0));
    }
}

void mul_gradient(GradientContext& c) {
    if (c.needs(0)) {
        set_summed(c, 0, mul(c.builder(), c.upstream(), c.input(1)));
    }
    if (c.needs(1)) {
        set_summed(c, 1, mul(c.builder(), c.upstream(), c.input(0)));
    }
}

// dx = dz / y, dy = -dz z / y
void div_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId quotient = div(b, c.upstream(), c.input(1));
    set_summed(c, 0, quotient);
    if (c.needs(1)) {
        set_summed(c, 1, affine(b, mul(b, quotient, c.output(0)), -1.0));
    }
}

// Where the operands are equal, the first takes the whole gradient.
void choice_gradient(GradientContext& c, ValueId second_wins) {
    Builder& b = c.builder();
    const ValueId zero = constant(b, 0.0, {}, b.type(c.upstream()).dtype);
    if (c.needs(0)) {
        set_summed(c, 0, select(b, second_wins, zero, c.upstream()));
    }
    if (c.needs(1)) {
        set_summed(c, 1, select(b, second_wins, c.upstream(), zero));
    }
}

void maximum_gradient(GradientContext& c) {
    choice_gradient(c, c.builder().emit("less", {c.input(0), c.input(1)}));
}

void minimum_gradient(GradientContext& c) {
    choice_gradient(c, c.builder().emit("less", {c.input(1), c.input(0)}));
}

// dx = dz y x^(y-1), dy = dz z log(x); the latter is 0 where x <= 0, as x^y has no real slope
// there.
void pow_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId x = c.input(0);
    const ValueId y = c.input(1);
    if (c.needs(0)) {
        const ValueId slope = mul(b, y, b.emit("pow", {x, affine(b, y, 1.0, -1.0)}));
        set_summed(c, 0, mul(b, c.upstream(), slope));
    }
    if (c.needs(1)) {
        const ValueId zero = constant(b, 0.0, {}, b.type(x).dtype);
        const ValueId log_x = b.emit("log", {x});
        const ValueId slope = mul(b, c.output(0), log_x);
        const ValueId positive = b.emit("less", {zero, x});
        set_summed(c, 1, mul(b, c.upstream(), select(b, positive, slope, zero)));
    }
}

// Of z = atan2(y, x): dy = dz x / (x^2 + y^2), dx = -dz y / (x^2 + y^2).
void atan2_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId y = c.input(0);
    const ValueId x = c.input(1);
    const ValueId squares = add(b, b.emit("square", {x}), b.emit("square", {y}));
    const ValueId scaled = div(b, c.upstream(), squares);
    if (c.needs(0)) {
        set_summed(c, 0, mul(b, scaled, x));
    }
    if (c.needs(1)) {
        set_summed(c, 1, affine(b, mul(b, scaled, y), -1.0));
    }
}

void select_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId zero = constant(b, 0.0, {}, b.type(c.upstream()).dtype);
    if (c.needs(1)) {
        set_summed(c, 1, select(b, c.input(0), c.upstream(), zero));
    }
    if (c.needs(2)) {
        set_summed(c, 2, select(b, c.input(0), zero, c.upstream()));
    }
}

// Sums go through unchanged; a shift would be added once per device.
Partial elementwise_partial(const OpView& view) {
    switch (op_def(view.op.kind).elementwise) {
    case WEFT_EW_NEG:
    case WEFT_EW_CAST:
    case WEFT_EW_ADD:
    case WEFT_EW_SUB: return Partial::together;
    case WEFT_EW_AFFINE:
        return view.attributes().real("shift") == 0.0 ? Partial::together : Partial::resolve;
    case WEFT_EW_MUL: return Partial::product;
    default: return Partial::resolve;
    }
}

OpDef affine_op() {
    OpDef out = elementwise_op("affine", "x * scale + shift", WEFT_EW_AFFINE, 1, affine_gradient);
    out.attributes = {{"scale", AttributeKind::real, true, "factor"},
                      {"shift", AttributeKind::real, true, "added after scaling"}};
    return out;
}

// In f32 whatever the compute type: 1 + |x| keeps little of a small x in 16 bits.
OpDef symlog_op() {
    OpDef out =
        elementwise_op("symlog", "sign(x) log(1 + |x|)", WEFT_EW_SYMLOG, 1, symlog_gradient, 30);
    out.precision = Precision::full;
    return out;
}

OpDef cast_op() {
    OpDef out = elementwise_op("cast", "x in another element type", WEFT_EW_CAST, 1, cast_gradient);
    out.attributes = {{"dtype", AttributeKind::text, true, "element type of the result"}};
    out.infer = infer_cast;
    return out;
}

/// What is wrong with the ops of a group; empty: nothing.
std::string want_elementwise(const ir::Program& program, const ir::Block& body) {
    for (const ir::Op& op : body.ops) {
        const OpDef* def = find_op(op.kind);
        if (def == nullptr || def->elementwise < 0) {
            return "'" + op.kind + "' in the body is not elementwise";
        }
        if (!ir::is_float(program.type(op.inputs[0]).dtype) ||
            !ir::is_float(program.type(op.outputs[0]).dtype)) {
            return "'" + op.kind + "' in the body works on integers";
        }
    }
    return {};
}

Inferred infer_fused(const OpView& view) {
    if (view.op.body.size() != 1) {
        return fail("needs one body block");
    }
    const ir::Block& body = view.op.body[0];
    if (body.arguments.size() != view.op.inputs.size() || body.results.empty()) {
        return fail("the body's arguments must match the inputs, and it needs a result");
    }
    for (int i = 0; i < view.inputs(); ++i) {
        const ir::Type& argument = view.program.type(body.arguments[static_cast<std::size_t>(i)]);
        if (argument != view.input(i)) {
            return fail("body argument ", i, " is ", argument, ", but the input is ",
                        view.input(i));
        }
    }
    if (std::string wrong = want_elementwise(view.program, body); !wrong.empty()) {
        return fail(wrong);
    }
    Inferred out;
    for (const ValueId result : body.results) {
        out.outputs.push_back(view.program.type(result));
        if (out.outputs.back().shape != out.outputs.front().shape) {
            return fail("results have different shapes ", out.outputs.front().shape, " and ",
                        out.outputs.back().shape);
        }
    }
    return out;
}

// The arithmetic of the body, but only the group's own operands travel to and from memory.
OpCost fused_cost(const OpView& view) {
    double flops = 0;
    for (const ir::Op& op : view.op.body[0].ops) {
        flops += cost_of({view.program, op}).flops;
    }
    return cost(view, flops);
}

double elements_of(const ir::Type& type) {
    return static_cast<double>(type.shape.elements());
}

/// Operands of one tensor: numbers, and arrays of the tensor's shape, as the body says.
Inferred infer_sweep(const OpView& view) {
    const std::int64_t tensors = view.attributes().integer("tensors");
    if (view.op.body.size() != 1) {
        return fail("needs one body block");
    }
    const ir::Block& body = view.op.body[0];
    const auto each = static_cast<std::int64_t>(body.arguments.size());
    if (tensors < 1 || each < 1 || view.inputs() != tensors * each || body.results.empty()) {
        return fail(tensors, " tensors of ", each, " operands need ", tensors * each,
                    " inputs and a result, but there are ", view.inputs(), " inputs and ",
                    static_cast<std::int64_t>(body.results.size()), " results");
    }
    if (std::string wrong = want_elementwise(view.program, body); !wrong.empty()) {
        return fail(wrong);
    }
    Inferred out;
    for (int at = 0; at < view.inputs(); at += static_cast<int>(each)) {
        ir::Shape shape;
        for (int i = 0; i < each; ++i) {
            const ir::Type& argument =
                view.program.type(body.arguments[static_cast<std::size_t>(i)]);
            const ir::Type& type = view.input(at + i);
            const bool number = argument.shape.rank() == 0;
            shape = number || shape.rank() > 0 ? shape : type.shape;
            if (type.dtype != argument.dtype || type.shape != (number ? ir::Shape() : shape) ||
                (at == 0 && type != argument)) {
                return fail("input ", at + i, " is ", type, ", but the body's argument ", i, " is ",
                            argument);
            }
        }
        if (shape.rank() == 0) {
            return fail("every tensor needs an operand that is no number");
        }
        for (const ValueId result : body.results) {
            out.outputs.push_back({view.program.type(result).dtype, shape});
        }
    }
    return out;
}

OpCost sweep_cost(const OpView& view) {
    double first = 0; // FLOPs of the first tensor
    for (const ir::Op& op : view.op.body[0].ops) {
        first += cost_of({view.program, op}).flops;
    }
    double elements = 0;
    for (int i = 0; i < view.outputs(); ++i) {
        elements += elements_of(view.output(i));
    }
    const auto results = static_cast<double>(view.op.body[0].results.size());
    return cost(view, elements > 0 ? first / elements_of(view.output(0)) * elements / results : 0);
}

OpDef sweep_op() {
    OpDef out{};
    out.name = "sweep";
    out.help = "groups of elementwise ops that differ in shapes alone, over many tensors at once";
    out.min_inputs = 1;
    out.max_inputs = std::numeric_limits<int>::max();
    out.attributes = {{"tensors", AttributeKind::integer, true, "how many"}};
    out.infer = infer_sweep;
    out.factors = whole_factors;
    out.cost = sweep_cost;
    return out;
}

OpDef fused_op() {
    OpDef out{};
    out.name = "fused";
    out.help = "a group of elementwise ops run in one sweep";
    out.min_inputs = 1;
    out.max_inputs = std::numeric_limits<int>::max();
    out.infer = infer_fused;
    out.factors = elementwise_factors;
    out.cost = fused_cost;
    return out;
}

} // namespace

const OpDef kNeg = elementwise_op("neg", "-x", WEFT_EW_NEG, 1, neg_gradient);
const OpDef kAbs = elementwise_op("abs", "|x|", WEFT_EW_ABS, 1, abs_gradient);
const OpDef kExp = elementwise_op("exp", "e^x", WEFT_EW_EXP, 1, exp_gradient, kExpFlops);
const OpDef kLog = elementwise_op("log", "natural logarithm", WEFT_EW_LOG, 1, log_gradient, 24);
const OpDef kSqrt = elementwise_op("sqrt", "square root", WEFT_EW_SQRT, 1, sqrt_gradient, 4);
const OpDef kRsqrt = elementwise_op("rsqrt", "1 / sqrt(x)", WEFT_EW_RSQRT, 1, rsqrt_gradient, 5);
const OpDef kTanh =
    elementwise_op("tanh", "hyperbolic tangent", WEFT_EW_TANH, 1, tanh_gradient, kExpFlops + 10);
const OpDef kSigmoid = elementwise_op("sigmoid", "1 / (1 + e^-x)", WEFT_EW_SIGMOID, 1,
                                      sigmoid_gradient, kExpFlops + 5);
const OpDef kSquare = elementwise_op("square", "x * x", WEFT_EW_SQUARE, 1, square_gradient);
const OpDef kSign = elementwise_op("sign", "-1, 0 or 1", WEFT_EW_SIGN, 1, zero_gradient);
const OpDef kIsFinite = elementwise_op("is_finite", "1 where x is neither infinite nor NaN, else 0",
                                       WEFT_EW_IS_FINITE, 1, zero_gradient);
const OpDef kRelu = elementwise_op("relu", "max(x, 0)", WEFT_EW_RELU, 1, activation_gradient);
const OpDef kGelu = elementwise_op("gelu", "GELU, tanh approximation", WEFT_EW_GELU, 1,
                                   activation_gradient, kExpFlops + 20);
const OpDef kGeluErf = elementwise_op("gelu_erf", "GELU, x * normal distribution function",
                                      WEFT_EW_GELU_ERF, 1, activation_gradient, kExpFlops + 22);
const OpDef kSilu =
    elementwise_op("silu", "x * sigmoid(x)", WEFT_EW_SILU, 1, activation_gradient, kExpFlops + 6);
const OpDef kSymlog = symlog_op();
const OpDef kAffine = affine_op();
const OpDef kCast = cast_op();
const OpDef kAdd = elementwise_op("add", "x + y", WEFT_EW_ADD, 2, add_gradient);
const OpDef kSub = elementwise_op("sub", "x - y", WEFT_EW_SUB, 2, sub_gradient);
const OpDef kMul = elementwise_op("mul", "x * y", WEFT_EW_MUL, 2, mul_gradient);
const OpDef kDiv = elementwise_op("div", "x / y", WEFT_EW_DIV, 2, div_gradient, 4);
const OpDef kMaximum =
    elementwise_op("maximum", "the larger of x and y", WEFT_EW_MAXIMUM, 2, maximum_gradient);
const OpDef kMinimum =
    elementwise_op("minimum", "the smaller of x and y", WEFT_EW_MINIMUM, 2, minimum_gradient);
const OpDef kPow = elementwise_op("pow", "x^y", WEFT_EW_POW, 2, pow_gradient, kExpFlops + 26);
const OpDef kAtan2 = elementwise_op("atan2", "angle of the point (x, y) from y, x", WEFT_EW_ATAN2,
                                    2, atan2_gradient, 40);
const OpDef kLess = elementwise_op("less", "1 where x < y, else 0", WEFT_EW_LESS, 2, zero_gradient);
const OpDef kEqual =
    elementwise_op("equal", "1 where x = y, else 0", WEFT_EW_EQUAL, 2, zero_gradient);
const OpDef kReluGrad =
    elementwise_op("relu_grad", "dx of relu from x, dy", WEFT_EW_RELU_GRAD, 2, nullptr);
const OpDef kGeluGrad = elementwise_op("gelu_grad", "dx of gelu from x, dy", WEFT_EW_GELU_GRAD, 2,
                                       nullptr, kExpFlops + 28);
const OpDef kGeluErfGrad = elementwise_op("gelu_erf_grad", "dx of gelu_erf from x, dy",
                                          WEFT_EW_GELU_ERF_GRAD, 2, nullptr, 2 * kExpFlops + 26);
const OpDef kSiluGrad = elementwise_op("silu_grad", "dx of silu from x, dy", WEFT_EW_SILU_GRAD, 2,
                                       nullptr, kExpFlops + 10);
const OpDef kTanhGrad =
    elementwise_op("tanh_grad", "dx of tanh from y, dy", WEFT_EW_TANH_GRAD, 2, nullptr, 3);
const OpDef kSigmoidGrad =
    elementwise_op("sigmoid_grad", "dx of sigmoid from y, dy", WEFT_EW_SIGMOID_GRAD, 2, nullptr, 3);
const OpDef kSelect =
    elementwise_op("select", "condition != 0 ? a : b", WEFT_EW_SELECT, 3, select_gradient);
const OpDef kFused = fused_op();
const OpDef kSweep = sweep_op();

} // namespace weft::ops
