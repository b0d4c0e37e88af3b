// SPDX-License-Identifier: Apache-2.0
#include "core/ir/lexer.h"

#include "core/base/error.h"

#include <charconv>
#include <limits>

namespace weft::ir {
namespace {

// Locale-free: program text is ASCII outside quotes.
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
int hex_digit(char c) {
    if (is_digit(c)) {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

} // namespace

std::string describe(const Token& token) {
    switch (token.kind) {
    case Token::Kind::end: return "end of text";
    case Token::Kind::value: return "%" + std::to_string(token.integer);
    case Token::Kind::integer:
    case Token::Kind::real: return "number " + token.text;
    case Token::Kind::text: return quote(token.text);
    default: return "'" + token.text + "'";
    }
}

std::string quote(std::string_view text, char quote_mark) {
    std::string out;
    append_quoted(out, text, quote_mark);
    return out;
}

void append_quoted(std::string& out, std::string_view text, char quote_mark) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += quote_mark;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == quote_mark || c == '\\') {
            (out += '\\') += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            ((out += "\\x") += kHex[byte >> 4]) += kHex[byte & 15];
        } else {
            out += c;
        }
    }
    out += quote_mark;
}

void Lexer::fail_at(const Token& token, const std::string& text, std::string hint) const {
    throw Error(ErrorKind::usage,
                "line " + std::to_string(token.line) + ", column " + std::to_string(token.column),
                text, std::move(hint));
}

void Lexer::fail(const std::string& text, std::string hint) const {
    fail_at(token_, text, std::move(hint));
}

Token Lexer::next() {
    Token token = std::move(token_);
    advance();
    return token;
}

bool Lexer::take(std::string_view word_or_symbol) {
    const bool matches = (token_.kind == Token::Kind::word || token_.kind == Token::Kind::symbol) &&
                         token_.text == word_or_symbol;
    if (matches) {
        advance();
    }
    return matches;
}

void Lexer::expect(std::string_view word_or_symbol) {
    if (!take(word_or_symbol)) {
        fail("expected '" + std::string(word_or_symbol) + "', found " + describe(token_));
    }
}

void Lexer::step() {
    if (here() == '\n') {
        ++line_;
        column_ = 0;
    }
    ++position_;
    ++column_;
}

void Lexer::skip_blanks() {
    while (position_ < text_.size()) {
        const char c = here();
        if (c == '#') {
            while (position_ < text_.size() && here() != '\n') {
                step();
            }
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            step();
        } else {
            return;
        }
    }
}

void Lexer::advance() {
    skip_blanks();
    token_ = {};
    token_.line = line_;
    token_.column = column_;
    if (position_ >= text_.size()) {
        return;
    }
    const char c = here();
    if (is_letter(c)) {
        read_word();
    } else if (c == '%') {
        read_value();
    } else if (is_digit(c) || (c == '-' && (is_digit(here(1)) || is_letter(here(1))))) {
        read_number();
    } else if (c == '"' || c == '\'') {
        read_text(c);
    } else if (std::string_view("(){}[],:=@*").find(c) != std::string_view::npos) {
        token_.kind = Token::Kind::symbol;
        token_.text = c;
        step();
    } else {
        fail("character " + quote(std::string_view(&c, 1)) + " has no meaning here");
    }
}

void Lexer::read_word() {
    token_.kind = Token::Kind::word;
    while (is_letter(here()) || is_digit(here())) {
        token_.text += here();
        step();
    }
    if (token_.text == "inf" || token_.text == "nan") {
        token_.kind = Token::Kind::real;
        token_.real = token_.text == "inf" ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
    }
}

void Lexer::read_value() {
    token_.kind = Token::Kind::value;
    step();
    while (is_digit(here())) {
        token_.text += here();
        step();
    }
    const char* end = token_.text.data() + token_.text.size();
    const auto [stop, error] = std::from_chars(token_.text.data(), end, token_.integer);
    if (error != std::errc() || stop != end ||
        token_.integer > std::numeric_limits<std::int32_t>::max()) {
        fail("'%' is followed by the number of a value, up to 2147483647");
    }
}

void Lexer::read_number() {
    bool real = false;
    do {
        const char c = here();
        real = real || c == '.' || is_letter(c);
        token_.text += c;
        step();
        // The sign of an exponent belongs to the number: 1e-05.
    } while (is_digit(here()) || is_letter(here()) || here() == '.' ||
             ((here() == '-' || here() == '+') && token_.text.back() == 'e'));
    token_.kind = real ? Token::Kind::real : Token::Kind::integer;
    const char* begin = token_.text.data();
    const char* end = begin + token_.text.size();
    const auto result = real ? std::from_chars(begin, end, token_.real)
                             : std::from_chars(begin, end, token_.integer);
    if (result.ec == std::errc::result_out_of_range) {
        fail("number " + token_.text + " is out of range");
    }
    if (result.ec != std::errc() || result.ptr != end) {
        fail("'" + token_.text + "' is not a number");
    }
}

char Lexer::read_escape() {
    step();
    const char c = here();
    step();
    if (c == 'n') {
        return '\n';
    }
    if (c == 't') {
        return '\t';
    }
    if (c == '\\' || c == '"' || c == '\'') {
        return c;
    }
    const int high = c == 'x' ? hex_digit(here()) : -1;
    const int low = c == 'x' ? hex_digit(here(1)) : -1;
    if (high < 0 || low < 0) {
        fail("unknown escape in quoted text", "known are \\n, \\t, \\\\, \\\", \\' and \\x1f");
    }
    step();
    step();
    return static_cast<char>(high * 16 + low);
}

void Lexer::read_text(char quote_mark) {
    token_.kind = Token::Kind::text;
    step();
    while (here() != quote_mark) {
        if (position_ >= text_.size() || here() == '\n') {
            fail("quoted text is not closed on its line");
        }
        if (here() == '\\') {
            token_.text += read_escape();
        } else {
            token_.text += here();
            step();
        }
    }
    step();
}

} // namespace weft::ir
