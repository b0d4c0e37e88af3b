// SPDX-License-Identifier: Apache-2.0
#include "core/ir/model_text.h"

#include "core/ir/text_parts.h"

#include <charconv>
#include <set>

namespace weft::ir {
namespace {

class ModelReader {
public:
    ModelReader(std::string_view text, std::int64_t samples) : lexer_(text), samples_(samples) {}

    ModelText read() {
        ModelText out;
        lexer_.expect("program");
        if (lexer_.peek().kind != Token::Kind::word && lexer_.peek().kind != Token::Kind::text) {
            lexer_.fail("expected the model's name, found " + describe(lexer_.peek()));
        }
        out.name = lexer_.next().text;
        lexer_.expect("{");
        while (lexer_.take("in")) {
            out.arguments.push_back(argument());
        }
        while (at_op()) {
            out.ops.push_back(op());
        }
        while (lexer_.take("out")) {
            WrittenPort port;
            port.value = use();
            port.role = read_role(lexer_);
            port.name = read_quoted(lexer_, "the result's name");
            out.results.push_back(std::move(port));
        }
        lexer_.expect("}");
        if (lexer_.peek().kind != Token::Kind::end) {
            lexer_.fail("unexpected " + describe(lexer_.peek()) + " after the model");
        }
        return out;
    }

private:
    WrittenValue value() {
        const Token token = lexer_.peek();
        if (token.kind != Token::Kind::value) {
            lexer_.fail("expected a value such as %5, found " + describe(token));
        }
        lexer_.next();
        return {static_cast<std::int32_t>(token.integer), {}, {token.line, token.column}};
    }

    WrittenValue use() {
        const Token token = lexer_.peek();
        WrittenValue out = value();
        if (!defined_.contains(out.number)) {
            lexer_.fail_at(token, describe(token) + " is not defined here",
                           "a value is used after the line that defines it");
        }
        return out;
    }

    WrittenValue definition() {
        const Token token = lexer_.peek();
        WrittenValue out = value();
        if (!defined_.insert(out.number).second) {
            lexer_.fail_at(token, describe(token) + " is defined twice");
        }
        return out;
    }

    bool at_op() const {
        const Token& token = lexer_.peek();
        return token.kind == Token::Kind::value ||
               (token.kind == Token::Kind::word && token.text != "out");
    }

    WrittenPort argument() {
        WrittenPort port;
        port.value = definition();
        port.role = read_role(lexer_);
        port.name = read_quoted(lexer_, "the argument's name");
        port.attributes = read_attributes(lexer_);
        if (lexer_.take(":")) {
            port.value.type = read_type(lexer_, samples_);
        }
        return port;
    }

    WrittenOp op() {
        WrittenOp op;
        std::vector<Token> places;
        while (lexer_.peek().kind == Token::Kind::value) {
            places.push_back(lexer_.peek());
            op.outputs.push_back(value());
            if (!lexer_.take(",")) {
                break;
            }
        }
        lexer_.expect("=");
        const Token kind = lexer_.peek();
        if (kind.kind != Token::Kind::word) {
            lexer_.fail("expected an op's name, found " + describe(kind));
        }
        op.kind = lexer_.next().text;
        op.place = {kind.line, kind.column};
        lexer_.expect("(");
        while (!lexer_.take(")")) {
            op.inputs.push_back(use());
            if (!lexer_.take(",")) {
                lexer_.expect(")");
                break;
            }
        }
        op.attributes = read_attributes(lexer_, samples_);
        if (lexer_.take(":")) {
            for (std::size_t i = 0; i < op.outputs.size(); ++i) {
                if (i > 0) {
                    lexer_.expect(",");
                }
                op.outputs[i].type = read_type(lexer_, samples_);
            }
        }
        if (lexer_.take("@")) {
            op.path = read_quoted(lexer_, "the layer path");
            lexer_.take(phase_name(Phase::forward));
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i) { // in scope from the next line on
            if (!defined_.insert(op.outputs[i].number).second) {
                lexer_.fail_at(places[i], describe(places[i]) + " is defined twice");
            }
        }
        return op;
    }

    Lexer lexer_;
    std::int64_t samples_;
    std::set<std::int32_t> defined_;
};

/// Takes a number off the front of `text`.
std::optional<int> take_number(std::string_view& text) {
    int out = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || out < 1) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return out;
}

bool take_word(std::string_view& text, std::string_view word) {
    const bool there = text.starts_with(word);
    text.remove_prefix(there ? word.size() : 0);
    return there;
}

} // namespace

std::string to_text(TextPlace place) {
    return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

std::optional<TextPlace> read_place(std::string_view text) {
    TextPlace out;
    const auto read = [&](std::string_view word, int& number) {
        const auto found = take_word(text, word) ? take_number(text) : std::nullopt;
        number = found.value_or(0);
        return found.has_value();
    };
    if (!read("line ", out.line) || !read(", column ", out.column)) {
        return std::nullopt;
    }
    return out;
}

ModelText read_model_text(std::string_view text, std::int64_t samples) {
    return ModelReader(text, samples).read();
}

} // namespace weft::ir
