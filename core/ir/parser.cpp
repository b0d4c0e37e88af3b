// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/ir/text.h"
#include "core/ir/text_parts.h"

#include <map>

namespace weft::ir {
namespace {

// Limits that no program of ours comes near; hostile text shall not exhaust stack or memory.
constexpr int kMaxDepth = 32;
constexpr std::int64_t kSpareNumbers = 1 << 16;           // value numbers may have this many gaps

class Parser {
public:
    explicit Parser(std::string_view text) : lexer_(text) {}

    Program parse() {
        lexer_.expect("program");
        if (lexer_.peek().kind != Token::Kind::word && lexer_.peek().kind != Token::Kind::text) {
            lexer_.fail("expected the program's name, found " + describe(lexer_.peek()));
        }
        program_.name = lexer_.next().text;
        lexer_.expect("{");
        while (lexer_.take("in")) {
            argument();
        }
        ops(program_.body, 1);
        while (lexer_.take("out")) {
            result();
        }
        lexer_.expect("}");
        if (lexer_.peek().kind != Token::Kind::end) {
            lexer_.fail("unexpected " + describe(lexer_.peek()) + " after the program");
        }
        number_values();
        return std::move(program_);
    }

private:
    struct Definition {
        Value value;
        bool in_scope = true;
    };

    ValueId value_token() {
        if (lexer_.peek().kind != Token::Kind::value) {
            lexer_.fail("expected a value such as %5, found " + describe(lexer_.peek()));
        }
        return {static_cast<std::int32_t>(lexer_.next().integer)};
    }

    ValueId use() {
        const Token token = lexer_.peek();
        const ValueId id = value_token();
        const auto found = values_.find(id);
        if (found == values_.end() || !found->second.in_scope) {
            lexer_.fail_at(token, "%" + std::to_string(id.index) + " is not defined here",
                           "a value is used after its definition, in the same or an inner block");
        }
        return id;
    }

    void define(const Token& token, ValueId id, Value value) {
        if (!values_.emplace(id, Definition{std::move(value)}).second) {
            lexer_.fail_at(token, "%" + std::to_string(id.index) + " is defined twice");
        }
    }

    /// Type, then the optional spec, layout and name.
    Value typed(std::string usual_name = {}) {
        Value value(read_type(lexer_), std::move(usual_name));
        const Token token = lexer_.peek();
        if (token.kind == Token::Kind::word && token.text == "P") {
            Spec spec = read_spec(lexer_);
            if (static_cast<int>(spec.dims.size()) > value.type.shape.rank()) {
                lexer_.fail_at(token,
                               "spec " + to_text(spec) + " has " +
                                   std::to_string(spec.dims.size()) +
                                   " entries, but the value " + to_text(value.type) + " has " +
                                   std::to_string(value.type.shape.rank()) + " dimensions",
                               "a spec has at most one entry per dimension");
            }
            value.set_spec(std::move(spec));
        }
        if (lexer_.take("layout")) {
            lexer_.expect("(");
            Layout layout;
            layout.format = read_quoted(lexer_, "a layout");
            lexer_.expect(",");
            layout.packed_bytes = read_integer(lexer_, "the packed size in bytes");
            lexer_.expect(")");
            value.set_layout(std::move(layout));
        }
        if (lexer_.take("name")) {
            lexer_.expect("(");
            value.name = read_quoted(lexer_, "a name");
            lexer_.expect(")");
        }
        return value;
    }

    void argument() {
        const Token token = lexer_.peek();
        Port port;
        port.value = value_token();
        port.role = read_role(lexer_);
        port.name = read_quoted(lexer_, "the argument's name");
        lexer_.expect(":");
        define(token, port.value, typed(port.name));
        program_.body.arguments.push_back(port.value);
        program_.arguments.push_back(std::move(port));
    }

    void result() {
        Port port;
        port.value = use();
        port.role = read_role(lexer_);
        port.name = read_quoted(lexer_, "the result's name");
        program_.body.results.push_back(port.value);
        program_.results.push_back(std::move(port));
    }

