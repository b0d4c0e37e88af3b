// SPDX-License-Identifier: Apache-2.0
#include "core/data/loader.h"
#include "core/data/recognise.h"
#include "tests/data/data_support.h"

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

template <class Token>
std::string stored(const std::vector<Token>& tokens) {
    return {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token)};
}

/// first, first + 1, ...
std::vector<std::uint16_t> counting(std::uint16_t first, std::size_t count) {
    std::vector<std::uint16_t> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<std::uint16_t>(first + i);
    }
    return out;
}

/// As llm.c writes it: 256 numbers of 32 bits, then the tokens.
std::string shard(std::int32_t magic, std::int32_t count, const std::string& tokens) {
    std::vector<std::int32_t> header(256);
    header[0] = magic;
    header[1] = 1;
    header[2] = count;
    return stored(header) + tokens;
}

Json tokens_at(const std::filesystem::path& path, const char* more = "{}") {
    Json train = config::json_of(more);
    train.update(Json{{"type", "tokens"}, {"path", path.string()}});
    return {{"train", train}, {"validation", nullptr}};
}

std::vector<std::int32_t> range(std::int32_t first, std::int32_t count) {
    std::vector<std::int32_t> out;
    for (std::int32_t i = 0; i < count; ++i) {
        out.push_back(first + i);
    }
    return out;
}

} // namespace

class TokensTest : public QObject {
    Q_OBJECT

private slots:
    void a_file_of_nanogpt_is_windows_of_tokens() {
        const Folder folder;
        const auto path = folder.write("train.bin", stored(counting(0, 23)));
        const data::DataSet set = open(tokens_at(path), 4);
        QCOMPARE(set.train->samples(), 5); // 22 tokens are predicted
        QCOMPARE(set.train->info().classes, 23);
        QVERIFY(noted(set, "vocabulary is taken to have 23"));
        QCOMPARE(input_integers(*set.train, 0), range(0, 4));
        QCOMPARE(target_integers(*set.train, 0).size(), std::size_t(4));
        QCOMPARE(input_integers(*set.train, 4), range(16, 4));
        std::vector<std::byte> input(16), target(16);
        set.train->read(4, input, target);
        QCOMPARE(integers(target), range(17, 4));
        QCOMPARE(set.train->place_of(4), path.string() + ", token 16");
    }

    void shards_of_a_folder_are_one_run() {
        const Folder folder;
        folder.write("a/x_train_000001.bin", shard(20240520, 10, stored(counting(0, 10))));
        folder.write("a/x_train_000002.bin", shard(20240520, 9, stored(counting(10, 9))));
        folder.write("a/x_val_000000.bin", shard(20240520, 5, stored(counting(3, 5))));
        const data::Recognition found = data::recognise(folder.path() / "a", {{}, 3, 0});
        QCOMPARE(found.formats.front().format, std::string("tokens"));
        const data::DataSet set = open(found.formats.front().data, 3);
        QCOMPARE(set.train->samples(), 6);
        for (int i = 0; i < 6; ++i) { // window 3 lies in both files
            QCOMPARE(input_integers(*set.train, i), range(3 * i, 3));
        }
        QCOMPARE(set.validation->samples(), 1);
        QCOMPARE(input_integers(*set.validation, 0), range(3, 3));
    }

    void wide_tokens_and_a_vocabulary_are_told_by_json() {
        const Folder folder;
        const auto path =
            folder.write("corpus.bin", stored(std::vector<std::uint32_t>{70000, 1, 2, 70001}));
        folder.write("corpus.json", R"({"dtype": "uint32", "vocab": 70002})");
        const data::DataSet set = open(tokens_at(path), 3);
        QCOMPARE(set.train->info().classes, 70002);
        QCOMPARE(input_integers(*set.train, 0), (std::vector<std::int32_t>{70000, 1, 2}));
        QVERIFY(set.notes.empty());
    }

    void block_by_block_they_are_the_same() {
        const Folder folder;
        const auto path = folder.write("train.bin", stored(counting(0, 40001)));
        Json section = tokens_at(path, R"({"vocab": 40001})");
        const data::DataSet kept = open(section, 16);
        section["cache"] = "none";
        const data::DataSet streamed = open(section, 16);
        QVERIFY(kept.train->blocks().empty());
        QCOMPARE(streamed.train->blocks().size(), std::size_t(2));
        QCOMPARE(streamed.train->samples(), 2500);
        data::LoaderOptions options;
        options.batch_size = 100;
        options.endless = false;
        std::vector<std::vector<SeenBatch>> seen;
        for (const auto& source : {kept.train, streamed.train}) {
            data::Loader loader(source, data::Sampler(*source, true, 5), options, {});
            seen.push_back(take(loader, 100));
        }
        QCOMPARE(seen[0].size(), std::size_t(25));
        QVERIFY(seen[0] == seen[1]); // one window
    }

