// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of runs: Train, Checkpoints, Runs, of a run that goes on, of many that ended and of
// some that went wrong; and what opens over the window.
#include "core/train/record/run_summary.h"
#include "tests/perf/studio/tour.h"
#include "ui/actions.h"
#include "ui/pages/live/chart_grid.h"
#include "ui/pages/live/try_input.h"
#include "widgets/controls/command_palette.h"
#include "widgets/curves/line_chart.h"
#include "widgets/views/confusion_view.h"
#include "widgets/views/probability_bars.h"

#include <QAbstractButton>
#include <QLineEdit>
#include <QTableView>

#include <cmath>
#include <fstream>

namespace weft::tour {
namespace {

namespace fs = std::filesystem;

void start_run(Tour& tour, const fs::path& config) {
    if (!tour.studio.control().startFile(config).started) {
        std::puts("the run did not start");
    }
}

void wait_for_end(Tour& tour) {
    wait_for([&] { return !tour.studio.isTraining(); }, 300000);
    settle(500);
}

/// The parts beside the charts of a run that is paused: confusion matrix, a sample to try.
void tourPredictions(Tour& tour) {
    const auto parts = tour.find<QWidget>("predictionTab")->findChildren<QAbstractButton*>();
    parts[1]->click();
    settle(50);
    tour.snap("train-confusion-loading");
    auto* confusion = tour.find<widgets::ConfusionView>("confusion");
    wait_for([&] { return confusion->classes() > 0; }, 60000);
    emit confusion->itemActivated(confusion->classes() * 6); // a shirt, and what it is taken for
    settle(1000);
    tour.shoot("train", "train-confusion");
    parts[2]->click();
    wait_for([&] { return tour.find<QWidget>("sketchPad")->isVisible(); }, 20000);
    tour.window.findChild<ui::TryInput*>()->showSample(9);
    auto* bars = tour.find<widgets::ProbabilityBars>("tryBars");
    wait_for([&] { return !bars->bars().empty(); }, 60000);
    tour.shoot("train", "train-try");
    parts[0]->click();
}

/// Every weight grows ninefold a step: the loss is infinite within some dozen steps.
fs::path write_diverging(const fs::path& folder) {
    fs::create_directories(folder);
    const fs::path path = folder / "diverging.json";
    std::ofstream(path) << R"({"schema_version": 1, "name": "too-fast",
        "data": {"train": {"type": "synthetic", "kind": "classification", "features": 16,
                           "classes": 4, "samples": 4096}, "validation": {"split": 0.1}},
        "model": {"type": "mlp", "hidden": [32]},
        "optimizer": {"type": "adamw", "learning_rate": 1e3, "weight_decay": 0.01},
        "training": {"length": {"steps": 1000}, "global_batch_size": 32},
        "evaluation": {"every": {"steps": 10}}, "checkpoint": {"every": {"steps": 10}}})";
    return path;
}

/// Prices by area, age and quarter, with some noise; a run that learns them in seconds.
fs::path write_prices(const fs::path& folder) {
    fs::create_directories(folder);
    std::ofstream table(folder / "prices.csv");
    table << "area,age,quarter,price\n";
    const char* quarters[] = {"north", "harbour", "old town"};
    for (int i = 0; i < 1200; ++i) {
        const int area = 30 + i * 37 % 120;
        const int age = i * 13 % 80;
        table << area << ',' << age << ',' << quarters[i % 3] << ','
              << 20000 + 2500 * area - 900 * age + 30000 * (i % 3) + i * 7919 % 9000 << "\n";
    }
    const fs::path path = folder / "house-prices.json";
    std::ofstream(path) << R"({"schema_version": 1, "name": "house-prices",
        "data": {"train": {"type": "csv", "path": "prices.csv", "targets": "price"}},
        "model": {"type": "mlp", "hidden": [32, 32]},
        "training": {"length": {"steps": 600}, "global_batch_size": 32},
        "evaluation": {"every": {"steps": 50}}, "checkpoint": {"every": {"steps": 200}}})";
    return path;
}

