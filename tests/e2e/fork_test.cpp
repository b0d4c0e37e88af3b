// SPDX-License-Identifier: Apache-2.0
// What a fork takes along from its parent, and what it begins anew.
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <cstring>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;

constexpr double kRate = 1e-3;

class ForkTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    static std::vector<float> numbers_of(const checkpoint::Manifest& manifest,
                                         const std::string& name) {
        const auto bytes = checkpoint::read_tensor(manifest, *manifest.find(name));
        std::vector<float> out(bytes.size() / sizeof(float));
        std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    checkpoint::Manifest checkpoint_of(const char* run, std::int64_t step) const {
        return checkpoint::read_manifest(path(run) / "checkpoints" / checkpoint::folder_name(step));
    }
    /// The largest change of a parameter between two checkpoints.
    static double largest_change(const checkpoint::Manifest& before,
                                 const checkpoint::Manifest& after) {
        double largest = 0;
        for (const checkpoint::TensorInfo& tensor : after.tensors) {
            if (tensor.kind != "parameters") {
                continue;
            }
            const auto a = numbers_of(before, tensor.name);
            const auto b = numbers_of(after, tensor.name);
            for (std::size_t i = 0; i < a.size(); ++i) {
                largest = std::max(largest, std::abs(static_cast<double>(b[i]) - a[i]));
            }
        }
        return largest;
    }
    void train(const char* run, const QStringList& more) {
        const Finished done =
            run_weft(QStringList{"train", config_, "--run-dir", text(run)} + more);
        QVERIFY2(done.code == 0, done.err.c_str());
    }
    void fork(const char* run, const char* to, const QStringList& more) {
        const Finished done = run_weft(QStringList{"resume", text(run), "--fork", text(to)} + more);
        QVERIFY2(done.code == 0, done.err.c_str());
    }

private slots:
    void initTestCase() {
        config_ = write_config(path("configs"), config::json_of(R"({
            "lr_schedule": {"type": "constant", "warmup_steps": null},
            "training": {"precision": "f32", "max_grad_norm": null},
            "optimizer": {"type": "sgd", "learning_rate": 0.01, "momentum": 0.9}})"));
        train("sgd", {"--max-steps", "20"});
    }

    // Adam's first step from zero moments: m / (1 - b1) = g and v / (1 - b2) = g^2, so that no
    // weight moves by more than the rate (Kingma and Ba 2015, section 2.1).
    void the_first_update_of_new_moments_is_no_larger_than_the_rate() {
        fork("sgd", "adam",
             {"--set", "optimizer.type=adam", "--set", "optimizer.learning_rate=0.001",
              "--max-steps", "21"});
        const double change = largest_change(checkpoint_of("sgd", 20), checkpoint_of("adam", 21));
        QVERIFY2(change > 0.9 * kRate && change < 1.001 * kRate, std::to_string(change).c_str());
    }

    void moments_begin_together_where_some_parameters_become_trainable() {
        train("frozen", {"--set", "optimizer={\"type\": \"adam\", \"learning_rate\": 0.001}",
                         "--set", "init.trainable=[\"layers.0.*\"]", "--max-steps", "20"});
        fork("frozen", "thawed", {"--set", "init.trainable=[\"*\"]", "--max-steps", "21"});
        const double change =
            largest_change(checkpoint_of("frozen", 20), checkpoint_of("thawed", 21));
        QVERIFY2(change > 0.9 * kRate && change < 1.001 * kRate, std::to_string(change).c_str());
    }

    void moments_that_are_kept_go_on_counting() {
        const QString adam = "optimizer={\"type\": \"adam\", \"learning_rate\": 0.001}";
        train("whole", {"--set", adam, "--max-steps", "22"});
        train("half", {"--set", adam, "--max-steps", "20"});
        fork("half", "second_half", {"--max-steps", "22"});
        QCOMPARE(largest_change(checkpoint_of("whole", 22), checkpoint_of("second_half", 22)), 0.0);
        // A fork of a fork: its moments are two steps old, not twenty-four.
        fork("adam", "grandchild", {"--max-steps", "23"});
        fork("sgd", "straight",
             {"--set", "optimizer.type=adam", "--set", "optimizer.learning_rate=0.001",
              "--max-steps", "23"});
        QCOMPARE(largest_change(checkpoint_of("straight", 23), checkpoint_of("grandchild", 23)),
                 0.0);
    }

    void the_best_of_a_fork_is_its_own() {
        train("parent", {"--set", "evaluation.every={\"steps\": 5}", "--max-steps", "20"});
        QVERIFY(checkpoint_of("parent", 20).record.counters.at("best").is_object());
        fork("parent", "judged_anew",
             {"--set", "metrics=[\"accuracy\"]", "--set", "checkpoint.metric=validation/accuracy",
              "--set", "checkpoint.mode=max", "--set", "evaluation.every={\"steps\": 5}",
              "--max-steps", "25"});
        const Json best = checkpoint_of("judged_anew", 25).record.counters.at("best");
        QVERIFY(best.at("step").get<std::int64_t>() > 20);
        QCOMPARE(best.at("value"), best.at("metrics").at("validation/accuracy"));
    }

    void a_fork_onto_other_data_begins_an_epoch() {
        // 144 samples to train on in batches of 32: step 3 is in the middle of an epoch.
        train("large", {"--max-steps", "3"});
        for (const char* samples : {"60", "400"}) {
            const std::string name = std::string("of_") + samples;
            fork("large", name.c_str(),
                 {"--set", QString("data.train.samples=%1").arg(samples), "--max-steps", "4"});
            const Json cursor = checkpoint_of(name.c_str(), 4).record.counters.at("cursor");
            QCOMPARE(cursor.at("position").get<std::int64_t>(), std::int64_t{32});
        }
        fork("large", "same_data", {"--max-steps", "4"});
        const Json cursor = checkpoint_of("same_data", 4).record.counters.at("cursor");
        QCOMPARE(cursor.at("position").get<std::int64_t>(), std::int64_t{4 * 32});
    }

    void a_training_metric_decides_what_is_best() {
        train("by_training",
              {"--set", "data.validation=null", "--set", "checkpoint.metric=train/loss", "--set",
               "evaluation.every={\"steps\": 5}", "--set", "checkpoint.keep_latest=1", "--set",
               "checkpoint.keep_best=1"});
        // The mean of the steps since the evaluation before, from the log of the run.
        std::int64_t best_step = -1;
        double best = INFINITY;
        double sum = 0;
        for (const train::Event& event : events_of(path("by_training"))) {
            if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
                sum += step->loss;
                if (step->step % 5 == 0) {
                    if (sum / 5 < best) {
                        best = sum / 5;
                        best_step = step->step;
                    }
                    sum = 0;
                }
            }
        }
        const auto entries = checkpoint::list_checkpoints(path("by_training") / "checkpoints");
        const checkpoint::Entry* kept =
            checkpoint::best_entry(entries, {.metric = "train/loss", .smaller_is_better = true});
        QVERIFY(kept != nullptr);
        QCOMPARE(kept->step, best_step);
        QVERIFY(std::abs(kept->record.metrics.at("train/loss").get<double>() - best) < 1e-6);
    }

    void a_resume_between_two_evaluations_goes_on_with_the_sums() {
        const QStringList settings = {"--set", "data.validation=null", "--set",
                                      "checkpoint.metric=train/loss", "--set",
                                      "evaluation.every={\"steps\": 5}"};
        train("at_once", settings + QStringList{"--max-steps", "15"});
        train("in_two", settings + QStringList{"--max-steps", "8"});
        QCOMPARE(run_weft({"resume", text("in_two"), "--max-steps", "15"}).code, 0);
        QCOMPARE(checkpoint_of("in_two", 15).record.metrics,
                 checkpoint_of("at_once", 15).record.metrics);
        QCOMPARE(checkpoint_of("in_two", 15).record.counters.at("best"),
                 checkpoint_of("at_once", 15).record.counters.at("best"));
    }

    // A rate of nearly nothing: no evaluation can be better than the first.
    void a_run_that_has_stalled_is_finished_and_can_be_trained_longer() {
        const QStringList settings = {"--set", "optimizer.learning_rate=1e-30",
                                      "--set", "optimizer.momentum=0",
                                      "--set", "evaluation.every={\"steps\": 5}",
                                      "--set", "training.early_stopping={\"patience\": 3}"};
        train("stalled", settings);
        train("in_halves", settings + QStringList{"--max-steps", "12"});
        QCOMPARE(run_weft({"resume", text("in_halves")}).code, 0);
        for (const char* name : {"stalled", "in_halves"}) {
            // Evaluated at 0, 5, 10 and 15: three times no better.
            QCOMPARE(train::summarise_run(path(name)).step, std::int64_t{15});
            QCOMPARE(train::summarise_run(path(name)).state, std::string("finished"));
        }
        const Finished longer = run_weft({"resume", text("stalled"), "--extend", "1"});
        QVERIFY2(longer.code == 0, longer.err.c_str());
        QCOMPARE(train::summarise_run(path("stalled")).step, std::int64_t{30});
    }

    void a_warm_start_takes_the_average_that_was_measured() {
        train("averaged", {"--set", "training.ema_decay=0.9", "--max-steps", "20"});
        const QString from = "init.from=" + text("averaged");
        train("from_average", {"--set", from, "--max-steps", "0"});
        const checkpoint::Manifest source = checkpoint_of("averaged", 20);
        const checkpoint::Manifest start = checkpoint_of("from_average", 0);
        for (const checkpoint::TensorInfo& tensor : start.tensors) {
            if (tensor.kind == "parameters") {
                QVERIFY(numbers_of(start, tensor.name) == numbers_of(source, "ema/" + tensor.name));
            }
        }
    }
};

} // namespace

WEFT_TEST(ForkTest)
#include "fork_test.moc"
