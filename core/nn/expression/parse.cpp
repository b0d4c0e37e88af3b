// SPDX-License-Identifier: Apache-2.0
#include "core/nn/expression/parse.h"

#include "core/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace weft::nn {
namespace {

using NodeKind = ExpressionNode::Kind;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    ParsedExpression run() {
        ParsedExpression out;
        if (text_.size() > kLongestExpression) {
            fail(kLongestExpression, "an expression of more than 4,000 characters", "Shorten it.");
        } else if (const auto zero = text_.find('\0'); zero != std::string_view::npos) {
            fail(zero, "a character of code 0 is no text", "Leave it out.");
        } else {
            out.root = comparison();
            if (!problem_ && peek() != 0) {
                unexpected("an operator or the end");
            }
        }
        out.problem = problem_;
        return out;
    }

private:
    void fail(std::size_t offset, std::string text, std::string hint) {
        if (!problem_) {
            problem_ = {column_of(offset), std::move(text), std::move(hint)};
        }
    }

    /// Bytes that go on with a character begin none.
    std::size_t column_of(std::size_t offset) const {
        std::size_t column = 1;
        for (std::size_t i = 0; i < std::min(offset, text_.size()); ++i) {
            column += (static_cast<unsigned char>(text_[i]) & 0xC0U) != 0x80U ? 1 : 0;
        }
        return column;
    }

    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' ||
                                      text_[at_] == '\n' || text_[at_] == '\r')) {
            ++at_;
        }
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    bool take(std::string_view word) {
        if (peek() == 0 || !text_.substr(at_).starts_with(word)) {
            return false;
        }
        at_ += word.size();
        return true;
    }

    void unexpected(const std::string& wanted) {
        if (peek() == 0) {
            fail(at_, "the expression ends where " + wanted + " should be", "");
            return;
        }
        std::size_t end = at_ + 1; // a whole character
        while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) {
            ++end;
        }
        fail(at_,
             "'" + shown(text_.substr(at_, end - at_)) + "' stands where " + wanted + " should be",
             "");
    }

    ExpressionNode call(std::size_t offset, std::string word,
                        std::vector<ExpressionNode> operands) const {
        return {NodeKind::call, column_of(offset), 0, std::move(word), std::move(operands)};
    }

    ExpressionNode comparison() {
        ExpressionNode left = sum();
        const std::string found = comparison_here();
        if (problem_ || found.empty()) {
            return left;
        }
        const std::size_t offset = at_;
        at_ += found.size();
        left = call(offset, found, {std::move(left), sum()});
        if (!problem_ && !comparison_here().empty()) {
            fail(at_, "comparisons do not chain", "Write (a < b) * (b < c).");
        }
        return left;
    }

    /// The comparison that stands next; empty: none.
    std::string comparison_here() {
        const char next = peek();
        for (const char* word : {"<=", ">=", "==", "!=", "<", ">"}) {
            if (next != 0 && text_.substr(at_).starts_with(word)) {
                return word;
            }
        }
        if (next == '=') {
            fail(at_, "'=' gives a name to something, which expressions cannot",
                 "Write == to compare.");
        }
        return "";
    }

    ExpressionNode sum() { return chain("+", "-", &Parser::product); }
    ExpressionNode product() { return chain("*", "/", &Parser::unary); }

    ExpressionNode chain(const char* one, const char* other, ExpressionNode (Parser::*operand)()) {
        ExpressionNode left = (this->*operand)();
        while (!problem_) {
            peek();
            const std::size_t offset = at_;
            const char* word = take(one) ? one : take(other) ? other : nullptr;
            if (word == nullptr) {
                break;
            }
            left = call(offset, word, {std::move(left), (this->*operand)()});
            if (++links_ > kMostLinks) {
                fail(offset, "more than 200 operators", "Shorten it.");
            }
        }
        return left;
    }

    ExpressionNode unary() {
        peek();
        const std::size_t offset = at_;
        if (take("-")) {
            const Deeper deeper(*this);
            return deeper.fine ? call(offset, "neg", {unary()}) : ExpressionNode();
        }
        return power();
    }

    ExpressionNode power() {
        ExpressionNode base = primary();
        if (problem_) {
            return base;
        }
        peek();
        const std::size_t offset = at_;
        if (text_.substr(at_).starts_with("**")) {
            fail(at_, "'**' is no operator", "Write ^ for a power.");
        } else if (take("^")) {
            const Deeper deeper(*this);
            return deeper.fine ? call(offset, "^", {std::move(base), unary()}) : base;
        }
        return base;
    }

    /// Counts how deep calls lie within calls.
    struct Deeper {
        explicit Deeper(Parser& of) : parser(of), fine(++of.depth_ <= kDeepestExpression) {
            if (!fine) {
                parser.fail(parser.at_, "more than 64 parts within each other", "Simplify it.");
            }
        }
        ~Deeper() { --parser.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        Parser& parser;
        bool fine;
    };

    ExpressionNode primary() {
        const Deeper deeper(*this);
        if (!deeper.fine || problem_) {
            return {};
        }
        const char next = peek();
        ExpressionNode out;
        if (is_digit(next) || next == '.') {
            return number();
        }
        if (is_letter(next)) {
            out = word();
        } else if (take("(")) {
            out = comparison();
            close(")");
        } else {
            unexpected("a number, a name or '('");
        }
        while (!problem_ && peek() == '[') {
            out = element(std::move(out));
        }
        return out;
    }

    void close(const char* bracket) {
        if (!problem_ && !take(bracket)) {
            unexpected("'" + std::string(bracket) + "'");
        }
    }

    ExpressionNode number() {
        ExpressionNode out{NodeKind::number, column_of(at_), 0, {}, {}};
        const char* begin = text_.data() + at_;
        const char* end = text_.data() + text_.size();
        const auto [rest, error] = std::from_chars(begin, end, out.number);
        const auto offset = at_;
        at_ += static_cast<std::size_t>(rest - begin);
        const auto brief = static_cast<float>(out.number);
        if (error != std::errc() || !std::isfinite(brief) || (brief == 0 && out.number != 0)) {
            fail(offset, "this is no number of 32 bits", "");
        } else if (at_ < text_.size() && is_letter(text_[at_])) {
            fail(at_, "a name right behind a number", "Write * between them.");
        }
        return out;
    }

    ExpressionNode word() {
        const std::size_t offset = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
            ++at_;
        }
        std::string name(text_.substr(offset, at_ - offset));
        if (!take("(")) {
            return {NodeKind::name, column_of(offset), 0, std::move(name), {}};
        }
        std::vector<ExpressionNode> operands;
        while (!problem_ && !take(")")) {
            if (!operands.empty() && !take(",")) {
                unexpected("',' or ')'");
                break;
            }
            operands.push_back(comparison());
        }
        return call(offset, std::move(name), std::move(operands));
    }

    ExpressionNode element(ExpressionNode of) {
        const std::size_t offset = at_;
        take("[");
        ExpressionNode index;
        if (is_digit(peek())) {
            index = number();
        } else {
            unexpected("the number of an output, from 0,");
        }
        close("]");
        if (!problem_ && index.number != std::floor(index.number)) {
            fail(offset + 1, "an output has a whole number", "They count from 0.");
        }
        return call(offset, "[]", {std::move(of), std::move(index)});
    }

    static constexpr int kMostLinks = 200;

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    int links_ = 0; // of chains, whose trees are as deep as they are long
    std::optional<ExpressionProblem> problem_;
};

} // namespace

ParsedExpression parse_expression(std::string_view text) {
    return Parser(text).run();
}

} // namespace weft::nn
