// SPDX-License-Identifier: Apache-2.0
// A run that looks inside its network is bit for bit the run that does not, and what it wrote can
// be read back: interrupted, resumed, torn.
#include "core/train/inside/inside_file.h"
#include "core/train/logging/tensorboard_media.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;

train::InsideHistory history_of(const std::filesystem::path& run) {
    train::InsideReader reader(run);
    reader.read_on();
    return reader.history();
}

} // namespace

class InsideRunTest : public QObject, private TestFolder {
    Q_OBJECT

    // The same looks as histograms, a value for each array that was known.
    static void compare_with_tensorboard(const std::filesystem::path& folder,
                                         const train::InsideHistory& seen) {
        const train::MediaIndex index = train::index_media(folder);
        QVERIFY(index.problems.empty());
        const auto compare = [&](const std::string& tag, std::size_t at,
                                 const train::WrittenSpread& spread) {
            const auto found =
                std::find_if(index.series.begin(), index.series.end(),
                             [&](const train::MediaSeries& one) { return one.tag == tag; });
            QVERIFY2(found != index.series.end(), tag.c_str());
            QCOMPARE(found->places.at(at).step, seen.steps[at]);
            const auto read = std::get<train::MediaHistogram>(
                train::read_media(folder, found->kind, found->places.at(at)));
            const double counted = std::accumulate(spread.bins.begin(), spread.bins.end(), 0.0);
            QCOMPARE(read.total(), counted);
            QCOMPARE(read.left.front(), spread.low);
        };
        for (std::size_t at = 0; at < seen.steps.size(); ++at) {
            for (const train::ParameterHistory& one : seen.parameters) {
                compare("weights/" + one.name, at, one.points[at].weights);
                compare("gradients/" + one.name, at, one.points[at].gradients);
                compare("updates/" + one.name, at, one.points[at].updates);
            }
            for (const train::ActivationHistory& one : seen.activations) {
                compare("activations/" + one.layer, at, one.points[at].spread);
            }
        }
    }

private slots:
    void initTestCase() { config_ = write_config(path("configs")); }

