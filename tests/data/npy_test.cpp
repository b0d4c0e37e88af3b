// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/data/files/npy_header.h"
#include "core/data/formats/format_list.h"
#include "tests/data/data_support.h"

#include <numeric>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

Json npy_section(const std::string& inputs, const std::string& targets, const char* more = "{}") {
    Json train = config::json_of(more);
    train.update(Json{{"type", "npy"}, {"inputs", inputs}, {"targets", targets}});
    return {{"train", train}, {"validation", nullptr}};
}

/// A file of f8 [n, 1] made by hand from the format's description.
std::string npy_bytes(const std::string& header, const std::string& elements) {
    std::string padded = header + std::string((64 - (header.size() + 11) % 64) % 64, ' ') + "\n";
    std::string out = "\x93NUMPY";
    out += '\1';
    out += '\0';
    out += static_cast<char>(padded.size() & 0xff);
    out += static_cast<char>(padded.size() >> 8);
    return out + padded + elements;
}

std::string doubles(std::initializer_list<double> values) {
    std::string out;
    for (const double value : values) {
        out.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return out;
}

/// Four samples of one feature with whole numbers as targets, in `folder`.
Json labelled(const Folder& folder, std::initializer_list<std::int8_t> labels,
              std::initializer_list<double> values = {1, 2, 3, 4}, const std::string& more = "{}") {
    const auto x = folder.write(
        "x.npy",
        npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1), }", doubles(values)));
    const auto y =
        folder.write("y.npy", npy_bytes("{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }",
                                        std::string(labels.begin(), labels.end())));
    return npy_section(x.string(), y.string(), more.c_str());
}

} // namespace

