// SPDX-License-Identifier: Apache-2.0
// Models that make samples, by the program: what is kept of each evaluation, what `weft generate`
// writes, and runs that are bit for bit the same.
#include "core/base/file.h"
#include "core/data/files/image_codec.h"
#include "core/train/pictures/made_samples.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <fstream>

namespace {

using namespace weft::test;
using weft::config::Json;
using weft::config::json_of;
namespace fs = std::filesystem;

const char* const kShared = R"({
    "name": "tiny", "seed": 7,
    "data": {"train": {"type": "synthetic", "kind": "images", "shape": [8, 8, 1], "classes": 3,
                       "samples": 400}, "validation": {"split": 0.2}},
    "training": {"length": {"steps": 20}, "global_batch_size": 16, "precision": "f32"},
    "evaluation": {"every": {"steps": 10}, "samples": 5},
    "checkpoint": {"every": {"steps": 10}},
    "log": {"tensorboard": false}
})";

const char* const kVae = R"({"model": {"type": "vae", "hidden": [24], "latent": 4},
    "loss": {"type": "elbo", "likelihood": "gaussian"}})";
const char* const kDiffusion = R"({"model": {"type": "diffusion", "channels": [8, 8], "groups": 4,
    "times": 20, "sampling_steps": 4}})";

const char* const kGan = R"({"model": {"type": "gan", "channels": [8, 8], "latent": 4,
    "output": "none", "gradient_penalty": 1}, "loss": {"type": "adversarial", "kind": "wasserstein"},
    "optimizer": {"type": "adam",
                  "groups": [{"match": "discriminator.*", "type": "sgd", "learning_rate": 0.01}]}})";
const char* const kFlow = R"({"model": {"type": "flow", "couplings": 4, "hidden": [16],
    "levels": null}})";

class MadeSamplesTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_of(const char* name, const char* model) const {
        Json all = json_of(kShared);
        all.merge_patch(json_of(model));
        const fs::path file = path((std::string(name) + ".json").c_str());
        std::ofstream(file) << all.dump(2);
        return QString::fromStdString(file.string());
    }

    void train(const QString& config, const char* run, const QStringList& more = {}) {
        const Finished done = run_weft(QStringList{"train", config, "--run-dir", text(run)} + more);
        QVERIFY2(done.code == 0, done.err.c_str());
    }

    std::vector<Json> documents(const char* run) {
        std::vector<Json> out;
        for (const auto& event : events_of(path(run))) {
            if (const auto* sample = std::get_if<weft::train::SampleEvent>(&event.payload)) {
                out.push_back(json_of(weft::read_file(path(run) / sample->path)));
            }
        }
        return out;
    }

    weft::data::Image sheet_of(const char* run, const Json& document) {
        const fs::path file = path(run) / "samples" / document.at("sheet").get<std::string>();
        const std::string bytes = weft::read_file(file);
        return weft::data::decode_image(std::as_bytes(std::span(bytes)), file.string(),
                                        {.channels = 1});
    }

    static std::vector<std::uint8_t> row_of(const weft::data::Image& sheet, std::int64_t row) {
        const auto begin = sheet.pixels.begin() + row * 8 * sheet.width;
        return {begin, begin + 8 * sheet.width};
    }

