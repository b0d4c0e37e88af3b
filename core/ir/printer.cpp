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

/// Writes straight into one text: a program of a large model has megabytes of it.
class Printer {
public:
    explicit Printer(const Program& program) : program_(program) {}

    std::string print() {
        (out_ += "program ") += name_text(program_.name);
        out_ += " {\n";
        for (const Port& port : program_.arguments) {
            out_ += "  in ";
            name(port.value);
            port_text(port);
            out_ += " : ";
            typed(port.value, port.name);
            out_ += '\n';
        }
        ops(program_.body, 1);
        for (const Port& port : program_.results) {
            out_ += "  out ";
            name(port.value);
            port_text(port);
            out_ += '\n';
        }
        return std::move(out_ += "}\n");
    }

private:
    void integer(std::int64_t value) {
        std::array<char, 24> buffer{};
        const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
        out_.append(buffer.data(), end);
    }

    void name(ValueId id) {
        out_ += '%';
        integer(id.index);
    }

    void names(const ValueIds& ids) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            out_ += i > 0 ? ", " : "";
            name(ids[i]);
        }
    }

    void port_text(const Port& port) {
        (out_ += ' ') += role_name(port.role);
        out_ += ' ';
        append_quoted(out_, port.name);
    }

    /// Type and whatever differs from its default: spec, layout, name.
    void typed(ValueId id, std::string_view usual_name = {}) {
        const Value& value = program_.value(id);
        (out_ += dtype_name(value.type.dtype)) += '[';
        for (int dim = 0; dim < value.type.shape.rank(); ++dim) {
            out_ += dim > 0 ? "," : "";
            integer(value.type.shape[dim]);
        }
        out_ += ']';
        if (!value.spec().replicated()) {
            (out_ += ' ') += to_text(value.spec());
        }
        if (value.layout() != Layout{}) {
            append_quoted(out_ += " layout(", value.layout().format);
            out_ += ", ";
            integer(value.layout().packed_bytes);
            out_ += ')';
        }
        if (value.name != usual_name) {
            append_quoted(out_ += " name(", value.name);
            out_ += ')';
        }
    }

    void ops(const Block& block, int depth) {
        for (const Op& op : block.ops) {
            op_line(op, depth);
            if (op.structured()) {
                out_ += " {\n";
                body(op.body.front(), depth + 1);
                indent(depth);
                out_ += '}';
            }
            out_ += '\n';
        }
    }

    void op_line(const Op& op, int depth) {
        indent(depth);
        names(op.outputs);
        out_ += op.outputs.empty() ? "" : " = ";
        (out_ += op.kind) += '(';
        names(op.inputs);
        out_ += ')';
        bool first = true;
        for (const auto& [key, value] : op.attributes) {
            (out_ += first ? " {" : ", ") += key;
            (out_ += '=') += to_text(value);
            first = false;
        }
        out_ += first ? " :" : "} :";
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            out_ += i > 0 ? ", " : " ";
            typed(op.outputs[i]);
        }
        append_quoted(out_ += " @ ", op.path);
        (out_ += ' ') += phase_name(op.phase);
        if (!op.action.empty()) {
            append_quoted(out_ += " in ", op.action);
        }
    }

    void body(const Block& block, int depth) {
        for (const ValueId id : block.arguments) {
            indent(depth);
            out_ += "in ";
            name(id);
            out_ += " : ";
            typed(id);
            out_ += '\n';
        }
        ops(block, depth);
        indent(depth);
        out_ += block.results.empty() ? "yield" : "yield ";
        names(block.results);
        out_ += '\n';
    }

    void indent(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }

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
