// SPDX-License-Identifier: Apache-2.0
#include "core/launch/shell_text.h"

namespace weft::launch {

std::string shell_quoted(std::string_view word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_./:,@%+-";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
        return std::string(word);
    }
    std::string out = "'";
    for (const char letter : word) {
        out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return out + "'";
}

std::string shell_line(std::span<const std::string> words) {
    std::string out;
    for (const std::string& word : words) {
        out += (out.empty() ? "" : " ") + shell_quoted(word);
    }
    return out;
}

} // namespace weft::launch
