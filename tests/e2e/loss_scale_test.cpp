// SPDX-License-Identifier: Apache-2.0
// Training in f16 through the real program: it learns as f32 does, skips what overflows and tells
// of it, ends where no scale is left, and goes on from checkpoints bit for bit.
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
using namespace weft::train;
using config::Json;

class LossScaleRunTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    Finished train(const char* run, const QStringList& settings, const QStringList& more = {}) {
        return train_weft(config_, text(run), settings, more);
    }
    std::vector<SkippedEvent> skipped_in(const char* run) const {
        std::vector<SkippedEvent> out;
        for (const Event& event : events_of(path(run))) {
            if (const auto* skipped = std::get_if<SkippedEvent>(&event.payload)) {
                out.push_back(*skipped);
            }
        }
        return out;
    }
    std::vector<StepEvent> steps_of(const char* run) const {
        std::vector<StepEvent> out;
        for (const Event& event : events_of(path(run))) {
            if (const auto* step = std::get_if<StepEvent>(&event.payload)) {
                out.push_back(*step);
            }
        }
        return out;
    }
    static double loss_scale_of(const StepEvent& step) {
        for (const auto& [name, value] : step.metrics) {
            if (name == "train/loss_scale") {
                return value;
            }
        }
        return 0;
    }
    double slot(const char* run, std::int64_t step, const char* name) const {
        const auto manifest =
            checkpoint::read_manifest(path(run) / "checkpoints" / checkpoint::folder_name(step));
        const auto* tensor = manifest.find(name);
        if (tensor == nullptr) {
            return NAN;
        }
        float value = 0;
        std::memcpy(&value, checkpoint::read_tensor(manifest, *tensor).data(), sizeof value);
        return static_cast<double>(value);
    }

