// SPDX-License-Identifier: Apache-2.0
// Tokens against those of the library tokenizers of Hugging Face (peers/make_peers.py): of texts in
// many scripts, and what is learnt from a licence that every Debian has.
#include "core/base/file.h"
#include "core/config/field.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/train_bpe.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <random>

using namespace weft;
using config::Json;
using tokenizer::Token;

namespace {

const std::filesystem::path kPeers = std::filesystem::path(WEFT_TEST_DATA) / "peers";
constexpr const char* kLicence = "/usr/share/common-licenses/GPL-2";

Json peer(const std::string& name) {
    return Json::parse(read_file(kPeers / (name + ".json")));
}

std::shared_ptr<const tokenizer::Tokenizer> changed(const std::string& pointer, const Json& value) {
    Json document = peer("gpt2");
    document[Json::json_pointer(pointer)] = value;
    return tokenizer::read_tokenizer(document.dump(), "tokenizer.json");
}

/// From the lines of a text, with their ends: the library reads files so.
std::shared_ptr<const tokenizer::Tokenizer> learnt_from(const std::string& text,
                                                        const tokenizer::TrainOptions& options) {
    std::size_t at = 0;
    return tokenizer::train_bpe(options, [&](std::string& next) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        next = at < text.size() ? text.substr(at, end - at) : "";
        at = end;
        return !next.empty();
    });
}

} // namespace

class TokenizerTest : public QObject {
    Q_OBJECT

private slots:
    void tokens_are_those_of_the_library_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"gpt2", "llama3", "qwen2"}) {
            QTest::newRow(name) << name;
        }
    }
    void tokens_are_those_of_the_library() {
        QFETCH(QString, name);
        const auto ours = tokenizer::open_tokenizer(kPeers / (name.toStdString() + ".json"));
        int compared = 0;
        for (const Json& one : peer("tokens")) {
            const auto text = one["text"].get<std::string>();
            const auto expected = one[name.toStdString()].get<std::vector<Token>>();
            const std::vector<Token> tokens = ours->encoded(text);
            QVERIFY2(tokens == expected, (text + ": " + Json(tokens).dump()).c_str());
            if (name != "qwen2") { // which composes characters
                QCOMPARE(ours->decoded(tokens), text);
            }
            ++compared;
        }
        QVERIFY(compared > 40);
    }

    void any_bytes_come_back() {
        std::mt19937 random(5);
        for (const char* name : {"gpt2", "llama3"}) {
            const auto ours = tokenizer::open_tokenizer(kPeers / (std::string(name) + ".json"));
            for (int length = 0; length < 300; ++length) {
                std::string text;
                for (int i = 0; i < length; ++i) {
                    text += static_cast<char>(random() % (length % 2 == 0 ? 256 : 0x90));
                }
                QCOMPARE(ours->decoded(ours->encoded(text)), text);
            }
        }
        const auto bytes = tokenizer::byte_tokenizer();
        QCOMPARE(bytes->encoded("a\xff"), (std::vector<Token>{97, 255}));
        QCOMPARE(bytes->decoded(std::vector<Token>{97, 255, 256, -1}), std::string("a\xff"));
    }

    void what_is_learnt_is_what_the_library_learns() {
        const auto ours = learnt_from(read_file(kLicence),
                                      {.size = 600, .fewest = 2, .added = {"<|endoftext|>"}});
        const Json made = Json::parse(ours->document());
        const Json theirs = peer("gpt2");
        QCOMPARE(made["model"]["merges"].dump(), theirs["model"]["merges"].dump());
        const auto vocabulary = theirs["model"]["vocab"].get<std::map<std::string, int>>();
        QVERIFY((made["model"]["vocab"].get<std::map<std::string, int>>() == vocabulary));
        QCOMPARE(ours->size(), std::int64_t{600});
    }

    void a_short_text_gives_as_many_tokens_as_it_has_pairs() {
        const auto ours = learnt_from("abababab", {.size = 1000, .fewest = 1});
        // ab, abab, abababab
        QCOMPARE(ours->size(), std::int64_t{259});
        QCOMPARE(ours->encoded("abababab"), std::vector<Token>{258});
        const auto error = test::error_of([] { learnt_from("x", {.size = 255}); });
        QVERIFY(error && error->kind() == ErrorKind::usage);
        QVERIFY2(error->hint().find("256") != std::string::npos, error->message().c_str());
    }

    void what_would_make_other_tokens_is_refused_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("where");
        const auto row = [](const char* pointer, const char* value, const char* where = nullptr) {
            QTest::addRow("%s %s", pointer, value)
                << pointer << value << (where == nullptr ? pointer : where);
        };
        row("/model/type", "\"Unigram\"");
        row("/model/dropout", "0.1");
        row("/model/byte_fallback", "true");
        row("/model/end_of_word_suffix", "\"</w>\"");
        row("/model/vocab", "{\"a\": 0}");
        row("/model/vocab/a", "-1");
        row("/model/vocab/a", "99999999999");
        row("/model/vocab/a", "\"x\"");
        row("/model/merges/0", "\"ab\"");
        row("/model/merges/0", "[\"a\", \"漢\"]");
        row("/model", "7");
        row("/normalizer", "{\"type\": \"Lowercase\"}");
        row("/pre_tokenizer", "{\"type\": \"Metaspace\"}");
        row("/pre_tokenizer", "null");
        row("/pre_tokenizer",
            "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"(\"}, \"behavior\": \"Isolated\"}");
        row("/pre_tokenizer",
            "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"a\"}, \"behavior\": \"Removed\"}");
        row("/added_tokens/0/lstrip", "true");
        row("/added_tokens/0/content", "5", "/added_tokens/0");
    }
    void what_would_make_other_tokens_is_refused() {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        QFETCH(QString, where);
        const auto error = test::error_of(
            [&] { changed(pointer.toStdString(), Json::parse(value.toStdString())); });
        QVERIFY(error.has_value());
        QCOMPARE(error->kind(), ErrorKind::data);
        QVERIFY2(error->where().find(where.toStdString()) != std::string::npos,
                 error->message().c_str());
    }

    void a_damaged_file_is_told() {
        const std::string whole = read_file(kPeers / "gpt2.json");
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, whole.size() / 2}) {
            QVERIFY(test::error_of([&] {
                        tokenizer::read_tokenizer(whole.substr(0, size), "tokenizer.json");
                    }).has_value());
        }
    }

    void bytes_have_a_document_too() {
        std::string all;
        for (int byte = 0; byte < 256; ++byte) {
            all += static_cast<char>(byte);
        }
        for (const std::string& text : {all, read_file(kLicence)}) {
            const auto read = tokenizer::read_tokenizer(tokenizer::byte_document(), "bytes");
            QCOMPARE(read->size(), 256);
            QVERIFY(read->encoded(text) == tokenizer::byte_tokenizer()->encoded(text));
        }
    }
};

WEFT_TEST(TokenizerTest)
#include "tokenizer_test.moc"
