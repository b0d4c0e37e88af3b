// SPDX-License-Identifier: Apache-2.0
// Tokens against those of the Python package sentencepiece (peers/make_sentencepiece.py), and
// models that are damaged.
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/config/field.h"
#include "core/tokenizer/character_map.h"
#include "core/tokenizer/sentencepiece.h"
#include "core/tokenizer/tokenizer_file.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <string>
#include <vector>

using namespace weft;
using config::Json;
using test::error_of;
using tokenizer::Token;
namespace fs = std::filesystem;

namespace {

const fs::path kModels = fs::path(WEFT_TEST_DATA) / "peers";
constexpr const char* kWords = "/usr/share/common-licenses/GPL-2";

std::string little_endian(std::uint32_t number) {
    std::string out;
    for (int shift = 0; shift < 32; shift += 8) {
        out += static_cast<char>(number >> shift);
    }
    return out;
}

/// A trie of 256 units, all of them 0 but these, and texts.
std::string character_map(const std::vector<std::pair<std::size_t, std::uint32_t>>& units,
                          const std::string& texts) {
    std::string trie(1024, '\0');
    for (const auto& [at, bits] : units) {
        trie.replace(4 * at, 4, little_endian(bits));
    }
    return little_endian(1024) + trie + texts;
}

} // namespace

