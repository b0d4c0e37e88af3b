// SPDX-License-Identifier: Apache-2.0
#include "core/ir/text_parts.h"

#include <algorithm>
#include <limits>

namespace weft::ir {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 56; // of one value

bool at_samples(const Lexer& lexer, std::int64_t samples) {
    return samples > 0 && lexer.peek().kind == Token::Kind::word && lexer.peek().text == "B";
}

/// "B" or "B*49"; B is next.
std::int64_t read_samples(Lexer& lexer, std::int64_t samples) {
    lexer.next();
    if (!lexer.take("*")) {
        return samples;
    }
    const Token token = lexer.peek();
    const std::int64_t factor = read_integer(lexer, "how many per sample");
    if (factor < 1 || factor > std::numeric_limits<std::int64_t>::max() / samples) {
        lexer.fail_at(token, "B*" + token.text + " is out of range");
    }
    return samples * factor;
}

std::vector<std::int64_t> read_list(Lexer& lexer, std::int64_t samples) {
    std::vector<std::int64_t> list;
    while (!lexer.take("]")) {
        list.push_back(read_integer(lexer, "an integer", samples));
        if (!lexer.take(",")) {
            lexer.expect("]");
            break;
        }
    }
    return list;
}

Attribute read_attribute(Lexer& lexer, std::int64_t samples) {
    const Token::Kind kind = lexer.peek().kind;
    if (lexer.take("true")) {
        return true;
    }
    if (lexer.take("false")) {
        return false;
    }
    if (kind == Token::Kind::integer || at_samples(lexer, samples)) {
        return read_integer(lexer, "an integer", samples);
    }
    if (kind == Token::Kind::real) {
        return lexer.next().real;
    }
    if (kind == Token::Kind::text) {
        return lexer.next().text;
    }
    if (!lexer.take("[")) {
        lexer.fail("expected an attribute's value, found " + describe(lexer.peek()),
                   "true, false, 4, 0.5, \"text\" or [1,2]");
    }
    return read_list(lexer, samples);
}

} // namespace

std::string read_quoted(Lexer& lexer, std::string_view what) {
    if (lexer.peek().kind != Token::Kind::text) {
        lexer.fail("expected " + std::string(what) + " in quotes, found " + describe(lexer.peek()));
    }
    return lexer.next().text;
}

std::int64_t read_integer(Lexer& lexer, std::string_view what, std::int64_t samples) {
    if (at_samples(lexer, samples)) {
        return read_samples(lexer, samples);
    }
    if (lexer.peek().kind != Token::Kind::integer) {
        lexer.fail("expected " + std::string(what) + ", found " + describe(lexer.peek()));
    }
    return lexer.next().integer;
}

Type read_type(Lexer& lexer, std::int64_t samples) {
    const auto dtype = parse_dtype(lexer.peek().text);
    if (lexer.peek().kind != Token::Kind::word || !dtype) {
        lexer.fail("expected an element type, found " + describe(lexer.peek()),
                   "one of f32, bf16, f16, f64, i32, i64, u8");
    }
    lexer.next();
    Type out{*dtype, {}};
    lexer.expect("[");
    std::int64_t bytes = dtype_bytes(*dtype);
    while (!lexer.take("]")) {
        const Token token = lexer.peek();
        const std::int64_t extent = read_integer(lexer, "an extent", samples);
        if (extent < 0 || (extent > 0 && bytes > kMaxBytes / extent)) {
            lexer.fail_at(token, "extent " + token.text + " is out of range");
        }
        if (out.shape.rank() == Shape::kMaxRank) {
            lexer.fail_at(token, "a shape has at most 8 dimensions");
        }
        bytes *= std::max<std::int64_t>(extent, 1);
        out.shape.push_back(extent);
        if (!lexer.take(",")) {
            lexer.expect("]");
            break;
        }
    }
    return out;
}

Role read_role(Lexer& lexer) {
    for (const Role candidate : {Role::state, Role::batch, Role::scalar, Role::output}) {
        if (lexer.take(role_name(candidate))) {
            return candidate;
        }
    }
    lexer.fail("expected a role, found " + describe(lexer.peek()),
               "one of state, batch, scalar, output");
}

Attributes read_attributes(Lexer& lexer, std::int64_t samples) {
    Attributes out;
    if (!lexer.take("{")) {
        return out;
    }
    while (!lexer.take("}")) {
        if (lexer.peek().kind != Token::Kind::word) {
            lexer.fail("expected an attribute's name, found " + describe(lexer.peek()));
        }
        const Token name = lexer.next();
        lexer.expect("=");
        if (out.has(name.text)) {
            lexer.fail_at(name, "attribute '" + name.text + "' is given twice");
        }
        out.set(name.text, read_attribute(lexer, samples));
        if (!lexer.take(",")) {
            lexer.expect("}");
            break;
        }
    }
    return out;
}

} // namespace weft::ir
