// SPDX-License-Identifier: GPL-3.0-or-later
// studio_tour DIR [PRESET | mesh]: pictures of the real program on a real run, light and dark, at
// the designed sizes. README's hero picture and the tour come from here, so that they never go
// stale. With "mesh": of that page alone, which takes half a minute.
#include "core/train/run_summary.h"
#include "ui/plurals.h"
#include "ui/screens/data/data_screen.h"
#include "ui/screens/train/chart_grid.h"
#include "ui/screens/train/try_input.h"
#include "ui/shell/main_window.h"
#include "ui/studio.h"
#include "widgets/confusion_view.h"
#include "widgets/line_chart.h"
#include "widgets/probability_bars.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace {

using namespace weft;

constexpr double kLargeText = 1.5;

void wait_for(const std::function<bool()>& condition, int limit_ms) {
    if (!QTest::qWaitFor(condition, limit_ms)) {
        std::puts("waited in vain; the pictures show the state at hand");
    }
}

struct Tour {
    ui::Studio& studio;
    ui::MainWindow& window;
    widgets::ThemeController& theme;
    QString folder;

    void shoot(const QString& page, const QString& name) {
        window.showPage(page);
        for (const bool dark : {false, true}) {
            theme.setMode(dark ? widgets::ThemeController::Mode::Dark
                               : widgets::ThemeController::Mode::Light);
            for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
                window.resize(size);
                QTest::qWait(150); // lets queued replots and background reads arrive
                const QString path = QString("%1/%2-%3-%4.png")
                                         .arg(folder, name, dark ? "dark" : "light")
                                         .arg(size.width());
                if (!window.grab().save(path)) {
                    std::printf("%s cannot be written\n", qPrintable(path));
                }
            }
        }
        window.resize(1440, 900);
    }

    /// Also with large text, and as a screen of twice as many pixels would show it.
    void shootLarge(const QString& page, const QString& name) {
        theme.setFontScale(kLargeText);
        shoot(page, name + "-large");
        theme.setFontScale(1.0);
        QTest::qWait(150);
        QImage picture(window.size() * 2, QImage::Format_RGB32);
        picture.setDevicePixelRatio(2);
        window.render(&picture);
        if (!picture.save(QString("%1/%2-2x.png").arg(folder, name))) {
            std::printf("%s cannot be written\n", qPrintable(name));
        }
    }
};

template <class Widget>
Widget* find(const Tour& tour, const char* name) {
    return tour.window.findChild<Widget*>(name);
}

/// Clicks the last or first segment of a segmented control.
void choose(const Tour& tour, const char* control, int segment) {
    find<QWidget>(tour, control)->findChildren<QAbstractButton*>().at(segment)->click();
}

void chooseLast(const Tour& tour, const char* control) {
    find<QWidget>(tour, control)->findChildren<QAbstractButton*>().last()->click();
}

/// Model and Training of a language model, as a form and as they are when something is wrong.
void tourDraft(Tour& tour) {
    tour.studio.openPath(std::filesystem::path(WEFT_SOURCE_PRESETS) / "tiny-gpt.json");
    tour.window.showPage("model");
    QTest::qWait(2500); // its outline and its plan
    tour.shoot("model", "model");
    tour.window.showPage("training");
    QTest::qWait(2500);
    tour.shoot("training", "training");
    tour.studio.draft().edit({{"/training/ema_decay", 3}, {"/training/micro_batch_size", 7}});
    tour.shoot("training", "training-invalid");
    tour.studio.draft().undo();
}

/// Mesh & Plan: four simulated devices, two by two, and each part of the drawer; then a pipeline.
void tourMesh(Tour& tour) {
    tour.studio.openPath(std::filesystem::path(WEFT_SOURCE_PRESETS) / "tiny-gpt.json");
    tour.studio.draft().apply({R"(mesh={"devices": "cpu:4", "strategy": "2d"})"});
    tour.window.showPage("plan");
    wait_for([&] { return find<QWidget>(tour, "planPart")->isVisible(); }, 20000);
    choose(tour, "planPart", 0);
    QTest::qWait(3000); // the plan, and what is looked for after it
    const auto parts = find<QWidget>(tour, "meshDrawer")->findChildren<QAbstractButton*>();
    for (QAbstractButton* part : parts) {
        part->click();
        const QString name = "mesh-" + part->text().section(' ', 0, 0).toLower();
        tour.shoot("plan", name);
        tour.shootLarge("plan", name);
    }
    parts.first()->click();
    choose(tour, "exchangeForm", 1);
    tour.shoot("plan", "mesh-arrows");
    choose(tour, "exchangeForm", 0);
    tour.studio.draft().apply({R"(mesh={"devices": "cpu:4", "strategy": "pipeline"})",
                               "training.micro_batch_size=2"});
    QTest::qWait(3000);
    find<QAbstractButton>(tour, "scrubPlay")->click();
    QTest::qWait(1500);
    find<QAbstractButton>(tour, "scrubPlay")->click();
    tour.shoot("plan", "mesh-pipeline");
    chooseLast(tour, "planPart");
}

