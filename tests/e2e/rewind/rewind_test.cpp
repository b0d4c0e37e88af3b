// SPDX-License-Identifier: Apache-2.0
// A run that rewinds is, bit for bit, the run that was told to leave those updates out: on one
// device, on meshes, interrupted anywhere, and where an update spoilt the weights unseen.
#include "core/train/record/run_summary.h"
#include "core/train/rewind/divergence_file.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <csignal>
#include <fstream>

namespace {

using namespace weft;
using namespace weft::test;
using namespace weft::train;
using config::Json;

template <class Payload>
std::vector<Payload> all_of(const std::filesystem::path& run) {
    std::vector<Payload> out;
    for (const Event& event : events_of(run)) {
        if (const auto* payload = std::get_if<Payload>(&event.payload)) {
            out.push_back(*payload);
        }
    }
    return out;
}

/// Two epochs of eight batches; one row of the table, where there is one, overflows f32 when it is
/// squared.
QString overflowing_table(const std::filesystem::path& folder, int bad_row, double bad) {
    std::filesystem::create_directories(folder);
    std::ofstream out(folder / "table.csv");
    out << "a,b,price\n";
    for (int i = 0; i < 64; ++i) {
        out << i << "," << (i * 7) % 13 << "," << (i == bad_row ? bad : 0.5 * i) << "\n";
    }
    out.close();
    const Json document = {{"data",
                            {{"train",
                              {{"type", "csv"},
                               {"path", (folder / "table.csv").string()},
                               {"targets", "price"},
                               {"scale_targets", "none"}}},
                             {"validation", nullptr}}},
                           {"model", {{"type", "mlp"}, {"hidden", {8, 8}}, {"dropout", 0.1}}},
                           {"loss", {{"type", "mse"}}},
                           {"training",
                            {{"length", {{"steps", 16}}},
                             {"global_batch_size", 8},
                             {"precision", "f32"},
                             {"ema_decay", 0.9}}},
                           {"checkpoint", {{"every", {{"steps", 5}}}}},
                           {"log", {{"tensorboard", false}}}};
    const std::filesystem::path file = folder / "run.json";
    std::ofstream(file) << document.dump();
    return QString::fromStdString(file.string());
}

/// Steps that a run left out.
std::vector<std::int64_t> left_out(const std::filesystem::path& run) {
    std::vector<std::int64_t> out;
    for (const SkippedEvent& event : all_of<SkippedEvent>(run)) {
        out.push_back(event.step);
    }
    return out;
}

QString pass_over(const std::vector<std::int64_t>& steps) {
    return QString::fromStdString("training.pass_over=" + Json(steps).dump());
}

class RewindTest : public QObject, private TestFolder {
    Q_OBJECT

    void equal(const char* a, const char* b) {
        const Finished diff = run_weft({"checkpoint", "diff", text(a), text(b)});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

private slots:
    void a_run_that_rewinds_is_one_that_was_told_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("one device") << QStringList{};
        QTest::newRow("sgd, two microsteps")
            << QStringList{R"(optimizer={"type":"sgd"})", "training.micro_batch_size=4"};
        QTest::newRow("a second group") << QStringList{
            R"(optimizer.groups=[{"match":"*bias","lr_schedule":{"type":"constant"}}])"};
        QTest::newRow("data parallel") << QStringList{"mesh.devices=cpu:2"};
        QTest::newRow("sharded") << QStringList{"mesh.devices=cpu:2", "mesh.strategy=fsdp"};
        QTest::newRow("tensor parallel")
            << QStringList{"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"};
    }
    void a_run_that_rewinds_is_one_that_was_told() {
        QFETCH(QStringList, settings);
        const QString config = overflowing_table(path("table"), 20, 3e30);
        const QString name = QString(QTest::currentDataTag()).replace(' ', '-');
        const auto folder = [&](const char* run) { return (name + "-" + run).toStdString(); };
        const std::string rewound = folder("rewound");
        const Finished run = train_weft(config, text(rewound.c_str()),
                                        settings + QStringList{"training.on_nonfinite=rewind"}, {});
        QVERIFY2(run.code == 0, (run.out + run.err).c_str());
        // The row is in one batch of each of two epochs.
        const auto steps = left_out(path(rewound.c_str()));
        QCOMPARE(steps.size(), std::size_t{2});
        QVERIFY(steps[0] <= 8 && steps[1] > 8);
        QCOMPARE(all_of<StepEvent>(path(rewound.c_str())).size(), std::size_t{14});

        const std::string told = folder("told");
        const Finished other =
            train_weft(config, text(told.c_str()), settings + QStringList{pass_over(steps)}, {});
        QVERIFY2(other.code == 0, (other.out + other.err).c_str());
        QVERIFY(all_of<DivergenceEvent>(path(told.c_str())).empty());
        equal(told.c_str(), rewound.c_str());

        // Nobody knows beforehand: interrupted behind the first of them it knows as well.
        const std::string halves = folder("halves");
        const Finished half = train_weft(config, text(halves.c_str()),
                                         settings + QStringList{"training.on_nonfinite=rewind"},
                                         {"--max-steps", QString::number(steps[0] + 1)});
        QVERIFY2(half.code == 0, (half.out + half.err).c_str());
        const Finished rest = run_weft({"resume", text(halves.c_str())});
        QVERIFY2(rest.code == 0, (rest.out + rest.err).c_str());
        equal(told.c_str(), halves.c_str());
    }

