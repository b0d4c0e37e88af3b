// SPDX-License-Identifier: Apache-2.0
// What a run keeps of each evaluation: the same samples every time, said as `weft generate` and
// `weft predict` say it, and training is what it would be without.
#include "core/base/file.h"
#include "core/train/engine.h"
#include "core/train/samples.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <fstream>
#include <set>

namespace {

using namespace weft::test;
using weft::config::Json;
using weft::config::json_of;
namespace fs = std::filesystem;

class SamplesTest : public QObject, private TestFolder {
    Q_OBJECT

    std::string story_; // the data of the language model
    QString text_config_;

    QString config_in(const char* folder, const Json& changes) const {
        Json all = json_of(R"({
            "name": "tiny", "seed": 7,
            "data": {"validation": {"split": 0.2}},
            "training": {"length": {"steps": 20}, "global_batch_size": 32, "precision": "f32"},
            "evaluation": {"every": {"steps": 10}},
            "checkpoint": {"every": {"steps": 10}},
            "log": {"tensorboard": false}
        })");
        all.merge_patch(changes);
        fs::create_directories(path(folder));
        const fs::path file = path(folder) / "config.json";
        std::ofstream(file) << all.dump(2);
        return QString::fromStdString(file.string());
    }

    void train(const QString& config, const char* run, const QStringList& more = {}) {
        const Finished done = run_weft(QStringList{"train", config, "--run-dir", text(run)} + more);
        QVERIFY2(done.code == 0, done.err.c_str());
    }

    /// The documents that the run told of, in order.
    std::vector<Json> documents(const char* run) {
        std::vector<Json> out;
        for (const auto& event : events_of(path(run))) {
            if (const auto* sample = std::get_if<weft::train::SampleEvent>(&event.payload)) {
                out.push_back(json_of(weft::read_file(path(run) / sample->path)));
            }
        }
        return out;
    }

    weft::train::LoadedModel loaded(const char* run) {
        return weft::train::load_model(weft::train::find_checkpoint(path(run), "latest"), nullptr,
                                       0);
    }

    /// What the newest weights write with all the time that it takes.
    Json said_in_time(const char* run) {
        weft::train::LoadedModel model = loaded(run);
        const weft::ManualClock clock; // stands still
        return weft::train::sample_document(*model.executor, *model.data.validation, "validation",
                                            20, {.samples = 4, .clock = clock})
            .value()
            .at("samples");
    }

    /// As the program says it on its own.
    std::string generated(const char* run, const std::string& prompt, std::size_t tokens) {
        const Finished done =
            run_weft({"generate", text(run), "--prompt", QString::fromStdString(prompt), "--tokens",
                      QString::number(tokens)});
        return done.out.substr(prompt.size(), done.out.size() - prompt.size() - 1);
    }

    /// With a sign in the place of what is no character.
    static std::string readable(const std::string& bytes) {
        return Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace);
    }

