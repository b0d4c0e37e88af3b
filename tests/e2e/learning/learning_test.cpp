// SPDX-License-Identifier: Apache-2.0
// Honest learning: what a training program must do whatever the model, on real pictures.
#include "core/data/dataset.h"
#include "tests/e2e/learning/run_session.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

namespace {

using namespace weft;
using config::Json;

constexpr auto kFashion = "/usr/share/datasets/fashion-mnist";

bool fashion_is_installed() {
    return std::filesystem::exists(kFashion);
}

void write_big_endian(std::ofstream& file, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        file.put(static_cast<char>(value >> shift & 255U));
    }
}

enum class Labels { kept, shuffled };

/// The first pictures of Fashion-MNIST as idx files of their own, so that a run reads a small or a
/// changed data set through its usual path.
void write_subset(const std::filesystem::path& folder, std::int64_t count, Labels labels) {
    std::filesystem::create_directories(folder);
    const data::DataSet set = data::open_data(
        config::json_of(
            std::string(R"({"train": {"type": "idx", "path": ")") + kFashion +
            R"("}, "validation": null, "test": null, "transforms": [], "tokenizer": null,
                        "shuffle": false, "drop_last": false, "cache": "auto", "num_workers": 1,
                        "prefetch": 0})"),
        {".", 0, 0});
    std::vector<int> classes;
    std::ofstream images(folder / "train-images-idx3-ubyte", std::ios::binary);
    write_big_endian(images, 0x803);
    for (const std::int64_t extent : {count, std::int64_t{28}, std::int64_t{28}}) {
        write_big_endian(images, static_cast<std::uint32_t>(extent));
    }
    std::vector<std::byte> bytes(28 * 28 * sizeof(float));
    std::vector<float> pixels(28 * 28);
    for (std::int64_t i = 0; i < count; ++i) {
        set.train->read(i, bytes, {});
        std::memcpy(pixels.data(), bytes.data(), bytes.size());
        for (const float pixel : pixels) {
            images.put(static_cast<char>(std::lround(pixel * 255)));
        }
        classes.push_back(set.train->label(i));
    }
    if (labels == Labels::shuffled) {
        std::shuffle(classes.begin(), classes.end(), std::mt19937(7));
    }
    std::ofstream file(folder / "train-labels-idx1-ubyte", std::ios::binary);
    write_big_endian(file, 0x801);
    write_big_endian(file, static_cast<std::uint32_t>(count));
    for (const int label : classes) {
        file.put(static_cast<char>(label));
    }
}

Json fashion_config(const std::string& path) {
    return Json{{"schema_version", 1},
                {"name", "honest"},
                {"data",
                 {{"train", {{"type", "idx"}, {"path", path}}},
                  {"validation", {{"split", 0.2}}},
                  {"transforms",
                   {{{"type", "normalize"}, {"mean", {0.286}}, {"std", {0.353}}}}}}},
                {"model", {{"type", "mlp"}, {"hidden", {64}}, {"dropout", 0.0}}},
                {"optimizer", {{"type", "adamw"}, {"learning_rate", 1e-3}}},
                {"lr_schedule", {{"type", "constant"}}},
                {"training",
                 {{"length", {{"steps", 100}}}, {"global_batch_size", 64}, {"precision", "f32"}}},
                {"evaluation", {{"every", {{"steps", 100}}}, {"samples", 0}}}};
}

} // namespace

class LearningTest : public QObject {
    Q_OBJECT

private slots:
    void init() {
        if (!fashion_is_installed()) {
            QSKIP("Debian's dataset-fashion-mnist is not installed");
        }
    }

    void the_first_loss_is_that_of_guessing() {
        const test::SessionRun run = test::run_session(fashion_config(kFashion), root(), 1);
        QVERIFY2(run.problem.empty(), run.problem.c_str());
        const double chance = std::log(10.0);
        QVERIFY2(std::abs(run.losses().at(0) - chance) < 0.05 * chance,
                 qPrintable(QString("first loss %1").arg(run.losses().at(0))));
    }