    void what_was_found_is_kept() {
        const QString config = overflowing_table(path("table"), 20, 3e30);
        const Finished run = train_weft(config, text("kept"), {"training.on_nonfinite=rewind"}, {});
        QVERIFY2(run.code == 0, run.err.c_str());
        const auto events = all_of<DivergenceEvent>(path("kept"));
        QCOMPARE(events.size(), std::size_t{2});
        for (const DivergenceEvent& event : events) {
            QCOMPARE(event.back_to, event.step - 1);
            QCOMPARE(event.passes_over, event.step);
            const Json document = read_divergence(path("kept"), event.step);
            QCOMPARE(document.at("op").at("layer"), Json("loss"));
            const Json& suspect = document.at("batch").at("shown").at(0);
            QCOMPARE(suspect.at("suspect"), Json(true));
            QCOMPARE(suspect.at("index"), Json(20));
            QVERIFY(std::filesystem::exists(path("kept") / "divergence" /
                                            document.at("arrays").get<std::string>()));
            // The first bad value is that sample's; whatever was read of it was finite.
            QCOMPARE(document.at("output").at("first_bad_at").at("index").at(0), suspect.at("row"));
            for (const Json& input : document.at("inputs")) {
                QCOMPARE(input.at("nan"), Json(0));
                QCOMPARE(input.at("infinite"), Json(0));
            }
        }
        const Finished shown = run_weft({"divergence", text("kept")});
        QVERIFY2(shown.code == 0, shown.err.c_str());
        QVERIFY2(shown.out.find("row 20") != std::string::npos ||
                     shown.out.find("row 21") != std::string::npos,
                 shown.out.c_str());
        QVERIFY2(run_weft({"divergence", text("kept"), "--step", "3000"}).code == 2,
                 "no such step");
    }

    // Every batch overflows: so many are left out and no more.
    void rewinding_ends_where_it_is_of_no_use() {
        const QString config = overflowing_table(path("table"), -1, 0);
        const Finished run =
            train_weft(config, text("endless"),
                       {"training.on_nonfinite=rewind", "training.most_rewinds=4",
                        R"json(loss={"type":"expression","expression":"log(0 * y[0] - 1)"})json"},
                       {});
        QCOMPARE(run.code, 5);
        QCOMPARE(left_out(path("endless")).size(), std::size_t{4});
        QVERIFY2(run.err.find("4 updates near it were left out before") != std::string::npos,
                 run.err.c_str());
        QCOMPARE(summarise_run(path("endless")).state, std::string("failed"));
    }

    // Only one row has a slope: finite, as its loss is, but times the rate beyond f32. The weights
    // become infinite, and the next update notices.
    void an_update_that_spoils_the_weights_is_found_and_left_out() {
        const QString config = overflowing_table(path("table"), 20, 1e18);
        const QStringList settings = {
            R"(optimizer={"type":"sgd","learning_rate":1e22,"momentum":0})",
            R"(lr_schedule={"type":"constant"})",
            "training.max_grad_norm=null",
            "model.hidden=[]",
            "training.length={\"steps\":7}",
            R"json(loss={"type":"expression","expression":"mean(max(abs(y - t) - 1e17, 0)^2)"})json"};
        const Finished run = train_weft(config, text("spoilt"),
                                        settings + QStringList{"training.on_nonfinite=rewind"}, {});
        QVERIFY2(run.code == 0, (run.out + run.err).c_str());
        const auto steps = left_out(path("spoilt"));
        QVERIFY2(!steps.empty(), run.err.c_str());
        const auto found = all_of<DivergenceEvent>(path("spoilt"));
        QVERIFY(found.size() >= 2);
        QCOMPARE(found[0].passes_over, std::int64_t{0}); // it was looked for
        QCOMPARE(found[1].passes_over, steps[0]);
        const Finished told =
            train_weft(config, text("told"), settings + QStringList{pass_over(steps)}, {});
        QVERIFY2(told.code == 0, (told.out + told.err).c_str());
        equal("told", "spoilt");
    }

    void norms_of_the_updates_before_are_those_of_the_run() {
        const QString config = overflowing_table(path("table"), 20, 3e30);
        const Finished run = train_weft(
            config, text("norms"), {"data.shuffle=false", "checkpoint.every={\"steps\":1}"}, {});
        QCOMPARE(run.code, 5);
        const Json norms = read_divergence(path("norms"), 3).at("norms");
        QCOMPARE(norms.at("steps").back(), Json(3));
        const auto steps = all_of<StepEvent>(path("norms"));
        QCOMPARE(steps.size(), std::size_t{2});
        // The norm of all is that of the norms of layers.
        double squares = 0;
        for (const Json& layer : norms.at("layers")) {
            const double norm = layer.at("norms").at(norms.at("steps").size() - 2).get<double>();
            squares += norm * norm;
        }
        QVERIFY(std::abs(std::sqrt(squares) - steps[1].grad_norm) < 1e-5 * steps[1].grad_norm);
    }
};

WEFT_TEST(RewindTest)

} // namespace
#include "rewind_test.moc"
