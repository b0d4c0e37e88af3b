// SPDX-License-Identifier: Apache-2.0
// The map of characters in a model of SentencePiece (NormalizerSpec.precompiled_charsmap): the
// bytes of a double-array trie (Aoe 1989, as the library Darts-clone lays it out), the trie, then
// texts that end with a zero.
#pragma once

#include <string_view>

namespace weft::tokenizer {

/// Whether every way through the trie stays within it and leads to a text that is there: the
/// library follows it unchecked. An empty map is sound.
bool is_sound_character_map(std::string_view map);

} // namespace weft::tokenizer
