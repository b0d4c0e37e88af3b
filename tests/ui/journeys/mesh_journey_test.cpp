// SPDX-License-Identifier: GPL-3.0-or-later
// A mesh from the first idea to a run that goes on with other devices, on the real engine: once by
// mouse, once by keyboard alone.
#include "core/cost/calibration.h"
#include "core/train/measure/machine_cost.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/mesh_edit.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "ui/models/advice_model.h"
#include "ui/models/collective_model.h"
#include "ui/models/tensor_tree_model.h"
#include "ui/pages/plan/plan_page.h"
#include "ui/plurals.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/device_times.h"

#include <QAbstractItemView>
#include <QFileDialog>
#include <QSortFilterProxyModel>

namespace {

using namespace weft;
using test::Hands;
using test::kRunPatienceMs;

const QString kUpWeight = "blocks.0.mlp.up.weight";
enum Tab { MeshTab, PlanTab, ProgramTab };
enum Drawer {
    StepDrawer,
    RulesDrawer,
    FindingsDrawer,
    AdviceDrawer,
    CompareDrawer,
    CheckpointDrawer,
    LiveDrawer
};

/// Two layers whose steps take milliseconds, and as many steps as anybody wants to watch.
constexpr const char* kTinyGpt = R"({
  "schema_version": 1, "name": "tiny-gpt", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "tokens", "length": 16, "vocab": 64,
                     "samples": 512}, "validation": {"split": 0.1}},
  "model": {"type": "gpt2", "layers": 2, "width": 32, "heads": 4, "context": 16, "vocab": 64,
            "dropout": 0.0},
  "training": {"length": {"steps": 1000000}, "global_batch_size": 16, "precision": "f32"},
  "evaluation": {"every": {"steps": 100000}, "samples": 0},
  "checkpoint": {"every": {"steps": 100000}, "on_improvement": false}
})";

/// What `weft bench machine` leaves behind, with round figures: a search needs some, not true ones.
void calibrate() {
    cost::Calibration calibration{train::machine_key(0), cost::Ceilings{}, {}};
    calibration.ceilings->limits = {2e12, 2e11, 2e10, 1e-6};
    calibration.ceilings->bf16_unit = "f32";
    std::filesystem::create_directories(test::StudioFixture::calibration().parent_path());
    cost::write_calibration(test::StudioFixture::calibration(), calibration);
}

/// The row of a collective of a tensor itself; -1: none is planned.
int collective_of(const ui::CollectiveModel& model, const char* kind, const QString& tensor) {
    for (int row = 0; row < model.rowCount(); ++row) {
        const plan::Collective& first = model.row(row).first;
        if (first.kind == kind && first.tensor == tensor.toStdString()) {
            return row;
        }
    }
    return -1;
}

} // namespace

class MeshJourneyTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void cleanup() { std::filesystem::remove(test::StudioFixture::calibration()); }

    void from_a_preset_to_other_devices_by_mouse() {
        test::StudioFixture fixture(kTinyGpt);
        test::Mouse mouse(fixture);
        travel(fixture, mouse);
    }

    void from_a_preset_to_other_devices_by_keyboard_alone() {
        test::StudioFixture fixture(kTinyGpt);
        test::Keyboard keyboard(fixture);
        travel(fixture, keyboard);
    }