/// Train, of a run that is paused: every chart, the confusion matrix, a sample to try.
void tourTrain(Tour& tour) {
    auto* grid = tour.window.findChild<ui::ChartGrid*>();
    grid->setMetrics({"loss", "accuracy", "learning_rate", "grad_norm", "samples_per_s",
                      "memory_mib"});
    tour.window.showPage("train");
    const auto parts = find<QWidget>(tour, "predictionPart")->findChildren<QAbstractButton*>();
    parts[1]->click();
    auto* confusion = find<widgets::ConfusionView>(tour, "confusion");
    wait_for([&] { return confusion->classes() > 0; }, 60000);
    emit confusion->itemActivated(confusion->classes() * 6); // a shirt, and what it is taken for
    QTest::qWait(1000);
    tour.shoot("train", "train-confusion");
    parts[2]->click();
    wait_for([&] { return find<QWidget>(tour, "sketchPad")->isVisible(); }, 20000);
    tour.window.findChild<ui::TryInput*>()->showSample(9);
    auto* bars = find<widgets::ProbabilityBars>(tour, "tryBars");
    wait_for([&] { return !bars->bars().empty(); }, 60000);
    tour.shoot("train", "train-try");
    parts[0]->click();
    grid->setMetrics({"loss", "learning_rate", "grad_norm"});
}

/// Data: none, pictures with transforms, one class of them, text, a file that is gone; then files
/// that somebody brings to Home.
void tourData(Tour& tour) {
    const auto ready = [&] {
        const auto facts = static_cast<ui::DataScreen*>(tour.window.page("data"))->preview().facts();
        return facts != nullptr;
    };
    tour.studio.openPath(std::filesystem::path(WEFT_SOURCE_PRESETS) / "fashion-mlp.json");
    tour.studio.draft().apply({R"(data.transforms=[{"type": "normalize", "mean": [0.286],
        "std": [0.353]}, {"type": "random_crop", "padding": 4}])"});
    tour.window.showPage("data");
    wait_for(ready, 20000);
    QTest::qWait(500);
    tour.shoot("data", "data-pictures");
    tour.studio.openPath(std::filesystem::path(WEFT_SOURCE_PRESETS) / "tiny-gpt.json");
    tour.window.showPage("data");
    wait_for(ready, 20000);
    QTest::qWait(500);
    tour.shoot("data", "data-text");
    tour.studio.draft().setField("data.train.path", "/nowhere/texts");
    QTest::qWait(1000);
    tour.shoot("data", "data-moved");
    tour.studio.openPath("/usr/share/datasets/fashion-mnist");
    QTest::qWait(4000);
    tour.shoot("home", "home-offer");
    find<QAbstractButton>(tour, "offerBack")->click();
}

/// Mesh & Plan: the plan with a comparison, the ops one by one, the program as text and as a graph.
void tourPlan(Tour& tour) {
    tour.studio.openPath(std::filesystem::path(WEFT_SOURCE_PRESETS) / "gpt-6x384.json");
    tour.window.showPage("plan");
    wait_for([&] { return find<QAbstractButton>(tour, "whatif.recompute.blocks") != nullptr; },
             20000);
    QTest::qWait(6000); // every change is planned on its own, then the curve
    tour.shoot("plan", "plan");
    if (auto* blocks = find<QAbstractButton>(tour, "whatif.recompute.blocks")) {
        blocks->click();
        wait_for([&] { return find<QWidget>(tour, "adopt")->isEnabled(); }, 20000);
        tour.shoot("plan", "plan-what-if");
        find<QAbstractButton>(tour, "clearWhatIf")->click();
    }
    chooseLast(tour, "planPart");
    QTest::qWait(3000);
    tour.shoot("plan", "plan-program");
    auto* layer = find<QComboBox>(tour, "layerChoice");
    layer->setCurrentIndex(layer->findText("blocks.2.mlp"));
    chooseLast(tour, "programForm");
    QTest::qWait(2000);
    tour.shoot("plan", "plan-graph");
    choose(tour, "planPart", 0);
    tour.studio.draft().setField("training.precision", "f61");
    tour.shoot("plan", "plan-invalid");
    tour.studio.draft().undo();
}