    void looking_changes_no_bit_of_a_run_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("one device") << QStringList{};
        QTest::newRow("two microsteps") << QStringList{"training.micro_batch_size=4"};
        QTest::newRow("f16") << QStringList{"training.precision=f16"};
        QTest::newRow("data parallel") << QStringList{"mesh.devices=cpu:2"};
        QTest::newRow("sharded") << QStringList{"mesh.devices=cpu:2", "mesh.strategy=fsdp"};
        QTest::newRow("tensor parallel")
            << QStringList{"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"};
    }
    void looking_changes_no_bit_of_a_run() {
        QFETCH(QStringList, settings);
        const std::string name = QString(QTest::currentDataTag()).replace(' ', '-').toStdString();
        const std::string plain = name + "-plain";
        const std::string looking = name + "-looking";
        const Finished one = train_weft(config_, text(plain.c_str()), settings, {});
        QVERIFY2(one.code == 0, one.err.c_str());
        QVERIFY(!std::filesystem::exists(path(plain.c_str()) / train::inside_path()));
        const Finished other =
            train_weft(config_, text(looking.c_str()),
                       settings + QStringList{"log.inside_every=3", "log.tensorboard=true"}, {});
        QVERIFY2(other.code == 0, other.err.c_str());
        const Finished diff =
            run_weft({"checkpoint", "diff", text(plain.c_str()), text(looking.c_str())});
        QCOMPARE(diff.out, std::string("live.inside_every: 0 / 3\n"));

        const train::InsideHistory seen = history_of(path(looking.c_str()));
        QVERIFY(seen.steps.size() >= 10);
        // The global norm of the gradients, which the step itself reports, is that of their norms.
        std::size_t compared = 0;
        for (const train::Event& event : events_of(path(looking.c_str()))) {
            const auto* step = std::get_if<train::StepEvent>(&event.payload);
            const auto at = step == nullptr
                                ? seen.steps.end()
                                : std::find(seen.steps.begin(), seen.steps.end(), step->step);
            if (at == seen.steps.end()) {
                continue;
            }
            double squares = 0;
            for (const train::ParameterHistory& one_parameter : seen.parameters) {
                const double norm =
                    one_parameter.points[std::size_t(at - seen.steps.begin())].gradients.norm;
                squares += norm * norm;
            }
            QVERIFY(std::abs(std::sqrt(squares) - step->grad_norm) <=
                    1e-5 * std::max(1.0, step->grad_norm)); // f32 sums in another order
            ++compared;
        }
        QCOMPARE(compared, seen.steps.size());
        compare_with_tensorboard(path(looking.c_str()) / "metrics", seen);
    }

    void a_resumed_run_looks_on_and_what_was_torn_is_dropped() {
        const Finished half =
            train_weft(config_, text("halves"), {"log.inside_every=5"}, {"--max-steps", "17"});
        QVERIFY2(half.code == 0, half.err.c_str());
        const std::filesystem::path file = path("halves") / train::inside_path();
        QCOMPARE(history_of(path("halves")).steps, (std::vector<std::int64_t>{5, 10, 15}));
        // As a process leaves it that is killed while it writes.
        const auto whole = std::filesystem::file_size(file);
        std::ofstream(file, std::ios::app | std::ios::binary) << "\xa4\x64step";
        QCOMPARE(history_of(path("halves")).steps.size(), std::size_t{3});
        const Finished rest = run_weft({"resume", text("halves")});
        QVERIFY2(rest.code == 0, rest.err.c_str());
        const train::InsideHistory seen = history_of(path("halves"));
        QCOMPARE(seen.steps, (std::vector<std::int64_t>{5, 10, 15, 20, 25, 30, 35, 40}));
        for (const train::ParameterHistory& one : seen.parameters) {
            QCOMPARE(one.points.size(), seen.steps.size());
            QVERIFY(one.points.back().weights.norm > 0);
        }
        QVERIFY(std::filesystem::file_size(file) > whole);
    }

    void it_is_switched_on_while_the_run_goes_on() {
        LiveWeft run({"train", config_, "--run-dir", text("live"), "--events", "--control", "stdin",
                      "--set", "training.length={\"steps\":400}"});
        QVERIFY(run.wait_for_step(3));
        run.send(R"({"id":"1","command":"set","path":"log.inside_every","value":7})");
        const auto answer = run.wait_for_answer("1");
        QVERIFY(answer && answer->accepted);
        QCOMPARE(run.finish(), 0);
        const train::InsideHistory seen = history_of(path("live"));
        QVERIFY(!seen.is_empty());
        for (const std::int64_t step : seen.steps) {
            QCOMPARE(step % 7, std::int64_t{0});
        }
    }

    void the_table_names_layers_and_what_is_not_there() {
        const Finished none = run_weft({"runs", "layers", text("one-device-plain")});
        QCOMPARE(none.code, 2);
        QVERIFY2(none.err.find("log.inside_every") != std::string::npos, none.err.c_str());
        const Finished table = run_weft({"runs", "layers", text("one-device-looking")});
        QVERIFY2(table.code == 0, table.err.c_str());
        QVERIFY2(table.out.find("layers.0.weight") != std::string::npos, table.out.c_str());
        const Finished json =
            run_weft({"runs", "layers", text("one-device-looking"), "--step", "6", "--json"});
        QVERIFY2(json.code == 0, json.err.c_str());
        const Json document = Json::parse(json.out);
        const train::InsideHistory seen = history_of(path("one-device-looking"));
        QCOMPARE(document.at("step"), Json(6));
        QCOMPARE(document.at("parameters").size(), seen.parameters.size());
        QCOMPARE(document.at("parameters").at(0).at("gradients").at("norm"),
                 Json(seen.parameters[0].points[1].gradients.norm));
        const Finished other =
            run_weft({"runs", "layers", text("one-device-looking"), "--step", "7"});
        QCOMPARE(other.code, 2);
    }

private:
    QString config_;
};

WEFT_TEST(InsideRunTest)
#include "inside_run_test.moc"