/// A run on disk as `weft train` leaves it, made of its events alone.
void write_run(const fs::path& run, double rate, int batch, int nth, int steps) {
    fs::create_directories(run);
    std::ofstream(run / "config.json")
        << R"({"data": {"train": {"type": "synthetic", "kind": "classification"}},
               "model": {"type": "mlp", "hidden": [32]},
               "optimizer": {"type": "adamw", "learning_rate": )"
        << rate << R"(}, "training": {"global_batch_size": )" << batch << "}}";
    train::RunInfo info;
    info.name = "sweep";
    info.state = nth == 4 ? "failed" : "finished";
    info.model = "mlp";
    train::write_run_info(run, info);
    std::ofstream events(run / "events.jsonl");
    for (int step = 1; step <= steps; ++step) {
        train::StepEvent event;
        event.step = step;
        event.loss = 2.3 * std::exp(-step * rate * 4) + 0.2 + 0.01 * nth;
        events << train::to_line({step, 1e9 + step, event}) << "\n";
    }
    const train::EvaluationEvent evaluation{
        steps, {{"validation/loss", 0.25 + 2.0 * std::exp(-800 * rate) + 0.01 * nth}}};
    events << train::to_line({steps + 1, 1e9 + steps + 1, evaluation}) << "\n";
    train::change_annotations(run, {{}, {{nth % 2 == 0 ? "baseline" : "wide"}, "", false}});
}

fs::path newest_checkpoint(const fs::path& run) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(run / "checkpoints")) {
        if (entry.is_directory()) {
            folders.push_back(entry.path());
        }
    }
    return folders.empty() ? fs::path() : *std::max_element(folders.begin(), folders.end());
}

} // namespace

/// The demo while it goes on and paused; its end on Home, Train and Checkpoints; a checkpoint that
/// is damaged; a run that diverges.
void tourTrain(Tour& tour) {
    tour.openPreset("fashion-mlp");
    start_run(tour, tour.studio.paths().presets / "fashion-mlp.json");
    const fs::path run = tour.studio.run().folder();
    tour.window.showPage("train");
    settle();
    tour.snap("train-loading");
    wait_for([&] { return tour.studio.run().progress() > 0.6 || !tour.studio.isTraining(); },
             300000);
    auto* loss = tour.find<widgets::LineChart>("lossChart");
    loss->setCrosshair(static_cast<double>(tour.studio.run().step()) * 0.6);
    tour.shootAll("train", "train-running");
    loss->setCrosshair(std::nullopt);
    tour.shoot("checkpoints", "checkpoints-running");
    tour.shoot("home", "home-running");
    tour.studio.control().pause();
    wait_for([&] { return tour.studio.run().state() == train::RunState::paused; }, 20000);
    auto* grid = tour.window.findChild<ui::ChartGrid*>();
    grid->setMetrics(
        {"loss", "accuracy", "learning_rate", "grad_norm", "samples_per_s", "memory_mib"});
    tour.shoot("train", "train-paused");
    tourPredictions(tour);
    grid->setMetrics({"loss", "learning_rate", "grad_norm"});
    tour.studio.control().stopAndSave();
    wait_for_end(tour);
    tour.shoot("train", "train-stopped");
    tour.shootAll("home", "home");
    tour.shootAll("checkpoints", "checkpoints");
    std::ofstream(newest_checkpoint(run) / "manifest.json") << "{";
    tour.studio.index().refresh();
    settle(1000);
    tour.shoot("checkpoints", "checkpoints-error");
    start_run(tour, write_diverging(tour.place("files")));
    wait_for_end(tour);
    tour.shootAll("train", "train-failed");
}

/// What a table of numbers becomes, from its start to the end; what another program wrote.
void tourOutcomes(Tour& tour) {
    const fs::path files = tour.place("files");
    const fs::path config = write_prices(files);
    tour.studio.opener().open(config);
    tour.window.showPage("data");
    settle(2000); // the table is opened
    tour.shoot("data", "data-numbers");
    start_run(tour, config);
    wait_for_end(tour);
    tour.shootAll("train", "train-numbers-finished");
    tour.choose("predictionTab", -1);
    settle(1000);
    tour.shoot("train", "train-numbers-try");
    tour.choose("predictionTab", 0);
    const fs::path imported = files / "another-program" / "run-1";
    fs::create_directories(imported);
    for (const auto& entry : fs::directory_iterator(tour.studio.run().folder() / "metrics")) {
        fs::copy(entry.path(), imported / entry.path().filename(), fs::copy_options::recursive);
    }
    tour.studio.opener().open(imported);
    settle(2000);
    tour.shootAll("train", "train-imported");
}

