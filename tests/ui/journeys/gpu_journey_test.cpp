// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs from the window, by mouse, with the real worker and emulated ones as its module: chosen,
// planned, watched, left for the CPU, and lost.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "ui/bridge/convert.h"
#include "ui/models/gpu_model.h"
#include "ui/pages/plan/mesh/mesh_bar.h"
#include "ui/pages/plan/plan_page.h"
#include "ui/plurals.h"
#include "widgets/controls/text_label.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QScrollBar>
#include <QTableView>

#include <cmath>
#include <numeric>

namespace {

using namespace weft;
using test::kRunPatienceMs;
using train::RunState;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kEmulatedBytes = 8192 * kMiB; // of each emulated GPU
constexpr std::int64_t kLittleBytes = 1024 * kMiB;   // of one with little memory

/// The model whose kernels the emulated module has, with as many steps as anybody watches.
constexpr const char* kLongMlp = R"({
  "schema_version": 1, "name": "gpu-mlp", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "classification", "features": 12, "classes": 5,
                     "samples": 400}},
  "model": {"type": "mlp", "hidden": [16, 8], "dropout": 0.2},
  "optimizer": {"type": "adamw", "learning_rate": 0.01, "weight_decay": 0.05},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 16, "precision": "f32", "length": {"steps": 1000000}},
  "checkpoint": {"every": {"steps": 50}, "on_improvement": false}
})";

/// Its activations take most of a GPU with little memory.
constexpr const char* kWideMlp = R"({
  "schema_version": 1, "name": "wide-mlp", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "classification", "features": 12, "classes": 5,
                     "samples": 100000}},
  "model": {"type": "mlp", "hidden": [256, 256, 256, 256]},
  "training": {"global_batch_size": 65536, "precision": "f32", "length": {"steps": 10}},
  "mesh": {"devices": "cuda:0,"}
})";

/// Of `count` losses from a place on.
double mean_loss(const ui::RunModel& run, std::size_t first, std::size_t count) {
    const auto begin = run.steps().loss.begin() + static_cast<std::ptrdiff_t>(first);
    return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) /
           static_cast<double>(count);
}

std::string devices_of(const compile::RunConfig& config) {
    return config.section("mesh").at("devices").get<std::string>();
}

} // namespace

class GpuJourneyTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() {
        qputenv("WEFT_MODULES", WEFT_EMULATED_MODULES);
        qputenv("WEFT_EMULATED_GPUS", "3");
        setMemory(kEmulatedBytes);
    }
    void cleanup() {
        for (const char* variable : {"WEFT_MODULES", "WEFT_EMULATED_GPUS", "WEFT_EMULATED_MEMORY",
                                     "WEFT_EMULATED_FAULT"}) {
            qunsetenv(variable);
        }
    }

    void from_two_gpus_to_the_cpu() {
        test::StudioFixture fixture(kLongMlp);
        test::Mouse mouse(fixture);
        for (const auto step : {choose, start, watch, stop, goOnOnTheCpu}) {
            if (!QTest::currentTestFailed()) {
                step(fixture, mouse);
            }
        }
    }

    void a_gpu_that_fails_leaves_the_studio_the_checkpoint_and_a_way_on() {
        qputenv("WEFT_EMULATED_FAULT", "30000");
        test::StudioFixture fixture(kLongMlp);
        test::Mouse mouse(fixture);
        choose(fixture, mouse);
        QVERIFY(!QTest::currentTestFailed());
        QVERIFY(mouse.press(QString(ui::action::kStart) + ".button"));
        const ui::RunModel& run = fixture.studio().run();
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), RunState::failed, kRunPatienceMs);
        const std::filesystem::path folder = run.folder();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QVERIFY(run.failure().has_value());
        QCOMPARE(run.failure()->kind, std::string("device"));
        QTRY_VERIFY(fixture.find("failureCard")->isVisible());
        const QString said =
            static_cast<widgets::TextLabel*>(fixture.find("failureMessage"))->text();
        QVERIFY2(said.contains("fallen off the bus"), qPrintable(said));
        const std::int64_t saved = train::summarise_run(folder).last_checkpoint_step;
        QVERIFY(saved > 0);
        QCOMPARE(run.failure()->ways_on.size(), std::size_t{1}); // on the CPU
        // The GPU is well again.
        qunsetenv("WEFT_EMULATED_FAULT");
        QVERIFY(mouse.press("failureResume"));
        QTRY_VERIFY_WITH_TIMEOUT(run.state() == RunState::running && run.step() > saved + 20,
                                 kRunPatienceMs);
        QCOMPARE(run.folder(), folder);
        QVERIFY(!fixture.find("failureCard")->isVisible());
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void a_gpu_alone_goes_by_its_number() {
        test::StudioFixture fixture(kLongMlp);
        test::Mouse mouse(fixture);
        choose(fixture, mouse);
        QVERIFY(!QTest::currentTestFailed());
        QVERIFY(mouse.pressEntry("meshGpus", "gpu_0"));
        QTRY_COMPARE(devices_of(fixture.studio().draft().config()), std::string("cuda:1,"));
        QVERIFY(mouse.choose("meshWhere", static_cast<int>(ui::MeshBar::Where::Here)));
        QTRY_COMPARE(devices_of(fixture.studio().draft().config()), std::string("auto"));
    }

    void what_does_not_fit_beside_the_memory_of_driver_and_libraries_has_fixes() {
        setMemory(kLittleBytes);
        test::StudioFixture fixture(kWideMlp);
        fixture.window().resize(1440, 900);
        test::Mouse mouse(fixture);
        QVERIFY(mouse.press("preset.tiny"));
        QVERIFY(mouse.go("plan"));
        QVERIFY(mouse.choose("planTab", 0));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().machine().facts().has_value(), kRunPatienceMs);
        QVERIFY(mouse.choose("planTab", 1));
        const ui::PlanPreview& preview = fixture.window().findChild<ui::PlanPage*>()->preview();
        const auto planned = [&] { return preview.isComplete() && !preview.isStale(); };
        QTRY_VERIFY_WITH_TIMEOUT(planned(), kRunPatienceMs);
        const std::shared_ptr<const plan::ExecutionPlan> plan = preview.digest()->plan;
        // The arena alone would fit.
        QCOMPARE(plan->limit_bytes.value_or(0), kLittleBytes);
        QVERIFY(plan->arena_bytes + plan->landing_bytes() < kLittleBytes);
        QVERIFY(plan->beside.bytes() > 0);
        QVERIFY(!plan->fits());
        QTRY_COMPARE_WITH_TIMEOUT(preview.fixes().size(), std::size_t{3}, kRunPatienceMs);
        for (const plan::Alternative& fix : preview.fixes()) {
            auto* apply = fixture.find("apply." + ui::toQString(fix.change));
            QTRY_VERIFY(apply->isVisible());
            QVERIFY(fix.fits && fix.peak_bytes > plan->beside.bytes());
        }
        const plan::Alternative first = preview.fixes().front();
        QVERIFY(mouse.press("apply." + ui::toQString(first.change)));
        QTRY_VERIFY_WITH_TIMEOUT(planned() && preview.digest()->plan->fits(), kRunPatienceMs);
        QCOMPARE(preview.digest()->plan->memory_bytes(), first.peak_bytes);
    }

    void without_gpus_it_is_said_why() {
        qputenv("WEFT_EMULATED_GPUS", "0");
        test::StudioFixture fixture(kLongMlp);
        test::Mouse mouse(fixture);
        QVERIFY(mouse.command(ui::action::kSystem));
        auto* none = fixture.find("noGpus");
        QTRY_VERIFY_WITH_TIMEOUT(none->isVisible() && fixture.studio().machine().facts(),
                                 kRunPatienceMs);
        QStringList said;
        for (const auto* label : none->findChildren<widgets::TextLabel*>()) {
            said << label->text();
        }
        QVERIFY2(said.join(' ').contains("NVIDIA GPU was found"), qPrintable(said.join('\n')));
    }