private:
    static void travel(test::StudioFixture& fixture, Hands& hands) {
        calibrate();
        arrive(fixture);
        for (const auto step : {build, shard, takeAdvice, train, save, goOnElsewhere}) {
            if (!QTest::currentTestFailed()) {
                step(fixture, hands);
            }
        }
    }

    static void arrive(test::StudioFixture& fixture) {
        fixture.window().resize(1440, 900);
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
    }

    // The preset becomes the draft; its four devices are dealt out over data, then over data and
    // model.
    static void build(test::StudioFixture& fixture, Hands& hands) {
        const ui::Draft& draft = fixture.studio().draft();
        QVERIFY(hands.press("preset.tiny"));
        QVERIFY(hands.go("plan"));
        QVERIFY(hands.choose("planTab", MeshTab));
        QVERIFY(hands.press("useExample"));
        QVERIFY(hands.press("strategy_data_parallel"));
        QTRY_VERIFY((meshOf(draft).axes == std::vector<ui::MeshAxis>{{"data", 4}}));
        QVERIFY(hands.pressEntry("axisAdd", "axisAdd_model"));
        QTRY_VERIFY((meshOf(draft).axes == std::vector<ui::MeshAxis>{{"data", 2}, {"model", 2}}));
        QCOMPARE(meshOf(draft).kind, std::string("cpu")); // simulated
        QTRY_VERIFY_WITH_TIMEOUT(plannedAs(fixture, "P(None, 'model')"), kRunPatienceMs);
    }

    // One tensor lies otherwise than its like: a new collective brings it together, and says why.
    static void shard(test::StudioFixture& fixture, Hands& hands) {
        const ui::Draft& draft = fixture.studio().draft();
        QTRY_VERIFY_WITH_TIMEOUT(isSettled(fixture), kRunPatienceMs);
        const auto& collectives = *fixture.window().findChild<ui::CollectiveModel*>();
        QCOMPARE(collective_of(collectives, "all_gather", kUpWeight), -1);
        auto* tensors = fixture.window().findChild<ui::TensorTreeModel*>();
        QVERIFY(hands.pick("tensorTree", tensors->indexOf(kUpWeight)));
        QVERIFY(hands.inMenu([&] { return hands.press("slot_0"); },
                             [&] { return hands.entry("splitOver_data/splitTensor"); }));
        QTRY_VERIFY_WITH_TIMEOUT(plannedAs(fixture, "P('data', 'model')"), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(isSettled(fixture), kRunPatienceMs);
        const int row = collective_of(collectives, "all_gather", kUpWeight);
        QVERIFY(row >= 0);
        QVERIFY(hands.choose("meshDrawer", StepDrawer));
        auto* table = static_cast<QAbstractItemView*>(fixture.find("collectiveTable"));
        auto* sorted = static_cast<QSortFilterProxyModel*>(table->model());
        QVERIFY(hands.pick("collectiveTable", sorted->mapFromSource(collectives.index(
                                                  row, ui::CollectiveModel::KindColumn))));
        const QString why = static_cast<widgets::TextLabel*>(fixture.find("collectiveWhy"))->text();
        QVERIFY2(why.contains("mlp.up") && why.contains("data"), qPrintable(why));
        // What was done by hand is taken back like every other edit.
        QVERIFY(hands.command(ui::action::kUndo));
        QTRY_COMPARE(draft.config().section("mesh").at("specs").dump(), std::string("{}"));
        QTRY_VERIFY_WITH_TIMEOUT(plannedAs(fixture, "P(None, 'model')"), kRunPatienceMs);
    }

    static void takeAdvice(test::StudioFixture& fixture, Hands& hands) {
        ui::Draft& draft = fixture.studio().draft();
        QTRY_VERIFY_WITH_TIMEOUT(isSettled(fixture), kRunPatienceMs);
        const std::string before = draft.text();
        QVERIFY(hands.choose("meshDrawer", AdviceDrawer));
        QVERIFY(hands.press("adviceLook"));
        auto* table = static_cast<QAbstractItemView*>(fixture.find("adviceTable"));
        QTRY_VERIFY_WITH_TIMEOUT(table->isVisible(), kRunPatienceMs);
        auto* ways = fixture.window().findChild<ui::AdviceModel*>();
        QVERIFY(ways->rowCount() > 1); // the draft, and what is better
        auto* sorted = static_cast<QSortFilterProxyModel*>(table->model());
        QVERIFY(hands.pick("adviceTable", sorted->mapFromSource(ways->index(1, 0))));
        const QString proposed =
            static_cast<widgets::ElidedLabel*>(fixture.find("adviceAssignments"))->text();
        QVERIFY(hands.press("adviceUse"));
        QTRY_VERIFY(draft.text() != before);
        QVERIFY(draft.isValid());
        QCOMPARE(meshOf(draft).devices, 4);
        const std::string axes = draft.config().section("mesh").at("axes").dump();
        QVERIFY2(proposed.contains(ui::toQString("mesh.axes=" + axes)), qPrintable(proposed));
    }

    static void train(test::StudioFixture& fixture, Hands& hands) {
        const ui::RunModel& run = fixture.studio().run();
        QVERIFY(hands.press(QString(ui::action::kStart) + ".button"));
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > 20, kRunPatienceMs);
        QCOMPARE(run.config().section("mesh").dump(),
                 fixture.studio().draft().config().section("mesh").dump());
        // What each device does stands beside what was planned for it.
        QVERIFY(hands.go("plan"));
        QVERIFY(hands.choose("meshDrawer", LiveDrawer));
        auto* times = static_cast<widgets::DeviceTimes*>(fixture.find("liveTimes"));
        QTRY_VERIFY_WITH_TIMEOUT(times->isVisible(), kRunPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(times->itemCount(), 4, kRunPatienceMs);
        QVERIFY(run.devices()->devices.front().planned_compute_ms > 0);
    }

    // The configuration into a file of its own, the run into a checkpoint.
    static void save(test::StudioFixture& fixture, Hands& hands) {
        const std::filesystem::path folder = fixture.root() / "kept";
        std::filesystem::create_directories(folder);
        const std::filesystem::path file = folder / "mesh.json";
        QVERIFY(hands.inDialog([&] { return hands.command(ui::action::kSaveAs); },
                               [&] {
                                   return hands.fill("fileNameEdit", ui::pathText(file)) &&
                                          hands.key(Qt::Key_Return);
                               }));
        QTRY_VERIFY(std::filesystem::exists(file));
        const compile::CheckedRun kept = compile::read_run_config_file(file);
        QVERIFY(kept.ok());
        QCOMPARE(kept.config.section("mesh").dump(),
                 fixture.studio().draft().config().section("mesh").dump());
        QVERIFY(hands.inDialog([&] { return hands.command(ui::action::kQuit); },
                               [&] { return hands.press("stopAndSave"); }));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.window().isVisible(), kRunPatienceMs);
    }

    // Another day: the checkpoint of that mesh goes on with its devices in a row.
    static void goOnElsewhere(test::StudioFixture& fixture, Hands& hands) {
        const std::filesystem::path parent = fixture.studio().run().folder();
        const std::int64_t saved_at = fixture.studio().run().step();
        fixture.reopen();
        arrive(fixture);
        QVERIFY(hands.go("checkpoints"));
        const QAbstractItemModel& runs =
            *static_cast<QAbstractItemView*>(fixture.find("runTree"))->model();
        QTRY_COMPARE(runs.rowCount(runs.index(0, 0)), 1); // in the folder of runs
        QVERIFY(hands.pick("runTree", runs.index(0, 0, runs.index(0, 0))));
        auto* table = static_cast<QAbstractItemView*>(fixture.find("checkpointTable"));
        QTRY_VERIFY_WITH_TIMEOUT(table->isVisible() && table->model()->rowCount() > 0,
                                 kRunPatienceMs);
        // Its rows may still be read again: it was on screen when the studio was left.
        QTRY_VERIFY_WITH_TIMEOUT(hands.pick("checkpointTable", table->model()->index(0, 0)),
                                 kRunPatienceMs);
        QVERIFY(hands.inDialog(
            [&] { return hands.press("forkRun"); },
            [&] { return hands.press("axisRemove_model") && hands.press("startFork"); }));
        const ui::RunModel& run = fixture.studio().run();
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kRunPatienceMs);
        QVERIFY(run.folder() != parent);
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > saved_at + 20, kRunPatienceMs);
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        QTRY_VERIFY_WITH_TIMEOUT(run.devices().has_value(), kRunPatienceMs);
        QCOMPARE(run.devices()->devices.size(), std::size_t{4});
        QCOMPARE(run.config().section("mesh").at("axes").dump(), std::string(R"([["data",4]])"));
        QVERIFY(!train::read_run_info(run.folder()).parent.empty());
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    static ui::MeshEdit meshOf(const ui::Draft& draft) { return ui::MeshEdit::of(draft.config()); }

    static ui::PlanPreview& preview(test::StudioFixture& fixture) {
        return fixture.window().findChild<ui::PlanPage*>()->preview();
    }

    /// What is shown is the draft's.
    static bool isSettled(test::StudioFixture& fixture) {
        return preview(fixture).isComplete() && !preview(fixture).isStale();
    }

    /// The plan keeps the tensor under this spec.
    static bool plannedAs(test::StudioFixture& fixture, const char* spec) {
        const auto digest = preview(fixture).digest();
        const plan::StateSlot* slot =
            digest ? digest->plan->find_slot(kUpWeight.toStdString()) : nullptr;
        return slot != nullptr &&
               ui::specText(*digest->plan, *slot, test::kJax) == QLatin1String(spec);
    }
};

WEFT_TEST(MeshJourneyTest)
#include "mesh_journey_test.moc"
