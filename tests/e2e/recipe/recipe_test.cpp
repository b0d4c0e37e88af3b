// SPDX-License-Identifier: Apache-2.0
// Recipes whose state is more than weights and moments: rates that evaluations decide, averages and
// factored moments, losses of one's own, updates that are skipped. Interrupted anywhere, they go on
// bit for bit.
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <fstream>

namespace {

using namespace weft;
using namespace weft::test;
using namespace weft::train;
using config::Json;

class RecipeRunTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    template <class Payload>
    std::vector<Payload> all(const std::string& run) const {
        std::vector<Payload> out;
        for (const Event& event : events_of(path(run.c_str()))) {
            if (const auto* payload = std::get_if<Payload>(&event.payload)) {
                out.push_back(*payload);
            }
        }
        return out;
    }

    void trains(const char* run, const QStringList& settings, const QStringList& more = {}) {
        const Finished done = train_weft(config_, text(run), settings, more);
        QVERIFY2(done.code == 0, (done.out + done.err).c_str());
    }

private slots:
    void initTestCase() { config_ = write_config(path("configs")); }

    void an_interrupted_run_goes_on_bit_for_bit_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("plateau") << QStringList{
            R"(lr_schedule={"type":"plateau","patience":0,"min_delta":10,"factor":0.5})",
            R"(evaluation.every={"steps":6})"};
        QTest::newRow("plateau of training losses")
            << QStringList{R"(lr_schedule={"type":"plateau","metric":"train/loss","patience":1,
                              "min_delta":0.02,"factor":0.7,"cooldown":1})",
                           R"(evaluation.every={"steps":4})"};
        QTest::newRow("adafactor") << QStringList{R"(optimizer={"type":"adafactor"})"};
        QTest::newRow("adamw_8bit")
            << QStringList{R"(optimizer={"type":"adamw_8bit","full_below":0})"};
        QTest::newRow("schedule_free")
            << QStringList{R"(optimizer={"type":"schedule_free","weight_decay":0.1})",
                           R"(lr_schedule={"type":"warmup_constant","warmup_steps":5})"};
        QTest::newRow("expression") << QStringList{
            R"json(loss={"type":"expression","expression":"cross_entropy(y, t)^1.5"})json"};
        QTest::newRow("class weights") << QStringList{
            R"(loss={"type":"cross_entropy","class_weights":[1,2,0.5,1],"z_loss":0.001})"};
        QTest::newRow("skip") << QStringList{"training.on_nonfinite=skip"};
    }
    void an_interrupted_run_goes_on_bit_for_bit() {
        QFETCH(QStringList, settings);
        const std::string name = QString(QTest::currentDataTag()).replace(' ', '_').toStdString();
        trains(("whole_" + name).c_str(), settings);
        for (const char* stop : {"7", "13", "30"}) {
            const std::string run = name + "_until_" + stop;
            trains(run.c_str(), settings, {"--max-steps", stop});
            const Finished resumed = run_weft({"resume", text(run.c_str())});
            QVERIFY2(resumed.code == 0, resumed.err.c_str());
            const Finished diff = run_weft(
                {"checkpoint", "diff", text(("whole_" + name).c_str()), text(run.c_str())});
            QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
        }
        // It learns at all.
        const auto steps = all<StepEvent>("whole_" + name);
        QCOMPARE(steps.size(), std::size_t{40});
        QVERIFY(steps.back().loss < steps.front().loss);
    }

    // Nothing improves by ten: the rate halves at every evaluation but the first.
    void a_plateau_lets_the_rate_fall_and_says_so() {
        trains("falls",
               {R"(lr_schedule={"type":"plateau","patience":0,"min_delta":10,"factor":0.5})",
                R"(evaluation.every={"steps":10})", "evaluation.at_start=false"});
        const auto steps = all<StepEvent>("falls");
        QCOMPARE(steps.size(), std::size_t{40});
        for (const StepEvent& step : steps) {
            const double halvings = step.step <= 20 ? 0 : step.step <= 30 ? 1 : 2;
            QVERIFY(std::abs(step.learning_rate - 0.001 * std::pow(0.5, halvings)) < 1e-12);
        }
        const auto notes = all<NoteEvent>("falls");
        QVERIFY(std::any_of(notes.begin(), notes.end(), [](const NoteEvent& note) {
            return note.message == "From step 21 on the learning rate is 0.5 times its base: "
                                   "validation/loss has not improved.";
        }));
    }

    void a_fork_with_other_rates_says_that_it_leaves_what_plateaus_made() {
        trains("parent",
               {R"(lr_schedule={"type":"plateau","patience":0,"min_delta":10,"factor":0.5})",
                R"(evaluation.every={"steps":10})"});
        for (const auto& [run, settings, leaves] :
             {std::tuple{"alike", QStringList{}, false},
              std::tuple{
                  "with_groups",
                  QStringList{
                      "--set",
                      R"(optimizer.groups=[{"match":"*bias","lr_schedule":{"type":"constant"}}])"},
                  true}}) {
            const Finished done =
                run_weft(QStringList{"resume", text("parent"), "--fork", text(run), "--max-steps",
                                     "41", "--set", R"(training.length={"steps":60})"} +
                         settings);
            QVERIFY2(done.code == 0, (done.out + done.err).c_str());
            const auto warnings = all<WarningEvent>(run);
            QCOMPARE(std::any_of(warnings.begin(), warnings.end(),
                                 [](const WarningEvent& warning) {
                                     return warning.message.find("each begins with a factor of 1") !=
                                            std::string::npos;
                                 }),
                     leaves);
        }
    }

    // The weights that evaluations take are the average, which checkpoints hold.
    void schedule_free_is_evaluated_with_its_average() {
        const QStringList settings = {R"(optimizer={"type":"schedule_free"})",
                                      R"(lr_schedule={"type":"constant"})",
                                      "evaluation.at_start=false"};
        trains("average", settings);
        trains("weights", settings + QStringList{"evaluation.use_ema=false"});
        const auto average = all<EvaluationEvent>("average");
        const auto weights = all<EvaluationEvent>("weights");
        QCOMPARE(average.size(), weights.size());
        QVERIFY(average.back().metrics != weights.back().metrics);
        const auto manifest = checkpoint::read_manifest(path("average") / "checkpoints" /
                                                        checkpoint::folder_name(40));
        QVERIFY(manifest.find("ema/layers.0.weight") != nullptr);
        QVERIFY(manifest.find("optimizer.ahead/layers.0.weight") != nullptr);
    }

    // A table of which one row overflows f32 when it is squared: without a skip the run ends there.
    void an_update_that_is_not_finite_is_skipped_where_that_is_asked_for() {
        const std::filesystem::path table = path("table.csv");
        std::ofstream out(table);
        out << "a,b,price\n";
        for (int i = 0; i < 64; ++i) {
            out << i << "," << (i * 7) % 13 << "," << (i == 20 ? 3e30 : 0.5 * i) << "\n";
        }
        out.close();
        const Json document = {
            {"data",
             {{"train",
               {{"type", "csv"},
                {"path", table.string()},
                {"targets", "price"},
                {"scale_targets", "none"}}},
              {"validation", nullptr}}},
            {"model", {{"type", "mlp"}, {"hidden", {8}}}},
            {"loss", {{"type", "mse"}}},
            {"training",
             {{"length", {{"steps", 16}}}, {"global_batch_size", 8}, {"precision", "f32"}}},
            {"log", {{"tensorboard", false}}}};
        const std::string file = path("overflow.json").string();
        std::ofstream(file) << document.dump();
        const QString config = QString::fromStdString(file);
        const Finished stopped = train_weft(config, text("stopped"), {}, {});
        QVERIFY(stopped.code != 0);
        const Finished skipped =
            train_weft(config, text("skipped"), {"training.on_nonfinite=skip"}, {});
        QVERIFY2(skipped.code == 0, (skipped.out + skipped.err).c_str());
        // The row is in one batch of each of two epochs.
        const auto events = all<SkippedEvent>("skipped");
        QCOMPARE(events.size(), std::size_t{2});
        QCOMPARE(events[0].reason, std::string("the loss is not finite"));
        QVERIFY(skipped.out.find("skipped, the loss is not finite\n") != std::string::npos);
        QCOMPARE(all<StepEvent>("skipped").size(), std::size_t{14});
    }

    // No target is 0, and 20 samples are no whole number of batches: what fills up the last one is
    // computed along.
    void what_fills_up_a_batch_spoils_no_loss() {
        const std::filesystem::path table = path("relative.csv");
        std::ofstream out(table);
        out << "a,price\n";
        for (int i = 0; i < 20; ++i) {
            out << i << "," << 1 + 0.5 * i << "\n";
        }
        out.close();
        const Json document = {
            {"data",
             {{"train",
               {{"type", "csv"},
                {"path", table.string()},
                {"targets", "price"},
                {"scale_targets", "none"}}},
              {"validation", {{"split", 0.25}}}}},
            {"model", {{"type", "mlp"}, {"hidden", {8}}}},
            {"loss", {{"type", "expression"}, {"expression", "mean(abs(y - t) / abs(t))"}}},
            {"training",
             {{"length", {{"steps", 12}}}, {"global_batch_size", 8}, {"precision", "f32"}}},
            {"log", {{"tensorboard", false}}}};
        const std::string file = path("relative.json").string();
        std::ofstream(file) << document.dump();
        const Finished run = train_weft(QString::fromStdString(file), text("relative"), {}, {});
        QVERIFY2(run.code == 0, (run.out + run.err).c_str());
        const auto evaluations = all<EvaluationEvent>("relative");
        QVERIFY(!evaluations.empty());
        for (const EvaluationEvent& evaluation : evaluations) {
            for (const auto& [name, value] : evaluation.metrics) {
                QVERIFY2(std::isfinite(value), name.c_str());
            }
        }
    }

    // The first update makes the weights infinite, and only the next one notices.
    void weights_that_an_update_spoilt_are_not_kept_as_the_last_good_ones() {
        const Finished run = train_weft(
            config_, text("spoilt"),
            {R"(optimizer={"type":"sgd","learning_rate":1e38,"momentum":0})",
             R"(lr_schedule={"type":"constant"})", "training.max_grad_norm=null",
             R"json(loss={"type":"expression","expression":"1e6 * cross_entropy(y, t)"})json"},
            {});
        QVERIFY(run.code != 0);
        QVERIFY2(run.err.find("There is no checkpoint yet") != std::string::npos, run.err.c_str());
        QVERIFY(
            !std::filesystem::exists(path("spoilt") / "checkpoints" / checkpoint::folder_name(1)));
    }

    void ten_updates_in_a_row_that_are_not_finite_end_the_run() {
        const Finished run =
            train_weft(config_, text("endless"),
                       {"training.on_nonfinite=skip",
                        R"json(loss={"type":"expression","expression":"log(0 * y[0] - 1)"})json"},
                       {});
        QVERIFY(run.code != 0);
        QCOMPARE(all<SkippedEvent>("endless").size(), std::size_t{9});
        QVERIFY2(run.err.find("as it did in the 9 updates before, which were skipped") !=
                     std::string::npos,
                 run.err.c_str());
    }
};

} // namespace

WEFT_TEST(RecipeRunTest)
#include "recipe_test.moc"
