// SPDX-License-Identifier: Apache-2.0
// Recompute through the real program: the same weights bit for bit; a budget is kept to, or refused
// before anything is allocated.
#include "core/base/file.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

namespace {

using namespace weft::test;
namespace fs = std::filesystem;

constexpr int kExitMemory = 4;

class RecomputeTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;


    Finished train(const char* run, const QString& setting) {
        return run_weft({"train", config_, "--run-dir", text(run), "--set", setting});
    }

    /// Of one step, as planned.
    double flops(const char* run) const {
        const auto plan = weft::read_file(fs::path(text(run).toStdString()) / "plan.json");
        return weft::config::json_of(plan).at("flops_per_step").get<double>();
    }

private slots:
    void initTestCase() {
        // Dropout, accumulation, and so many samples that activations outweigh the weights.
        config_ = write_config(
            path("configs"),
            {{"model", {{"hidden", {48, 48, 48}}}},
             {"training",
              {{"length", {{"steps", 8}}}, {"global_batch_size", 128}, {"micro_batch_size", 64}}}});
        const Finished run = train("none", "training.recompute=none");
        QVERIFY2(run.code == 0, run.err.c_str());
    }

    void blocks_give_the_same_checkpoint_bit_for_bit() {
        const Finished run = train("blocks", "training.recompute=blocks");
        QVERIFY2(run.code == 0, run.err.c_str());
        const Finished diff = run_weft({"checkpoint", "diff", text("none"), text("blocks")});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
        QVERIFY(flops("blocks") > flops("none"));
    }

    void a_budget_that_cannot_be_met_is_refused_with_what_can() {
        const Finished run =
            run_weft({"train", config_, "--run-dir", text("refused"), "--set",
                      "training.recompute=auto", "--set", "training.memory_budget=20000"});
        QCOMPARE(run.code, kExitMemory);
        QVERIFY2(run.err.find("training.memory_budget") != std::string::npos, run.err.c_str());
    }
};

} // namespace

WEFT_TEST(RecomputeTest)
#include "recompute_test.moc"