/// Runs: a small sweep on disk, as a table, over one another, and along its settings.
void tourRuns(Tour& tour) {
    for (int i = 0; i < 9; ++i) {
        const std::filesystem::path run =
            tour.studio.paths().runs_root / ("2026-01-01_sweep_00" + std::to_string(1 + i));
        std::filesystem::create_directories(run);
        const double rate = 1e-4 * std::pow(3.0, i % 5);
        const int batch = 32 << (i % 3);
        std::ofstream(run / "config.json")
            << R"({"optimizer": {"type": "adamw", "learning_rate": )" << rate
            << R"(}, "training": {"global_batch_size": )" << batch << "}}";
        train::RunInfo info;
        info.name = "sweep";
        info.state = i == 4 ? "failed" : "finished";
        info.model = "mlp";
        train::write_run_info(run, info);
        std::ofstream events(run / "events.jsonl");
        for (int step = 1; step <= 200; ++step) {
            train::StepEvent event;
            event.step = step;
            event.loss = 2.3 * std::exp(-step * rate * 4) + 0.2 + 0.01 * i;
            events << train::to_line({step, 1e9 + step, event}) << "\n";
        }
        const train::EvaluationEvent evaluation{
            200, {{"validation/loss", 0.25 + 2.0 * std::exp(-800 * rate) + 0.01 * i}}};
        events << train::to_line({201, 1e9 + 201, evaluation}) << "\n";
        train::write_annotations(run, {{i % 2 == 0 ? "baseline" : "wide"}, "", false});
    }
    tour.studio.index().refresh();
    tour.window.showPage("runs");
    auto* table = find<QTableView>(tour, "runTable");
    wait_for([&] { return table->model()->rowCount() >= 9; }, 20000);
    table->selectionModel()->select(
        QItemSelection(table->model()->index(0, 0), table->model()->index(3, 0)),
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    QTest::qWait(1000);
    tour.shoot("runs", "runs");
    chooseLast(tour, "comparePart");
    table->clearSelection();
    tour.shoot("runs", "runs-parallel");
}

} // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    ui::installEnglishPlurals(application);
    if (argc < 2) {
        std::puts("usage: studio_tour DIR [PRESET | mesh]");
        return 2;
    }
    QDir().mkpath(argv[1]);
    QTemporaryDir dir;
    const std::filesystem::path root = dir.path().toStdString();
    widgets::ThemeController theme;
    ui::Studio studio({root / "runs", WEFT_SOURCE_PRESETS, root / "state", {}, WEFT_PROGRAM});
    ui::MainWindow window(studio, theme);
    window.show();
    studio.index().refresh();
    Tour tour{studio, window, theme, argv[1]};
    const std::string preset = argc > 2 ? argv[2] : "fashion-mlp";
    if (preset == "mesh") {
        tourMesh(tour);
        return 0;
    }
    QTest::qWait(4000); // presets are planned in the background
    tour.shoot("home", "home-first");
    tour.shoot("train", "train-empty");
    tour.shoot("checkpoints", "checkpoints-empty");
    tour.shoot("runs", "runs-empty");
    tour.shoot("plan", "plan-empty");
    tour.shoot("data", "data-empty");
    tour.shoot("model", "model-empty");
    tour.shoot("training", "training-empty");
    tourDraft(tour);
    tourData(tour);
    tourPlan(tour);
    tourMesh(tour);

    if (!studio.startFile(std::filesystem::path(WEFT_SOURCE_PRESETS) / (preset + ".json"))
             .started) {
        std::puts("the preset did not start");
        return 1;
    }
    wait_for([&] { return studio.run().step() > 0; }, 60000);
    wait_for([&] { return studio.run().progress() > 0.6 || !studio.isTraining(); }, 300000);
    auto* loss = window.findChild<widgets::LineChart*>("lossChart");
    loss->setCrosshair(static_cast<double>(studio.run().step()) * 0.6);
    tour.shoot("train", "train-running");
    loss->setCrosshair(std::nullopt);
    tour.shoot("checkpoints", "checkpoints-running");
    studio.pause();
    wait_for([&] { return studio.run().state() == train::RunState::paused; }, 20000);
    tour.shoot("train", "train-paused");
    tourTrain(tour);
    studio.stopAndSave();
    wait_for([&] { return !studio.isTraining(); }, 60000);
    QTest::qWait(500);
    tour.shoot("home", "home");
    tour.shoot("checkpoints", "checkpoints");
    tourRuns(tour);
    return 0;
}
