// SPDX-License-Identifier: Apache-2.0
#include "core/ir/name.h"

#include <array>
#include <mutex>
#include <unordered_set>

namespace weft::ir {
namespace {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};

/// Texts stay where they are when others come.
struct Shelf {
    std::mutex mutex;
    std::unordered_set<std::string, TextHash, std::equal_to<>> texts;
};

} // namespace

const std::string& Name::empty_text() {
    static const std::string text;
    return text;
}

const std::string& Name::kept(std::string_view text) {
    // Several, for threads that plan beside each other; never taken apart, for names outlive all.
    static auto& shelves = *new std::array<Shelf, 16>();
    if (text.empty()) {
        return empty_text();
    }
    const std::size_t hash = TextHash()(text);
    // What this thread asked for lately: passes make thousands of ops of a few kinds.
    thread_local std::array<const std::string*, 256> lately{};
    const std::string*& last = lately[hash / shelves.size() % lately.size()];
    if (last == nullptr || *last != text) {
        Shelf& shelf = shelves[hash % shelves.size()];
        const std::scoped_lock lock(shelf.mutex);
        const auto found = shelf.texts.find(text);
        last = found != shelf.texts.end() ? &*found : &*shelf.texts.emplace(text).first;
    }
    return *last;
}

} // namespace weft::ir