/// A small sweep, as a table, over one another, and along its settings; while a long run is read;
/// one that cannot be read.
void tourRuns(Tour& tour) {
    for (int i = 0; i < 9; ++i) {
        write_run(tour.place(("2026-01-01_sweep_00" + std::to_string(1 + i)).c_str()),
                  1e-4 * std::pow(3.0, i % 5), 32 << (i % 3), i, 200);
    }
    write_run(tour.place("2026-01-02_long_001"), 1e-5, 32, 0, 400000);
    const fs::path broken = tour.place("2026-01-03_broken_001");
    fs::create_directories(broken);
    std::ofstream(broken / "run.json") << "{\"schema_version\": 1, ";
    tour.window.showPage("runs");
    tour.studio.index().refresh();
    tour.snap("runs-loading");
    auto* table = tour.find<QTableView>("runTable");
    wait_for([&] { return table->model()->rowCount() >= 11; }, 20000);
    table->selectionModel()->select(
        QItemSelection(table->model()->index(2, 0), table->model()->index(5, 0)),
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    settle(1000);
    tour.shootAll("runs", "runs");
    tour.choose("compareTab", -1);
    table->clearSelection();
    tour.shoot("runs", "runs-parallel");
    tour.choose("compareTab", 0);
    tour.choose("runsMode", 1);
    settle(2000);
    tour.shootAll("runs", "runs-charts");
    tour.find<QAbstractButton>("addToReport")->click();
    tour.choose("runsMode", 2);
    tour.find<QAbstractButton>("addReportTable")->click();
    settle(500);
    tour.shoot("runs", "runs-report");
    tour.choose("runsMode", 0);
    tour.shoot("home", "home-many-runs");
    tour.studio.showRun(tour.place("2026-01-02_long_001"));
    settle(30);
    tour.snap("train-reading");
    settle(3000);
    tour.shoot("train", "train-long");
}

void tourDialogs(Tour& tour) {
    tour.openPreset("fashion-mlp");
    ui::Actions& actions = tour.window.actions();
    tour.shootDialog("dialog-settings", [&] { actions.get(ui::action::kSettings)->trigger(); });
    tour.shootDialog("dialog-shortcuts", [&] { actions.get(ui::action::kShortcuts)->trigger(); });
    tour.shootDialog("dialog-help", [&] { actions.get(ui::action::kHelp)->trigger(); });
    tour.shootDialog("dialog-reference", [&] {
        actions.get(ui::action::kHelp)->trigger();
        tour.choose("helpTab", 1);
        tour.find<QLineEdit>("referenceWords")->setText("learning rate");
    });
    tour.shootDialog("dialog-about", [&] { actions.get(ui::action::kAbout)->trigger(); });
    tour.shootDialog("dialog-text", [&] { actions.get(ui::action::kEditConfig)->trigger(); });
    tour.window.showPage("home");
    actions.get(ui::action::kPalette)->trigger();
    settle();
    auto* palette = tour.window.findChild<widgets::CommandPalette*>();
    tour.snap("palette", palette);
    palette->hide();
    tour.studio.draft().edit({{"/training/ema_decay", 3}});
    actions.get(ui::action::kProblems)->trigger();
    tour.shoot("training", "docks-problems");
    tour.studio.draft().undo();
    actions.get(ui::action::kConsole)->trigger();
    tour.shoot("training", "docks-console");
    actions.get(ui::action::kResetLayout)->trigger();

    start_run(tour, tour.studio.paths().presets / "fashion-mlp.json");
    wait_for([&] { return tour.studio.run().checkpoints().size() > 1; }, 120000);
    tour.studio.control().stopAndSave();
    wait_for_end(tour);
    tour.window.showPage("checkpoints");
    emit tour.studio.opener().checkpointOpened(tour.studio.run().folder() / "checkpoints" /
                                               "newest");
    settle(1000);
    auto* table = tour.find<QTableView>("checkpointTable");
    table->selectRow(0);
    settle();
    tour.shootDialog("dialog-fork", [&] { tour.find<QAbstractButton>("forkRun")->click(); });
    table->selectionModel()->select(
        QItemSelection(table->model()->index(0, 0), table->model()->index(1, 0)),
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    settle();
    tour.shootDialog("dialog-compare",
                     [&] { tour.find<QAbstractButton>("compareCheckpoints")->click(); });
}

} // namespace weft::tour
