// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "core/tokenizer/split_text.h"

#include "core/base/error.h"

#include <pcre2.h>

namespace weft::tokenizer {
namespace {

/// White space by the property White_Space of Unicode, as other programs take \s; PCRE2's own lacks
/// U+0085 and has U+180E.
constexpr std::string_view kSpaces =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"
    "\\x{205f}\\x{3000}";

/// The expression with its \s and \S written out.
std::string with_spaces(std::string_view expression) {
    std::string out;
    bool in_class = false;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char c = expression[i];
        if (c != '\\' || i + 1 == expression.size()) {
            in_class = c == '[' || (in_class && c != ']');
            out += c;
            continue;
        }
        const char next = expression[++i];
        if (next == 's') {
            out += in_class ? std::string(kSpaces) : "[" + std::string(kSpaces) + "]";
        } else if (next == 'S' && !in_class) {
            out += "[^" + std::string(kSpaces) + "]";
        } else {
            out += c;
            out += next;
        }
    }
    return out;
}

std::string message_of(int code) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(code, text, sizeof text);
    return reinterpret_cast<const char*>(text);
}

struct MatchData {
    pcre2_match_data* data;
    explicit MatchData(const pcre2_code* code)
        : data(pcre2_match_data_create_from_pattern(code, nullptr)) {}
    MatchData(const MatchData&) = delete;
    MatchData& operator=(const MatchData&) = delete;
    ~MatchData() { pcre2_match_data_free(data); }
};

} // namespace

const char* const kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct Pattern::Compiled {
    pcre2_code* code = nullptr;
    ~Compiled() { pcre2_code_free(code); }
};

Pattern::Pattern(const std::string& expression, const std::string& where)
    : compiled_(std::make_unique<Compiled>()) {
    const std::string written = with_spaces(expression);
    int error = 0;
    PCRE2_SIZE offset = 0;
    compiled_->code =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(written.data()), written.size(),
                      PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                      &error, &offset, nullptr);
    if (compiled_->code == nullptr) {
        throw Error(ErrorKind::data, where,
                    "\"" + expression + "\" is no regular expression: " + message_of(error));
    }
    pcre2_jit_compile(compiled_->code, PCRE2_JIT_COMPLETE); // slower where there is no such machine
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&& other) noexcept = default;
Pattern& Pattern::operator=(Pattern&& other) noexcept = default;

void Pattern::split(std::string_view text,
                    const std::function<void(std::string_view piece, bool matches)>& take) const {
    const MatchData match(compiled_->code);
    std::size_t done = 0;
    std::size_t from = 0;
    while (from < text.size()) {
        const int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                      text.size(), from, 0, match.data, nullptr);
        if (found == PCRE2_ERROR_NOMATCH) {
            break;
        }
        if (found < 0) {
            throw Error(ErrorKind::data, "tokenizer",
                        "a text cannot be split into pieces: " + message_of(found),
                        "Its pattern takes too long on this text; use another tokenizer.");
        }
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.data);
        if (ends[1] == ends[0]) {
            from = ends[1] + 1; // nothing is no piece
            continue;
        }
        if (ends[0] > done) {
            take(text.substr(done, ends[0] - done), false);
        }
        take(text.substr(ends[0], ends[1] - ends[0]), true);
        done = from = ends[1];
    }
    if (done < text.size()) {
        take(text.substr(done), false);
    }
}

std::string exactly(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) >= 0x80);
        out += plain ? "" : "\\";
        out += c;
    }
    return out;
}

} // namespace weft::tokenizer
