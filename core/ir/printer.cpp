// SPDX-License-Identifier: Apache-2.0
#include "core/ir/lexer.h"
#include "core/ir/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace weft::ir {
namespace {

/// Shortest text that reads back as the same double and never as an integer.
std::string real_text(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    std::array<char, 40> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    std::string text(buffer.data(), result.ptr);
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) {
        text += ".0";
    }
    return text;
}

/// A program's name stands bare where it reads back as one word.
std::string name_text(const std::string& name) {
    const bool word =
        !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name != "inf" && name != "nan" &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos;
    return word ? name : quote(name);
}

std::string list_text(const std::vector<std::int64_t>& list) {
    std::string out = "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
        out += (i > 0 ? "," : "") + std::to_string(list[i]);
    }
    return out + "]";
}

class Printer {
public:
    explicit Printer(const Program& program) : program_(program) {}

    std::string print() {
        out_ = "program " + name_text(program_.name) + " {\n";
        for (const Port& port : program_.arguments) {
            out_ += "  in " + name(port.value) + " " + std::string(role_name(port.role)) + " " +
                    quote(port.name) + " : " + typed(port.value, port.name) + "\n";
        }
        ops(program_.body, 1);
        for (const Port& port : program_.results) {
            out_ += "  out " + name(port.value) + " " + std::string(role_name(port.role)) + " " +
                    quote(port.name) + "\n";
        }
        return std::move(out_ += "}\n");
    }

private:
    static std::string name(ValueId id) { return "%" + std::to_string(id.index); }

    static std::string names(const std::vector<ValueId>& ids) {
        std::string out;
        for (const ValueId id : ids) {
            out += (out.empty() ? "" : ", ") + name(id);
        }
        return out;
    }

    /// Type and whatever differs from its default: spec, layout, name.
    std::string typed(ValueId id, std::string_view usual_name = {}) const {
        const Value& value = program_.value(id);
        std::string out = to_text(value.type);
        if (!value.spec.replicated()) {
            out += " " + to_text(value.spec);
        }
        if (value.layout != Layout{}) {
            out += " layout(" + quote(value.layout.format) + ", " +
                   std::to_string(value.layout.packed_bytes) + ")";
        }
        if (value.name != usual_name) {
            out += " name(" + quote(value.name) + ")";
        }
        return out;
    }

    void ops(const Block& block, int depth) {
        for (const Op& op : block.ops) {
            op_line(op, depth);
            if (op.structured()) {
                out_ += " {\n";
                body(op.body.front(), depth + 1);
                out_ += indent(depth) + "}";
            }
            out_ += "\n";
        }
    }

    void op_line(const Op& op, int depth) {
        out_ += indent(depth) + names(op.outputs) + (op.outputs.empty() ? "" : " = ") + op.kind +
                "(" + names(op.inputs) + ")";
        if (op.attributes.size() > 0) {
            std::string inner;
            for (const auto& [key, value] : op.attributes) {
                inner += (inner.empty() ? "" : ", ") + key + "=" + to_text(value);
            }
            out_ += " {" + inner + "}";
        }
        out_ += " :";
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            out_ += (i > 0 ? ", " : " ") + typed(op.outputs[i]);
        }
        out_ += " @ " + quote(op.path) + " " + std::string(phase_name(op.phase)) +
                (op.action.empty() ? "" : " in " + quote(op.action));
    }

    void body(const Block& block, int depth) {
        for (const ValueId id : block.arguments) {
            out_ += indent(depth) + "in " + name(id) + " : " + typed(id) + "\n";
        }
        ops(block, depth);
        out_ += indent(depth) + "yield" + (block.results.empty() ? "" : " ") +
                names(block.results) + "\n";
    }

    static std::string indent(int depth) {
        return std::string(static_cast<std::size_t>(depth) * 2, ' ');
    }

    const Program& program_;
    std::string out_;
};

} // namespace

std::string to_text(const Attribute& attribute) {
    if (const bool* flag = std::get_if<bool>(&attribute)) {
        return *flag ? "true" : "false";
    }
    if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
        return std::to_string(*integer);
    }
    if (const double* real = std::get_if<double>(&attribute)) {
        return real_text(*real);
    }
    if (const auto* text = std::get_if<std::string>(&attribute)) {
        return quote(*text);
    }
    return list_text(std::get<std::vector<std::int64_t>>(attribute));
}

std::string print(const Program& program) {
    return Printer(program).print();
}

} // namespace weft::ir