class SentencePieceTest : public QObject {
    Q_OBJECT

private slots:
    void tokens_and_texts_are_those_of_the_package_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("description");
        QTest::addColumn<int>("size");
        QTest::newRow("unigram") << "unigram"
                                 << "SentencePiece unigram of 400 tokens" << 400;
        QTest::newRow("bpe") << "bpe"
                             << "SentencePiece BPE of 700 tokens" << 700;
    }
    void tokens_and_texts_are_those_of_the_package() {
        QFETCH(const QString, name);
        QFETCH(const QString, description);
        QFETCH(const int, size);
        const auto ours = tokenizer::open_tokenizer(kModels / (name.toStdString() + ".model"));
        QCOMPARE(ours->size(), std::int64_t(size));
        QCOMPARE(QString::fromStdString(ours->description()), description);
        int compared = 0;
        for (const Json& one : Json::parse(read_file(kModels / "pieces.json"))) {
            const auto text = one["text"].get<std::string>();
            const Json& theirs = one[name.toStdString()];
            const std::vector<Token> tokens = ours->encoded(text);
            QVERIFY2(tokens == theirs["tokens"].get<std::vector<Token>>(),
                     (text + ": " + Json(tokens).dump()).c_str());
            const std::string decoded = ours->decoded(tokens);
            QVERIFY2(decoded == theirs["decoded"].get<std::string>(), decoded.c_str());
            // One by one they are the same but for the space before the text.
            std::string streamed;
            for (const Token token : tokens) {
                ours->decode(token, streamed);
            }
            if (is_utf8(streamed) && tokens.size() > 1) {
                QVERIFY2(streamed == decoded || streamed == " " + decoded, streamed.c_str());
            }
            ++compared;
        }
        QVERIFY(compared > 40);
    }

    void a_text_in_stretches_has_the_tokens_of_the_whole() {
        const std::string text = read_file(kWords);
        for (const char* name : {"unigram", "bpe"}) {
            const auto model = tokenizer::read_sentencepiece(
                read_file(kModels / (std::string(name) + ".model")), name);
            const std::size_t end = text.find("\nThe", text.size() / 2) + 1;
            QVERIFY(end > 1);
            std::vector<Token> tokens;
            model->encode(std::string_view(text).substr(0, end), tokens);
            model->encode_further(std::string_view(text).substr(end), tokens);
            QVERIFY2(tokens == model->encoded(text), name);
        }
    }

    void a_folder_with_a_model_names_it() {
        const QTemporaryDir dir;
        const fs::path folder = dir.path().toStdString();
        const std::string model = read_file(kModels / "bpe.model");
        write_file_atomically(folder / "tokenizer.model", model);
        QCOMPARE(tokenizer::tokenizer_file(folder), folder / "tokenizer.model");
        QCOMPARE(tokenizer::open_tokenizer(folder)->document(), model);
        write_file_atomically(folder / "tokenizer.json", read_file(kModels / "gpt2.json"));
        QCOMPARE(tokenizer::tokenizer_file(folder), folder / "tokenizer.json");
    }

    void its_document_makes_it_again() {
        const auto first = tokenizer::open_tokenizer(kModels / "unigram.model");
        const auto again = tokenizer::read_tokenizer(first->document(), "a checkpoint");
        QCOMPARE(again->encoded("the same words"), first->encoded("the same words"));
        QCOMPARE(tokenizer::name_of_document(first->document()), "tokenizer.model");
        QCOMPARE(tokenizer::name_of_document("\n{\"model\": {}}"), "tokenizer.json");
    }

    void a_model_that_is_cut_off_is_refused() {
        const std::string model = read_file(kModels / "bpe.model");
        for (const std::size_t bytes : {model.size() - 1, model.size() / 2, std::size_t{20}}) {
            const auto error =
                error_of([&] { tokenizer::read_tokenizer(model.substr(0, bytes), "cut.model"); });
            QVERIFY2(error && error->kind() == ErrorKind::data, std::to_string(bytes).c_str());
        }
    }

    void a_piece_without_characters_is_refused() {
        // One more field 1 of 7 bytes: a piece of none, with the score 0.
        const std::string more("\x0a\x07\x0a\0\x15\0\0\0\0", 9);
        const std::string model = read_file(kModels / "unigram.model") + more;
        const auto error = error_of([&] { tokenizer::read_tokenizer(model, "any.model"); });
        QVERIFY(error && error->kind() == ErrorKind::data);
        QCOMPARE(error->where(), "any.model");
    }

    // Bits of a unit (Darts-clone): 0-7 label, 8 a value follows, 9 the offset is times 256, 10-30
    // offset to the children; of a value: 31 is set.
    void a_map_of_characters_stays_within_itself_data() {
        QTest::addColumn<QByteArray>("map");
        QTest::addColumn<bool>("sound");
        const auto row = [](const char* name, const std::string& map, bool sound) {
            QTest::newRow(name) << QByteArray::fromStdString(map) << sound;
        };
        // 'a' (97) below the root with offset 1: at 1 ^ 97 = 96; its value at 96 ^ 2 = 98.
        const std::pair<std::size_t, std::uint32_t> root{0, 1U << 10};
        const std::uint32_t a = 97U | 1U << 8 | 2U << 10;
        const std::string texts("b\0", 2);
        row("none", "", true);
        row("one character", character_map({root, {96, a}, {98, 1U << 31}}, texts), true);
        row("a text beyond the end", character_map({root, {96, a}, {98, 1U << 31 | 2}}, texts),
            false);
        row("a text without an end", character_map({root, {96, a}, {98, 1U << 31}}, "b"), false);
        row("children beyond the end", character_map({root, {96, 97U | 256U << 10}}, texts), false);
        row("what is beyond but nowhere reached",
            character_map({root, {96, a}, {98, 1U << 31}, {50, 97U | 256U << 10}}, texts), true);
        row("a trie longer than the map", little_endian(4096) + std::string(1024, '\0'), false);
        row("a trie of half a unit", little_endian(6) + std::string(12, '\0'), false);
        row("three bytes", "abc", false);
    }
    void a_map_of_characters_stays_within_itself() {
        QFETCH(const QByteArray, map);
        QFETCH(const bool, sound);
        QCOMPARE(tokenizer::is_sound_character_map(map.toStdString()), sound);
    }
};

WEFT_TEST(SentencePieceTest)
#include "sentencepiece_test.moc"
