// SPDX-License-Identifier: Apache-2.0
#include "tests/data/data_support.h"

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

Json jsonl_section(const std::filesystem::path& path, const char* more = "{}") {
    Json train = config::json_of(more);
    train.update(Json{{"type", "jsonl"}, {"path", path.string()}});
    return {{"train", train}, {"validation", nullptr}};
}

/// The bytes of all windows of a text of context 4, in order.
std::string text_of(const data::Source& source) {
    std::string out;
    for (std::int64_t i = 0; i < source.samples(); ++i) {
        for (const std::int32_t byte : input_integers(source, i)) {
            out += static_cast<char>(byte);
        }
    }
    return out;
}

} // namespace

class JsonlTest : public QObject {
    Q_OBJECT

private slots:
    void texts_are_joined_by_the_separator() {
        const Folder folder;
        const auto path = folder.write("a.jsonl", "{\"text\": \"Grüße\\n\", \"id\": 1}\n"
                                                  "{\"id\": 2, \"text\": \"\", "
                                                  "\"more\": {\"text\": \"no\"}}\n\n"
                                                  "{\"text\": \"\\u00e4\\\"b\"}\n");
        const data::DataSet set = open(jsonl_section(path, R"({"separator": "|"})"), 1);
        QCOMPARE(text_of(*set.train) + "b", std::string("Grüße\n||ä\"b"));
        QVERIFY(set.notes.empty());
    }

    void the_field_is_named_by_settings() {
        const Folder folder;
        const auto path =
            folder.write("a.jsonl", "{\"body\": \"abcdefghi\"}\r\n{\"body\": \"jk\"}");
        const data::DataSet set = open(jsonl_section(path, R"({"text": "body"})"), 4);
        QCOMPARE(text_of(*set.train), std::string("abcdefghi\n\nj"));
        QCOMPARE(set.train->info().classes, 256);
    }

    void bad_lines_are_named_counted_and_left_out() {
        std::string content;
        for (int i = 0; i < 100; ++i) {
            content += i == 4    ? "{\"text\": \"cut off\n"
                       : i == 9  ? "{\"txt\": \"other\"}\n"
                       : i == 11 ? "{\"text\": 3}\n"
                                 : "{\"text\": \"fine\"}\n";
        }
        const Folder folder;
        const auto path = folder.write("a.jsonl", content);
        const data::DataSet set = open(jsonl_section(path), 4);
        QCOMPARE(set.notes.size(), std::size_t(1));
        QVERIFY2(
            set.notes[0].find("3 lines are left out: line 5: it is no JSON object; line 10: it "
                              "has no text 'text'; line 12") == 0,
            set.notes[0].c_str());
        const auto error = error_of([&] { open(jsonl_section(path, R"({"most_bad": 0.02})"), 4); });
        QVERIFY(error && error->text().find("3 of 100 lines") == 0);
    }

    void brackets_inside_a_text_are_no_nesting() {
        const Folder folder;
        const std::string brackets = std::string(100, '[') + "\\\"" + std::string(100, '{');
        const auto path = folder.write("a.jsonl", "{\"text\": \"" + brackets + "\"}\n");
        const data::DataSet set = open(jsonl_section(path), 1);
        QCOMPARE(text_of(*set.train) + "{", std::string(100, '[') + "\"" + std::string(100, '{'));
        QVERIFY(set.notes.empty());
    }

    void an_object_that_is_nested_deeper_than_64_is_left_out() {
        const Folder folder;
        const auto nested = [](int levels) {
            const auto depth = static_cast<std::size_t>(levels);
            return "{\"text\": \"fine\", \"more\": " + std::string(depth - 1, '[') +
                   std::string(depth - 1, ']') + "}\n";
        };
        const auto path = folder.write("a.jsonl", nested(64) + nested(65) + nested(100'000));
        const data::DataSet set = open(jsonl_section(path, R"({"most_bad": 1})"), 1);
        QCOMPARE(text_of(*set.train) + "e", std::string("fine"));
        QCOMPARE(set.notes.size(), std::size_t(1));
        QVERIFY2(set.notes[0].find("2 lines are left out: line 2: it is no JSON object") == 0,
                 set.notes[0].c_str());
    }

    void a_truncated_file_loses_its_last_line_only() {
        const Folder folder;
        std::string content;
        for (int i = 0; i < 30; ++i) {
            content += "{\"text\": \"0123456789\"}\n";
        }
        const auto path = folder.write("a.jsonl", content.substr(0, content.size() - 5));
        const data::DataSet set = open(jsonl_section(path, R"({"separator": ""})"), 10);
        QCOMPARE(set.train->samples(), 28); // 29 texts, of which one byte is only predicted
        QCOMPARE(set.notes.size(), std::size_t(1));
    }

    void what_holds_no_lines_is_refused() {
        const Folder folder;
        QVERIFY(error_of([&] { open(jsonl_section(folder.write("a", "")), 4); }).has_value());
        QVERIFY(error_of([&] { open(jsonl_section(folder.write("b", "\0\1\2")), 4); }).has_value());
        const std::string deep = "{\"a\": " + std::string(100000, '[') + "\n";
        QVERIFY(error_of([&] { open(jsonl_section(folder.write("c", deep)), 4); }).has_value());
        const auto error =
            error_of([&] { open(jsonl_section(folder.write("d", "{\"text\": \"ab\"}\n")), 0); });
        QVERIFY(error && error->text().find("context") != std::string::npos);
    }
};

WEFT_TEST(JsonlTest)
#include "jsonl_test.moc"
