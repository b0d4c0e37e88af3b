// SPDX-License-Identifier: Apache-2.0
// The presets do what their cards say: accuracy on the test split, bits per byte against an n-gram.
#include "core/base/file.h"
#include "core/data/dataset.h"
#include "tests/e2e/learning/run_session.h"
#include "tests/e2e/presets/byte_ngram.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cmath>
#include <cstring>

namespace {

using namespace weft;
using config::Json;

Json preset(const std::string& name) {
    const std::string path = std::string(WEFT_PRESETS) + "/" + name + ".json";
    return config::parse_json(read_file(path), path).value;
}

/// What Home says of a preset holds.
void compare_with_card(const std::string& name, const std::string& metric, double value) {
    const std::string path = std::string(WEFT_PRESETS) + "/measured/quality.json";
    const Json said = config::parse_json(read_file(path), path).value.at("presets").at(name);
    QCOMPARE(said.at("metric").get<std::string>(), metric);
    const double distance = std::abs(said.at("value").get<double>() - value);
    QVERIFY2(distance <= said.at("tolerance").get<double>(),
             (name + ": " + metric + " is " + std::to_string(value)).c_str());
}

/// Rows of T + 1 bytes: a window's input and its last target.
std::vector<std::uint8_t> windows(const data::Source& source) {
    const auto length = static_cast<std::size_t>(source.info().input.shape[0]);
    std::vector<std::int32_t> input(length);
    std::vector<std::int32_t> target(length);
    std::vector<std::uint8_t> bytes;
    for (std::int64_t i = 0; i < source.samples(); ++i) {
        source.read(i, std::as_writable_bytes(std::span(input)),
                    std::as_writable_bytes(std::span(target)));
        for (const std::int32_t token : input) {
            bytes.push_back(static_cast<std::uint8_t>(token));
        }
        bytes.push_back(static_cast<std::uint8_t>(target.back()));
    }
    return bytes;
}

} // namespace

class PresetsTest : public QObject {
    Q_OBJECT

private slots:
    void fashion_mlp_reaches_89_percent() { check_accuracy("fashion-mlp", 0.89); }
    void waves_mlp_reaches_95_percent() { check_accuracy("waves-mlp", 0.95); }
    void fashion_cnn_reaches_91_percent() { check_accuracy("fashion-cnn", 0.91); }
    void sudoku_4x4_solves_95_percent_whole() {
        const double solved = tested("sudoku-4x4", "test/exact_accuracy");
        QVERIFY(solved >= 0.95);
        compare_with_card("sudoku-4x4", "test/exact_accuracy", solved);
    }
    void fashion_vae_needs_at_most_248_nats() {
        const double nats = tested("fashion-vae", "test/loss");
        QVERIFY(nats > 0 && nats <= 248);
        compare_with_card("fashion-vae", "test/loss", nats);
    }

    void fashion_flow_needs_at_most_2070_nats() {
        const double nats = tested("fashion-flow", "test/loss");
        QVERIFY(nats > 0 && nats <= 2070);
        compare_with_card("fashion-flow", "test/loss", nats);
    }

    void fashion_diffusion_leaves_a_sixth_of_what_is_to_be_said() {
        const double left = tested("fashion-diffusion", "test/loss");
        QVERIFY(left > 0 && left <= 1.0 / 6);
        compare_with_card("fashion-diffusion", "test/loss", left);
    }

    void tiny_gpt_beats_an_order_3_ngram_by_a_fifth() {
        const Json config = preset("tiny-gpt");
        const compile::CheckedRun checked = compile::read_run_config(config, ".");
        QVERIFY(checked.ok());
        const data::DataSet set =
            data::open_data(checked.config.section("data"),
                            {".", checked.config.context(), checked.config.seed});
        const auto length = static_cast<std::size_t>(set.train->info().input.shape[0]) + 1;
        const double baseline =
            test::ngram_bits_per_byte(windows(*set.train), windows(*set.validation), length);
        const test::SessionRun run = test::run_session(config, dir_.path().toStdString());
        QVERIFY2(run.problem.empty(), run.problem.c_str());
        const double bits = run.last_metric("validation/loss") / std::log(2.0);
        qInfo("n-gram %.4f bits per byte, tiny-gpt %.4f, ratio %.3f", baseline, bits,
              bits / baseline);
        QVERIFY(bits <= 0.8 * baseline);
        compare_with_card("tiny-gpt", "validation/bits_per_byte", bits);
    }

private:
    void check_accuracy(const std::string& name, double wanted) {
        const double accuracy = tested(name, "test/accuracy");
        QVERIFY(accuracy >= wanted);
        compare_with_card(name, "test/accuracy", accuracy);
    }

    /// A metric of the test split at the end; -1 where the run did not get there.
    double tested(const std::string& name, const std::string& wanted) {
        double found = -1;
        const compile::CheckedRun checked = compile::read_run_config(preset(name), ".");
        WEFT_CHECK(checked.ok(), name);
        train::SessionOptions options;
        options.config = checked.config;
        options.run_folder = std::filesystem::path(dir_.path().toStdString()) / name;
        std::filesystem::create_directories(options.run_folder);
        double seconds = 0;
        options.sink = [&](const train::Event& event) {
            if (const auto* finished = std::get_if<train::FinishedEvent>(&event.payload)) {
                seconds = finished->seconds;
                for (const auto& [metric, value] : finished->test) {
                    found = metric == wanted ? value : found;
                }
            }
        };
        train::Session session(std::move(options));
        const train::Outcome outcome = session.run().outcome;
        qInfo("%s: %s %.4f in %.0f s", name.c_str(), wanted.c_str(), found, seconds);
        return outcome == train::Outcome::finished ? found : -1;
    }

    QTemporaryDir dir_;
};

WEFT_TEST(PresetsTest)
#include "presets_test.moc"
