// SPDX-License-Identifier: Apache-2.0
// Lengths of texts beside the context; every figure is counted by hand.
#include "core/data/lengths.h"
#include "tests/data/data_support.h"

#include <algorithm>

using namespace weft;
using namespace weft::data::test;
using config::Json;
using data::Lengths;

namespace {

data::OpenContext read_at_once(std::int64_t tokens) {
    return {.sequence_length = tokens};
}

/// "U", what is asked, "A", what is answered. The last byte is never read: "UabAcdef" are 7.
Json chat_of(const std::filesystem::path& file, const char* too_long) {
    return {{"train",
             {{"type", "chat"},
              {"path", file.string()},
              {"template", "own"},
              {"own", {{"user", "U{content}"}, {"assistant", "A{content}"}}},
              {"too_long", too_long},
              {"most_bad", 0.5}}},
            {"validation", {{"split", 0.5}}}};
}

std::filesystem::path write_chat(const Folder& folder) {
    return folder.write("a.jsonl", R"({"prompt": "ab", "completion": "cdef"}
{"prompt": "a", "completion": "b"}
not a conversation
{"prompt": "abcdefgh", "completion": "12345678"}
)");
}

std::vector<std::int64_t> counts(const Lengths& lengths) {
    std::vector<std::int64_t> out;
    for (const data::LengthRange& range : data::length_ranges(lengths)) {
        out.push_back(range.count);
    }
    return out;
}

bool contains(const std::vector<std::string>& findings, const std::string& part) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const std::string& one) { return one.find(part) != one.npos; });
}

} // namespace

class LengthsTest : public QObject {
    Q_OBJECT

private slots:
    void conversations_are_measured_before_they_are_cut() {
        const Folder folder;
        const auto file = write_chat(folder);
        const auto lengths = data::lengths_of(chat_of(file, "truncate"), read_at_once(8));
        QVERIFY(lengths.has_value());
        QCOMPARE(lengths->each, (std::vector<std::int64_t>{3, 7, 17}));
        QCOMPARE(lengths->things, std::string("conversations"));
        QCOMPARE(lengths->unit, std::string("bytes"));
        QCOMPARE(lengths->median(), 7.0);
        QCOMPARE(lengths->longer(), std::int64_t{1});
        // Of 24 positions 3 + 7 + 8 hold something.
        QCOMPARE(lengths->padding(), 0.25);
        const auto findings = data::length_findings(*lengths);
        QVERIFY(contains(findings, "33 % of the conversations (1)"));
        QVERIFY(contains(findings, "cut off"));
        QVERIFY(contains(findings, "25 % of all positions are padding"));
        // A share of the same source: the same texts.
        QCOMPARE(data::lengths_of(chat_of(file, "truncate"), read_at_once(8), "validation")->each,
                 lengths->each);
        QVERIFY(!data::lengths_of(chat_of(file, "truncate"), read_at_once(8), "test"));
    }

    void what_is_left_out_takes_no_positions() {
        const Folder folder;
        const auto lengths = data::lengths_of(chat_of(write_chat(folder), "drop"), read_at_once(8));
        QCOMPARE(lengths->padding(), 0.375); // 10 of 16 positions
        QVERIFY(contains(data::length_findings(*lengths), "left out"));
    }

    void one_range_ends_with_the_context() {
        const Folder folder;
        const auto lengths =
            data::lengths_of(chat_of(write_chat(folder), "truncate"), read_at_once(8));
        const auto ranges = data::length_ranges(*lengths);
        std::vector<std::int64_t> ends;
        for (const data::LengthRange& range : ranges) {
            ends.push_back(range.last);
        }
        QCOMPARE(ends, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 17})); // 17 is the longest
        QCOMPARE(counts(*lengths), (std::vector<std::int64_t>{0, 0, 1, 1, 0, 1}));
    }

    void documents_go_on_from_one_sample_to_the_next() {
        const Folder folder;
        const auto file = folder.write("a.jsonl", "{\"text\": \"abc\"}\n{\"text\": \"\xc3\xa9\"}\n"
                                                  "{\"text\": \"0123456789\"}\n");
        const auto lengths = data::lengths_of(
            {{"train", {{"type", "jsonl"}, {"path", file.string()}, {"text", "text"}}}},
            read_at_once(4));
        QCOMPARE(lengths->each, (std::vector<std::int64_t>{2, 3, 10})); // é has two bytes
        QCOMPARE(lengths->padding(), 0.0);
        QVERIFY(contains(data::length_findings(*lengths), "go on in the next sample"));
        QVERIFY(contains(data::length_findings(*lengths), "without padding"));
    }

    void files_of_a_folder_have_lengths_and_a_single_text_has_none() {
        const Folder folder;
        std::filesystem::create_directories(folder.path() / "texts");
        folder.write("texts/a.txt", "12345");
        const auto file = folder.write("texts/b.txt", std::string(20, 'x'));
        const auto of = [](const std::filesystem::path& path) {
            return data::lengths_of({{"train", {{"type", "text"}, {"path", path.string()}}}},
                                    read_at_once(10));
        };
        QCOMPARE(of(file.parent_path())->each, (std::vector<std::int64_t>{5, 20}));
        QVERIFY(!of(file).has_value());
    }

    void samples_that_are_no_texts_have_none() {
        QVERIFY(!data::lengths_of({{"train", {{"type", "synthetic"}, {"kind", "images"}}}},
                                  read_at_once(8)));
    }

    void tokens_are_counted_where_there_is_a_tokenizer() {
        const Folder folder;
        const auto file = folder.write("a.jsonl", "{\"text\": \"the the\"}\n");
        const std::string tokenizer =
            std::string(WEFT_SOURCE_DIR) + "/tests/unit/tokenizer/peers/gpt2.json";
        const auto lengths = data::lengths_of(
            {{"train", {{"type", "jsonl"}, {"path", file.string()}, {"text", "text"}}},
             {"tokenizer", tokenizer}},
            read_at_once(8));
        QCOMPARE(lengths->unit, std::string("tokens"));
        QVERIFY(lengths->each.at(0) >= 2 && lengths->each.at(0) < 7);
    }
};

WEFT_TEST(LengthsTest)
#include "lengths_test.moc"
