// SPDX-License-Identifier: Apache-2.0
// Model text out of two readings of one model: where they differ, the number of samples speaks.
#include "core/ir/lexer.h"
#include "core/ir/model_text.h"
#include "core/ir/text.h"

namespace weft::ir {
namespace {

/// Thrown and caught here: the two are not one model at 2 and 3 samples.
struct Unalike {};

std::string extent(std::int64_t at_two, std::int64_t at_three) {
    if (at_two == at_three) {
        return std::to_string(at_two);
    }
    if (at_two % 2 != 0 || at_three % 3 != 0 || at_two / 2 != at_three / 3) {
        throw Unalike();
    }
    return at_two == 2 ? "B" : "B*" + std::to_string(at_two / 2);
}

template <class List>
std::string extents(const List& at_two, const List& at_three) {
    auto other = at_three.begin();
    std::string out = "[";
    for (const std::int64_t value : at_two) {
        if (other == at_three.end()) {
            throw Unalike();
        }
        out += (out.size() > 1 ? "," : "") + extent(value, *other++);
    }
    return other == at_three.end() ? out + "]" : throw Unalike();
}

std::string type_text(const Type& at_two, const Type& at_three) {
    return std::string(dtype_name(at_two.dtype)) + extents(at_two.shape, at_three.shape);
}

std::string attribute_text(const Attribute& at_two, const Attribute& at_three) {
    if (at_two.index() != at_three.index()) {
        throw Unalike();
    }
    if (const auto* number = std::get_if<std::int64_t>(&at_two)) {
        return extent(*number, std::get<std::int64_t>(at_three));
    }
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&at_two)) {
        return extents(*list, std::get<std::vector<std::int64_t>>(at_three));
    }
    return at_two == at_three ? to_text(at_two) : throw Unalike();
}

std::string attributes_text(const Attributes& at_two, const Attributes& at_three) {
    std::string out;
    for (const auto& [name, value] : at_two) {
        const Attribute* other = at_three.find(name);
        if (other == nullptr) {
            throw Unalike();
        }
        out += (out.empty() ? " {" : ", ") + name + "=" + attribute_text(value, *other);
    }
    return out.empty() ? out : out + "}";
}

std::string names(const std::vector<WrittenValue>& values) {
    std::string out;
    for (const WrittenValue& value : values) {
        out += (out.empty() ? "%" : ", %") + std::to_string(value.number);
    }
    return out;
}

std::string port_text(const WrittenPort& port) {
    return "%" + std::to_string(port.value.number) + " " + std::string(role_name(port.role)) + " " +
           quote(port.name);
}

std::string op_text(const WrittenOp& op, const WrittenOp& other) {
    if (op.kind != other.kind || op.outputs.size() != other.outputs.size() ||
        op.inputs.size() != other.inputs.size()) {
        throw Unalike();
    }
    std::string out = "  " + names(op.outputs) + " = " + op.kind + "(" + names(op.inputs) + ")" +
                      attributes_text(op.attributes, other.attributes);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        out += (i == 0 ? " : " : ", ") +
               type_text(op.outputs[i].type.value(), other.outputs[i].type.value());
    }
    return out + (op.path ? " @ " + quote(*op.path) : "") + "\n";
}

std::string model_text(const ModelText& model, const ModelText& other) {
    if (model.arguments.size() != other.arguments.size() || model.ops.size() != other.ops.size()) {
        throw Unalike();
    }
    std::string out = "program " + quote(model.name) + " {\n";
    for (std::size_t i = 0; i < model.arguments.size(); ++i) {
        const WrittenPort& port = model.arguments[i];
        const WrittenPort& twin = other.arguments[i];
        out += "  in " + port_text(port) + attributes_text(port.attributes, twin.attributes) +
               " : " + type_text(port.value.type.value(), twin.value.type.value()) + "\n";
    }
    for (std::size_t i = 0; i < model.ops.size(); ++i) {
        out += op_text(model.ops[i], other.ops[i]);
    }
    for (const WrittenPort& port : model.results) {
        out += "  out " + port_text(port) + "\n";
    }
    return out + "}\n";
}

} // namespace

std::optional<std::string> write_model_text(const ModelText& model, const ModelText& other) {
    try {
        return model_text(model, other);
    } catch (const Unalike&) {
        return std::nullopt;
    }
}

} // namespace weft::ir
