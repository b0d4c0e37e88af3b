// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, those that change shapes, reductions.
#include "core/base/check.h"
#include "core/onnx/translator.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::onnx {
namespace {

/// An ONNX operator that does the same with the same operands.
template <const char* name>
Names same(Translator& t) {
    Names inputs;
    for (std::size_t i = 0; t.has_operand(i); ++i) {
        inputs.push_back(t.operand(i));
    }
    return {t.add(name, inputs)};
}

constexpr char kAbs[] = "Abs", kAdd[] = "Add", kDiv[] = "Div", kExp[] = "Exp",
               kIdentity[] = "Identity", kLog[] = "Log", kMax[] = "Max", kMin[] = "Min",
               kMul[] = "Mul", kNeg[] = "Neg", kPow[] = "Pow", kRelu[] = "Relu",
               kSigmoid[] = "Sigmoid", kSign[] = "Sign", kSqrt[] = "Sqrt", kSub[] = "Sub",
               kTanh[] = "Tanh";

Names square(Translator& t) {
    return {t.add("Mul", {t.operand(0), t.operand(0)})};
}

Names rsqrt(Translator& t) {
    return {t.add("Reciprocal", {t.add("Sqrt", {t.operand(0)})})};
}

Names affine(Translator& t) {
    const double scale = t.op().attributes.real("scale", 1);
    const double shift = t.op().attributes.real("shift", 0);
    std::string out = t.operand(0);
    if (scale != 1) {
        out = t.add("Mul", {out, t.number(scale)});
    }
    if (shift != 0 || scale == 1) {
        out = t.add("Add", {out, t.number(shift)});
    }
    return {out};
}

/// x (1 + g) / 2
std::string half_gated(Translator& t, const std::string& gate) {
    const std::string sum = t.add("Add", {gate, t.number(1)});
    return t.add("Mul", {t.add("Mul", {t.operand(0), sum}), t.number(0.5)});
}

/// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, Hendrycks and Gimpel 2016.
Names gelu(Translator& t) {
    const std::string x = t.operand(0);
    const std::string cube = t.add("Mul", {x, t.add("Mul", {x, x})});
    const std::string inner = t.add("Add", {x, t.add("Mul", {cube, t.number(0.044715)})});
    const double root = std::sqrt(2 * std::numbers::inv_pi);
    return {half_gated(t, t.add("Tanh", {t.add("Mul", {inner, t.number(root)})}))};
}

Names gelu_erf(Translator& t) {
    const std::string scaled = t.add("Mul", {t.operand(0), t.number(1 / std::numbers::sqrt2)});
    return {half_gated(t, t.add("Erf", {scaled}))};
}

Names silu(Translator& t) {
    return {t.add("Mul", {t.operand(0), t.add("Sigmoid", {t.operand(0)})})};
}

std::string cast_to(Translator& t, const std::string& x, Element element) {
    return t.add("Cast", {x}, {{"to", static_cast<std::int64_t>(element)}});
}

template <const char* name>
Names compare(Translator& t) {
    return {cast_to(t, t.add(name, {t.operand(0), t.operand(1)}), Element::f32)};
}
constexpr char kLess[] = "Less", kEqual[] = "Equal";

Names select(Translator& t) {
    const std::string condition = cast_to(t, t.operand(0), Element::boolean);
    return {t.add("Where", {condition, t.operand(1), t.operand(2)})};
}

Names cast(Translator& t) {
    const ir::DType to = t.dtype(t.op().outputs[0]);
    return {cast_to(t, t.operand(0),
                    to == ir::DType::i32   ? Element::i32
                    : to == ir::DType::i64 ? Element::i64
                    : to == ir::DType::f64 ? Element::f64
                                           : Element::f32)};
}

Names constant(Translator& t) {
    const std::string value = t.number(t.op().attributes.real("value"));
    const std::vector<Extent> extents = t.extents(t.op().outputs[0]);
    return {extents.empty() ? value : t.add("Expand", {value, t.shape(extents)})};
}

/// One extent that grows with the samples is what is left of the others.
Names reshape(Translator& t) {
    const std::vector<Extent> extents = t.extents(t.op().outputs[0]);
    const auto grows = [](const Extent& extent) { return extent.per_sample; };
    if (std::count_if(extents.begin(), extents.end(), grows) > 1) {
        return {t.add("Reshape", {t.operand(0), t.shape(extents)})};
    }
    Ints sizes;
    for (const Extent& extent : extents) {
        sizes.push_back(extent.per_sample ? -1 : extent.size);
    }
    return {t.add("Reshape", {t.operand(0), t.integers(sizes)})};
}

Names transpose(Translator& t) {
    return {t.add("Transpose", {t.operand(0)}, {{"perm", t.op().attributes.list("permutation")}})};
}

Names broadcast(Translator& t) {
    return {t.add("Expand", {t.operand(0), t.shape(t.extents(t.op().outputs[0]))})};
}

Names slice(Translator& t) {
    const Ints& starts = t.op().attributes.list("starts");
    const Ints& sizes = t.op().attributes.list("sizes");
    const std::vector<Extent> extents = t.extents(t.op().inputs[0]);
    Ints from;
    Ints to;
    Ints axes;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        if (!extents[i].per_sample && sizes[i] != extents[i].size) {
            from.push_back(starts[i]);
            to.push_back(starts[i] + sizes[i]);
            axes.push_back(static_cast<std::int64_t>(i));
        }
    }
    if (axes.empty()) {
        return {t.operand(0)};
    }
    return {t.add("Slice", {t.operand(0), t.integers(from), t.integers(to), t.integers(axes)})};
}

