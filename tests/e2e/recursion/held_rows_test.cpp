// SPDX-License-Identifier: Apache-2.0
// What training rows carry from update to update is state like any other: the same on every mesh,
// in memory as planned, and bit for bit there when a run goes on.
#include "core/base/error.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>

using namespace weft;
using namespace weft::test;

namespace {

// Halting is learnt fast enough that rows take samples at different times.
const std::string kTrm = R"({
  "data": {"train": {"type": "sudoku", "side": 4, "samples": 200}, "validation": {"split": 0.1}},
  "model": {"type": "trm", "width": 16, "heads": 2, "layers": 1, "h_cycles": 2, "l_cycles": 2,
            "prefix": 2, "halt_max_steps": 4, "halt_exploration": 0.5},
  "loss": {"type": "stablemax"},
  "metrics": ["accuracy", "exact_accuracy", "halting_accuracy", "halting_steps"],
  "optimizer": {"type": "adam_atan2", "learning_rate": 0.003, "weight_decay": 0.1,
                "groups": [{"match": "halt.*", "learning_rate": 0.5, "weight_decay": 0}]},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 8, "precision": "f32", "ema_decay": 0.9,
               "length": {"steps": 24}},
  "evaluation": {"every": {"steps": 12}, "at_start": false},
  "checkpoint": {"every": {"steps": 100}}
})";

const Overrides kAttention = {"model.mixer=attention"};

} // namespace

class HeldRowsTest : public QObject, private TestFolder {
    Q_OBJECT

    QString written() {
        const auto file = path("trm.json");
        std::ofstream(file) << kTrm;
        return QString::fromStdString(file.string());
    }

private slots:
    void every_strategy_has_the_losses_of_one_device_data() {
        QTest::addColumn<int>("variant");
        for (std::size_t i = 0; i < variants().size(); ++i) {
            const std::string name = variants()[i].name;
            if (!name.starts_with("pipeline") && !name.starts_with("3d")) {
                QTest::newRow(name.c_str()) << static_cast<int>(i);
            }
        }
    }

    // f32 sums in another order. Rows halt by the sign of a logit and by chance, in f32 as well:
    // one that halts elsewhere than on one device would be off by far more.
    void every_strategy_has_the_losses_of_one_device() {
        QFETCH(int, variant);
        static const std::vector<double> one = run_mesh(mesh_config(kTrm, kAttention)).losses;
        Overrides overrides = variants()[static_cast<std::size_t>(variant)].overrides;
        overrides.insert(overrides.end(), kAttention.begin(), kAttention.end());
        const double off = losses_apart(one, run_mesh(mesh_config(kTrm, overrides)).losses);
        QVERIFY2(off < 1e-4, std::to_string(off).c_str());
    }

    void memory_is_as_planned() {
        for (const char* devices : {"cpu:1", "cpu:2"}) {
            for (const char* mixer : {"attention", "mlp"}) {
                const auto config = mesh_config(kTrm, {std::string("mesh.devices=") + devices,
                                                       std::string("model.mixer=") + mixer});
                const MeshRun run = run_mesh(config, {.steps = 3, .instrument = true});
                QVERIFY2(run.violations.empty(),
                         run.violations.empty() ? "" : run.violations.front().c_str());
                QVERIFY(run.touched_bytes > 0);
            }
        }
    }

    void rows_halt_at_different_times() {
        const MeshRun run = run_mesh(mesh_config(kTrm, {}), {.steps = 20, .keep_slots = true});
        const auto& bytes = run.state.at("carry.steps");
        std::vector<float> steps(bytes.size() / sizeof(float));
        std::memcpy(steps.data(), bytes.data(), bytes.size());
        QVERIFY2(std::adjacent_find(steps.begin(), steps.end(), std::not_equal_to<>()) !=
                     steps.end(),
                 "all rows have taken as many steps: the test would not see what it is for");
    }

    void a_run_that_goes_on_is_equal_bit_for_bit() {
        const QString config = written();
        const Finished whole = run_weft({"train", config, "--run-dir", text("whole")});
        QVERIFY2(whole.code == 0, whole.err.c_str());
        const Finished begun =
            run_weft({"train", config, "--run-dir", text("halves"), "--max-steps", "10"});
        QVERIFY2(begun.code == 0, begun.err.c_str());
        const Finished resumed = run_weft({"resume", text("halves")});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        const Finished diff = run_weft({"checkpoint", "diff", text("whole"), text("halves")});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

    void a_pipeline_is_refused() {
        const Finished run =
            run_weft({"plan", written(), "--devices", "cpu:2", "--set", "mesh.strategy=pipeline"});
        QCOMPARE(run.code, 2);
        QVERIFY2(run.err.find("which no pipeline does") != std::string::npos, run.err.c_str());
    }
};

WEFT_TEST(HeldRowsTest)
#include "held_rows_test.moc"
