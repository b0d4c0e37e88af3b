// SPDX-License-Identifier: Apache-2.0
// A text in the pieces over which no token reaches: by regular expressions, as tokenizer.json has
// them (those of the Rust crates regex and onig), matched by PCRE2.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weft::tokenizer {

/// That of GPT-2: contractions, words and numbers with a space before them, other characters, runs
/// of white space.
extern const char* const kGpt2Pattern;

/// A compiled expression. Thread-safe.
class Pattern {
public:
    /// Throws weft::Error{data} at `where` for what is no expression.
    Pattern(const std::string& expression, const std::string& where);
    ~Pattern();
    Pattern(Pattern&& other) noexcept;
    Pattern& operator=(Pattern&& other) noexcept;

    /// Calls take(piece, matches) for every match and every stretch between two, in order. Bytes
    /// that are no UTF-8 match nothing. Throws weft::Error{data} where matching takes too much.
    void split(std::string_view text,
               const std::function<void(std::string_view piece, bool matches)>& take) const;

private:
    struct Compiled;
    std::unique_ptr<Compiled> compiled_;
};

/// An expression that matches exactly this text.
std::string exactly(std::string_view text);

} // namespace weft::tokenizer
