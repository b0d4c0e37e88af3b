// SPDX-License-Identifier: Apache-2.0
// Text -> JSON. nlohmann's own document builder keeps the last of two equal keys in silence and
// knows no depth limit, so a builder of ours listens to its event interface.
#include "core/config/pointer.h"

#include "core/base/text.h"

#include <iterator>
#include <set>

namespace weft::config {
namespace {

constexpr size_t kDeepest = 64;

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

/// Builds the document out of the parser's events; every event returns whether to go on.
class Builder : public nlohmann::json_sax<Json> {
public:
    Builder(std::string_view text, std::string_view where)
        : text_(text), where_(where), reached_(text.data()) {}

    Checked result;
    const char** reached() { return &reached_; }

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
        if (!level.keys.insert(name).second) {
            report(pointer_to(pointer(), name), "the field is given twice" + at(offset()),
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
        std::string key;            // object: the field that is being read
        std::set<std::string> keys; // object: the fields so far
    };

    bool add(Json value) {
        place(std::move(value));
        return true;
    }

    Json* place(Json value) {
        if (levels_.empty()) {
            result.value = std::move(value);
            return &result.value;
        }
        Json& parent = *levels_.back().value;
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        // Straight to the end: operator[] searches the whole object each time.
        auto& fields = parent.get_ref<Json::object_t&>();
        fields.emplace_back(levels_.back().key, std::move(value));
        return &fields.back().second;
    }

    bool open(Json container) {
        if (levels_.size() >= kDeepest) {
            report(pointer(),
                   "lists and objects are nested deeper than " + std::to_string(kDeepest) +
                       at(offset()),
                   "Flatten the document.");
            return false;
        }
        levels_.push_back({place(std::move(container)), {}, {}});
        return true;
    }

    bool close() {
        levels_.pop_back();
        return true;
    }

    size_t offset() const {
        return reached_ == text_.data() ? 0 : static_cast<size_t>(reached_ - text_.data()) - 1;
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

    void report(std::string pointer, std::string message, std::string hint) {
        result.diagnostics.push_back(
            {std::move(pointer), Severity::error, std::move(message), std::move(hint)});
    }

    std::string_view text_;
    std::string where_;
    const char* reached_;
    std::vector<Level> levels_;
};

} // namespace

Checked parse_json(std::string_view text, std::string_view where) {
    Builder builder(text, where);
    const CountingIterator begin(text.data(), builder.reached());
    const CountingIterator end(text.data() + text.size(), builder.reached());
    constexpr bool kStrict = true;
    constexpr bool kIgnoreComments = true;
    Json::sax_parse(begin, end, &builder, nlohmann::detail::input_format_t::json, kStrict,
                    kIgnoreComments);
    if (!builder.result.ok()) {
        builder.result.value = nullptr;
    }
    return std::move(builder.result);
}

} // namespace weft::config
