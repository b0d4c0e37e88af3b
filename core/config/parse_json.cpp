// SPDX-License-Identifier: Apache-2.0
// Text -> JSON. nlohmann's own document builder keeps the last of two equal keys in silence,
// searches the whole object for every field and knows no depth limit, so a builder of ours listens
// to its event interface.
#include "core/config/pointer.h"

#include "core/base/text.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace weft::config {
namespace {

constexpr size_t kDeepest = 64;
constexpr size_t kFewFields = 16; // looked through one by one
constexpr size_t kMostTold = 20;  // fields given twice

/// Input iterator that tells how far the lexer has read.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}

    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        *reached_ = ++at_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
    const char* at_;
    const char** reached_;
};

/// The part of a parser message that speaks of the text, without its own numbering.
std::string syntax_message(std::string_view what) {
    const size_t column = what.find(", column ");
    const size_t begin = column == std::string_view::npos ? column : what.find(": ", column);
    if (begin == std::string_view::npos) {
        const size_t bracket = what.find("] ");
        return shown(bracket == std::string_view::npos ? what : what.substr(bracket + 2), 200);
    }
    return shown(what.substr(begin + 2), 200);
}

/// What becomes of a field that is given again.
enum class Repeated { refused, last_wins };

/// Builds the document out of the parser's events; every event returns whether to go on.
class Builder : public nlohmann::json_sax<Json> {
public:
    Builder(std::string_view text, std::string_view where, const JsonLimits& limits,
            Repeated repeated)
        : text_(text), where_(where), limits_(limits), repeated_(repeated), reached_(text.data()) {}

    /// The document, or null with the problems in it.
    Checked build(bool ignore_comments) {
        const CountingIterator begin(text_.data(), &reached_);
        const CountingIterator end(text_.data() + text_.size(), &reached_);
        constexpr bool kStrict = true;
        Json::sax_parse(begin, end, this, nlohmann::detail::input_format_t::json, kStrict,
                        ignore_comments);
        if (twice_ > kMostTold) {
            report("", std::to_string(twice_ - kMostTold) + " more fields are given twice", "");
        }
        if (!result_.ok()) {
            result_.value = nullptr;
        }
        return std::move(result_);
    }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(int64_t value) override { return add(value); }
    bool number_unsigned(uint64_t value) override { return add(value); }
    bool number_float(double value, const std::string&) override { return add(value); }
    bool string(std::string& value) override { return add(std::move(value)); }
    bool binary(Json::binary_t&) override { return false; }

    bool start_object(size_t) override { return open(Json::object()); }
    bool end_object() override { return close(); }
    bool start_array(size_t) override { return open(Json::array()); }
    bool end_array() override { return close(); }

    bool key(std::string& name) override {
        Level& level = levels_.back();
        level.key.clear(); // the pointer of the object itself, not of its last field
        if (++keys_ > limits_.keys) {
            report(pointer(), "there are more than " + number(limits_.keys) + " fields" + at(),
                   "Check that this is the right file.");
            return false;
        }
        if (name.size() > limits_.key_bytes) {
            report(pointer(),
                   "the name of a field has " + number(name.size()) + " bytes; at most " +
                       number(limits_.key_bytes) + " are read" + at(),
                   "Check that this is the right file.");
            return false;
        }
        level.slot = slot_of(level, name);
        if (level.slot < level.value->size() && repeated_ == Repeated::refused &&
            ++twice_ <= kMostTold) {
            report(pointer_to(pointer(), name), "the field is given twice" + at(),
                   "Keep one of them.");
        }
        level.key = std::move(name);
        return true;
    }

    bool parse_error(size_t position, const std::string&,
                     const nlohmann::detail::exception& problem) override {
        const size_t last = position == 0 ? 0 : std::min(position, text_.size() + 1) - 1;
        report(pointer(), syntax_message(problem.what()) + at(last), hint(last));
        return false;
    }

private:
    struct Level {
        Json* value;
        std::string key;                          // object: the field that is being read
        size_t slot = 0;                          // object: where its value goes
        std::map<std::string, size_t> slots = {}; // object of many fields: where each is
    };

    /// Where the field of this name is in the object; one past the last: it is new.
    static size_t slot_of(Level& level, const std::string& name) {
        const auto& fields = level.value->get_ref<const Json::object_t&>();
        if (fields.size() < kFewFields) {
            const auto found = std::find_if(fields.begin(), fields.end(),
                                            [&](const auto& field) { return field.first == name; });
            return static_cast<size_t>(found - fields.begin());
        }
        if (level.slots.empty()) {
            for (size_t i = 0; i < fields.size(); ++i) {
                level.slots.emplace(fields.begin()[static_cast<std::ptrdiff_t>(i)].first, i);
            }
        }
        return level.slots.try_emplace(name, fields.size()).first->second;
    }

