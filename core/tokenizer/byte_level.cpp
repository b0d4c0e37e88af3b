// SPDX-License-Identifier: Apache-2.0
// tokenizer.json: text is split at added tokens, normalised, split by patterns; each piece is
// encoded by its merges. What is not known here is refused, for it would make other tokens.
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/field.h"
#include "core/tokenizer/bpe.h"
#include "core/tokenizer/byte_alphabet.h"
#include "core/tokenizer/sentencepiece.h"
#include "core/tokenizer/split_text.h"
#include "core/tokenizer/tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

namespace weft::tokenizer {
namespace {

using config::Json;

constexpr std::int64_t kMostTokens = 1 << 24;
constexpr std::size_t kKeptPieces = 1 << 16; // whose tokens are remembered within a call

/// Canonical composition; bytes that are no UTF-8 stay.
std::string composed(std::string_view text) {
    if (std::all_of(text.begin(), text.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
        return std::string(text);
    }
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &made,
                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (size < 0) {
        return std::string(text);
    }
    std::string out(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
    std::free(made); // NOLINT: allocated by the library with malloc
    return out;
}

struct ByteLevelParts {
    std::string document;
    bool composes = false; // NFC
    bool space_first = false;
    std::vector<Pattern> patterns;
    std::optional<Pattern> added_pattern;
    std::unordered_map<std::string, Token> added; // by content
    std::vector<std::string> bytes;               // of each token
    std::unordered_map<std::string, Token>
        whole; // pieces that are a token, whatever the merges say
    std::optional<Bpe> bpe;
};

class ByteLevelTokenizer final : public Tokenizer {
public:
    explicit ByteLevelTokenizer(ByteLevelParts parts) : parts_(std::move(parts)) {}

    std::int64_t size() const override { return std::ssize(parts_.bytes); }
    std::string description() const override {
        return "byte-level BPE of " + format_thousands(size()) + " tokens";
    }
    const std::string& document() const override { return parts_.document; }

    void decode(Token token, std::string& out) const override {
        if (token >= 0 && token < size()) {
            out += parts_.bytes[static_cast<std::size_t>(token)];
        }
    }

    void encode(std::string_view text, std::vector<Token>& out) const override {
        Known known;
        if (!parts_.added_pattern) {
            encode_plain(text, known, out);
            return;
        }
        parts_.added_pattern->split(text, [&](std::string_view piece, bool is_added) {
            if (is_added) {
                out.push_back(parts_.added.at(std::string(piece)));
            } else {
                encode_plain(piece, known, out);
            }
        });
    }

private:
    using Known = std::unordered_map<std::string, std::vector<Token>>;

    void encode_plain(std::string_view text, Known& known, std::vector<Token>& out) const {
        std::string changed;
        if (parts_.composes) {
            changed = composed(text);
            text = changed;
        }
        if (parts_.space_first && !text.starts_with(' ')) {
            changed = " " + std::string(text);
            text = changed;
        }
        encode_split(text, 0, known, out);
    }

    void encode_split(std::string_view text, std::size_t pattern, Known& known,
                      std::vector<Token>& out) const {
        if (pattern == parts_.patterns.size()) {
            encode_piece(text, known, out);
            return;
        }
        parts_.patterns[pattern].split(text, [&](std::string_view piece, bool) {
            encode_split(piece, pattern + 1, known, out);
        });
    }

    void encode_piece(std::string_view piece, Known& known, std::vector<Token>& out) const {
        const auto [found, is_new] = known.try_emplace(std::string(piece));
        if (is_new) {
            const auto whole = parts_.whole.find(found->first);
            if (whole != parts_.whole.end()) {
                found->second.push_back(whole->second);
            } else {
                parts_.bpe->encode(piece, found->second);
            }
        }
        out.insert(out.end(), found->second.begin(), found->second.end());
        if (known.size() > kKeptPieces) {
            known.clear();
        }
    }

    ByteLevelParts parts_;
};

/// Reads the document member by member.
class DocumentReader {
public:
    DocumentReader(std::string document, std::string where) : where_(std::move(where)) {
        parts_.document = std::move(document);
    }

    std::shared_ptr<const Tokenizer> run() {
        const Json all = Json::parse(parts_.document, nullptr, false);
        if (!all.is_object()) {
            refuse(
                "", "it is no JSON object",
                "Give a tokenizer.json, which AutoTokenizer of transformers saves; if it is one, "
                "it was cut short.");
        }
        read_model(member(all, "model"));
        read_added(all.value("added_tokens", Json::array()));
        read_normalizer(all.value("normalizer", Json()), "/normalizer");
        read_splitting(member(all, "pre_tokenizer"), "/pre_tokenizer");
        if (!byte_level_) {
            refuse("/pre_tokenizer", "it has no ByteLevel: tokens are no bytes",
                   "Use a model with a byte-level tokenizer, as GPT-2, Llama 3 and Qwen have.");
        }
        return std::make_shared<const ByteLevelTokenizer>(std::move(parts_));
    }

private:
    [[noreturn]] void refuse(const std::string& pointer, const std::string& text,
                             const std::string& hint = "") const {
        throw Error(ErrorKind::data, where_ + (pointer.empty() ? "" : " " + pointer), text, hint);
    }

    const Json& member(const Json& object, const char* name) const {
        const auto found = object.find(name);
        if (found == object.end() || !found->is_object()) {
            refuse(
                std::string("/") + name, "it is missing or no object",
                "This is no tokenizer.json; give one, which AutoTokenizer of transformers saves.");
        }
        return *found;
    }

    static std::string type_of(const Json& one) {
        const auto found = one.is_object() ? one.find("type") : one.end();
        return one.is_object() && found != one.end() && found->is_string()
                   ? found->get<std::string>()
                   : std::string("?");
    }

    /// A switch that is absent, null, false or empty.
    static bool is_off(const Json& object, const char* name) {
        const auto found = object.find(name);
        return found == object.end() || found->is_null() || *found == false || *found == "" ||
               *found == 0.0;
    }

    Token token_at(const Json& value, const std::string& pointer) const {
        if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
            value.get<std::int64_t>() >= kMostTokens) {
            refuse(pointer, "a token is a number from 0 to " + format_thousands(kMostTokens - 1));
        }
        return value.get<Token>();
    }

    void set_token(Token token, std::string bytes) {
        const auto at = static_cast<std::size_t>(token);
        if (parts_.bytes.size() <= at) {
            parts_.bytes.resize(at + 1);
        }
        parts_.bytes[at] = std::move(bytes);
    }

    void read_model(const Json& model) {
        const std::string type = model.contains("type") ? type_of(model) : "BPE";
        if (type != "BPE") {
            refuse("/model/type", type + " is not here, BPE is",
                   "Use a model with a byte-level BPE, as GPT-2, Llama 3 and Qwen have.");
        }
        for (const char* name :
             {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
            if (!is_off(model, name)) {
                refuse(std::string("/model/") + name, "it is not here and must be off");
            }
        }
        const auto vocabulary = model.find("vocab");
        if (vocabulary == model.end() || !vocabulary->is_object()) {
            refuse("/model/vocab", "it is missing or no object");
        }
        std::unordered_map<std::string, Token> tokens; // by bytes
        std::vector<bool> taken(vocabulary->size());
        for (const auto& [written, value] : vocabulary->items()) {
            const Token token = token_at(value, "/model/vocab/" + shown(written, 40));
            if (static_cast<std::size_t>(token) >= taken.size()) {
                taken.resize(static_cast<std::size_t>(token) + 1);
            }
            if (taken[static_cast<std::size_t>(token)]) {
                refuse("/model/vocab/" + shown(written, 40), "another token has this number too");
            }
            taken[static_cast<std::size_t>(token)] = true;
            // What is not made of characters for bytes is only ever an added token.
            const std::optional<std::string> bytes = read_bytes(written);
            set_token(token, bytes.value_or(written));
            if (bytes) {
                tokens[*bytes] = token;
            }
        }
        if (!is_off(model, "ignore_merges")) {
            parts_.whole = tokens;
        }
        std::array<Token, 256> bytes{};
        int missing = 0;
        for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
            const auto found = tokens.find(std::string(1, static_cast<char>(byte)));
            missing += found == tokens.end() ? 1 : 0;
            bytes[byte] = found == tokens.end() ? 0 : found->second;
        }
        if (missing > 0) {
            refuse("/model/vocab", std::to_string(missing) +
                                       " of the 256 bytes have no token: a text with one could "
                                       "not be read back");
        }
        parts_.bpe.emplace(bytes, read_merges(model.value("merges", Json::array()), tokens));
    }

    /// "a b", or ["a", "b"] in newer files.
    std::vector<Merge> read_merges(const Json& merges,
                                   const std::unordered_map<std::string, Token>& tokens) const {
        std::vector<Merge> out;
        for (std::size_t i = 0; i < merges.size(); ++i) {
            const Json& one = merges[i];
            const std::string pointer = "/model/merges/" + std::to_string(i);
            std::array<std::string, 2> written;
            if (one.is_string()) {
                const auto text = one.get<std::string>();
                const std::size_t space = text.find(' ');
                if (space == std::string::npos) {
                    refuse(pointer, "a merge has two parts");
                }
                written = {text.substr(0, space), text.substr(space + 1)};
            } else if (one.is_array() && one.size() == 2 && one[0].is_string() &&
                       one[1].is_string()) {
                written = {one[0].get<std::string>(), one[1].get<std::string>()};
            } else {
                refuse(pointer, "a merge has two parts");
            }
            const auto left = read_bytes(written[0]);
            const auto right = read_bytes(written[1]);
            const auto token = [&](const std::optional<std::string>& bytes) {
                const auto found = bytes ? tokens.find(*bytes) : tokens.end();
                if (found == tokens.end()) {
                    refuse(pointer, "a part or the whole is no token of the vocabulary");
                }
                return found->second;
            };
            const std::optional<std::string> both =
                left && right ? std::optional(*left + *right) : std::nullopt;
            out.push_back({token(left), token(right), token(both)});
        }
        return out;
    }

    void read_added(const Json& list) {
        std::vector<std::string> contents;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string pointer = "/added_tokens/" + std::to_string(i);
            const Json& one = list[i];
            if (!one.is_object() || !one.contains("content") || !one["content"].is_string() ||
                !one.contains("id") || one["content"] == "") {
                refuse(pointer, "an added token has an id and a content");
            }
            for (const char* name : {"single_word", "lstrip", "rstrip"}) {
                if (!is_off(one, name)) {
                    refuse(pointer + "/" + name, "it is not here and must be false");
                }
            }
            const auto content = one["content"].get<std::string>();
            const Token token = token_at(one["id"], pointer + "/id");
            set_token(token, content);
            parts_.added[content] = token;
            contents.push_back(content);
        }
        if (contents.empty()) {
            return;
        }
        // Where several begin at one place the longest is taken.
        std::stable_sort(contents.begin(), contents.end(),
                         [](const auto& a, const auto& b) { return a.size() > b.size(); });
        std::string expression;
        for (const std::string& content : contents) {
            expression += (expression.empty() ? "" : "|") + exactly(content);
        }
        parts_.added_pattern.emplace(expression, where_ + " /added_tokens");
    }

    void read_normalizer(const Json& one, const std::string& pointer) {
        if (one.is_null()) {
            return;
        }
        const std::string type = type_of(one);
        if (type == "NFC") {
            parts_.composes = true;
        } else if (type == "Sequence") {
            const Json& all = one.value("normalizers", Json::array());
            for (std::size_t i = 0; i < all.size(); ++i) {
                read_normalizer(all[i], pointer + "/normalizers/" + std::to_string(i));
            }
        } else {
            refuse(pointer, type + " is not here, NFC is");
        }
    }

    void read_splitting(const Json& one, const std::string& pointer) {
        const std::string type = type_of(one);
        if (type == "Sequence") {
            const Json& all = one.value("pretokenizers", Json::array());
            for (std::size_t i = 0; i < all.size(); ++i) {
                read_splitting(all[i], pointer + "/pretokenizers/" + std::to_string(i));
            }
        } else if (byte_level_) {
            refuse(pointer, type + " after ByteLevel is not here");
        } else if (type == "ByteLevel") {
            byte_level_ = true;
            parts_.space_first = one.value("add_prefix_space", true);
            if (one.value("use_regex", true)) {
                parts_.patterns.emplace_back(kGpt2Pattern, where_);
            }
            if (parts_.space_first && parts_.patterns.size() > 1) {
                refuse(pointer + "/add_prefix_space", "after a Split it is not here");
            }
        } else if (type == "Split") {
            read_split(one, pointer);
        } else if (type == "Digits") {
            const bool single = one.value("individual_digits", false);
            parts_.patterns.emplace_back(single ? "\\p{Nd}" : "\\p{Nd}+", where_);
        } else {
            refuse(pointer, type + " is not here; ByteLevel, Split, Digits and Sequence are");
        }
    }

    void read_split(const Json& one, const std::string& pointer) {
        if (one.value("behavior", "") != "Isolated" || !is_off(one, "invert")) {
            refuse(pointer, "a Split isolates what it matches here, and nothing else");
        }
        const Json pattern = one.value("pattern", Json::object());
        if (pattern.is_object() && pattern.contains("Regex") && pattern["Regex"].is_string()) {
            parts_.patterns.emplace_back(pattern["Regex"].get<std::string>(),
                                         where_ + " " + pointer);
        } else if (pattern.is_object() && pattern.contains("String") &&
                   pattern["String"].is_string()) {
            parts_.patterns.emplace_back(exactly(pattern["String"].get<std::string>()), where_);
        } else {
            refuse(pointer + "/pattern", "it is a Regex or a String");
        }
    }

    const std::string where_;
    ByteLevelParts parts_;
    bool byte_level_ = false;
};

} // namespace

std::shared_ptr<const Tokenizer> read_tokenizer(std::string document, const std::string& where) {
    if (is_sentencepiece(document)) {
        return read_sentencepiece(std::move(document), where);
    }
    try {
        return DocumentReader(std::move(document), where).run();
    } catch (const nlohmann::json::exception& fault) { // a member of another type
        throw Error(ErrorKind::data, where, fault.what());
    }
}

} // namespace weft::tokenizer
