// SPDX-License-Identifier: Apache-2.0
// Training on mixed samples through the real program: the same whatever prepares batches, whatever
// trains on them, and wherever it was interrupted.
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>

namespace {

using namespace weft;
using namespace weft::test;
using namespace weft::train;

class MixingRunTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    Finished train(const char* run, const QStringList& settings, const QStringList& more = {}) {
        return train_weft(config_, text(run), settings, more);
    }
    std::vector<double> losses_of(const char* run) const {
        std::vector<double> out;
        for (const Event& event : events_of(path(run))) {
            if (const auto* step = std::get_if<StepEvent>(&event.payload)) {
                out.push_back(step->loss);
            }
        }
        return out;
    }
    void same_state(const char* one, const char* other) const {
        const Finished diff = run_weft({"checkpoint", "diff", text(one), text(other)});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

private slots:
    void initTestCase() {
        config_ = write_config(path("configs"), config::json_of(R"({"data": {"mix": [
                                   {"type": "mixup", "alpha": 0.4, "probability": 0.9}]}})"));
        const Finished run = train("whole", {});
        QVERIFY2(run.code == 0, run.err.c_str());
        QCOMPARE(losses_of("whole").size(), std::size_t{40});
    }

    void mixing_changes_what_is_trained_on() {
        const Finished run = train("plain", {"data.mix=[]"});
        QVERIFY2(run.code == 0, run.err.c_str());
        const auto mixed = losses_of("whole");
        const auto plain = losses_of("plain");
        for (std::size_t i = 0; i < plain.size(); ++i) {
            QVERIFY(mixed[i] != plain[i]);
        }
    }

    void threads_change_no_bit() {
        for (const char* workers : {"0", "2"}) {
            const std::string run = std::string("workers_") + workers;
            const Finished done = train(run.c_str(), {"data.num_workers=" + QString(workers)});
            QVERIFY2(done.code == 0, done.err.c_str());
            QCOMPARE(losses_of(run.c_str()), losses_of("whole"));
            same_state("whole", run.c_str());
        }
    }

    void an_interrupted_run_goes_on_bit_for_bit() {
        for (const char* stop : {"1", "7", "24"}) {
            const std::string run = std::string("until_") + stop;
            const Finished part = train(run.c_str(), {}, {"--max-steps", stop});
            QVERIFY2(part.code == 0, part.err.c_str());
            const Finished resumed = run_weft({"resume", text(run.c_str())});
            QVERIFY2(resumed.code == 0, resumed.err.c_str());
            same_state("whole", run.c_str());
        }
    }

    // Sums come in another order: what bf16 makes of the last bit, over twenty updates.
    void devices_see_the_same_samples() {
        for (const char* devices : {"1", "2", "4"}) {
            const std::string run = std::string("devices_") + devices;
            const Finished done =
                train(run.c_str(),
                      {"mesh.devices=cpu:" + QString(devices), "mesh.strategy=data_parallel",
                       "training.precision=f32", "model.dropout=0"},
                      {"--max-steps", "20"});
            QVERIFY2(done.code == 0, done.err.c_str());
            const auto one = losses_of("devices_1");
            const auto here = losses_of(run.c_str());
            QCOMPARE(here.size(), std::size_t{20});
            for (std::size_t i = 0; i < here.size(); ++i) {
                QVERIFY2(std::abs(here[i] - one[i]) < 1e-5 * one[i],
                         (run + ": " + std::to_string(here[i]) + " for " + std::to_string(one[i]))
                             .c_str());
            }
        }
    }

    void every_strategy_computes_the_mixed_loss() {
        for (const char* strategy : {"fsdp", "tensor_parallel", "pipeline"}) {
            const Finished done = run_weft({"plan", config_, "--devices", "cpu:2", "--set",
                                            "mesh.strategy=" + QString(strategy), "--verify", "3"});
            QVERIFY2(done.code == 0, (std::string(strategy) + done.out + done.err).c_str());
        }
    }

    void the_classes_that_evaluation_sees_are_not_mixed() {
        const QString plain = write_config(path("plain_config"));
        const auto evaluated = [&](const QStringList& more) {
            const Finished done =
                run_weft(QStringList{"eval", text("whole"), "--split", "train", "--json"} + more);
            return done.code == 0 ? config::json_of(done.out) : config::Json();
        };
        const config::Json own = evaluated({});
        QVERIFY(own.is_object());
        QCOMPARE(evaluated({"--data", plain}).dump(), own.dump());
    }

    void data_without_classes_or_numbers_are_refused_before_a_run() {
        const Finished cut =
            run_weft({"check", config_, "--set", R"(data.mix=[{"type": "cutmix"}])"});
        QVERIFY(cut.code != 0);
        QVERIFY2((cut.out + cut.err).find("/data/mix/0") != std::string::npos,
                 (cut.out + cut.err).c_str());
    }
};

} // namespace

WEFT_TEST(MixingRunTest)
#include "mixing_run_test.moc"