private slots:
    void initTestCase() { config_ = write_config(path("configs")); }

    void a_run_in_f16_learns_as_one_in_f32() {
        for (const char* precision : {"f32", "f16"}) {
            const Finished run = train(precision, {"training.precision=" + QString(precision)});
            QVERIFY2(run.code == 0, run.err.c_str());
        }
        const auto wide = steps_of("f32");
        const auto narrow = steps_of("f16");
        QCOMPARE(narrow.size(), wide.size());
        for (std::size_t i = 0; i < wide.size(); ++i) {
            // Weights and activations of 11 bits, over forty updates.
            QVERIFY2(std::abs(narrow[i].loss - wide[i].loss) < 5e-3 * wide[i].loss,
                     (std::to_string(i) + ": " + std::to_string(narrow[i].loss) + " against " +
                      std::to_string(wide[i].loss))
                         .c_str());
            QCOMPARE(loss_scale_of(narrow[i]), 65536.0);
        }
        QVERIFY(skipped_in("f16").empty());
        QVERIFY(skipped_in("f32").empty());
    }

    void a_scale_that_is_too_large_skips_updates_until_it_fits() {
        const QStringList settings = {"training.precision=f16", "training.loss_scale.initial=1e12",
                                      "training.loss_scale.maximum=1e12"};
        const Finished run = train("large", settings);
        QVERIFY2(run.code == 0, run.err.c_str());
        const auto skipped = skipped_in("large");
        QVERIFY(skipped.size() > 5 && skipped.size() < 35);
        std::size_t first_row = 0; // a gradient may overflow once more when it is larger
        for (std::size_t i = 0; i < skipped.size(); ++i) {
            QCOMPARE(skipped[i].skipped, static_cast<std::int64_t>(i) + 1);
            QCOMPARE(skipped[i].reason, std::string("the gradient is not finite"));
            first_row += skipped[i].step == static_cast<std::int64_t>(i) + 1 ? 1 : 0;
        }
        QVERIFY(first_row > 5);
        // The first of a row is forgiven; from the second on the scale halves.
        for (std::size_t i = 0; i < first_row; ++i) {
            const int halvings = i < 2 ? 0 : static_cast<int>(i) - 1;
            QVERIFY(std::abs(skipped[i].loss_scale / std::ldexp(1e12, -halvings) - 1) < 1e-6);
        }
        QVERIFY(run.out.find("step 1: skipped") != std::string::npos);
        const auto steps = steps_of("large");
        QCOMPARE(steps.size() + skipped.size(), std::size_t{40});
        QCOMPARE(summarise_run(path("large")).last_checkpoint_step, 40);
        QVERIFY(steps.back().loss < steps.front().loss);
        for (const StepEvent& step : steps) {
            QVERIFY(std::isfinite(step.loss) && std::isfinite(step.grad_norm));
        }
        QCOMPARE(slot("large", 40, "training.skipped"), static_cast<double>(skipped.size()));
    }

    void an_interrupted_run_goes_on_bit_for_bit() {
        // Growing after every second update, so that the scale moves all the time.
        const QStringList settings = {"training.precision=f16", "training.loss_scale.initial=1e9",
                                      "training.loss_scale.maximum=1e9",
                                      "training.loss_scale.growth_interval=2"};
        const Finished whole = train("whole", settings);
        QVERIFY2(whole.code == 0, whole.err.c_str());
        QVERIFY(skipped_in("whole").size() > 5);
        for (const char* stop : {"1", "7", "24"}) {
            const std::string run = std::string("until_") + stop;
            const Finished part = train(run.c_str(), settings, {"--max-steps", stop});
            QVERIFY2(part.code == 0, part.err.c_str());
            const Finished resumed = run_weft({"resume", text(run.c_str())});
            QVERIFY2(resumed.code == 0, resumed.err.c_str());
            const Finished diff =
                run_weft({"checkpoint", "diff", text("whole"), text(run.c_str())});
            QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
            QCOMPARE(skipped_in(run.c_str()).size(), skipped_in("whole").size());
        }
    }

    void another_mesh_goes_on_with_the_same_scale() {
        // Two updates overflow by far; then the scale is 50,000, by which none does.
        const QStringList settings = {"training.precision=f16", "training.loss_scale.initial=1e30",
                                      "training.loss_scale.maximum=1e30",
                                      "training.loss_scale.backoff=5e-26"};
        const Finished part = train("one", settings, {"--max-steps", "12"});
        QVERIFY2(part.code == 0, part.err.c_str());
        const double skipped = slot("one", 12, "training.skipped");
        QCOMPARE(skipped, 2.0);
        for (const char* strategy : {"fsdp", "pipeline"}) {
            const QString run = text((std::string("on_") + strategy).c_str());
            const Finished resumed =
                run_weft({"resume", text("one"), "--fork", run, "--max-steps", "13", "--set",
                          "mesh.devices=cpu:2", "--set", "mesh.strategy=" + QString(strategy)});
            QVERIFY2(resumed.code == 0, resumed.err.c_str());
            const std::string name = std::string("on_") + strategy;
            QCOMPARE(slot(name.c_str(), 13, "training.skipped"), skipped);
            QCOMPARE(slot(name.c_str(), 13, "training.loss_scale"),
                     slot("one", 12, "training.loss_scale"));
        }
    }

    // What the moments have seen stays known when a fork scales no loss any more.
    void a_fork_in_f32_counts_only_updates_that_were_made() {
        const Finished resumed = run_weft({"resume", text("one"), "--fork", text("wide"),
                                           "--max-steps", "13", "--set", "training.precision=f32"});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        const auto record =
            checkpoint::read_manifest(path("wide") / "checkpoints" / checkpoint::folder_name(13))
                .record;
        QCOMPARE(record.counters.at("moments_since"),
                 Json::array({std::int64_t(slot("one", 12, "training.skipped"))}));
        QVERIFY(!record.counters.contains("skipped"));
    }

    void a_scale_that_would_fall_below_its_minimum_is_a_divergence() {
        const Finished run = train(
            "smallest", {"training.precision=f16", "training.loss_scale.initial=1e9",
                         "training.loss_scale.minimum=1e8", "training.loss_scale.maximum=1e9"});
        QVERIFY(run.code != 0);
        const std::string said = run.out + run.err;
        for (const char* part : {"the gradient norm became", "loss scale", "none below",
                                 "The update was not taken", "in bf16"}) {
            QVERIFY2(said.find(part) != std::string::npos, (said + "\nlacks " + part).c_str());
        }
        QCOMPARE(summarise_run(path("smallest")).state, std::string("failed"));
    }
};

} // namespace

WEFT_TEST(LossScaleRunTest)
#include "loss_scale_test.moc"
