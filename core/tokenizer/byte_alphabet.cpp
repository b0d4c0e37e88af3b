// SPDX-License-Identifier: Apache-2.0
#include "core/tokenizer/byte_alphabet.h"

#include <algorithm>

namespace weft::tokenizer {
namespace {

std::array<char32_t, 256> make_characters() {
    std::array<char32_t, 256> out{};
    char32_t next = 256;
    for (std::size_t byte = 0; byte < out.size(); ++byte) {
        const bool printable =
            (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
        out[byte] = printable ? static_cast<char32_t>(byte) : next++;
    }
    return out;
}

} // namespace

const std::array<char32_t, 256>& characters_of_bytes() {
    static const std::array<char32_t, 256> characters = make_characters();
    return characters;
}

std::string written_bytes(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) {
        const char32_t character = characters_of_bytes()[static_cast<unsigned char>(c)];
        if (character < 0x80) {
            out += static_cast<char>(character);
        } else { // all are below U+0800
            out += static_cast<char>(0xc0 | (character >> 6));
            out += static_cast<char>(0x80 | (character & 0x3f));
        }
    }
    return out;
}

std::optional<std::string> read_bytes(std::string_view written) {
    std::string out;
    for (std::size_t i = 0; i < written.size(); ++i) {
        auto character = static_cast<char32_t>(static_cast<unsigned char>(written[i]));
        if (character >= 0x80) {
            if ((character & 0xe0) != 0xc0 || i + 1 == written.size()) {
                return std::nullopt;
            }
            const auto second = static_cast<unsigned char>(written[++i]);
            character = (character & 0x1f) << 6 | (second & 0x3fU);
        }
        const auto& all = characters_of_bytes();
        const auto found = std::find(all.begin(), all.end(), character);
        if (found == all.end()) {
            return std::nullopt;
        }
        out += static_cast<char>(found - all.begin());
    }
    return out;
}

} // namespace weft::tokenizer
