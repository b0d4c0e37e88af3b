// SPDX-License-Identifier: Apache-2.0
// Tokens of program text, with their place. Private to core/ir and to readers of specs.
#pragma once

#include "core/ir/spec.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::ir {

struct Token {
    enum class Kind : std::uint8_t { end, word, value, integer, real, text, symbol };
    Kind kind = Kind::end;
    std::string text;         // word, symbol: as written; text: without quotes and escapes
    std::int64_t integer = 0; // integer; value: the number after '%'
    double real = 0;
    int line = 1;
    int column = 1;
};

/// "'matmul'", "%5", "end of text": for messages.
std::string describe(const Token& token);

/// Splits text into tokens on demand; one token of lookahead. Every mistake is a weft::Error{usage}
/// with line and column. `text` must outlive the lexer.
class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) { advance(); }

    const Token& peek() const { return token_; }
    Token next();
    /// Consumes the word or symbol if it is next.
    bool take(std::string_view word_or_symbol);
    void expect(std::string_view word_or_symbol);
    [[noreturn]] void fail(const std::string& text, std::string hint = {}) const;
    [[noreturn]] void fail_at(const Token& token, const std::string& text,
                              std::string hint = {}) const;

private:
    void advance();
    void skip_blanks();
    void read_word();
    void read_value();
    void read_number();
    void read_text(char quote_mark);
    char read_escape();
    char here(std::size_t ahead = 0) const {
        return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
    }
    void step();

    std::string_view text_;
    std::size_t position_ = 0;
    int line_ = 1;
    int column_ = 1;
    Token token_;
};

/// The text in quotes, with \\, the quote mark and control characters escaped.
std::string quote(std::string_view text, char quote_mark = '"');
void append_quoted(std::string& out, std::string_view text, char quote_mark = '"');

/// Reads "P('data', None) partial('model')"; the next token must be P.
Spec read_spec(Lexer& lexer);

} // namespace weft::ir