private:
    static void setMemory(std::int64_t bytes) {
        qputenv("WEFT_EMULATED_MEMORY", QByteArray::number(qlonglong{bytes / kMiB}));
    }

    static void choose(test::StudioFixture& fixture, test::Hands& hands) {
        fixture.window().resize(1440, 900);
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        const ui::Draft& draft = fixture.studio().draft();
        QVERIFY(hands.press("preset.tiny"));
        QVERIFY(hands.go("plan"));
        QVERIFY(hands.choose("planTab", 0));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().machine().facts().has_value(), kRunPatienceMs);
        QVERIFY(hands.choose("meshWhere", static_cast<int>(ui::MeshBar::Where::Gpus)));
        QTRY_COMPARE(devices_of(draft.config()), std::string("cuda:3")); // all there are
        QVERIFY(hands.pressEntry("meshGpus", "gpu_2"));
        QTRY_COMPARE(devices_of(draft.config()), std::string("cuda:2"));
        const ui::PlanPreview& preview = fixture.window().findChild<ui::PlanPage*>()->preview();
        QTRY_VERIFY_WITH_TIMEOUT(preview.isComplete() && !preview.isStale(), kRunPatienceMs);
        const plan::ExecutionPlan& plan = *preview.digest()->plan;
        QCOMPARE(plan.mesh.devices(), 2);
        QCOMPARE(plan.limit_bytes.value_or(0), kEmulatedBytes); // nobody uses them
        QVERIFY2(plan.limit_basis.find("free memory of GPU 0") != std::string::npos,
                 plan.limit_basis.c_str());
    }

    static void start(test::StudioFixture& fixture, test::Hands& hands) {
        const ui::RunModel& run = fixture.studio().run();
        QVERIFY(hands.press(QString(ui::action::kStart) + ".button"));
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > 60, kRunPatienceMs);
        QCOMPARE(devices_of(run.config()), std::string("cuda:2"));
        showMemory(fixture);
        QVERIFY(mean_loss(run, run.steps().loss.size() - 20, 20) < mean_loss(run, 0, 20));
    }

    static void setText(test::StudioFixture& fixture, double scale) {
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = scale;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
    }

    // What the GPUs hold beside the plan's arena, as the run's events say it.
    static void showMemory(test::StudioFixture& fixture) {
        const ui::RunModel& run = fixture.studio().run();
        QTRY_VERIFY_WITH_TIMEOUT(run.memory().contains("on_device"), kRunPatienceMs);
        const auto* said = static_cast<widgets::TextLabel*>(fixture.find("memoryBeside"));
        QTRY_VERIFY(said->isVisible());
        const config::Json& told = run.memory().at("on_device");
        QVERIFY(told.at("landing_bytes").get<std::int64_t>() > 0);
        for (const auto& [name, bytes] : told.items()) {
            QVERIFY2(bytes == 0 ||
                         said->text().contains(widgets::formatMemory(bytes.get<std::int64_t>())),
                     qPrintable(said->text()));
        }
    }

    // While it trains its events say how the GPUs are.
    static void watch(test::StudioFixture& fixture, test::Hands& hands) {
        QVERIFY(hands.command(ui::action::kSystem));
        auto* table = static_cast<QAbstractItemView*>(fixture.find("gpuTable"));
        QTRY_VERIFY(table->isVisible());
        const auto* gpus = fixture.window().findChild<ui::GpuModel*>();
        QCOMPARE(gpus->rowCount(), 3);
        QTRY_VERIFY_WITH_TIMEOUT(gpus->row(0).used_bytes.value_or(0) > 0 &&
                                     gpus->row(1).used_bytes.value_or(0) > 0,
                                 kRunPatienceMs);
        QCOMPARE(gpus->row(2).used_bytes.value_or(-1), std::int64_t{0});
        // Large text in a small window leaves nothing out.
        const QSize size = fixture.window().size();
        setText(fixture, widgets::kLargestText);
        fixture.window().resize(1024, 680);
        QTRY_VERIFY(table->horizontalScrollBar()->maximum() > 0);
        for (int column = 0; column < gpus->columnCount(); ++column) {
            QVERIFY(!static_cast<QTableView*>(table)->isColumnHidden(column));
        }
        setText(fixture, 1.0);
        fixture.window().resize(size);
        QVERIFY(hands.command(ui::action::kSystem));
        QVERIFY(!table->isVisible());
    }

    static void stop(test::StudioFixture& fixture, test::Hands& hands) {
        const ui::RunModel& run = fixture.studio().run();
        QVERIFY(hands.command(ui::action::kPause));
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), RunState::paused, kRunPatienceMs);
        const std::int64_t paused_at = run.step();
        QVERIFY(hands.command(ui::action::kCheckpoint));
        QTRY_VERIFY_WITH_TIMEOUT(!run.checkpoints().empty() &&
                                     run.checkpoints().back().step == paused_at,
                                 kRunPatienceMs);
        QCOMPARE(run.step(), paused_at);
        QVERIFY(hands.command(ui::action::kStopAndSave));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QCOMPARE(run.state(), RunState::stopped);
    }

    static void goOnOnTheCpu(test::StudioFixture& fixture, test::Hands& hands) {
        const ui::RunModel& run = fixture.studio().run();
        const std::filesystem::path parent = run.folder();
        const std::int64_t saved_at = run.step();
        const double first = mean_loss(run, 0, 20);
        const double last = mean_loss(run, run.steps().loss.size() - 20, 20);
        QVERIFY(hands.go("checkpoints"));
        const QAbstractItemModel& runs =
            *static_cast<QAbstractItemView*>(fixture.find("runTree"))->model();
        QTRY_COMPARE(runs.rowCount(runs.index(0, 0)), 1);
        QVERIFY(hands.pick("runTree", runs.index(0, 0, runs.index(0, 0))));
        auto* table = static_cast<QAbstractItemView*>(fixture.find("checkpointTable"));
        QTRY_VERIFY_WITH_TIMEOUT(table->isVisible() && table->model()->rowCount() > 0,
                                 kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(hands.pick("checkpointTable", table->model()->index(0, 0)),
                                 kRunPatienceMs);
        QVERIFY(hands.inDialog([&] { return hands.press("forkRun"); },
                               [&] {
                                   return hands.press("forkPlace") && hands.key(Qt::Key_Up) &&
                                          hands.key(Qt::Key_Return) &&
                                          hands.fill("forkDevices", "1") &&
                                          hands.key(Qt::Key_Tab) && hands.press("startFork");
                               }));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining() && run.folder() != parent,
                                 kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > saved_at + 40, kRunPatienceMs);
        QCOMPARE(devices_of(run.config()), std::string("cpu"));
        QCOMPARE(run.steps().step.front(), static_cast<double>(saved_at + 1));
        // It goes on from what was learned, and does not begin again.
        const double on = mean_loss(run, 0, 20);
        QVERIFY2(on < 0.5 * (first + last),
                 qPrintable(QString("%1 %2 %3").arg(first).arg(last).arg(on)));
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }
};

WEFT_TEST(GpuJourneyTest)
#include "gpu_journey_test.moc"
