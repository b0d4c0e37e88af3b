// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the draft: Data, Model, Training, Mesh & Plan; and every page with nothing in it.
#include "tests/perf/studio/tour.h"
#include "ui/pages/data/data_page.h"

#include <QAbstractButton>
#include <QComboBox>

#include <fstream>

namespace weft::tour {
namespace {

ui::DataPreview& preview(Tour& tour) {
    return static_cast<ui::DataPage*>(tour.window.page("data"))->preview();
}

void wait_for_data(Tour& tour) {
    tour.window.showPage("data");
    wait_for([&] { return preview(tour).facts() != nullptr; }, 20000);
    settle(500);
}

/// A table that takes a second to open.
std::filesystem::path write_long_table(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    const auto path = folder / "long.csv";
    std::ofstream out(path);
    out << "width,height,colour,price\n";
    for (int i = 0; i < 600000; ++i) {
        out << i % 97 << '.' << i % 7 << ',' << i % 31 << ',' << (i % 3 == 0 ? "red" : "blue")
            << ',' << i % 13 << '\n';
    }
    return path;
}

/// A table with what tables have: text labels, a column of categories, missing values.
std::filesystem::path write_table(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    const auto path = folder / "fruit.csv";
    std::ofstream out(path);
    out << "weight;length;colour;kind\n";
    const char* colours[] = {"red", "green", "yellow"};
    const char* kinds[] = {"apple", "pear", "banana"};
    for (int i = 0; i < 240; ++i) {
        out << 80 + i * 7 % 90 << ';';
        if (i % 17 != 0) { // now and then not measured
            out << 5 + i * 3 % 14;
        }
        out << ';' << colours[i % 3] << ';' << kinds[i * 5 % 3] << '\n';
    }
    return path;
}

} // namespace

void tourEmpty(Tour& tour) {
    settle(4000); // presets are planned in the background
    tour.shootAll("home", "home-empty");
    for (const char* page : {"data", "model", "training", "plan", "train", "checkpoints", "runs"}) {
        tour.shoot(page, QString(page) + "-empty");
    }
}

/// Pictures with transforms, text, a table; opening; a file that is gone, one that is no table;
/// what somebody brings to Home.
void tourData(Tour& tour) {
    tour.openPreset("fashion-mlp");
    tour.studio.draft().apply({R"(data.transforms=[{"type": "normalize", "mean": [0.286],
        "std": [0.353]}, {"type": "random_crop", "padding": 4}])"});
    wait_for_data(tour);
    tour.shootAll("data", "data-pictures");
    tour.openPreset("tiny-gpt");
    wait_for_data(tour);
    tour.shoot("data", "data-text");

    const auto folder = tour.place("files");
    const std::string table = write_table(folder).string();
    tour.openPreset("fashion-mlp");
    tour.studio.draft().apply(
        {R"(data.train={"type": "csv", "path": ")" + table + R"(", "targets": "kind"})",
         "data.transforms=[]"});
    wait_for_data(tour);
    tour.shoot("data", "data-table");
    tour.studio.draft().setField("data.train.path", write_long_table(folder).string());
    tour.studio.draft().setField("data.train.targets", "price");
    wait_for([&] { return preview(tour).state() == ui::DataPreview::State::Opening; }, 5000);
    settle(400);
    tour.snap("data-loading");
    wait_for_data(tour);
    std::ofstream(folder / "broken.csv") << "kind\n";
    tour.studio.draft().setField("data.train.path", (folder / "broken.csv").string());
    settle(1000);
    tour.shoot("data", "data-error");
    tour.studio.draft().setField("data.train.path", "/nowhere/texts");
    settle(1000);
    tour.shootAll("data", "data-moved");

    tour.studio.opener().open(table);
    settle(2000);
    tour.shootAll("home", "home-offer");
    tour.find<QAbstractButton>("offerBack")->click();
    std::ofstream(folder / "noise.bin") << std::string(4096, '\7');
    tour.studio.opener().open(folder / "noise.bin");
    settle(1500);
    tour.shoot("home", "home-offer-error");
    tour.find<QAbstractButton>("offerBack")->click();
}

