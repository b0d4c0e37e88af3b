// SPDX-License-Identifier: Apache-2.0
#include "core/data/split.h"
#include "tests/data/data_support.h"

#include <algorithm>

using namespace weft;
using namespace weft::data::test;

namespace {

config::Json text_section(const std::filesystem::path& path) {
    return {{"train", {{"type", "text"}, {"path", path.string()}}}, {"validation", nullptr}};
}

std::vector<std::int32_t> codes(std::string_view text) {
    std::vector<std::int32_t> out;
    for (const char c : text) {
        out.push_back(static_cast<unsigned char>(c));
    }
    return out;
}

} // namespace

class TextTest : public QObject {
    Q_OBJECT

private slots:
    void windows_are_consecutive_and_targets_are_one_byte_on() {
        const Folder folder;
        const data::DataSet set = open(text_section(folder.write("a.txt", "abcdefghij\xff")), 4);
        QCOMPARE(set.train->samples(),
                 2); // eleven bytes: two windows of 4 + 1, two bytes left over
        QCOMPARE(set.train->info().classes, 256);
        QCOMPARE(ir::to_text(set.train->info().input), std::string("i32[4]"));
        QCOMPARE(input_integers(*set.train, 0), codes("abcd"));
        QCOMPARE(target_integers(*set.train, 0), codes("bcde"));
        QCOMPARE(input_integers(*set.train, 1), codes("efgh"));
        QCOMPARE(target_integers(*set.train, 1), codes("fghi"));
    }

    void bytes_above_127_are_codes_above_127() {
        const Folder folder;
        const data::DataSet set = open(text_section(folder.write("a.txt", "a\xff")), 1);
        QCOMPARE(target_integers(*set.train, 0), std::vector<std::int32_t>{255});
    }

    void a_text_of_exactly_one_window_is_one_sample() {
        const Folder folder;
        const data::DataSet set = open(text_section(folder.write("a.txt", "abcde")), 4);
        QCOMPARE(set.train->samples(), 1);
    }

    void a_text_shorter_than_one_window_is_refused() {
        const Folder folder;
        const auto path = folder.write("a.txt", "abcd");
        const auto error = error_of([&] { open(text_section(path), 4); });
        QVERIFY(error.has_value());
        QCOMPARE(error->kind(), ErrorKind::data);
        QCOMPARE(error->where(), path.string());
        QVERIFY(error->text().find("4 bytes") != std::string::npos);
        QVERIFY(error->hint().find("context") != std::string::npos);
    }

    void a_model_without_context_is_refused() {
        const Folder folder;
        const auto path = folder.write("a.txt", "abcd");
        const auto error = error_of([&] { open(text_section(path), 0); });
        QVERIFY(error && error->text().find("context") != std::string::npos);
    }

    void a_folder_is_read_in_sorted_order_and_each_file_once() {
        const Folder folder;
        folder.write("b", "22");
        folder.write("a", "11");
        folder.write("c/d", "33");
        folder.write(".hidden", "xx");
        std::filesystem::create_symlink("b", folder.path() / "B-link");
        std::filesystem::create_hard_link(folder.path() / "a", folder.path() / "z");
        std::filesystem::create_symlink("nowhere", folder.path() / "broken");
        const data::DataSet set = open(text_section(folder.path()), 5);
        QCOMPARE(set.train->samples(), 1);
        QCOMPARE(input_integers(*set.train, 0), codes("11223"));
        QCOMPARE(set.notes.size(), std::size_t(2)); // the broken link; all further names in one
        QVERIFY(set.notes[1].find("B-link") != std::string::npos);
        QVERIFY(set.notes[1].find("z") != std::string::npos);
    }

    void a_link_to_a_file_elsewhere_is_followed() {
        const Folder folder;
        const Folder other;
        const auto text = other.write("text", "hello");
        std::filesystem::create_symlink(text, folder.path() / "link");
        QCOMPARE(input_integers(*open(text_section(folder.path()), 4).train, 0), codes("hell"));
    }

    void an_empty_folder_and_a_missing_path_are_named() {
        const Folder folder;
        auto error = error_of([&] { open(text_section(folder.path()), 4); });
        QVERIFY(error && error->text().find("no files") != std::string::npos);
        error = error_of([&] { open(text_section(folder.path() / "absent"), 4); });
        QVERIFY(error && error->text().find("no such file") != std::string::npos);
        QCOMPARE(error->kind(), ErrorKind::data);
    }

    void validation_is_the_end_of_each_part_of_the_text() {
        const Folder folder;
        std::string text;
        for (int i = 0; i < 10; ++i) {
            text += std::string(4, static_cast<char>('0' + i));
        }
        config::Json section = text_section(folder.write("a.txt", text + "."));
        section["validation"] = {{"split", 0.2}};
        const data::DataSet set = open(section, 4);
        QCOMPARE(set.train->samples(), 8);
        QCOMPARE(set.validation->samples(), 2);
        QCOMPARE(input_integers(*set.train, 4), codes("5555"));
        QCOMPARE(input_integers(*set.validation, 0), codes("4444"));
        QCOMPARE(target_integers(*set.validation, 1), codes("999."));
    }

    void a_long_text_is_split_in_sixteen_stretches() {
        const data::Split split = data::split_by_part(1600, 0.1);
        QCOMPARE(split.validation.size(), std::size_t(160));
        QCOMPARE(split.train.size(), std::size_t(1440));
        for (std::size_t i = 0; i < 160; ++i) {
            QCOMPARE(split.validation[i], std::int64_t(i / 10 * 100 + 90 + i % 10));
        }
    }

    void the_fingerprint_follows_the_content() {
        const Folder folder;
        const std::string before =
            open(text_section(folder.write("a", "abcdef")), 4).train->fingerprint();
        QCOMPARE(open(text_section(folder.write("a", "abcdef")), 4).train->fingerprint(), before);
        QVERIFY(open(text_section(folder.write("a", "abcdeg")), 4).train->fingerprint() != before);
    }
};

WEFT_TEST(TextTest)
#include "text_test.moc"