Names pad(Translator& t) {
    Ints pads = t.op().attributes.list("low");
    const Ints& high = t.op().attributes.list("high");
    pads.insert(pads.end(), high.begin(), high.end());
    return {t.add("Pad",
                  {t.operand(0), t.integers(pads), t.number(t.op().attributes.real("value", 0))})};
}

Names concat(Translator& t) {
    Names inputs;
    for (std::size_t i = 0; t.has_operand(i); ++i) {
        inputs.push_back(t.operand(i));
    }
    return {t.add("Concat", inputs, {{"axis", t.op().attributes.integer("dim")}})};
}

std::int64_t kept(Translator& t) {
    return t.op().attributes.flag("keep") ? 1 : 0;
}

Names reduce_sum(Translator& t) {
    return {t.add("ReduceSum", {t.operand(0), t.integers(t.op().attributes.list("dims"))},
                  {{"keepdims", kept(t)}})};
}

Names reduce_max(Translator& t) {
    return {t.add("ReduceMax", {t.operand(0)},
                  {{"axes", t.op().attributes.list("dims")}, {"keepdims", kept(t)}})};
}

Names argmax(Translator& t) {
    const std::string found = t.add("ArgMax", {t.operand(0)},
                                    {{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}});
    return {cast_to(t, found, Element::i32)};
}

} // namespace

Translation find_translation(std::string_view kind) {
    static const std::map<std::string_view, Translation> kTranslations = {
        {"abs", same<kAbs>},
        {"add", same<kAdd>},
        {"affine", affine},
        {"argmax", argmax},
        {"broadcast", broadcast},
        {"cast", cast},
        {"concat", concat},
        {"constant", constant},
        {"copy", same<kIdentity>},
        {"div", same<kDiv>},
        {"equal", compare<kEqual>},
        {"exp", same<kExp>},
        {"gelu", gelu},
        {"gelu_erf", gelu_erf},
        {"less", compare<kLess>},
        {"log", same<kLog>},
        {"maximum", same<kMax>},
        {"minimum", same<kMin>},
        {"mul", same<kMul>},
        {"neg", same<kNeg>},
        {"pad", pad},
        {"pow", same<kPow>},
        {"reduce_max", reduce_max},
        {"reduce_sum", reduce_sum},
        {"relu", same<kRelu>},
        {"reshape", reshape},
        {"rsqrt", rsqrt},
        {"select", select},
        {"sigmoid", same<kSigmoid>},
        {"sign", same<kSign>},
        {"silu", silu},
        {"slice", slice},
        {"sqrt", same<kSqrt>},
        {"square", square},
        {"sub", same<kSub>},
        {"tanh", same<kTanh>},
        {"transpose", transpose},
    };
    for (const auto* table : {&kTranslations, &layer_translations()}) {
        if (const auto found = table->find(kind); found != table->end()) {
            return found->second;
        }
    }
    return nullptr;
}

} // namespace weft::onnx