    void shuffled_labels_stay_at_chance_on_validation() {
        write_subset(root() / "shuffled", 3000, Labels::shuffled);
        Json config = fashion_config("shuffled");
        config["training"]["length"]["steps"] = 300;
        config["evaluation"]["every"]["steps"] = 300;
        const test::SessionRun run = test::run_session(config, root());
        QVERIFY2(run.problem.empty(), run.problem.c_str());
        // 600 validation samples at 0.1: the binomial standard deviation is 0.0122; four of them.
        const double accuracy = run.last_metric("validation/accuracy");
        QVERIFY2(std::abs(accuracy - 0.1) < 0.05, qPrintable(QString::number(accuracy)));
        QVERIFY(run.losses().back() < run.losses().front()); // it did learn the noise by heart
    }

    void one_batch_is_learned_by_heart() {
        write_subset(root() / "one", 64, Labels::kept);
        Json config = fashion_config("one");
        config["data"]["validation"] = nullptr;
        config["checkpoint"]["metric"] = "train/loss";
        config["training"]["length"]["steps"] = 300;
        const test::SessionRun run = test::run_session(config, root());
        QVERIFY2(run.problem.empty(), run.problem.c_str());
        QVERIFY2(run.losses().back() < 0.01, qPrintable(QString::number(run.losses().back())));
    }

    void a_ragged_last_batch_gives_the_loss_of_one_big_batch() {
        write_subset(root() / "ragged", 500, Labels::kept);
        const auto validation_loss = [&](int batch) {
            Json config = fashion_config("ragged");
            config["training"]["global_batch_size"] = batch;
            const test::SessionRun run = test::run_session(config, root(), 1);
            return run.first_metric("validation/loss"); // at the start: equal initial weights
        };
        const double whole = validation_loss(100); // the split has exactly 100
        const double ragged = validation_loss(32); // 3 x 32 + 4
        // One f32 sum against four: a few roundings of 2^-24 each.
        QVERIFY2(std::abs(whole - ragged) < 1e-5 * whole,
                 qPrintable(QString("%1 and %2").arg(whole, 0, 'g', 9).arg(ragged, 0, 'g', 9)));
    }

    void halving_the_micro_batch_keeps_the_losses() {
        write_subset(root() / "micro", 1000, Labels::kept);
        const auto losses = [&](int micro) {
            Json config = fashion_config("micro");
            config["training"]["micro_batch_size"] = micro;
            config["model"]["dropout"] = 0.2; // keyed by the sample's place in the global batch
            return test::run_session(config, root(), 20).losses();
        };
        const std::vector<double> whole = losses(64);
        const std::vector<double> halves = losses(32);
        const std::vector<double> eighths = losses(8);
        QCOMPARE(whole.size(), std::size_t{20});
        QCOMPARE(halves.size(), whole.size());
        for (std::size_t i = 0; i < whole.size(); ++i) {
            QVERIFY2(std::abs(whole[i] - halves[i]) <= 1e-5 * whole[i],
                     qPrintable(QString("step %1: %2 and %3").arg(i).arg(whole[i]).arg(halves[i])));
            QVERIFY(std::abs(whole[i] - eighths[i]) <= 1e-5 * whole[i]);
        }
    }

    void a_second_run_repeats_the_first_bit_for_bit() {
        const auto losses = [&] {
            Json config = fashion_config(kFashion);
            config["model"]["dropout"] = 0.2;
            config["training"]["precision"] = "bf16";
            return test::run_session(config, root(), 15).losses();
        };
        const std::vector<double> first = losses();
        QCOMPARE(first.size(), std::size_t{15});
        QCOMPARE(losses(), first);
    }

private:
    std::filesystem::path root() const { return dir_.path().toStdString(); }

    QTemporaryDir dir_;
};

WEFT_TEST(LearningTest)
#include "learning_test.moc"
