// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/from_program.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/translator.h"

#include <cstring>

namespace weft::onnx {
namespace {

Element element_of(ir::DType dtype) {
    switch (dtype) {
    case ir::DType::u8: return Element::u8;
    case ir::DType::i32: return Element::i32;
    case ir::DType::i64: return Element::i64;
    case ir::DType::f64: return Element::f64;
    case ir::DType::f32:
    case ir::DType::bf16:
    case ir::DType::f16: break;
    }
    return Element::f32; // before the passes a model computes in f32
}

template <typename T>
Tensor tensor_of(Element element, Ints shape, std::span<const T> values) {
    Tensor out{element, std::move(shape), std::string(values.size_bytes(), '\0')};
    std::memcpy(out.bytes.data(), values.data(), values.size_bytes());
    return out;
}

} // namespace

Graph Translator::run() {
    begin();
    for (std::size_t i = 0; i < two_.body.ops.size(); ++i) {
        op_ = &two_.body.ops[i];
        WEFT_CHECK(three_.body.ops[i].kind == op_->kind, "a model has the same ops for any batch");
        const Translation translation = find_translation(op_->kind.text());
        if (translation == nullptr) {
            missing_.insert(op_->kind.text() + " at " + op_->path.text());
        }
        // Values without a translation have a name that nobody will see.
        const Names results = translation != nullptr && missing_.empty()
                                  ? translation(*this)
                                  : Names(op_->outputs.size());
        for (std::size_t output = 0; output < results.size(); ++output) {
            names_[op_->outputs[output]] = results[output];
        }
    }
    if (!missing_.empty()) {
        throw Error(ErrorKind::usage, "ONNX",
                    "there is no translation of " +
                        join(Names(missing_.begin(), missing_.end()), ", "),
                    "Export it as safetensors or npz.");
    }
    end();
    return std::move(graph_);
}

void Translator::begin() {
    graph_.name = "model";
    for (const ir::Port& port : two_.arguments) {
        names_[port.value] = port.name;
        Port made{port.name, element_of(dtype(port.value)), {}};
        for (const Extent& extent : extents(port.value)) {
            made.shape.push_back(extent.per_sample ? -1 : extent.size);
        }
        const bool state = port.role == ir::Role::state;
        (state ? graph_.weights : graph_.inputs).push_back(std::move(made));
        used_[port.name] = 1;
    }
}

/// Results by the names of their ports.
void Translator::end() {
    op_ = nullptr;
    for (const ir::Port& port : two_.results) {
        Port made{port.name, element_of(dtype(port.value)), {}};
        for (const Extent& extent : extents(port.value)) {
            made.shape.push_back(extent.per_sample ? -1 : extent.size);
        }
        graph_.nodes.push_back({port.name, "Identity", {names_.at(port.value)}, {port.name}, {}});
        graph_.outputs.push_back(std::move(made));
    }
}

std::string Translator::add(const char* op, Names inputs, Attributes attributes) {
    return add_all(op, 1, std::move(inputs), std::move(attributes)).front();
}

Names Translator::add_all(const char* op, std::size_t outputs, Names inputs,
                          Attributes attributes) {
    const std::string path = op_->path.text();
    std::string name = (path.empty() ? "" : path + "/") + op;
    const int before = used_[name]++;
    name += before > 0 ? "_" + std::to_string(before) : "";
    Node node{name, op, std::move(inputs), {}, std::move(attributes)};
    for (std::size_t i = 0; i < outputs; ++i) {
        node.outputs.push_back(i == 0 ? name : name + ":" + std::to_string(i));
    }
    graph_.nodes.push_back(node);
    return node.outputs;
}

std::string Translator::number(double value) {
    const auto rounded = static_cast<float>(value);
    const std::string name = "number " + std::to_string(graph_.constants.size());
    graph_.constants[name] = tensor_of(Element::f32, {}, std::span(&rounded, 1));
    return name;
}

std::string Translator::integers(const Ints& values) {
    std::string name = "integers";
    for (const std::int64_t value : values) {
        name += " " + std::to_string(value);
    }
    graph_.constants[name] =
        tensor_of(Element::i64, {std::ssize(values)}, std::span<const std::int64_t>(values));
    return name;
}

std::string Translator::floats(Ints shape, const std::vector<float>& values) {
    const std::string name = "table " + std::to_string(graph_.constants.size());
    graph_.constants[name] =
        tensor_of(Element::f32, std::move(shape), std::span<const float>(values));
    return name;
}

std::string Translator::shape(const std::vector<Extent>& extents) {
    Names parts;
    bool fixed = true;
    for (const Extent& extent : extents) {
        fixed = fixed && !extent.per_sample;
        if (!extent.per_sample) {
            parts.push_back(integers({extent.size}));
            continue;
        }
        const std::string all = add("Shape", {graph_.inputs.front().name});
        const std::string samples =
            add("Slice", {all, integers({0}), integers({1}), integers({0})});
        parts.push_back(extent.size == 1 ? samples
                                         : add("Mul", {samples, integers({extent.size})}));
    }
    if (fixed) {
        Ints sizes;
        for (const Extent& extent : extents) {
            sizes.push_back(extent.size);
        }
        return integers(sizes);
    }
    return parts.size() == 1 ? parts.front() : add("Concat", parts, {{"axis", std::int64_t{0}}});
}

std::vector<Extent> Translator::extents(ir::ValueId id) const {
    const ir::Shape& two = two_.type(id).shape;
    const ir::Shape& three = three_.type(id).shape;
    std::vector<Extent> out;
    for (int dim = 0; dim < two.rank(); ++dim) {
        const std::int64_t more = three[dim] - two[dim];
        WEFT_CHECK(more == 0 || two[dim] == 2 * more, "an extent grows with the samples, or stays");
        out.push_back(more == 0 ? Extent{two[dim], false} : Extent{more, true});
    }
    return out;
}

std::int64_t Translator::extent(std::size_t operand, int dim) const {
    const Extent found = extents(op_->inputs[operand])[static_cast<std::size_t>(dim)];
    WEFT_CHECK(!found.per_sample, "this extent does not depend on the samples");
    return found.size;
}

Graph from_program(const ir::Program& two, const ir::Program& three) {
    return Translator(two, three).run();
}

} // namespace weft::onnx
