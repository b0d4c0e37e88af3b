// SPDX-License-Identifier: Apache-2.0
// Names of ops and of layers: few texts, said many times.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace weft::ir {

/// A text that is kept once for the whole process: copies and comparisons of names cost a pointer.
/// Making one of a text looks it up. Texts are never let go of: for the kinds, paths and actions of
/// ops, of which a model has hundreds and a program hundreds of thousands.
class Name {
public:
    Name() : text_(&empty_text()) {}
    Name(std::string_view text) : text_(&kept(text)) {}
    Name(const std::string& text) : Name(std::string_view(text)) {}
    Name(const char* text) : Name(std::string_view(text)) {}

    const std::string& text() const { return *text_; }
    operator const std::string&() const { return *text_; }
    operator std::string_view() const { return *text_; }
    bool empty() const { return text_->empty(); }

    friend bool operator==(Name a, Name b) { return a.text_ == b.text_; }
    friend bool operator==(Name a, std::string_view b) { return *a.text_ == b; }
    friend bool operator==(Name a, const std::string& b) { return *a.text_ == b; }
    friend bool operator==(Name a, const char* b) { return *a.text_ == b; }
    friend auto operator<=>(Name a, Name b) { return *a.text_ <=> *b.text_; }
    friend std::string operator+(Name a, std::string_view b) {
        return std::string(*a.text_).append(b);
    }
    friend std::string operator+(std::string_view a, Name b) {
        return std::string(a).append(*b.text_);
    }
    friend std::ostream& operator<<(std::ostream& out, Name name) { return out << *name.text_; }

private:
    friend struct std::hash<Name>;
    static const std::string& empty_text();
    static const std::string& kept(std::string_view text);

    const std::string* text_;
};

} // namespace weft::ir

template <>
struct std::hash<weft::ir::Name> {
    std::size_t operator()(weft::ir::Name name) const noexcept {
        return std::hash<const void*>()(name.text_);
    }
};
