// SPDX-License-Identifier: Apache-2.0
// The model's fields are those of sentencepiece_model.proto.
#include "core/tokenizer/sentencepiece.h"

#include "core/base/error.h"
#include "core/base/protobuf.h"
#include "core/base/text.h"
#include "core/tokenizer/character_map.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <new>

namespace weft::tokenizer {
namespace {

using protobuf::Field;
using protobuf::Reader;
using sentencepiece::SentencePieceProcessor;

constexpr std::string_view kSpace = "\xe2\x96\x81"; // U+2581 stands for a space
constexpr std::int64_t kMostPieces = 1 << 24;
// ModelProto
constexpr unsigned kPieces = 1;
constexpr unsigned kTrainerSpec = 2;
constexpr unsigned kNormalizerSpec = 3;
constexpr unsigned kDenormalizerSpec = 5;
// NormalizerSpec
constexpr unsigned kCharacterMap = 2;
constexpr unsigned kAddDummyPrefix = 3;
constexpr unsigned kRemoveExtraWhitespaces = 4;
// TrainerSpec
constexpr unsigned kModelType = 3;

/// What a model says of itself.
struct ModelFacts {
    std::int64_t pieces = 0;
    std::uint64_t type = 1;
    bool dummy_prefix = true;
    bool one_space = true; // of several, and none at the ends
};

[[noreturn]] void refuse_model(const std::string& where, const std::string& text) {
    throw Error(ErrorKind::data, where, text,
                "Copy it again from where it came; it is read as SentencePiece writes it.");
}

/// Calls take(field) for the fields of a message.
template <class Take>
void each_field(std::string_view message, const std::string& where, const Take& take) {
    Reader reader(message);
    for (Field field; reader.next(field);) {
        take(field);
    }
    if (!reader.sound()) {
        refuse_model(where, "it is cut short, or damaged: no model of SentencePiece");
    }
}

ModelFacts read_facts(std::string_view model, const std::string& where) {
    ModelFacts out;
    each_field(model, where, [&](const Field& field) {
        out.pieces += field.is(kPieces, protobuf::bytes) ? 1 : 0;
        if (field.is(kTrainerSpec, protobuf::bytes)) {
            each_field(field.text, where, [&](const Field& one) {
                out.type = one.is(kModelType, protobuf::varint) ? one.value : out.type;
            });
        } else if (field.is(kNormalizerSpec, protobuf::bytes) ||
                   field.is(kDenormalizerSpec, protobuf::bytes)) {
            const bool normalizer = field.number == kNormalizerSpec;
            each_field(field.text, where, [&](const Field& one) {
                if (one.is(kCharacterMap, protobuf::bytes) && !is_sound_character_map(one.text)) {
                    refuse_model(where, "its map of characters is damaged");
                } else if (normalizer && one.is(kAddDummyPrefix, protobuf::varint)) {
                    out.dummy_prefix = one.value != 0;
                } else if (normalizer && one.is(kRemoveExtraWhitespaces, protobuf::varint)) {
                    out.one_space = one.value != 0;
                }
            });
        }
    });
    if (out.pieces == 0 || out.pieces > kMostPieces) {
        refuse_model(where, "it has " + format_thousands(out.pieces) + " pieces; 1 to " +
                                format_thousands(kMostPieces) + " can be read");
    }
    return out;
}

std::unique_ptr<SentencePieceProcessor> loaded(const std::string& model, const std::string& where) {
    try {
        auto out = std::make_unique<SentencePieceProcessor>();
        const auto status = out->LoadFromSerializedProto(model);
        if (status.ok()) {
            return out;
        }
        refuse_model(where,
                     "the library sentencepiece refuses it: " + shown(status.ToString(), 200));
    } catch (const Error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& fault) { // of its trie: a piece without characters
        refuse_model(where, "the library sentencepiece refuses it: " + shown(fault.what(), 200));
    }
}

/// The model without a space before texts: a field that comes again is merged into the first.
std::string without_prefix(const std::string& model) {
    protobuf::Writer normalizer;
    normalizer.add_varint(kAddDummyPrefix, 0);
    protobuf::Writer more;
    more.add(kNormalizerSpec, normalizer);
    return model + more.text();
}

const char* type_name(std::uint64_t type) {
    switch (type) {
    case 1: return "unigram";
    case 2: return "BPE";
    case 3: return "words";
    default: return "characters";
    }
}

class LibraryModel final : public SentencePiece {
public:
    LibraryModel(std::string model, const std::string& where)
        : model_(std::move(model)), facts_(read_facts(model_, where)),
          whole_(loaded(model_, where)) {
        if (facts_.dummy_prefix && !facts_.one_space) {
            further_ = loaded(without_prefix(model_), where);
        }
    }

    std::int64_t size() const override { return whole_->GetPieceSize(); }
    std::string description() const override {
        return std::string("SentencePiece ") + type_name(facts_.type) + " of " +
               format_thousands(size()) + " tokens";
    }
    const std::string& document() const override { return model_; }

    void encode(std::string_view text, std::vector<Token>& out) const override {
        encode_by(*whole_, text, out);
    }
    void encode_further(std::string_view text, std::vector<Token>& out) const override {
        // Where spaces are joined, the end of the line before became the one that is put there.
        encode_by(further_ == nullptr ? *whole_ : *further_, text, out);
    }

    void decode(Token token, std::string& out) const override {
        if (token < 0 || token >= size() || whole_->IsControl(token)) {
            return;
        }
        if (whole_->IsUnknown(token)) {
            out += whole_->DecodeIds({token});
            return;
        }
        const std::string& piece = whole_->IdToPiece(token);
        if (whole_->IsByte(token)) { // "<0x0A>"
            int byte = 0;
            std::from_chars(piece.data() + 3, piece.data() + piece.size(), byte, 16);
            out += static_cast<char>(byte);
            return;
        }
        for (std::size_t at = 0; at < piece.size();) {
            const bool space = std::string_view(piece).substr(at, kSpace.size()) == kSpace;
            out += space ? ' ' : piece[at];
            at += space ? kSpace.size() : 1;
        }
    }

    std::string decode_together(std::span<const Token> tokens) const override {
        std::vector<int> known;
        std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(known),
                     [&](Token token) { return token >= 0 && token < size(); });
        return whole_->DecodeIds(known);
    }

private:
    static void encode_by(const SentencePieceProcessor& processor, std::string_view text,
                          std::vector<Token>& out) {
        std::vector<int> ids;
        const auto status = processor.Encode(text, &ids);
        if (!status.ok()) {
            throw Error(ErrorKind::data, "sentencepiece",
                        "a text could not be encoded: " + shown(status.ToString(), 200));
        }
        out.insert(out.end(), ids.begin(), ids.end());
    }

    const std::string model_;
    const ModelFacts facts_;
    std::unique_ptr<SentencePieceProcessor> whole_;
    std::unique_ptr<SentencePieceProcessor> further_; // null: the same
};

} // namespace

bool is_sentencepiece(std::string_view document) {
    // The first field is the first piece, and its first one a text. A JSON document may begin with
    // a newline, which is the same byte, but does not go on so.
    Field piece;
    Field text;
    return Reader(document).next(piece) && piece.is(kPieces, protobuf::bytes) &&
           Reader(piece.text).next(text) && text.is(1, protobuf::bytes);
}

std::shared_ptr<const SentencePiece> read_sentencepiece(std::string model,
                                                        const std::string& where) {
    return std::make_shared<const LibraryModel>(std::move(model), where);
}

} // namespace weft::tokenizer