    bool add(Json value) {
        place(std::move(value));
        return true;
    }

    Json* place(Json value) {
        if (levels_.empty()) {
            result_.value = std::move(value);
            return &result_.value;
        }
        Json& parent = *levels_.back().value;
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        // Straight to its place: operator[] searches the whole object each time.
        auto& fields = parent.get_ref<Json::object_t&>();
        const size_t slot = levels_.back().slot;
        const auto index = static_cast<std::ptrdiff_t>(slot);
        if (slot < fields.size()) {
            fields.begin()[index].second = std::move(value);
        } else {
            fields.emplace_back(levels_.back().key, std::move(value));
        }
        return &fields.begin()[index].second;
    }

    bool open(Json container) {
        if (levels_.size() >= kDeepest) {
            report(pointer(),
                   "lists and objects are nested deeper than " + std::to_string(kDeepest) + at(),
                   "Flatten the document.");
            return false;
        }
        levels_.push_back({place(std::move(container)), {}});
        return true;
    }

    bool close() {
        levels_.pop_back();
        return true;
    }

    std::string pointer() const {
        std::string out;
        for (const Level& level : levels_) {
            if (level.value->is_array()) {
                // The innermost list is about to get an item, the others already hold theirs.
                const bool innermost = &level == &levels_.back();
                out = pointer_to(out, level.value->size() - (innermost ? 0 : 1));
            } else if (!level.key.empty()) {
                out = pointer_to(out, level.key);
            }
        }
        return out;
    }

    // Where the parser is.
    std::string at() const {
        return at(reached_ == text_.data() ? 0 : static_cast<size_t>(reached_ - text_.data()) - 1);
    }

    // " (line 3, column 14 of config.json)"
    std::string at(size_t position) const {
        size_t line = 1;
        size_t column = 1;
        for (const char c : text_.substr(0, position)) {
            line += c == '\n' ? 1 : 0;
            // Continuation bytes of UTF-8 are no columns of their own.
            column = c == '\n' ? 1 : column + ((static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0);
        }
        return " (line " + std::to_string(line) + ", column " + std::to_string(column) + " of " +
               where_ + ")";
    }

    std::string hint(size_t position) const {
        const std::string_view before = text_.substr(0, std::min(position + 1, text_.size()));
        const std::string_view line = before.substr(before.rfind('\n') + 1);
        for (const std::string_view word : {"N", "I", "-I"}) {
            if (trim(line).ends_with(word)) {
                return "JSON has no NaN and no infinity; leave the field out or use null.";
            }
        }
        if (before.size() >= 2 && trim(before.substr(0, before.size() - 1)).ends_with(',') &&
            (before.back() == '}' || before.back() == ']')) {
            return "Remove the comma before it.";
        }
        return position >= text_.size()
                   ? "The text ends too early; a closing bracket may be missing."
                   : "";
    }

    static std::string number(size_t value) {
        return format_thousands(static_cast<int64_t>(value));
    }

    void report(std::string pointer, std::string message, std::string hint) {
        result_.diagnostics.push_back(
            {std::move(pointer), Severity::error, std::move(message), std::move(hint)});
    }

    std::string_view text_;
    std::string where_;
    JsonLimits limits_;
    Repeated repeated_;
    const char* reached_;
    std::vector<Level> levels_;
    size_t keys_ = 0;
    size_t twice_ = 0;
    Checked result_;
};

} // namespace

Checked parse_json(std::string_view text, std::string_view where, const JsonLimits& limits) {
    if (text.size() > limits.bytes) {
        return {nullptr,
                {{"", Severity::error,
                  "the text has " + format_bytes(static_cast<int64_t>(text.size())) + "; at most " +
                      format_bytes(static_cast<int64_t>(limits.bytes)) + " of " +
                      std::string(where) + " are read",
                  "Check that this is the right file."}}};
    }
    return Builder(text, where, limits, Repeated::refused).build(/*ignore_comments=*/true);
}

Json json_or_discarded(std::string_view text) {
    constexpr size_t kAny = std::numeric_limits<size_t>::max();
    Checked read =
        Builder(text, "", {.bytes = kAny, .keys = kAny, .key_bytes = kAny}, Repeated::last_wins)
            .build(/*ignore_comments=*/false);
    return read.ok() ? std::move(read.value) : Json(Json::value_t::discarded);
}

} // namespace weft::config
