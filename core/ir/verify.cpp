// SPDX-License-Identifier: Apache-2.0
#include "core/ir/verify.h"

#include "core/ir/text.h"

#include <set>

namespace weft::ir {
namespace {

std::string name_of(ValueId id) {
    return "%" + std::to_string(id.index);
}

class Verifier {
public:
    explicit Verifier(const Program& program)
        : program_(program), defined_(program.values.size(), false),
          in_scope_(program.values.size(), false) {}

    std::vector<std::string> run() {
        ports(program_.arguments, program_.body.arguments, "argument");
        ports(program_.results, program_.body.results, "result");
        where_ = "program " + program_.name;
        block(program_.body);
        return std::move(violations_);
    }

private:
    void report(const std::string& text) { violations_.push_back(where_ + ": " + text); }

    bool known(ValueId id) {
        const bool ok = id.valid() && id.index < static_cast<int>(program_.values.size());
        if (!ok) {
            report(name_of(id) + " is not a value of the program");
        }
        return ok;
    }

    void ports(const std::vector<Port>& list, const ValueIds& ids, std::string_view what) {
        where_ = "program " + program_.name;
        if (list.size() != ids.size()) {
            report(std::to_string(list.size()) + " " + std::string(what) + " ports, but " +
                   std::to_string(ids.size()) + " body " + std::string(what) + "s");
            return;
        }
        std::set<std::pair<Role, std::string>> names;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].value != ids[i]) {
                report(std::string(what) + " '" + list[i].name + "' and the body disagree: " +
                       name_of(list[i].value) + " and " + name_of(ids[i]));
            }
            if (!names.emplace(list[i].role, list[i].name).second) {
                report(std::string(role_name(list[i].role)) + " " + std::string(what) + " '" +
                       list[i].name + "' appears twice");
            }
        }
    }

    void define(ValueId id) {
        if (!known(id)) {
            return;
        }
        const auto index = static_cast<std::size_t>(id.index);
        if (defined_[index]) {
            report(name_of(id) + " is defined twice");
        }
        defined_[index] = true;
        in_scope_[index] = true;
        const Value& value = program_.value(id);
        if (static_cast<int>(value.spec().dims.size()) > value.type.shape.rank()) {
            report(name_of(id) + ": spec " + to_text(value.spec()) + " has more entries than " +
                   to_text(value.type) + " has dimensions");
        }
    }

    void use(ValueId id) {
        if (known(id) && !in_scope_[static_cast<std::size_t>(id.index)]) {
            report("uses " + name_of(id) + ", which is not defined before it in scope");
        }
    }

    void leave(const ValueIds& ids) {
        for (const ValueId id : ids) {
            if (id.valid() && id.index < static_cast<int>(program_.values.size())) {
                in_scope_[static_cast<std::size_t>(id.index)] = false;
            }
        }
    }

    void block(const Block& block) {
        const std::string outer = where_;
        for (const ValueId id : block.arguments) {
            define(id);
        }
        for (const Op& op : block.ops) {
            where_ = op.kind + (op.outputs.empty() ? "" : " " + name_of(op.outputs.front())) +
                     (op.path.empty() ? "" : " at " + op.path);
            const std::size_t before = violations_.size();
            for (const ValueId id : op.inputs) {
                use(id);
            }
            structure(op, before);
            for (const ValueId id : op.outputs) {
                define(id);
            }
        }
        where_ = outer;
        for (const ValueId id : block.results) {
            use(id);
        }
        leave(block.arguments);
        for (const Op& op : block.ops) {
            leave(op.outputs);
        }
    }

    /// `before`: the number of violations before the op.
    void structure(const Op& op, std::size_t before) {
        const bool owns_body = op.is_loop() || op.kind == "fused" || op.kind == "sweep";
        if (op.body.size() != (owns_body ? 1U : 0U)) {
            report(owns_body ? "has no body" : "must not have a body");
            return;
        }
        if (!owns_body) {
            return;
        }
        if (depth_ >= 64) {
            report("bodies are nested too deep");
            return;
        }
        ++depth_;
        block(op.body.front());
        --depth_;
        if (violations_.size() > before) {
            return; // unknown values have no types to compare
        }
        if (op.is_loop()) {
            repeat(op);
        } else {
            fused(op);
        }
    }

    void repeat(const Op& op) {
        const auto* count = std::get_if<std::int64_t>(op.attributes.find("count"));
        const auto* carried = std::get_if<std::int64_t>(op.attributes.find("carried"));
        const Block& body = op.body.front();
        if (count == nullptr || carried == nullptr || *count < 1 || *carried < 0 ||
            *carried > static_cast<std::int64_t>(op.inputs.size())) {
            report("needs count >= 1 and 0 <= carried <= number of inputs");
            return;
        }
        if (body.arguments.size() != op.inputs.size() || body.results.size() != op.outputs.size() ||
            *carried > static_cast<std::int64_t>(op.outputs.size())) {
            report("has " + std::to_string(op.inputs.size()) + " inputs for " +
                   std::to_string(body.arguments.size()) + " body arguments and " +
                   std::to_string(op.outputs.size()) + " outputs for " +
                   std::to_string(body.results.size()) + " body results");
            return;
        }
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const bool stacked = static_cast<std::int64_t>(i) >= *carried;
            same(op.inputs[i], body.arguments[i], stacked ? *count : 0);
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            const bool stacked = static_cast<std::int64_t>(i) >= *carried;
            same(op.outputs[i], body.results[i], stacked ? *count : 0);
        }
    }

    /// `outer` must have the type of `inner`, with a leading dimension `count` unless that is 0.
    void same(ValueId outer, ValueId inner, std::int64_t count) {
        Type expected{program_.type(inner).dtype, {}};
        if (count > 0) {
            expected.shape.push_back(count);
        }
        const Shape& shape = program_.type(inner).shape;
        if (count > 0 && shape.rank() == Shape::kMaxRank) {
            report(name_of(inner) + " has too many dimensions to be stacked");
            return;
        }
        for (const std::int64_t extent : shape) {
            expected.shape.push_back(extent);
        }
        if (program_.type(outer) != expected) {
            report(name_of(outer) + " is " + to_text(program_.type(outer)) + ", but " +
                   name_of(inner) + " in the body asks for " + to_text(expected));
        }
    }

    void fused(const Op& op) {
        const Block& body = op.body.front();
        const auto* many = std::get_if<std::int64_t>(op.attributes.find("tensors"));
        const auto tensors = static_cast<std::size_t>(many == nullptr ? 1 : *many);
        if (body.arguments.size() * tensors != op.inputs.size() ||
            body.results.size() * tensors != op.outputs.size()) {
            report("inputs and outputs do not match its body");
            return;
        }
        // Of a sweep the record compares the other tensors with the first.
        for (std::size_t i = 0; i < body.arguments.size(); ++i) {
            same(op.inputs[i], body.arguments[i], 0);
        }
        for (std::size_t i = 0; i < body.results.size(); ++i) {
            same(op.outputs[i], body.results[i], 0);
        }
        for (const Op& inner : body.ops) {
            if (inner.structured()) {
                report("holds " + inner.kind + "; a group holds elementwise ops only");
            }
        }
        for (const ValueId id : captures(op)) {
            report("uses " + name_of(id) + " without having it as an input");
        }
    }

    const Program& program_;
    std::vector<std::string> violations_;
    std::vector<bool> defined_;
    std::vector<bool> in_scope_;
    std::string where_;
    int depth_ = 0;
};

} // namespace

std::vector<std::string> verify_structure(const Program& program) {
    return Verifier(program).run();
}

} // namespace weft::ir