    Phase phase() {
        for (const Phase candidate : {Phase::forward, Phase::backward, Phase::update}) {
            if (lexer_.take(phase_name(candidate))) {
                return candidate;
            }
        }
        lexer_.fail("expected a phase, found " + describe(lexer_.peek()),
                    "one of forward, backward, update");
    }

    bool at_op() const {
        const Token& token = lexer_.peek();
        return token.kind == Token::Kind::value ||
               (token.kind == Token::Kind::word && token.text != "out" && token.text != "yield");
    }

    void ops(Block& block, int depth) {
        while (at_op()) {
            block.ops.push_back(op(depth));
        }
    }

    Op op(int depth) {
        Op op;
        std::vector<Token> places;
        while (lexer_.peek().kind == Token::Kind::value) {
            places.push_back(lexer_.peek());
            op.outputs.push_back(value_token());
            if (!lexer_.take(",")) {
                break;
            }
        }
        if (!op.outputs.empty()) {
            lexer_.expect("=");
        }
        if (lexer_.peek().kind != Token::Kind::word) {
            lexer_.fail("expected an op's name, found " + describe(lexer_.peek()));
        }
        op.kind = lexer_.next().text;
        op.inputs = operands();
        op.attributes = read_attributes(lexer_);
        lexer_.expect(":");
        std::vector<Value> defined;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (i > 0) {
                lexer_.expect(",");
            }
            defined.push_back(typed());
        }
        lexer_.expect("@");
        op.path = read_quoted(lexer_, "the layer path");
        op.phase = phase();
        if (lexer_.take("in")) {
            op.action = read_quoted(lexer_, "the action");
        }
        if (lexer_.take("{")) {
            op.body.push_back(body(depth + 1));
        }
        // Outputs come into scope after the body: a loop cannot read its own results.
        for (std::size_t i = 0; i < places.size(); ++i) {
            define(places[i], op.outputs[i], std::move(defined[i]));
        }
        return op;
    }

    ValueIds operands() {
        ValueIds ids;
        lexer_.expect("(");
        while (!lexer_.take(")")) {
            ids.push_back(use());
            if (!lexer_.take(",")) {
                lexer_.expect(")");
                break;
            }
        }
        return ids;
    }

    Block body(int depth) {
        if (depth > kMaxDepth) {
            lexer_.fail("bodies are nested deeper than " + std::to_string(kMaxDepth));
        }
        Block block;
        while (lexer_.take("in")) {
            const Token token = lexer_.peek();
            const ValueId id = value_token();
            lexer_.expect(":");
            define(token, id, typed());
            block.arguments.push_back(id);
        }
        ops(block, depth);
        lexer_.expect("yield");
        while (lexer_.peek().kind == Token::Kind::value) {
            block.results.push_back(use());
            if (!lexer_.take(",")) {
                break;
            }
        }
        lexer_.expect("}");
        leave_scope(block);
        return block;
    }

    void leave_scope(const Block& block) {
        const auto leave = [this](const ValueIds& ids) {
            for (const ValueId id : ids) {
                values_.at(id).in_scope = false;
            }
        };
        leave(block.arguments);
        for (const Op& op : block.ops) {
            leave(op.outputs);
        }
    }

    void number_values() {
        if (values_.empty()) {
            return;
        }
        const std::int64_t last = values_.rbegin()->first.index;
        if (last > kSpareNumbers + 8 * static_cast<std::int64_t>(values_.size())) {
            lexer_.fail("%" + std::to_string(last) + " is too high a number for a program with " +
                            std::to_string(values_.size()) + " values",
                        "number values from %0 on");
        }
        program_.values.resize(static_cast<std::size_t>(last) + 1);
        for (auto& [id, definition] : values_) {
            program_.value(id) = std::move(definition.value);
        }
    }

    Lexer lexer_;
    Program program_;
    std::map<ValueId, Definition> values_;
};

} // namespace

Program parse(std::string_view text) {
    return Parser(text).parse();
}

} // namespace weft::ir