class NpyTest : public QObject {
    Q_OBJECT

private slots:
    // All of these hold the numbers of peer_row(), as numpy saved them.
    void arrays_of_numpy_read_as_they_were_written_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<double>("factor");
        QTest::addColumn<double>("offset");
        QTest::newRow("f4") << "f4.npy" << 1.0 << 0.0;
        QTest::newRow("big-endian f8") << "f8_big.npy" << 1.0 << 0.0;
        QTest::newRow("f2") << "f2.npy" << 1.0 << 0.0;
        QTest::newRow("Fortran order") << "fortran.npy" << 1.0 << 0.0;
        QTest::newRow("big-endian i2") << "i2_big.npy" << 2.0 << 0.0;
        QTest::newRow("u1") << "u1.npy" << 2.0 << 6.0;
        QTest::newRow("format version 3") << "version3.npy" << 1.0 << 0.0;
    }

    void arrays_of_numpy_read_as_they_were_written() {
        QFETCH(QString, file);
        QFETCH(double, factor);
        QFETCH(double, offset);
        const data::DataSet set =
            open(npy_section(peer(file.toStdString()), peer("labels.npy"), R"({"scale": "none"})"));
        QCOMPARE(ir::to_text(set.train->info().input), std::string("f32[3,2,1]"));
        QCOMPARE(set.train->samples(), 4);
        for (int i = 0; i < 4; ++i) {
            std::vector<float> expected = peer_row(i);
            for (float& value : expected) {
                value = static_cast<float>(value * factor + offset);
            }
            QCOMPARE(input_floats(*set.train, i), expected);
        }
    }

    void whole_numbers_are_classes_and_flags_too() {
        const data::DataSet set = open(npy_section(peer("f4.npy"), peer("labels.npy")));
        QCOMPARE(set.train->info().classes, 3);
        QCOMPARE(target_integers(*set.train, 3), std::vector<std::int32_t>{2});
        const data::DataSet flags = open(npy_section(peer("f4.npy"), peer("flags.npy")));
        QCOMPARE(flags.train->info().classes, 2);
        QCOMPARE(flags.train->label(0), 1);
    }

    void labels_below_minus_one_are_refused_with_the_first_of_them() {
        const Folder folder;
        const auto error = error_of([&] { open(labelled(folder, {0, 1, -2, -3})); });
        QVERIFY(error.has_value());
        QVERIFY2(error->message().find("y.npy: target 2 is -2") != std::string::npos,
                 error->message().c_str());
        QVERIFY2(error->hint().find("0, 1, 2") != std::string::npos, error->hint().c_str());
    }

    void labels_of_minus_and_plus_one_are_refused_with_the_way_out() {
        const Folder folder;
        const Json section = labelled(folder, {1, -1, 1, -1});
        const auto error = error_of([&] { open(section); });
        QVERIFY(error.has_value());
        QVERIFY2(error->message().find("target 1 is the first -1") != std::string::npos,
                 error->message().c_str());
        QVERIFY2(error->hint().find("(targets + 1) / 2") != std::string::npos,
                 error->hint().c_str());
        // A plan, which opens no data, says the same.
        QVERIFY(error_of([&] { data::outline_data(normalised(section), {}); }).has_value());
    }

    void a_label_of_minus_one_is_no_class_and_is_told() {
        const Folder folder;
        const data::DataSet set = open(labelled(folder, {0, 1, -1, 1}));
        QCOMPARE(set.train->info().classes, 2);
        QCOMPARE(set.train->label(2), -1);
        QVERIFY(noted(set, "1 sample has the target -1, no class"));
        QVERIFY(!noted(open(labelled(folder, {0, 1, 1, 1})), "no class"));
    }

    void numbers_that_hide_all_others_are_told_data() {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("more");
        QTest::addColumn<QString>("words"); // none: nothing is told
        const QString plain = R"({"scale": "none"})";
        QTest::newRow("standardised") << 5e4 << "{}"
                                      << "";
        QTest::newRow("standardised, huge") << 1e300 << "{}"
                                            << "inputs of x.npy reach 1e+300:";
        QTest::newRow("standardised, huge below 0") << -1e300 << "{}"
                                                    << "inputs of x.npy reach -1e+300:";
        QTest::newRow("as it is") << 1000.0 << plain << "";
        QTest::newRow("as it is, large")
            << 5e4 << plain << "inputs of x.npy reach 50000 and go in as they are";
        QTest::newRow("as it is, infinite") << HUGE_VAL << plain << "inputs of x.npy reach inf:";
    }

    void numbers_that_hide_all_others_are_told() {
        QFETCH(double, value);
        QFETCH(QString, more);
        QFETCH(QString, words);
        const Folder folder;
        const Json section = labelled(folder, {0, 1, 0, 1}, {1, 2, value, 4}, more.toStdString());
        const data::DataSet set = open(section);
        QCOMPARE(noted(set, "reach"), !words.isEmpty());
        QVERIFY(noted(set, words.toStdString()) || words.isEmpty());
        const std::vector<std::string> planned =
            data::outline_data(normalised(section), {}).warnings;
        QCOMPARE(planned, words.isEmpty()
                              ? std::vector<std::string>()
                              : std::vector<std::string>(set.notes.begin(), set.notes.end()));
    }

    void targets_that_hide_all_others_are_told() {
        const Folder folder;
        const Json section = labelled(folder, {0, 0, 0, 0});
        folder.write("y.npy", npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }",
                                        doubles({1, 2, 1e300, 3})));
        QVERIFY(noted(open(section), "y.npy reach 1e+300"));
    }

    void real_numbers_are_a_regression_in_deviations() {
        const Folder folder;
        const auto x = folder.write(
            "x.npy", npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1), }",
                               doubles({1, 2, 3, 6})));
        const auto y = folder.write(
            "y.npy", npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }",
                               doubles({10, 20, 30, 40})));
        const data::DataSet set = open(npy_section(x.string(), y.string()));
        QCOMPARE(ir::to_text(set.train->info().target), std::string("f32[1]"));
        QCOMPARE(set.train->target_scale().mean, std::vector<double>{25});
        const double deviation = std::sqrt(14.0 / 4); // of 1, 2, 3, 6 about 3, rounded to f32 last
        QCOMPARE(input_floats(*set.train, 3),
                 std::vector<float>{static_cast<float>(3 / deviation)});
        const data::DataSet raw = open(
            npy_section(x.string(), y.string(), R"({"scale": "none", "scale_targets": "none"})"));
        std::vector<std::byte> input(4);
        std::vector<std::byte> target(4);
        raw.train->read(2, input, target);
        QCOMPARE(floats(target), std::vector<float>{30});
    }

    void images_of_bytes_become_0_to_1_and_channels_go_last() {
        const Folder folder;
        std::string pixels(2 * 3 * 4 * 5, '\0');
        std::iota(pixels.begin(), pixels.end(), '\0');
        const auto x = folder.write(
            "x.npy",
            npy_bytes("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4, 5), }", pixels));
        const auto y = folder.write(
            "y.npy", npy_bytes("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }",
                               std::string("\0\1", 2)));
        const data::DataSet set = open(npy_section(x.string(), y.string()));
        QCOMPARE(ir::to_text(set.train->info().input), std::string("f32[4,5,3]"));
        QCOMPARE(set.notes.size(), std::size_t(1)); // that channels were taken to come first
        const std::vector<float> first = input_floats(*set.train, 0);
        QCOMPARE(first[0], 0.0F);
        QCOMPARE(first[1], 20.0F / 255); // the second channel begins 4 * 5 values later
        QCOMPARE(first[3], 1.0F / 255);
        const data::DataSet as_stored =
            open(npy_section(x.string(), y.string(), R"({"channels": "last"})"));
        QCOMPARE(ir::to_text(as_stored.train->info().input), std::string("f32[3,4,5]"));
    }

    void every_prefix_of_a_file_is_refused() {
        const std::string whole = read_file(peer("f4.npy"));
        const Folder folder;
        for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
            const auto path = folder.write("cut.npy", whole.substr(0, bytes));
            const auto error = error_of([&] { data::read_npy_header(path); });
            QVERIFY2(error.has_value(), std::to_string(bytes).c_str());
            QCOMPARE(error->kind(), ErrorKind::data);
            QVERIFY(!error->hint().empty());
        }
    }

    void damaged_headers_are_refused_data() {
        QTest::addColumn<QString>("header");
        QTest::addColumn<QString>("part");
        QTest::newRow("objects") << "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
                                 << "Python objects";
        QTest::newRow("records")
            << "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"
            << "several fields";
        QTest::newRow("text") << "{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }"
                              << "no plain numbers";
        QTest::newRow("no shape") << "{'descr': '<f8', 'fortran_order': False, }"
                                  << "a key is missing";
        QTest::newRow("negative") << "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"
                                  << "bad extent";
        QTest::newRow("huge")
            << "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8), }"
            << "impossibly large";
        QTest::newRow("too much") << "{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }"
                                  << "announces 72 bytes";
        QTest::newRow("no literal") << "os.system('ls')"
                                    << "damaged";
    }

    void damaged_headers_are_refused() {
        QFETCH(QString, header);
        QFETCH(QString, part);
        const Folder folder;
        const auto path = folder.write("bad.npy", npy_bytes(header.toStdString(), doubles({1})));
        const auto error = error_of([&] { data::read_npy_header(path); });
        QVERIFY(error.has_value());
        QVERIFY2(error->text().find(part.toStdString()) != std::string::npos,
                 error->text().c_str());
    }

    void objects_that_numpy_pickled_are_refused() {
        const auto error = error_of([] { data::read_npy_header(peer("objects.npy")); });
        QVERIFY(error && error->text().find("Python objects") != std::string::npos);
    }

    void arrays_that_do_not_belong_together_are_refused() {
        const Folder folder;
        const auto y = folder.write(
            "y.npy",
            npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", doubles({1})));
        const auto error = error_of([&] { open(npy_section(peer("f4.npy"), y.string())); });
        QVERIFY(error && error->text().find("1 targets do not match the 4 inputs") == 0);
    }

    void another_part_follows_the_scale_of_training() {
        const Folder folder;
        const auto file = [&](const char* name, std::initializer_list<double> values) {
            return folder
                .write(name, npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                                           std::to_string(values.size()) + ", 1), }",
                                       doubles(values)))
                .string();
        };
        Json section = npy_section(file("x.npy", {0, 10}), file("y.npy", {0, 1}));
        section["validation"] = section["train"];
        section["validation"]["inputs"] = file("vx.npy", {20});
        section["validation"]["targets"] = file("vy.npy", {5});
        const data::DataSet set = open(section);
        QCOMPARE(input_floats(*set.validation, 0), std::vector<float>{3}); // (20 - 5) / 5
    }
};

WEFT_TEST(NpyTest)
#include "npy_test.moc"
