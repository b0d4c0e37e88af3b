// SPDX-License-Identifier: Apache-2.0
// The characters that stand for bytes in a byte-level vocabulary, so that it is readable text: a
// byte that is a printable character of Latin-1 stands for itself, the others are U+0100 and
// further in their order. Source: GPT-2's encoder.py, Radford et al. 2019.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::tokenizer {

/// [byte]
const std::array<char32_t, 256>& characters_of_bytes();

/// A token as it stands in a vocabulary.
std::string written_bytes(std::string_view bytes);
/// The bytes of a token of a vocabulary; none where it has a character that stands for no byte.
std::optional<std::string> read_bytes(std::string_view written);

} // namespace weft::tokenizer
