// SPDX-License-Identifier: Apache-2.0
// Decisions about single samples: what is read of a list, and what sources then give.
#include "core/base/error.h"
#include "core/data/corrections.h"
#include "core/data/dataset.h"
#include "tests/data/data_support.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cstring>
#include <fstream>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;
namespace fs = std::filesystem;

constexpr const char* kSum = "00000000";

} // namespace

class CorrectionsTest : public QObject, private TestFolder {
    Q_OBJECT

    /// Twenty rows: x is the number of the row, the class its last digit's half.
    Json section(const Json& more) const {
        std::ofstream table(path("table.csv"));
        table << "x,class\n";
        for (int i = 0; i < 20; ++i) {
            table << i << "," << (i % 10 < 5 ? "low" : "high") << "\n";
        }
        Json out = {{"train",
                     {{"type", "csv"},
                      {"path", path("table.csv").string()},
                      {"targets", {"class"}},
                      {"scale", "none"}}},
                    {"validation", nullptr}};
        if (more.is_object()) {
            out.merge_patch(more);
        }
        return out;
    }
    std::string list(const std::vector<data::Correction>& all) const {
        const fs::path file = path("list.jsonl");
        data::write_corrections(file, all);
        return file.string();
    }
    static float first_of(const data::Source& source, std::int64_t index) {
        std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
        source.read(index, input, {});
        float out = 0;
        std::memcpy(&out, input.data(), sizeof out);
        return out;
    }
    static std::int32_t target_of(const data::Source& source, std::int64_t index) {
        std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
        std::int32_t out = -1;
        source.read(index, input, std::as_writable_bytes(std::span(&out, 1)));
        return out;
    }
    std::string refused(const Json& section) const {
        try {
            data::open_data(section, {});
        } catch (const Error& fault) {
            return fault.what();
        }
        return {};
    }

private slots:
    void what_is_no_decision_is_told_with_its_line_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, const Json& line, const char* expected) {
            QTest::newRow(name) << QString::fromStdString(line.dump()) << expected;
        };
        row("no decision", "train 3", "is no decision");
        row("part", {{"part", "tain"}, {"index", 1}}, "neither train nor validation");
        row("test", {{"part", "test"}, {"index", 1}}, "the test part is never changed");
        row("index", {{"part", "train"}, {"index", -1}}, "\"index\" is no whole number");
        row("checksum", {{"part", "train"}, {"index", 1}, {"crc32c", "12"}}, "is no checksum");
        row("action", {{"part", "train"}, {"index", 1}, {"crc32c", kSum}}, "neither exclude");
        row("label", {{"part", "train"}, {"index", 1}, {"crc32c", kSum}, {"action", "label"}},
            "\"label\" is no whole number");
        row("twice", {{"part", "train"}, {"index", 0}, {"crc32c", kSum}, {"action", "exclude"}},
            "has a decision in line 1");
    }
    void what_is_no_decision_is_told_with_its_line() {
        QFETCH(QString, line);
        QFETCH(QString, expected);
        const fs::path file = path("bad.jsonl");
        const Json right = {
            {"part", "train"}, {"index", 0}, {"crc32c", kSum}, {"action", "exclude"}};
        std::ofstream(file) << right.dump() << "\n\n" << line.toStdString() << "\n";
        try {
            data::read_corrections(file);
            QFAIL("it was taken");
        } catch (const Error& fault) {
            const QString said = QString::fromStdString(fault.message());
            QVERIFY2(said.contains("bad.jsonl, line 3") && said.contains(expected),
                     qPrintable(said));
        }
    }

    void samples_are_left_out_and_have_another_class() {
        const data::DataSet plain = data::open_data(section({}), {});
        const auto sum = [&](std::int64_t index) {
            return data::sample_checksum(*plain.train_files, index);
        };
        const std::string file =
            list({{"train", 3, sum(3), -1, "twice", 0}, {"train", 11, sum(11), 1, "", 0}});
        const data::DataSet data = data::open_data(section({{"corrections", file}}), {});
        QCOMPARE(data.train->samples(), std::int64_t{19});
        QCOMPARE(first_of(*data.train, 3), 4.0F);
        QCOMPARE(data.train->origin(3), std::int64_t{4});
        QCOMPARE(data.train->origin(10), std::int64_t{11});
        const std::int32_t low = plain.train->label(0);
        QCOMPARE(plain.train->label(11), low);
        QCOMPARE(data.train->label(10), std::int32_t{1});
        QCOMPARE(target_of(*data.train, 10), std::int32_t{1});
        QCOMPARE(target_of(*data.train, 9), low);
        QVERIFY(data.train->fingerprint() != plain.train->fingerprint());
        // Ten of each; one low is gone, and one of them is class 1 now.
        const auto counts = data.train->info().class_counts;
        QCOMPARE(counts.at(0) + counts.at(1), std::int64_t{19});
        std::int64_t ones = 0;
        for (std::int64_t i = 0; i < 19; ++i) {
            ones += data.train->label(i) == 1 ? 1 : 0;
        }
        QCOMPARE(counts.at(1), ones);
        const data::DataOutline outline = data::outline_data(section({{"corrections", file}}), {});
        QCOMPARE(outline.samples, std::int64_t{19});
        QCOMPARE(outline.sample.class_counts, counts);
    }

    void the_same_samples_are_held_out_as_without() {
        const Json split = {{"validation", {{"split", 0.25}}}};
        const data::DataSet plain = data::open_data(section(split), {});
        const std::int64_t held = plain.validation->origin(0);
        const std::int64_t taught = plain.train->origin(2);
        const std::string file =
            list({{"train", held, data::sample_checksum(*plain.train_files, held), -1, "", 0},
                  {"train", taught, data::sample_checksum(*plain.train_files, taught), -1, "", 0}});
        Json with = split;
        with["corrections"] = file;
        const data::DataSet data = data::open_data(section(with), {});
        const auto origins = [](const data::Source& source) {
            std::vector<std::int64_t> out;
            for (std::int64_t i = 0; i < source.samples(); ++i) {
                out.push_back(source.origin(i));
            }
            return out;
        };
        auto validation = origins(*plain.validation);
        std::erase(validation, held);
        auto train = origins(*plain.train);
        std::erase(train, taught);
        QCOMPARE(origins(*data.validation), validation);
        QCOMPARE(origins(*data.train), train);
    }

    void a_list_that_does_not_fit_is_refused() {
        const data::DataSet plain = data::open_data(section({}), {});
        const std::uint32_t sum = data::sample_checksum(*plain.train_files, 3);
        const auto with = [&](const data::Correction& one) {
            return refused(section({{"corrections", list({one})}}));
        };
        QVERIFY(with({"train", 4, sum, -1, "", 0}).find("holds something else") !=
                std::string::npos);
        QVERIFY(with({"train", 20, sum, -1, "", 0}).find("is not there: it has 20") !=
                std::string::npos);
        QVERIFY(with({"train", 3, sum, 2, "", 0}).find("class 2 is none of the 2") !=
                std::string::npos);
        const std::string streamed = refused(
            section({{"cache", "none"}, {"corrections", list({{"train", 3, sum, -1, "", 0}})}}));
        QVERIFY2(streamed.find("read block by block") != std::string::npos, streamed.c_str());
        std::vector<data::Correction> all;
        for (std::int64_t i = 0; i < 20; ++i) {
            all.push_back({"train", i, data::sample_checksum(*plain.train_files, i), -1, "", 0});
        }
        QVERIFY(refused(section({{"corrections", list(all)}})).find("leaves no sample") !=
                std::string::npos);
    }

    void a_list_is_written_as_it_is_read() {
        const std::string file =
            list({{"train", 3, 0x00ab12cd, -1, "twice", 0}, {"validation", 5, 7, 2, "", 0}});
        const auto all = data::read_corrections(file);
        QCOMPARE(all.size(), std::size_t{2});
        QCOMPARE(all[0].crc32c, 0x00ab12cdU);
        QVERIFY(all[0].excludes());
        QCOMPARE(all[0].why, std::string("twice"));
        QCOMPARE(all[1].part, std::string("validation"));
        QCOMPARE(all[1].label, std::int32_t{2});
        QCOMPARE(all[1].line, 2);
    }
};

WEFT_TEST(CorrectionsTest)
#include "corrections_test.moc"
