// SPDX-License-Identifier: Apache-2.0
// What files are taken for, and that the section proposed for them opens.
#include "core/data/recognise.h"
#include "tests/data/data_support.h"
#include "tests/data/image_support.h"

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

const std::string kPeers = std::string(WEFT_TEST_DATA) + "/peers/";

/// The best format, whose section must open as it was outlined.
data::Recognised best(const std::filesystem::path& path) {
    const data::Recognition found = data::recognise(path, {.sequence_length = 8});
    if (found.formats.empty()) {
        return {};
    }
    const data::Recognised& one = found.formats.front();
    if (one.outline) {
        const data::DataSet set = open(one.data, 8);
        if (set.train->samples() != one.outline->samples ||
            set.train->info().classes != one.outline->sample.classes) {
            return {};
        }
    }
    return one;
}

} // namespace

class RecogniseTest : public QObject {
    Q_OBJECT

private slots:
    void an_empty_file_is_called_empty() {
        const Folder folder;
        const auto found = data::recognise(folder.write("notes", ""), {.sequence_length = 8});
        QVERIFY(found.formats.empty());
        QCOMPARE(found.problems, std::vector<std::string>{"The file is empty."});
    }

    void a_table_is_told_with_its_columns() {
        std::string content = "id;größe;farbe;name;preis\n";
        for (int i = 0; i < 40; ++i) {
            content += std::to_string(i) + ";" + (i == 3 ? "" : std::to_string(i) + ",5") + ";" +
                       (i % 2 == 0 ? "rot" : "blau") + ";n" + std::to_string(i) + ";" +
                       std::to_string(i * i) + ",25\n";
        }
        const Folder folder;
        const data::Recognised found = best(folder.write("Häuser.csv", content));
        QCOMPARE(found.format, std::string("csv"));
        QCOMPARE(found.summary,
                 std::string("Table of 40 rows and 5 columns, separated by ';', with "
                             "decimal commas"));
        QCOMPARE(found.columns.size(), std::size_t(5));
        QVERIFY(found.columns[1].kind == data::Column::Kind::number);
        QCOMPARE(found.columns[1].missing, 1);
        QCOMPARE(found.columns[1].maximum, 39.5);
        QVERIFY(found.columns[2].kind == data::Column::Kind::category);
        QVERIFY(found.columns[3].kind == data::Column::Kind::text);
        QCOMPARE(found.data["train"]["targets"], Json("preis"));
        QCOMPARE(ir::to_text(found.outline->sample.input), std::string("f32[3]"));
        QCOMPARE(ir::to_text(found.outline->sample.target), std::string("f32[1]"));
    }

    void another_target_column_is_described_anew() {
        const Folder folder;
        const auto path = folder.write("a.csv", "a,b\n1,x\n2,z\n3,x\n4,z\n");
        Json section = data::recognise(path).formats.front().data;
        QCOMPARE(section["train"]["targets"], Json("b"));
        section["train"]["targets"] = "a";
        const data::Recognised other = data::describe(section, {});
        QCOMPARE(other.outline->sample.classes, 0);
        section["train"]["targets"] = "c";
        QCOMPARE(data::describe(section, {}).problems.size(), std::size_t(1));
    }

    void folders_of_images_are_told_with_their_classes() {
        const Folder folder;
        for (int i = 0; i < 4; ++i) {
            folder.write("train/a/" + std::to_string(i) + ".png",
                         png_bytes(plain_image(20 + i, 30, {1, 2, 3})));
            folder.write("train/b/" + std::to_string(i) + ".jpg",
                         jpeg_bytes(plain_image(40, 30 + i, {1, 2, 3})));
            folder.write("val/a/" + std::to_string(i) + ".png",
                         png_bytes(plain_image(20, 30, {1, 2, 3})));
        }
        const data::Recognised found = best(folder.path());
        QCOMPARE(found.format, std::string("images"));
        QCOMPARE(found.classes.size(), std::size_t(2));
        QCOMPARE(found.classes[1].samples, 4);
        QCOMPARE(found.data["validation"]["type"], Json("images"));
        QCOMPARE(found.outline->samples, 8);
    }

    void arrays_find_their_targets_by_name() {
        const Folder folder;
        const auto copy = [&](const char* from, const char* to) {
            std::filesystem::copy_file(kPeers + from, folder.path() / to);
        };
        copy("f4.npy", "X_train.npy");
        copy("labels.npy", "y_train.npy");
        copy("f4.npy", "X_test.npy");
        copy("labels.npy", "y_test.npy");
        for (const auto& path : {folder.path(), folder.path() / "X_train.npy"}) {
            const data::Recognised found = best(path);
            QCOMPARE(found.format, std::string("npy"));
            QVERIFY(found.data["train"]["targets"].get<std::string>().ends_with("y_train.npy"));
            QVERIFY(found.data["test"]["inputs"].get<std::string>().ends_with("X_test.npy"));
            QCOMPARE(found.classes.size(), std::size_t(3));
            QCOMPARE(found.classes[2].samples, 2);
        }
    }

    void other_formats_are_known_by_what_they_hold() {
        const Folder folder;
        QCOMPARE(best(kPeers + "packed.h5").format, std::string("hdf5"));
        QCOMPARE(best(folder.write("a.jsonl", "{\"body\": \"a long enough text\", \"n\": 1}\n"))
                     .data["train"]["text"],
                 Json("body"));
        QCOMPARE(best(folder.write("novel.txt", "It was a dark night, and stormy, too.\nRain.\n"))
                     .format,
                 std::string("text"));
        const Folder texts;
        texts.write("b/one.md", "a text of some length");
        texts.write("two.txt", "another text of some length");
        QCOMPARE(best(texts.path()).format, std::string("text"));
    }

    void what_is_not_known_says_why() {
        const Folder folder;
        const auto problem = [](const std::filesystem::path& path) {
            const data::Recognition found = data::recognise(path);
            return found.formats.empty() ? found.problems.front() : std::string();
        };
        QVERIFY(problem("/nowhere").find("no such file") != std::string::npos);
        QVERIFY(problem(folder.path()).find("no data that is known") != std::string::npos);
        QVERIFY(problem(folder.write("a.npz", std::string("PK\3\4\0\0", 6))).find("numpy.save") !=
                std::string::npos);
        QVERIFY(problem(folder.write("rows.parquet", std::string("PAR1\x15\x04\0\0PAR1", 12)))
                    .find("pandas.read_parquet") != std::string::npos);
        QVERIFY(problem(folder.write("a.bin", std::string("\0\1\2\3", 4))).find("none of these") !=
                std::string::npos);
    }

    void files_that_are_damaged_are_known_and_their_fault_is_told() {
        const Folder folder;
        const auto cut = folder.write("cut.npy", "\x93NUMPY");
        const data::Recognition found = data::recognise(folder.write("X.npy", "\x93NUMPY\1"));
        QCOMPARE(found.formats.size(), std::size_t(1));
        QCOMPARE(found.formats[0].format, std::string("npy"));
        QCOMPARE(found.formats[0].problems.size(), std::size_t(1));
        QVERIFY(!found.formats[0].outline.has_value());
        QVERIFY(!data::recognise(cut).formats.empty());
    }
};

WEFT_TEST(RecogniseTest)
#include "recognise_test.moc"