private slots:
    void initTestCase() {
        train(config_of("vae", kVae), "vae");
        train(config_of("diffusion", kDiffusion), "diffusion");
        train(config_of("gan", kGan), "gan");
        train(config_of("flow", kFlow), "flow");
    }

    void a_sheet_is_kept_of_each_evaluation_data() {
        QTest::addColumn<QByteArray>("run");
        QTest::addColumn<int>("rows");
        QTest::newRow("given back, too") << QByteArray("vae") << 3;
        QTest::newRow("made only") << QByteArray("diffusion") << 2;
        QTest::newRow("by two networks") << QByteArray("gan") << 2;
        QTest::newRow("by the way back") << QByteArray("flow") << 2;
    }

    void a_sheet_is_kept_of_each_evaluation() {
        QFETCH(QByteArray, run);
        QFETCH(int, rows);
        const std::vector<Json> written = documents(run.constData());
        QCOMPARE(written.size(), std::size_t{3}); // at the start, at 10 and at 20
        std::vector<weft::data::Image> sheets;
        for (const Json& document : written) {
            QCOMPARE(document.at("kind").get<std::string>(), std::string("pictures"));
            QCOMPARE(document.at("rows").size(), static_cast<std::size_t>(rows));
            QCOMPARE(document.at("samples").size(), std::size_t{5});
            sheets.push_back(sheet_of(run.constData(), document));
            QCOMPARE(sheets.back().width, std::int64_t{5 * 8});
            QCOMPARE(sheets.back().height, std::int64_t{rows * 8});
        }
        QVERIFY(row_of(sheets[0], 0) == row_of(sheets[2], 0)); // of the data
        QVERIFY(row_of(sheets[0], rows - 1) !=
                row_of(sheets[2], rows - 1)); // made by other weights
    }

    void the_made_ones_are_what_weft_generate_makes_of_the_seed_of_the_run() {
        const Finished done = run_weft({"generate", text("vae"), "--from", "20", "--samples", "5",
                                        "--seed", "7", "--to", text("five.png")});
        QVERIFY2(done.code == 0, done.err.c_str());
        const std::string bytes = weft::read_file(path("five.png"));
        const weft::data::Image grid =
            weft::data::decode_image(std::as_bytes(std::span(bytes)), "five.png", {.channels = 1});
        QVERIFY(grid.pixels == row_of(sheet_of("vae", documents("vae").back()), 2));
    }

    void the_same_seed_makes_the_same_and_another_another() {
        const auto made = [this](const char* seed, const char* count, const char* file) {
            const Finished done = run_weft({"generate", text("diffusion"), "--samples", count,
                                            "--seed", seed, "--to", text(file)});
            return done.code == 0 ? weft::read_file(path(file)) : done.err;
        };
        const std::string first = made("3", "20", "a.npy");
        QCOMPARE(made("3", "20", "b.npy"), first);
        QVERIFY(made("4", "20", "c.npy") != first);
        // Sample by sample, whatever their number: an array of 3 is the beginning of one of 20.
        const std::string three = made("3", "3", "d.npy");
        const std::size_t bytes = 3 * 64 * sizeof(float);
        QCOMPARE(three.substr(three.size() - bytes),
                 first.substr(first.size() - 20 * 64 * sizeof(float), bytes));
    }

    void a_class_makes_a_difference_where_the_model_knows_classes() {
        const auto run = [this](const char* model, const char* number) {
            return run_weft({"generate", text(model), "--samples", "2", "--class", number, "--to",
                             text("class.npy")});
        };
        QCOMPARE(run("diffusion", "0").code, 0);
        const std::string first = weft::read_file(path("class.npy"));
        QCOMPARE(run("diffusion", "2").code, 0);
        QVERIFY(weft::read_file(path("class.npy")) != first);
        QVERIFY(run("diffusion", "3").err.find("0 to 2") != std::string::npos);
        QVERIFY(run("vae", "0").err.find("no class") != std::string::npos);
    }

    void what_does_not_fit_is_refused() {
        const auto said = [](const QStringList& arguments) {
            const Finished done = run_weft(arguments);
            return done.code == 2 ? done.err : "code " + std::to_string(done.code) + done.err;
        };
        QVERIFY(said({"generate", text("vae")}).find("a file to be written to") !=
                std::string::npos);
        QVERIFY(said({"generate", text("vae"), "--to", text("a.gif")}).find("neither in .png") !=
                std::string::npos);
        QVERIFY(said({"generate", text("vae"), "--to", text("a.png"), "--prompt", "x"})
                    .find("goes on from no text") != std::string::npos);
        QVERIFY(said({"predict", text("vae"), "0"}).find("predicts nothing") != std::string::npos);
        QVERIFY(said({"predict", text("diffusion"), "0"}).find("predicts nothing") !=
                std::string::npos);
    }

    void a_run_that_was_stopped_goes_on_bit_for_bit_data() {
        QTest::addColumn<QByteArray>("model");
        QTest::newRow("vae") << QByteArray("vae");
        QTest::newRow("diffusion") << QByteArray("diffusion");
        QTest::newRow("gan") << QByteArray("gan");
        QTest::newRow("flow") << QByteArray("flow");
    }

    void a_run_that_was_stopped_goes_on_bit_for_bit() {
        QFETCH(QByteArray, model);
        const QByteArray halves = model + " halves";
        train(QString::fromStdString(path((model + ".json").constData()).string()),
              halves.constData(), {"--max-steps", "7"});
        const Finished resumed = run_weft({"resume", text(halves)});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        const Finished diff = run_weft({"checkpoint", "diff", text(model), text(halves)});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

    // Losses of evaluations too: what is drawn for a sample depends on its number alone.
    void a_mesh_evaluates_and_makes_the_same() {
        for (const char* model : {"vae", "diffusion", "gan", "flow"}) {
            const QByteArray run = QByteArray(model) + " mesh";
            train(QString::fromStdString(path((std::string(model) + ".json").c_str()).string()),
                  run.constData(), {"--devices", "cpu:2"});
            const auto losses = [this](const char* of) {
                std::vector<double> out;
                for (const auto& event : events_of(path(of))) {
                    if (const auto* one =
                            std::get_if<weft::train::EvaluationEvent>(&event.payload)) {
                        out.push_back(one->metrics.front().second);
                    }
                }
                return out;
            };
            const std::vector<double> one = losses(model);
            const std::vector<double> two = losses(run.constData());
            QCOMPARE(two.size(), one.size());
            for (std::size_t i = 0; i < one.size(); ++i) {
                // f32 sums in another order, over twenty updates
                QVERIFY2(std::abs(one[i] - two[i]) < 1e-4 * std::abs(one[i]), model);
            }
            QCOMPARE(documents(run.constData()).size(), std::size_t{3});
        }
    }
};

WEFT_TEST(MadeSamplesTest)

} // namespace
#include "made_samples_test.moc"
