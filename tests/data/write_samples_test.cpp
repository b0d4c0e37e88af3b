// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/data/recognise.h"
#include "core/data/write_samples.h"
#include "tests/data/data_support.h"

#include <QProcess>

#include <fstream>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

namespace fs = std::filesystem;

Json synthetic_points(int samples) {
    return {{"train",
             {{"type", "synthetic"},
              {"kind", "classification"},
              {"features", 5},
              {"classes", 3},
              {"samples", samples}}}};
}

} // namespace

class WriteSamplesTest : public QObject {
    Q_OBJECT

private slots:
    // More samples than a block holds, and no multiple of it.
    void what_is_made_reads_back_sample_by_sample() {
        const Folder folder;
        const auto path = folder.path() / "made.h5";
        const int count = 400'003;
        const data::WrittenSamples written = data::write_samples(synthetic_points(count), {}, path);
        QCOMPARE(written.train, count);
        QCOMPARE(written.bytes, static_cast<std::int64_t>(fs::file_size(path)));
        const data::DataSet made = open(unsplit(count));
        const data::DataSet read = open({{"train",
                                          {{"type", "hdf5"},
                                           {"path", path.string()},
                                           {"inputs", "x_train"},
                                           {"targets", "y_train"},
                                           {"scale", "none"}}},
                                         {"validation", nullptr}});
        QCOMPARE(read.train->samples(), count);
        for (const std::int64_t i : {0, 1, 299'999, 349'525, 349'526, count - 1}) {
            QCOMPARE(input_floats(*read.train, i), input_floats(*made.train, i));
            QCOMPARE(read.train->label(i), made.train->label(i));
        }
    }

    void another_program_reads_what_was_written() {
        const Folder folder;
        const auto path = folder.path() / "few.h5";
        data::write_samples(synthetic_points(4), {}, path);
        QProcess dump;
        dump.start("h5dump", {"-y", "-w", "0", "-m", "%.9g", "-d", "x_train",
                              QString::fromStdString(path.string())});
        QVERIFY(dump.waitForFinished());
        const std::string text = dump.readAllStandardOutput().toStdString();
        QVERIFY2(text.find("H5T_IEEE_F32LE") != std::string::npos &&
                     text.find("( 4, 5 )") != std::string::npos,
                 text.c_str());
        const data::DataSet made = open(unsplit(4));
        for (const float value : input_floats(*made.train, 3)) {
            char word[32];
            std::snprintf(word, sizeof word, "%.9g", static_cast<double>(value));
            QVERIFY2(text.find(word) != std::string::npos, word);
        }
    }

    // Standardised in a run, and in the file as they were.
    void numbers_to_predict_keep_their_units_and_a_test_part_is_found_again() {
        const Folder folder;
        const auto table = folder.path() / "prices.csv";
        const auto more = folder.path() / "more.csv";
        std::ofstream(table) << "size,price\n1,100\n2,250\n3,300\n4,450\n";
        std::ofstream(more) << "size,price\n5,500\n6,700\n";
        const auto path = folder.path() / "prices.h5";
        const auto source = [](const fs::path& file) {
            return Json{{"type", "csv"}, {"path", file.string()}, {"targets", {"price"}}};
        };
        const data::WrittenSamples written =
            data::write_samples({{"train", source(table)}, {"test", source(more)}}, {}, path);
        QCOMPARE(written.train, 4);
        QCOMPARE(written.test, 2);
        const data::Recognition found = data::recognise(path.string(), {});
        QVERIFY(!found.formats.empty());
        const Json& section = found.formats.front().data;
        QCOMPARE(section["test"]["inputs"], "x_test");
        Json raw = section;
        raw["validation"] = nullptr;
        const data::DataSet read = open(raw);
        const data::TargetScale scale = read.train->target_scale();
        QCOMPARE(scale.mean, std::vector<double>{275});
    }

    void what_is_there_stays_and_tokens_are_refused() {
        const Folder folder;
        const auto path = folder.path() / "there.h5";
        std::ofstream(path) << "mine";
        const auto write = [](const Json& section, const fs::path& to) {
            return error_of([&] { data::write_samples(section, {.sequence_length = 8}, to); });
        };
        QCOMPARE(write(synthetic_points(10), path)->text(), std::string("is there already"));
        QCOMPARE(read_file(path), std::string("mine"));
        const auto other = folder.path() / "tokens.h5";
        const Json tokens = {{"train", {{"type", "synthetic"}, {"kind", "tokens"}}}};
        QVERIFY(write(tokens, other)->text().find("tokens") != std::string::npos);
        QVERIFY(!fs::exists(other));
    }

    void a_stop_leaves_nothing_behind() {
        const Folder folder;
        const auto path = folder.path() / "stopped.h5";
        std::stop_source stop;
        data::OpenContext context;
        context.stop = stop.get_token();
        context.on_opening = [&](const data::Opening& one) {
            if (one.done > 0) {
                stop.request_stop();
            }
        };
        QVERIFY(error_of([&] {
                    data::write_samples(synthetic_points(2'000'000), context, path);
                }).has_value());
        QVERIFY(fs::is_empty(folder.path()));
    }

private:
    static Json unsplit(int samples) {
        Json section = synthetic_points(samples);
        section["validation"] = nullptr;
        return section;
    }
};

WEFT_TEST(WriteSamplesTest)
#include "write_samples_test.moc"
