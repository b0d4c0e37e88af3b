// SPDX-License-Identifier: Apache-2.0
#include "core/launch/shell_text.h"

namespace weft::launch {
namespace {

std::string in_quotes(std::string_view word) {
    std::string out = "'";
    for (const char letter : word) {
        out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return out + "'";
}

} // namespace

std::string shell_quoted(std::string_view word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_./:,@%+-=";
    if (!word.empty() && word.front() != '=' &&
        word.find_first_not_of(kPlain) == std::string_view::npos) {
        return std::string(word);
    }
    return in_quotes(word);
}

std::string shell_line(std::span<const std::string> words) {
    std::string out;
    for (const std::string& word : words) {
        // NAME=value in front would be taken for an assignment.
        const bool assignment = out.empty() && word.find('=') != std::string::npos;
        out += out.empty() ? "" : " ";
        out += assignment ? in_quotes(word) : shell_quoted(word);
    }
    return out;
}

} // namespace weft::launch
