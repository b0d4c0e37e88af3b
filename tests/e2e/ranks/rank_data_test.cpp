// SPDX-License-Identifier: Apache-2.0
// Ranks that read their own rows. The data lie at /proc/self/cwd, so that each rank finds what is in
// the folder that it was started in.
#include "core/base/file.h"
#include "tests/data/image_support.h"
#include "tests/e2e/ranks/rank_processes.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>

using namespace weft;
using namespace weft::test;
using weft::data::test::plain_image;
using weft::data::test::png_bytes;

namespace {

constexpr int kSideOfPictures = 6;
constexpr int kPicturesOfClass = 11; // of two: the last batch of an epoch is short

std::string shaded_picture(int shade) {
    const auto level = static_cast<std::uint8_t>(shade * 9);
    return png_bytes(plain_image(kSideOfPictures, kSideOfPictures,
                                 {level, 200, static_cast<std::uint8_t>(255 - level)}));
}

std::vector<std::string> warnings_of(const std::filesystem::path& run) {
    std::vector<std::string> out;
    for (const train::Event& event : events_of(run)) {
        if (const auto* warning = std::get_if<train::WarningEvent>(&event.payload)) {
            out.push_back(warning->message);
        }
    }
    return out;
}

bool any_has(const std::vector<std::string>& texts, const std::string& part) {
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
        return text.find(part) != std::string::npos;
    });
}

} // namespace

class RankDataTest : public QObject, private TestFolder {
    Q_OBJECT

    /// Pictures of which the first is damaged, and a run on them with whatever is random.
    QString write_run(const std::filesystem::path& at) const {
        for (int i = 0; i < kPicturesOfClass; ++i) {
            for (const char* side : {"left", "right"}) {
                const std::filesystem::path file =
                    at / "pictures" / side / (std::string(1, static_cast<char>('a' + i)) + ".png");
                std::filesystem::create_directories(file.parent_path());
                const std::string bytes = shaded_picture(*side == 'l' ? i : 26 - i);
                write_file_atomically(file, file.stem() == "a" && *side == 'l' ? bytes.substr(0, 60)
                                                                                : bytes);
            }
        }
        const config::Json document = {
            {"data",
             {{"train",
               {{"type", "images"},
                {"path", "/proc/self/cwd/pictures"},
                {"size", {kSideOfPictures, kSideOfPictures}},
                {"most_bad", 0.1}}},
              {"validation", {{"split", 0.3}}},
              {"cache", "none"},
              {"shuffle", true},
              {"transforms", {{{"type", "random_flip"}}}},
              {"mix", {{{"type", "mixup"}, {"alpha", 0.4}}}}}},
            {"model",
             {{"type", "sequential"},
              {"layers",
               {{{"type", "conv2d"}, {"channels", 4}, {"kernel", 3}},
                {{"type", "batch_norm"}},
                {{"type", "relu"}},
                {{"type", "dropout"}, {"rate", 0.1}},
                {{"type", "flatten"}},
                {{"type", "linear"}}}}}},
            {"mesh", {{"devices", "cpu:3"}}},
            {"training",
             {{"length", {{"epochs", 3}}}, {"global_batch_size", 6}, {"precision", "f32"}}},
            {"log", {{"tensorboard", false}}}};
        write_file_atomically(at / "run.json", document.dump());
        return QString::fromStdString((at / "run.json").string());
    }

    /// Three ranks, each started in the folder that `where` gives.
    static RankOptions started_in(const std::function<std::filesystem::path(int)>& where) {
        RankOptions out;
        out.ranks = 3;
        out.through = [where](int rank) {
            return QStringList{"env", "-C", QString::fromStdString(where(rank).string())};
        };
        return out;
    }

    void expect_the_bits_of_one_process(const QString& run, const std::filesystem::path& folder) {
        QProcess one;
        one.start("env", {"-C", QString::fromStdString(folder.string()), "OMP_NUM_THREADS=1",
                          WEFT_PROGRAM, "train", run, "--run-dir",
                          QString::fromStdString((folder / "alone").string())});
        QVERIFY(one.waitForFinished(120'000));
        QVERIFY2(one.exitCode() == 0, one.readAllStandardError().constData());
        QVERIFY(!losses_of(folder / "alone").empty());
        QCOMPARE(losses_of(folder / "ranks"), losses_of(folder / "alone"));
        QVERIFY(saved_arrays(folder / "ranks") == saved_arrays(folder / "alone"));
        for (const char* run_name : {"alone", "ranks"}) {
            QVERIFY(any_has(warnings_of(folder / run_name), "damaged"));
        }
    }

private slots:
    void rows_that_ranks_read_are_those_of_one_process() {
        const std::filesystem::path folder = path("same");
        const QString config = write_run(folder);
        RankProcesses ranks(
            {"train", config, "--run-dir", QString::fromStdString((folder / "ranks").string())},
            started_in([&](int) { return folder; }));
        const auto codes = ranks.finish();
        QVERIFY2(codes == std::vector<int>(3, 0), ranks.error_output(0).c_str());
        QVERIFY(!any_has(warnings_of(folder / "ranks"), "are not read"));
        expect_the_bits_of_one_process(config, folder);
    }

    void rank_0_reads_for_who_does_not_find_the_data_and_says_so() {
        const std::filesystem::path folder = path("lacking");
        const QString config = write_run(folder);
        std::filesystem::create_directory(folder / "empty");
        RankProcesses ranks(
            {"train", config, "--run-dir", QString::fromStdString((folder / "ranks").string())},
            started_in([&](int rank) { return rank == 1 ? folder / "empty" : folder; }));
        const auto codes = ranks.finish();
        QVERIFY2(codes == std::vector<int>(3, 0), ranks.error_output(0).c_str());
        const auto warnings = warnings_of(folder / "ranks");
        QVERIFY(any_has(warnings, "The train data are not read by rank 1 on "));
        QVERIFY(!any_has(warnings, "rank 2"));
        expect_the_bits_of_one_process(config, folder);
    }

    void other_data_on_a_rank_end_the_run_before_it_begins() {
        const std::filesystem::path folder = path("other");
        const QString config = write_run(folder);
        const std::filesystem::path there = path("there");
        write_run(there);
        write_file_atomically(there / "pictures" / "right" / "k.png", shaded_picture(3));
        RankProcesses ranks(
            {"train", config, "--run-dir", QString::fromStdString((folder / "ranks").string())},
            started_in([&](int rank) { return rank == 2 ? there : folder; }));
        const auto codes = ranks.finish();
        QCOMPARE(codes.front(), 3);
        const std::string said = ranks.error_output(0);
        QVERIFY2(said.find("rank 2 on ") != std::string::npos &&
                     said.find("k.png") != std::string::npos &&
                     said.find("is another sample there than on rank 0") != std::string::npos,
                 said.c_str());
    }
};

WEFT_TEST(RankDataTest)
#include "rank_data_test.moc"
