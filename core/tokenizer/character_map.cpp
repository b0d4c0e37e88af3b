// SPDX-License-Identifier: Apache-2.0
#include "core/tokenizer/character_map.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::tokenizer {
namespace {

constexpr std::size_t kUnitBytes = 4;

/// A unit of the trie as Darts-clone packs it.
struct Unit {
    std::uint32_t bits = 0;

    bool has_leaf() const { return (bits >> 8 & 1) != 0; }
    std::uint32_t value() const { return bits & 0x7fffffffU; } // of a leaf
    std::uint32_t label() const { return bits & 0x800000ffU; }
    std::uint32_t offset() const { return (bits >> 10) << ((bits & 0x200U) >> 6); }
};

} // namespace

bool is_sound_character_map(std::string_view map) {
    if (map.empty()) {
        return true;
    }
    std::uint32_t trie_bytes = 0;
    if (map.size() < sizeof trie_bytes) {
        return false;
    }
    std::memcpy(&trie_bytes, map.data(), sizeof trie_bytes);
    map.remove_prefix(sizeof trie_bytes);
    if (trie_bytes == 0 || trie_bytes % kUnitBytes != 0 || trie_bytes >= map.size()) {
        return false;
    }
    const std::string_view texts = map.substr(trie_bytes);
    if (texts.back() != '\0') {
        return false;
    }
    std::vector<Unit> units(trie_bytes / kUnitBytes);
    std::memcpy(units.data(), map.data(), trie_bytes);

    std::vector<bool> seen(units.size());
    std::vector<std::size_t> open{0};
    seen[0] = true;
    while (!open.empty()) {
        const std::size_t node = open.back();
        open.pop_back();
        const std::size_t children = node ^ units[node].offset();
        // A step looks at any of 256 places, whether or not a child is there.
        if ((children | 0xff) >= units.size()) {
            return false;
        }
        if (units[node].has_leaf() && units[children].value() >= texts.size()) {
            return false;
        }
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            const std::size_t child = children ^ byte;
            if (units[child].label() == byte && !seen[child]) {
                seen[child] = true;
                open.push_back(child);
            }
        }
    }
    return true;
}

} // namespace weft::tokenizer
