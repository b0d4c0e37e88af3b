// SPDX-License-Identifier: GPL-3.0-or-later
// A run whose folder cannot be written, as on another's disk: it is looked at, tried and forked,
// not resumed, and nothing in it changes.
#include "tests/support/weft_test.h"
#include "tests/ui/again.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/pages/live/try_input.h"
#include "widgets/controls/controls.h"
#include "widgets/views/probability_bars.h"

#include <QComboBox>
#include <QPushButton>
#include <QTableView>

#include <map>
#include <unistd.h>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

constexpr const char* kLongImages = R"({
  "schema_version": 1, "name": "images", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 10, 1], "classes": 4,
                     "samples": 600}, "validation": {"split": 0.25}},
  "model": {"type": "mlp", "hidden": [16]},
  "training": {"length": {"steps": 100000}, "global_batch_size": 32, "precision": "f32"},
  "evaluation": {"every": {"steps": 2000}, "samples": 0},
  "checkpoint": {"every": {"steps": 1000}, "on_improvement": false}
})";

void protect(const fs::path& folder, bool on) {
    constexpr auto kWrite = fs::perms::owner_write | fs::perms::group_write;
    const auto how = on ? fs::perm_options::remove : fs::perm_options::add;
    fs::permissions(folder, kWrite, how);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        fs::permissions(entry.path(), kWrite, how);
    }
}

/// Every file of a run and when it was last written.
std::map<std::string, fs::file_time_type> files_of(const fs::path& folder) {
    std::map<std::string, fs::file_time_type> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        out[entry.path().string()] = entry.last_write_time();
    }
    return out;
}

} // namespace

class ReadOnlyRunTest : public QObject {
    Q_OBJECT

private slots:
    void it_is_looked_at_tried_and_forked_but_not_resumed() {
        if (::geteuid() == 0) { // may write whatever permissions say
            const QString problem = test::run_again("ReadOnlyRunTest", {}, test::User::nobody);
            QVERIFY2(problem.isEmpty(), qPrintable(problem));
            return;
        }
        test::StudioFixture fixture(kLongImages);
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 3, kPatienceMs);
        stop(fixture);
        const fs::path run = fixture.studio().run().folder();
        protect(run, true);
        const auto before = files_of(run);
        look(fixture, run);
        const auto after = files_of(run);
        protect(run, false); // or the folder of the test stays
        QVERIFY(before == after);
    }

private:
    static void look(test::StudioFixture& fixture, const fs::path& run) {
        fixture.reopen();
        QCOMPARE(fixture.studio().opener().open(run), QString());
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 3, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), train::RunState::stopped,
                                  kPatienceMs);
        fixture.window().showPage("runs");
        const auto* runs = static_cast<QTableView*>(fixture.find("runTable"));
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 1, kPatienceMs);
        fixture.window().showPage("checkpoints");
        const auto* checkpoints = static_cast<QTableView*>(fixture.find("checkpointTable"));
        QTRY_VERIFY_WITH_TIMEOUT(checkpoints->model()->rowCount() > 0, kPatienceMs);
        // Try it.
        fixture.window().showPage("train");
        static_cast<widgets::SegmentedControl*>(fixture.find("predictionTab"))->setCurrentIndex(2);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("sketchPad")->isVisible(), kPatienceMs);
        const auto* choice = static_cast<QComboBox*>(fixture.find("tryCheckpoint"));
        QTRY_VERIFY_WITH_TIMEOUT(!choice->currentData().toString().isEmpty(), kPatienceMs);
        fixture.window().findChild<ui::TryInput*>()->showSample(7);
        const auto* bars = fixture.window().findChild<widgets::ProbabilityBars*>("tryBars");
        QTRY_COMPARE_WITH_TIMEOUT(bars->bars().size(), std::size_t{4}, kPatienceMs);
        // What is wrong, where, and what to do.
        const ui::StartResult resumed = fixture.studio().control().resumeRun(run);
        QVERIFY(!resumed.started);
        QVERIFY2(resumed.problem.contains("read-only") &&
                     resumed.problem.contains(ui::pathText(run)) &&
                     resumed.problem.contains("fork"),
                 qPrintable(resumed.problem));
        const auto saved = fixture.studio().run().checkpoints();
        QVERIFY(!saved.empty());
        const ui::StartResult forked =
            fixture.studio().control().forkRun(run, run / saved.back().path, {"seed=9"});
        QVERIFY2(forked.started, qPrintable(forked.problem));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > saved.back().step, kPatienceMs);
        QVERIFY(fixture.studio().run().folder() != run);
        stop(fixture);
    }

    static void stop(test::StudioFixture& fixture) {
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(fixture.studio().run().state(), train::RunState::stopped);
    }
};

WEFT_TEST(ReadOnlyRunTest)
#include "read_only_run_test.moc"