void tourModel(Tour& tour) {
    tour.openPreset("tiny-gpt");
    tour.window.showPage("model");
    tour.snap("model-loading");
    settle(2500); // its outline and its plan
    tour.shootAll("model", "model-form");
    tour.openPreset("fashion-cnn");
    settle(1500);
    tour.shootAll("model", "model-layers");
    tour.studio.draft().edit({{"/model/layers/7", config::Json{{"type", "max_pool"}}}});
    settle(1500);
    tour.shootAll("model", "model-error"); // flat values are no picture
    tour.studio.draft().undo();
    tour.studio.draft().edit({{"/model/layers/7/rate", 1.5}});
    settle();
    tour.shoot("model", "model-invalid");
    tour.studio.draft().undo();
}

void tourTraining(Tour& tour) {
    tour.openPreset("tiny-gpt");
    tour.window.showPage("training");
    tour.snap("training-loading");
    settle(2500);
    tour.shootAll("training", "training");
    tour.studio.draft().edit({{"/training/ema_decay", 3}, {"/training/micro_batch_size", 7}});
    tour.shootAll("training", "training-invalid");
    tour.studio.draft().undo();
}

/// The plan with a comparison, the program as text and as a graph; planning; what does not fit,
/// what cannot be planned.
void tourPlan(Tour& tour) {
    tour.openPreset("gpt-6x384");
    tour.window.showPage("plan");
    settle(50);
    tour.snap("plan-loading");
    wait_for([&] { return tour.find<QAbstractButton>("whatif.recompute.blocks") != nullptr; },
             20000);
    settle(6000); // every change is planned on its own, then the curve
    tour.shootAll("plan", "plan");
    tour.find<QAbstractButton>("whatif.recompute.blocks")->click();
    wait_for([&] { return tour.find<QWidget>("adopt")->isEnabled(); }, 20000);
    tour.shoot("plan", "plan-what-if");
    tour.find<QAbstractButton>("clearWhatIf")->click();
    tour.choose("planTab", -1);
    settle(3000);
    tour.shoot("plan", "plan-program");
    auto* layer = tour.find<QComboBox>("layerChoice");
    layer->setCurrentIndex(layer->findText("blocks.2.mlp"));
    tour.choose("programForm", -1);
    settle(2000);
    tour.shoot("plan", "plan-graph");
    tour.choose("planTab", 0);
    tour.studio.draft().setField("training.memory_budget", 64 << 20);
    settle(8000); // with what would make it fit
    tour.shootAll("plan", "plan-does-not-fit");
    tour.studio.draft().undo();
    tour.studio.draft().setField("training.precision", "f61");
    tour.shoot("plan", "plan-invalid");
    tour.studio.draft().undo();
}

/// Four simulated devices, two by two, and each part of the drawer; then a pipeline.
void tourMesh(Tour& tour) {
    tour.openPreset("tiny-gpt");
    tour.studio.draft().apply({R"(mesh={"devices": "cpu:4", "strategy": "2d"})"});
    tour.window.showPage("plan");
    wait_for([&] { return tour.find<QWidget>("planTab")->isVisible(); }, 20000);
    tour.choose("planTab", 0);
    settle(3000); // the plan, and what is looked for after it
    const auto parts = tour.find<QWidget>("meshDrawer")->findChildren<QAbstractButton*>();
    for (QAbstractButton* part : parts) {
        part->click();
        tour.shootAll("plan", "mesh-" + part->text().section(' ', 0, 0).toLower());
    }
    parts.first()->click();
    tour.choose("collectiveForm", 1);
    tour.shoot("plan", "mesh-arrows");
    tour.choose("collectiveForm", 0);
    tour.studio.draft().apply(
        {R"(mesh={"devices": "cpu:4", "strategy": "pipeline"})", "training.micro_batch_size=2"});
    settle(3000);
    tour.find<QAbstractButton>("scrubPlay")->click();
    settle(1500);
    tour.find<QAbstractButton>("scrubPlay")->click();
    tour.shoot("plan", "mesh-pipeline");

    if (tour.studio.control().startDraft().started) {
        wait_for([&] { return tour.studio.run().step() > 5; }, 60000);
        tour.studio.control().pause();
        wait_for([&] { return tour.studio.run().state() == train::RunState::paused; }, 20000);
        tour.window.showPage("plan");
        for (QAbstractButton* part : parts) {
            if (part->text().startsWith("Live")) {
                part->click();
            }
        }
        tour.shootAll("plan", "mesh-live-paused");
        tour.studio.control().stopNow();
        wait_for([&] { return !tour.studio.isTraining(); }, 60000);
        parts.first()->click();
    }
    tour.choose("planTab", -1);
    tour.choose("planTab", 0);
}

} // namespace weft::tour
