// SPDX-License-Identifier: Apache-2.0
#include "core/config/locate.h"

#include "core/config/pointer.h"

#include <algorithm>
#include <optional>

namespace weft::config {
namespace {

constexpr int kDeepestValue = 64; // as parse_json

/// Walks the text once and keeps the deepest field on the way to the target.
class Walker {
public:
    Walker(std::string_view text, std::string_view target) : text_(text), target_(target) {}

    /// False where the text stops being JSON: at().
    bool walk() {
        const std::string root;
        return value(&root, 0) && (skip_blank(), at_ == text_.size());
    }
    std::size_t at() const { return at_; }
    std::size_t begin = 0;
    std::size_t end = 0;

private:
    // `pointer` of the value; null: off the way to the target, where nobody asks for it.
    bool value(const std::string* pointer, int depth) {
        skip_blank();
        if (depth > kDeepestValue || at_ >= text_.size()) {
            return false;
        }
        switch (text_[at_]) {
        case '{': return members(pointer, depth);
        case '[': return items(pointer, depth);
        case '"': return string();
        default: return word();
        }
    }

    bool members(const std::string* pointer, int depth) {
        ++at_;
        for (bool first = true;; first = false) {
            skip_blank();
            if (take('}')) {
                return true;
            }
            if (!first && !take(',')) {
                return false;
            }
            skip_blank();
            const std::size_t key_begin = at_;
            if (!string()) {
                return false;
            }
            const std::size_t key_end = at_;
            const Json key = json_or_discarded(text_.substr(key_begin, key_end - key_begin));
            skip_blank();
            if (!key.is_string() || !take(':')) {
                return false;
            }
            const auto path = below(pointer, key.get_ref<const std::string&>());
            if (!field(path, key_begin, key_end, depth)) {
                return false;
            }
        }
    }

    bool items(const std::string* pointer, int depth) {
        ++at_;
        for (std::size_t index = 0;; ++index) {
            skip_blank();
            if (take(']')) {
                return true;
            }
            if (index > 0 && !take(',')) {
                return false;
            }
            skip_blank();
            if (!field(below(pointer, index), at_, at_ + 1, depth)) {
                return false;
            }
        }
    }

    template <class Part>
    static std::optional<std::string> below(const std::string* pointer, const Part& part) {
        return pointer == nullptr ? std::nullopt : std::optional(pointer_to(*pointer, part));
    }

    // A field named at [key_begin, key_end), its value at the cursor.
    bool field(const std::optional<std::string>& path, std::size_t key_begin, std::size_t key_end,
               int depth) {
        skip_blank();
        const bool plain = at_ < text_.size() && text_[at_] != '{' && text_[at_] != '[';
        const bool leads = path && (target_ == *path ||
                                    (target_.starts_with(*path) && target_[path->size()] == '/'));
        const bool deeper = leads && path->size() >= found_;
        if (deeper) {
            found_ = path->size();
            begin = key_begin;
            end = key_end;
        }
        if (!value(leads ? &*path : nullptr, depth + 1)) {
            return false;
        }
        if (deeper && plain) {
            end = at_;
        }
        return true;
    }

    bool string() {
        if (!take('"')) {
            return false;
        }
        for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
            if (text_[at_] == '"') {
                ++at_;
                return true;
            }
            at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 1 : 0;
        }
        return false;
    }

    // A number, true, false or null.
    bool word() {
        const std::size_t first = at_;
        at_ = std::min(text_.find_first_of(" \t\r\n,:]}[{\"/", at_), text_.size());
        const std::string_view read = text_.substr(first, at_ - first);
        if (Json::accept(read)) {
            return true;
        }
        at_ = first;
        return false;
    }

    bool take(char wanted) {
        const bool there = at_ < text_.size() && text_[at_] == wanted;
        at_ += there ? 1 : 0;
        return there;
    }

    void skip_blank() {
        for (;;) {
            at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
            const std::string_view rest = text_.substr(at_);
            if (rest.starts_with("//")) {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (rest.starts_with("/*")) {
                const std::size_t close = text_.find("*/", at_ + 2);
                at_ = close == std::string_view::npos ? text_.size() : close + 2;
            } else {
                return;
            }
        }
    }

    std::string_view text_;
    std::string_view target_;
    std::size_t at_ = 0;
    std::size_t found_ = 0; // length of the pointer at [begin, end)
};

} // namespace

Location locate(std::string_view text, std::string_view pointer) {
    Walker walker(text, pointer);
    Location found;
    if (walker.walk()) {
        found.begin = walker.begin;
        found.end = walker.end;
    } else {
        found.begin = std::min(walker.at(), text.size());
        found.end = std::min(found.begin + 1, text.size());
    }
    for (const char c : text.substr(0, found.begin)) {
        found.line += c == '\n' ? 1 : 0;
        // Continuation bytes of UTF-8 are no columns of their own.
        const bool counts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        found.column = c == '\n' ? 1 : found.column + (counts ? 1 : 0);
    }
    return found;
}

} // namespace weft::config