    void a_text_block_by_block_is_the_text() {
        const Folder folder;
        std::string text;
        for (int i = 0; i < 5000; ++i) {
            text += static_cast<char>('a' + i * i % 26);
        }
        folder.write("books/one.txt", text.substr(0, 1003));
        folder.write("books/two.txt", text.substr(1003));
        Json section = {{"train", {{"type", "text"}, {"path", (folder.path() / "books").string()}}},
                        {"validation", nullptr}};
        const data::DataSet kept = open(section, 32);
        section["cache"] = "none";
        const data::DataSet streamed = open(section, 32);
        QVERIFY(!streamed.train->blocks().empty());
        QCOMPARE(streamed.train->samples(), kept.train->samples());
        for (std::int64_t i = 0; i < kept.train->samples(); ++i) {
            QCOMPARE(input_integers(*streamed.train, i), input_integers(*kept.train, i));
            QCOMPARE(target_integers(*streamed.train, i), target_integers(*kept.train, i));
        }
    }

    void documents_block_by_block_are_the_documents() {
        const Folder folder;
        std::string lines;
        for (int i = 0; i < 3000; ++i) {
            const std::string text = // the first one is empty
                i == 0 ? ""
                       : std::string(static_cast<std::size_t>(i % 300), 'a') + std::to_string(i);
            lines += i % 50 == 7 ? "\n{ broken\n" : Json{{"n", i}, {"text", text}}.dump() + "\n";
        }
        const auto path = folder.write("lines.jsonl", lines);
        Json section = {
            {"train", {{"type", "jsonl"}, {"path", path.string()}, {"separator", "<|>"}}},
            {"validation", nullptr}};
        const data::DataSet kept = open(section, 64);
        section["cache"] = "none";
        const data::DataSet streamed = open(section, 64);
        QCOMPARE(kept.notes, streamed.notes); // the same lines are left out
        QVERIFY(!streamed.train->blocks().empty());
        QCOMPARE(streamed.train->samples(), kept.train->samples());
        for (std::int64_t i = 0; i < kept.train->samples(); i += 7) {
            QCOMPARE(input_integers(*streamed.train, i), input_integers(*kept.train, i));
        }
        data::LoaderOptions options;
        options.batch_size = 500;
        options.endless = false;
        std::vector<std::vector<SeenBatch>> seen;
        for (const auto& source : {kept.train, streamed.train}) {
            data::Loader loader(source, data::Sampler(*source, false, 5), options, {});
            seen.push_back(take(loader, 100));
        }
        QVERIFY(seen[0] == seen[1]);
        folder.write("lines.jsonl", lines.substr(0, lines.size() / 2));
        const auto error = error_of([&] { input_integers(*streamed.train, 6000); });
        QVERIFY(error && error->text().find("fewer texts") != std::string::npos);
    }

    void what_cannot_be_tokens_is_refused_in_words_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("settings");
        QTest::addColumn<QString>("expected");
        const auto bytes = [](const std::string& text) {
            return QByteArray(text.data(), static_cast<qsizetype>(text.size()));
        };
        QTest::newRow("cut short") << bytes(shard(20240520, 30, stored(counting(0, 20)))) << "{}"
                                   << "announces 30 tokens";
        QTest::newRow("negative") << bytes(shard(20240520, -30, stored(counting(0, 20)))) << "{}"
                                  << "announces -30 tokens";
        QTest::newRow("half a token") << bytes("abc") << "{}"
                                      << "no whole number of tokens";
        QTest::newRow("too few") << bytes(stored(counting(0, 4))) << "{}"
                                 << "needs 5";
        QTest::newRow("beyond the vocabulary")
            << bytes(stored(counting(0, 20))) << R"({"vocab": 12})"
            << "the vocabulary has 12";
        QTest::newRow("an impossible vocabulary")
            << bytes(stored(std::vector<std::uint32_t>(9, 0xffffffffU))) << R"({"dtype": "uint32"})"
            << "a vocabulary of 4,294,967,296";
    }

    void what_cannot_be_tokens_is_refused_in_words() {
        QFETCH(QByteArray, content);
        QFETCH(QString, settings);
        QFETCH(QString, expected);
        const Folder folder;
        const auto path = folder.write("train.bin", content.toStdString());
        const auto error = error_of([&] {
            const data::DataSet set = open(tokens_at(path, settings.toUtf8().constData()), 4);
            for (std::int64_t i = 0; i < set.train->samples(); ++i) {
                input_integers(*set.train, i);
            }
        });
        QVERIFY(error.has_value());
        QCOMPARE(error->kind(), ErrorKind::data);
        QVERIFY2(error->message().find(expected.toStdString()) != std::string::npos,
                 error->message().c_str());
    }
};

WEFT_TEST(TokensTest)
#include "tokens_test.moc"
