// SPDX-License-Identifier: Apache-2.0
#include "core/tokenizer/tokenizer.h"

#include "core/base/file.h"
#include "core/tokenizer/sentencepiece.h"
#include "core/tokenizer/tokenizer_file.h"

namespace weft::tokenizer {
namespace {

constexpr const char* kTokenizerJson = "tokenizer.json";
constexpr const char* kTokenizerModel = "tokenizer.model"; // of SentencePiece
constexpr const char* kOlderModel = "spiece.model";
constexpr std::int64_t kMostDocumentBytes = std::int64_t{256} << 20;

class ByteTokenizer final : public Tokenizer {
public:
    std::int64_t size() const override { return 256; }
    void encode(std::string_view text, std::vector<Token>& out) const override {
        for (const char c : text) {
            out.push_back(static_cast<unsigned char>(c));
        }
    }
    void decode(Token token, std::string& out) const override {
        if (token >= 0 && token < 256) {
            out += static_cast<char>(token);
        }
    }
    std::string description() const override { return "bytes"; }
    const std::string& document() const override { return none_; }

private:
    std::string none_;
};

} // namespace

std::vector<Token> Tokenizer::encoded(std::string_view text) const {
    std::vector<Token> out;
    encode(text, out);
    return out;
}

std::string Tokenizer::decoded(std::span<const Token> tokens) const {
    if (const auto* pieces = dynamic_cast<const SentencePiece*>(this)) {
        return pieces->decode_together(tokens);
    }
    std::string out;
    for (const Token token : tokens) {
        decode(token, out);
    }
    return out;
}

std::shared_ptr<const Tokenizer> byte_tokenizer() {
    static const auto one = std::make_shared<const ByteTokenizer>();
    return one;
}

std::filesystem::path tokenizer_file(const std::filesystem::path& path) {
    std::error_code unreadable;
    if (!std::filesystem::is_directory(path, unreadable)) {
        return path;
    }
    for (const char* name : {kTokenizerJson, kTokenizerModel, kOlderModel}) {
        if (std::filesystem::is_regular_file(path / name, unreadable)) {
            return path / name;
        }
    }
    return path / kTokenizerJson;
}

const char* name_of_document(const std::string& document) {
    return is_sentencepiece(document) ? kTokenizerModel : kTokenizerJson;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& path) {
    const std::filesystem::path file = tokenizer_file(path);
    return read_tokenizer(read_file(file, kMostDocumentBytes, ErrorKind::data), file.string());
}

} // namespace weft::tokenizer