private slots:
    void initTestCase() {
        for (int i = 0; i < 400; ++i) {
            story_ +=
                "The fox number " + std::to_string(i * 37 % 101) + " jumped over a lazy dog. ";
        }
        fs::create_directories(path("text"));
        std::ofstream(path("text") / "story.txt") << story_;
        text_config_ = config_in("text", json_of(R"({
            "data": {"train": {"type": "text", "path": "story.txt"}},
            "model": {"type": "gpt2", "layers": 1, "width": 32, "heads": 2, "context": 64,
                      "vocab": 256, "dropout": 0.1}
        })"));
        train(text_config_, "story");
    }

    // A busy machine may have no time for all of them.
    void a_language_model_goes_on_with_the_same_prompts_each_time() {
        const std::vector<Json> written = documents("story");
        QCOMPARE(written.size(), std::size_t{3}); // at the start, at 10 and at 20
        const Json all = said_in_time("story");
        QCOMPARE(all.size(), std::size_t{4});
        QVERIFY(all[0].at("prompt") != all[1].at("prompt"));
        for (const Json& document : written) {
            QCOMPARE(document.at("kind").get<std::string>(), std::string("text"));
            const Json& samples = document.at("samples");
            QVERIFY(!samples.empty());
            for (std::size_t i = 0; i < samples.size(); ++i) {
                QCOMPARE(samples[i].at("prompt"), all[i].at("prompt"));
                // Prompt and truth stand in the data, one behind the other.
                const std::string whole = samples[i].at("prompt").get<std::string>() +
                                          samples[i].at("truth").get<std::string>();
                QCOMPARE(whole.size(), std::size_t{64});
                QVERIFY(story_.find(whole) != std::string::npos);
            }
        }
        QVERIFY(written.front().at("samples")[0].at("text") !=
                written.back().at("samples")[0].at("text"));
    }

    void the_text_is_what_weft_generate_writes() {
        for (const Json& sample : said_in_time("story")) {
            QVERIFY(!sample.at("cut").get<bool>());
            const std::string alone =
                generated("story", sample.at("prompt").get<std::string>(), 32);
            QCOMPARE(readable(alone), readable(sample.at("text").get<std::string>()));
        }
    }

    void a_text_ends_when_its_time_is_over_and_says_so() {
        weft::train::LoadedModel model = loaded("story");
        const weft::ManualClock clock;
        const auto document =
            weft::train::sample_document(*model.executor, *model.data.validation, "validation", 20,
                                         {.samples = 4, .seconds = 0, .clock = clock});
        QVERIFY(document.has_value());
        QCOMPARE(document->at("samples").size(), std::size_t{1}); // never none
        const Json& only = document->at("samples")[0];
        QVERIFY(only.at("cut").get<bool>());
        QCOMPARE(only.at("text").get<std::string>().size(), std::size_t{1});
    }

    void training_is_the_same_bit_for_bit_without_samples() {
        train(text_config_, "silent", {"--set", "evaluation.samples=0"});
        QVERIFY(documents("silent").empty());
        QVERIFY(fs::is_empty(path("silent") / "samples"));
        const Finished diff = run_weft({"checkpoint", "diff", text("story"), text("silent")});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

    void a_run_that_was_stopped_goes_on_bit_for_bit() {
        train(text_config_, "halves", {"--max-steps", "7"});
        const Finished resumed = run_weft({"resume", text("halves")});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        const Finished diff = run_weft({"checkpoint", "diff", text("story"), text("halves")});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

    void a_language_model_on_a_mesh_writes_too_data() {
        QTest::addColumn<QStringList>("mesh");
        QTest::newRow("data parallel") << QStringList{"mesh.strategy=data_parallel"};
        QTest::newRow("tensor parallel")
            << QStringList{R"(mesh.axes=[["model",2]])", "mesh.strategy=tensor_parallel"};
        QTest::newRow("pipeline") << QStringList{R"(mesh.axes=[["pipeline",2]])",
                                                 "mesh.strategy=pipeline", "model.layers=2",
                                                 "training.micro_batch_size=8"};
    }

    void a_language_model_on_a_mesh_writes_too() {
        QFETCH(QStringList, mesh);
        const QByteArray run = QByteArray("mesh ") + QTest::currentDataTag();
        QStringList more{"--devices", "cpu:2"};
        for (const QString& setting : mesh) {
            more << "--set" << setting;
        }
        train(text_config_, run.constData(), more);
        const std::vector<Json> written = documents(run.constData());
        QCOMPARE(written.size(), std::size_t{3});
        QVERIFY(!written.back().at("samples").at(0).at("text").get<std::string>().empty());
    }

    void a_regression_keeps_its_targets_in_the_units_of_the_file() {
        fs::create_directories(path("houses"));
        std::ofstream table(path("houses") / "houses.csv");
        table << "size,price\n";
        std::set<double> prices;
        for (int i = 0; i < 120; ++i) {
            const double price = 1000.5 + 10 * i;
            prices.insert(price);
            table << 20 + i << ',' << price << '\n';
        }
        table.close();
        const QString config = config_in("houses", json_of(R"({
            "data": {"train": {"type": "csv", "path": "houses.csv", "targets": "price"}},
            "model": {"type": "mlp", "hidden": [24]},
            "loss": {"type": "mse"}, "metrics": [], "evaluation": {"samples": 5}
        })"));
        train(config, "prices");
        const std::vector<Json> written = documents("prices");
        QCOMPARE(written.size(), std::size_t{3});
        QCOMPARE(written.back().at("kind").get<std::string>(), std::string("regression"));
        QCOMPARE(written.back().at("target_names"), Json::array({"price"}));
        const Finished alone =
            run_weft({"predict", text("prices"), "0-4", "--split", "validation", "--json"});
        const Json predictions = json_of(alone.out).at("predictions");
        const Json& samples = written.back().at("samples");
        QCOMPARE(samples.size(), std::size_t{5});
        for (std::size_t i = 0; i < samples.size(); ++i) {
            QCOMPARE(samples[i].at("prediction"), predictions[i].at("values"));
            QCOMPARE(samples[i].at("target"), written.front().at("samples")[i].at("target"));
            // Standardised in f32 and back: a few of its 24 bits may be lost.
            const double target = samples[i].at("target").at(0).get<double>();
            QVERIFY(std::any_of(prices.begin(), prices.end(),
                                [&](double price) { return std::abs(price - target) < 1e-3; }));
        }
    }
};

WEFT_TEST(SamplesTest)

} // namespace
#include "samples_test.moc"
