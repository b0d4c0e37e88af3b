// SPDX-License-Identifier: Apache-2.0
// Texts in the tokens of a tokenizer: from the text itself and from files of tokens.
#include "core/base/file.h"
#include "core/data/text/encode_text.h"
#include "core/data/text/write_tokens.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cstring>

using namespace weft;
using config::Json;
using tokenizer::Token;

namespace {

constexpr const char* kLicence = "/usr/share/common-licenses/GPL-2";
constexpr std::int64_t kContext = 32;

std::filesystem::path gpt2_tokenizer() {
    return std::filesystem::path(WEFT_SOURCE_DIR) / "tests/unit/tokenizer/peers/gpt2.json";
}

data::OpenContext with_peer() {
    data::OpenContext context;
    context.sequence_length = kContext;
    context.tokenizer = data::known_tokenizer(gpt2_tokenizer());
    return context;
}

data::DataSet with_tokenizer(const Json& train, const Json& tokenizer) {
    data::OpenContext context;
    context.sequence_length = kContext;
    return data::open_data({{"train", train}, {"validation", nullptr}, {"tokenizer", tokenizer}},
                           context);
}

std::vector<Token> window(const data::Source& source, std::int64_t index) {
    std::vector<Token> input(kContext);
    std::vector<Token> target(kContext);
    source.read(index, std::as_writable_bytes(std::span(input)),
                std::as_writable_bytes(std::span(target)));
    input.push_back(target.back());
    return input;
}

/// Bytes that tell stretches apart: lines of all lengths, runs of blank lines, long lines.
std::string long_text() {
    const std::string licence = read_file(kLicence);
    std::string out;
    while (out.size() < (5U << 20)) {
        out += licence;
        out += out.size() % 3 == 0 ? "\n\n   \n" : "\r\n";
        out += std::string(out.size() % 7000, 'x');
    }
    return out;
}

} // namespace

class EncodedTextTest : public QObject {
    Q_OBJECT

private slots:
    void a_text_is_read_in_tokens() {
        const auto data =
            with_tokenizer({{"type", "text"}, {"path", kLicence}}, gpt2_tokenizer().string());
        const data::Source& source = *data.train;
        const std::vector<Token> all = with_peer().tokenizer->encoded(read_file(kLicence));
        QCOMPARE(source.info().classes, std::int64_t{600});
        QVERIFY(source.info().tokenizer != nullptr);
        QCOMPARE(source.samples(), (std::ssize(all) - 1) / kContext);
        for (const std::int64_t i : {std::int64_t{0}, std::int64_t{7}, source.samples() - 1}) {
            const auto first = all.begin() + i * kContext;
            QCOMPARE(window(source, i), std::vector<Token>(first, first + kContext + 1));
        }
    }

    void what_a_plan_knows_is_what_is_opened() {
        for (const char* type : {"text", "jsonl"}) {
            const QTemporaryDir folder;
            const std::filesystem::path file = folder.filePath("text").toStdString();
            const std::string text = read_file(kLicence);
            write_file_atomically(
                file, type == std::string("text") ? text : Json{{"text", text}}.dump() + "\n");
            const Json section = {{"train", {{"type", type}, {"path", file.string()}}},
                                  {"validation", nullptr},
                                  {"tokenizer", gpt2_tokenizer().string()}};
            data::OpenContext context;
            context.sequence_length = kContext;
            const data::DataOutline outline =
                data::outline_data(section, context, data::Files::must_exist);
            const data::DataSet data = data::open_data(section, context);
            QCOMPARE(outline.samples, data.train->samples());
            QCOMPARE(outline.sample.classes, std::int64_t{600});
            QCOMPARE(outline.cache_bytes, data.train->cache_bytes());
        }
    }

    void stretches_give_the_tokens_of_the_whole() {
        const std::string text = long_text();
        const data::EncodedText encoded = data::encode_text(text, with_peer(), "text");
        QCOMPARE(encoded.bytes, std::ssize(text));
        QVERIFY(encoded.tokens == with_peer().tokenizer->encoded(text));
    }

    void files_of_tokens_hold_the_same_windows() {
        const QTemporaryDir folder;
        const std::filesystem::path to = folder.filePath("tokens").toStdString();
        const data::WrittenTokens written = data::write_tokens(kLicence, with_peer(), to);
        const auto text =
            with_tokenizer({{"type", "text"}, {"path", kLicence}}, gpt2_tokenizer().string()).train;
        const auto files =
            with_tokenizer({{"type", "tokens"}, {"path", to.string()}}, nullptr).train;
        QCOMPARE(files->samples(), text->samples());
        QCOMPARE(files->info().classes, std::int64_t{600});
        for (std::int64_t i = 0; i < text->samples(); i += 17) {
            QCOMPARE(window(*files, i), window(*text, i));
        }
        // The tokenizer lies beside them.
        QVERIFY(files->info().tokenizer != nullptr);
        QCOMPARE(files->info().tokenizer->decoded(window(*files, 0)),
                 text->info().tokenizer->decoded(window(*text, 0)));
        QCOMPARE(written.text_bytes,
                 static_cast<std::int64_t>(std::filesystem::file_size(kLicence)));
        const auto again =
            weft::test::error_of([&] { data::write_tokens(kLicence, with_peer(), to); });
        QVERIFY(again && again->kind() == ErrorKind::usage);
    }

    void a_learnt_tokenizer_is_that_of_the_library() {
        const auto learnt = data::learn_tokenizer(
            kLicence, {.size = 600, .fewest = 2, .added = {"<|endoftext|>"}}, {}, {});
        QCOMPARE(Json::parse(learnt->document())["model"]["merges"].dump(),
                 Json::parse(read_file(gpt2_tokenizer()))["model"]["merges"].dump());
    }

    void a_tokenizer_is_for_text() {
        const Json table = {{"type", "idx"}, {"path", "."}};
        const auto error =
            weft::test::error_of([&] { with_tokenizer(table, gpt2_tokenizer().string()); });
        QVERIFY(error.has_value());
        QCOMPARE(error->where(), std::string("/data/tokenizer"));
        const auto absent = weft::test::error_of([] {
            with_tokenizer({{"type", "text"}, {"path", kLicence}}, "/no/such/tokenizer.json");
        });
        QVERIFY(absent && absent->where().find("/no/such/tokenizer.json") != std::string::npos);
    }

    void a_large_text_is_told_to_be_written_once() {
        data::OpenContext context;
        context.sequence_length = kContext;
        const auto error = weft::test::error_of([&] {
            data::open_data({{"train", {{"type", "text"}, {"path", kLicence}}},
                             {"validation", nullptr},
                             {"tokenizer", gpt2_tokenizer().string()},
                             {"cache", "none"}}, // as of a text larger than memory
                            context);
        });
        QVERIFY(error.has_value());
        QVERIFY2(error->hint().find("weft data tokens") != std::string::npos,
                 error->message().c_str());
    }
};

WEFT_TEST(EncodedTextTest)
#include "encoded_text_test.moc"
