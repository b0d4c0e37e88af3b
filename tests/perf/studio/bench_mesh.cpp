// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 12 and 13: the Mesh & Plan page, with nothing else going on.

#include "core/pipeline/schedule_list.h"
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/plan/pipeline_chart.h"
#include "ui/bridge/plan/plan_preview.h"
#include "ui/pages/plan/mesh/rules/tile_panel.h"
#include "ui/pages/plan/moment/scrub_panel.h"
#include "ui/pages/plan/plan_page.h"
#include "widgets/controls/controls.h"
#include "widgets/mesh/device_grid.h"
#include "widgets/mesh/gantt_view.h"
#include "widgets/mesh/tile_view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QTest>
#include <QWindow>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

namespace {

using namespace weft;

using bench::print;
using bench::timed;
using bench::wait_for;

constexpr int kMoments = 600;
constexpr std::size_t kEdits = 12;

ui::PlanPreview& preview_of(ui::MainWindow& window) {
    return static_cast<ui::PlanPage*>(window.page("plan"))->preview();
}

/// Nothing more is planned in the background: not what could be otherwise either.
bool isIdle(const ui::PlanPreview& preview) {
    const auto& changes = preview.changes();
    return preview.isComplete() && preview.fixesKnown() && preview.curveKnown() &&
           std::all_of(changes.begin(), changes.end(), [&](const ui::PlanChange& change) {
               return preview.outcome(change.id).has_value();
           });
}

/// Opens a preset with these settings on the Mesh part and waits until all of it is planned.
bool open_mesh(ui::Studio& studio, ui::MainWindow& window, const char* preset,
               const std::vector<std::string>& settings) {
    studio.opener().open(std::filesystem::path(WEFT_SOURCE_PRESETS) / preset);
    studio.draft().apply(settings);
    window.showPage("plan");
    window.findChild<widgets::SegmentedControl*>("planTab")->setCurrentIndex(0);
    if (!studio.draft().isValid()) {
        std::printf("%s: not valid: %s\n", preset,
                    config::to_text(studio.draft().diagnostics().front()).c_str());
        return false;
    }
    return wait_for(
        "a plan", [&] { return preview_of(window).isComplete() && !preview_of(window).isStale(); });
}

/// Positions all through the step: what it costs to be there, what the part of it is that asks for
/// the moment, and what a paint of the whole page takes.
void scrub(ui::Studio& studio, ui::MainWindow& window, const char* what, const char* preset,
           const std::vector<std::string>& settings) {
    if (!open_mesh(studio, window, preset, settings)) {
        std::printf("%s: there is no plan\n", what);
        return;
    }
    auto* part = window.findChild<ui::ScrubPanel*>();
    wait_for("all alternatives planned", [&] { return isIdle(preview_of(window)); });
    const int count = part->moments()->count();
    std::printf("%s: %d executions of ops\n", what, count);
    const auto position = [&](int i) { return i * (count - 1) / (kMoments - 1); };
    print("  prepare a plan for scrubbing",
          timed(5,
                [&](int) {
                    const ui::StepMoments moments(preview_of(window).digest());
                    Q_UNUSED(moments);
                }),
          bench::kFrameMs);
    print("  find a moment", timed(kMoments, [&](int i) { part->moments()->at(position(i)); }), 4);
    part->setPosition(0);
    QCoreApplication::processEvents();
    print("  move all parts to it", timed(kMoments, [&](int i) { part->setPosition(position(i)); }),
          4);
    print("  move, and paint what changed",
          timed(kMoments,
                [&](int i) {
                    part->setPosition(position(i));
                    QCoreApplication::processEvents();
                }),
          bench::kFrameMs);
    // At normal speed; its own timer plays too while it is measured.
    window.findChild<widgets::SegmentedControl*>("scrubSpeed")->setCurrentIndex(0);
    part->setPosition(0);
    part->setPlaying(true);
    print("  a tick of Play, and what changed",
          timed(kMoments,
                [&](int) {
                    part->advance(16);
                    QCoreApplication::processEvents();
                }),
          bench::kFrameMs);
    part->setPlaying(false);
    print("  move, and paint the whole window",
          timed(100,
                [&](int i) {
                    part->setPosition(position(i * 6));
                    window.grab();
                }),
          bench::kFrameMs);
}

/// From edits to what is seen of them: what they changed is painted when the clock stops. `axes`
/// are two meshes to go back and forth between.
void edit(ui::Studio& studio, ui::MainWindow& window, const char* what, const char* strategy,
          const std::array<std::string, 2>& axes) {
    const std::string own = "mesh.axes=";
    const std::vector<std::string> settings = {"model.layers=42",
                                               "model.width=512",
                                               "model.heads=8",
                                               "mesh.devices=\"h100:64\"",
                                               std::string("mesh.strategy=") + strategy,
                                               own + axes[1],
                                               "training.global_batch_size=512",
                                               "training.micro_batch_size=8"};
    if (!open_mesh(studio, window, "gpt-6x384.json", settings)) {
        std::printf("%s: the large mesh cannot be planned\n", what);
        return;
    }
    ui::PlanPreview& preview = preview_of(window);
    const auto& slots_of = preview.digest()->plan->state_slots;
    const auto tensors = std::count_if(slots_of.begin(), slots_of.end(), [](const auto& slot) {
        return slot.category == plan::Category::parameters;
    });
    std::printf("%s: 64 devices, %zd tensors\n", what, static_cast<std::ptrdiff_t>(tensors));
    std::vector<double> handled;
    std::vector<double> layout;
    std::vector<double> step;
    std::vector<double> whole;
    for (std::size_t i = 0; i < kEdits; ++i) {
        QElapsedTimer clock;
        const auto note = [&clock](std::vector<double>& times) {
            times.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
        };
        clock.start();
        studio.draft().apply({own + axes[i % 2]});
        note(handled);
        bench::show_until("a layout", [&] { return !preview.isLayoutStale(); });
        note(layout);
        bench::show_until("a step planned", [&] { return !preview.isStale(); });
        note(step);
        bench::show_until("all programs planned",
                          [&] { return preview.isComplete() && !preview.isStale(); });
        note(whole);
    }
    print("  edit taken", handled, 16);
    print("  edit to layout, tiles and bytes", layout, 50);
    print("  edit to collectives and Gantt", step, 500);
    print("  edit to the verdict on all programs", whole, 500);
}

/// What many devices cost: a large model on them opened, tensors and devices chosen, pointed at.
void look_at_devices(const char* what, const char* devices, const char* axes, const char* batch) {
    bench::OpenStudio open;
    bench::TimedApplication::self().reset();
    const std::string own = "mesh.axes=";
    if (!open_mesh(open.studio(), open.window(), "gpt-6x384.json",
                   {"model.layers=32", "model.width=4096", "model.heads=32",
                    std::string("mesh.devices=\"") + devices + "\"", "mesh.strategy=\"3d\"",
                    own + axes, std::string("training.global_batch_size=") + batch,
                    "training.micro_batch_size=1"})) {
        return;
    }
    auto& grid = *open.window().findChild<widgets::DeviceGrid*>("meshGrid");
    wait_for("all devices", [&] { return grid.itemCount() > 0; });
    wait_for("all alternatives planned", [&] { return isIdle(preview_of(open.window())); });
    std::printf("%s: %d devices\n", what, grid.itemCount());
    bench::TimedApplication::self().report("  events while it was opened and planned");
    auto* part = open.window().findChild<ui::TilePanel*>();
    const auto& slots_of = preview_of(open.window()).digest()->plan->state_slots;
    print("  another tensor shown and painted",
          timed(40,
                [&](int i) {
                    const auto& slot = slots_of[static_cast<std::size_t>(i) % slots_of.size()];
                    part->setTensor(QString::fromStdString(slot.name));
                    QCoreApplication::processEvents();
                }),
          bench::kFrameMs);
    print("  a device chosen and painted",
          timed(100,
                [&](int i) {
                    emit grid.itemActivated(i * 7 % grid.itemCount());
                    QCoreApplication::processEvents();
                }),
          bench::kFrameMs);
    print("  pointed at and painted",
          timed(200,
                [&](int i) {
                    const QRectF rect = grid.item(i * 5 % grid.itemCount()).rect;
                    QTest::mouseMove(&grid, rect.center().toPoint());
                    QCoreApplication::processEvents();
                }),
          bench::kFrameMs);
    print("  all devices painted", timed(50, [&](int) { grid.repaint(); }), bench::kFrameMs);
    print("  a turn of the wheel",
          timed(60,
                [&](int i) {
                    grid.zoomTo(grid.zoom() * (i < 30 ? 1.1 : 1 / 1.1), grid.rect().center());
                    QCoreApplication::processEvents();
                }),
          bench::kFrameMs);
}

/// A square matrix in side x side tiles, one for each device.
widgets::TileArray many_tiles(int side) {
    widgets::TileArray array;
    array.shape = {side * 8, side * 8};
    array.mesh = {side, side};
    array.dims.resize(2);
    for (int i = 0; i < side; ++i) {
        array.dims[0].push_back({i * 8, 8, 0});
        array.dims[1].push_back({i * 8, 8, 0});
    }
    for (int tile = 0; tile < side * side; ++tile) {
        array.holders.push_back({tile});
    }
    return array;
}

void paint_large() {
    QImage image(640, 480, QImage::Format_ARGB32_Premultiplied);
    widgets::TileView tiles;
    tiles.resize(image.size());
    tiles.setArray(many_tiles(64));
    print("4,096 tiles painted", timed(100, [&](int) { tiles.renderTo(&image, image.size()); }), 5);
    const pipeline::Schedule schedule = pipeline::make_schedule("1f1b", 32, 128);
    widgets::GanttView gantt;
    QImage wide(1280, 720, QImage::Format_ARGB32_Premultiplied);
    gantt.resize(wide.size());
    gantt.setData(ui::evenChart(schedule, {}).data);
    print("32 stages x 128 microbatches painted",
          timed(100, [&](int) { gantt.renderTo(&wide, wide.size()); }), 16);
    gantt.show();
    wait_for("a Gantt chart on screen", [&] {
        return gantt.windowHandle() != nullptr && gantt.windowHandle()->isExposed();
    });
    print("  moving the mark over it",
          timed(200,
                [&](int i) {
                    gantt.setMark(gantt.makespan() * i / 200);
                    gantt.repaint();
                }),
          bench::kFrameMs);
}

/// A long schedule opened and planned, edited, stretched and pointed at.
void look_at_schedule(const char* schedule, int microbatches) {
    bench::OpenStudio open;
    const std::string batch = std::to_string(microbatches);
    const std::string kind = std::string("mesh.pipeline={\"schedule\": \"") + schedule + "\"}";
    bench::TimedApplication::self().reset();
    if (!open_mesh(open.studio(), open.window(), "gpt-6x384.json",
                   {"model.layers=8", "mesh.devices=\"h100:8\"", "mesh.strategy=\"pipeline\"", kind,
                    "training.global_batch_size=" + batch, "training.micro_batch_size=1"})) {
        return;
    }
    wait_for("all alternatives planned", [&] { return isIdle(preview_of(open.window())); });
    std::printf("%s, %d microbatches on 8 stages\n", schedule, microbatches);
    bench::TimedApplication::self().report("  events while it was opened and planned");
    auto& gantt = *open.window().findChild<widgets::GanttView*>("pipelineChart");
    print("  painted anew",
          timed(20,
                [&](int i) {
                    gantt.setStale(i % 2 == 0);
                    gantt.repaint();
                }),
          bench::kFrameMs);
    gantt.setStale(false);
    print("  stretched and painted",
          timed(40,
                [&](int i) {
                    gantt.zoomTime(i < 20 ? 1.3 : 1 / 1.3, gantt.makespan() / 2);
                    gantt.repaint();
                }),
          bench::kFrameMs);
    print("  pointed at and painted",
          timed(100,
                [&](int i) {
                    QTest::mouseMove(&gantt, QPoint(60 + i * 4, 20));
                    QCoreApplication::processEvents();
                }),
          bench::kFrameMs);
    bench::TimedApplication::self().reset();
    open.studio().draft().apply({"training.micro_batch_size=2"});
    wait_for("it planned again", [&] {
        return !preview_of(open.window()).isStale() && isIdle(preview_of(open.window()));
    });
    bench::TimedApplication::self().report("  events of an edit");
}

} // namespace

void bench_schedules() {
    for (const char* schedule : {"1f1b", "zero_bubble_h1"}) {
        look_at_schedule(schedule, 1024);
        look_at_schedule(schedule, 2048);
    }
}

void bench_mesh() {
    {
        bench::OpenStudio open;
        scrub(open.studio(), open.window(), "2 x 2 mesh", "gpt-6x384.json",
              {"mesh.devices=\"cpu:4\"", "mesh.strategy=\"2d\"",
               "mesh.axes=[[\"data\",2],[\"model\",2]]"});
        scrub(open.studio(), open.window(), "pipeline of 8 stages", "gpt-6x384.json",
              {"model.layers=8", "mesh.devices=\"h100:8\"", "mesh.strategy=\"pipeline\"",
               "mesh.pipeline={\"schedule\": \"1f1b\"}", "training.micro_batch_size=4"});
    }
    bench_edits();
    bench_devices();
    paint_large();
}

void bench_devices() {
    look_at_devices("few", "h100:8", R"([["data",2],["pipeline",2],["model",2]])", "128");
    look_at_devices("tens", "h100:64", R"([["pipeline",4],["data",4],["model",4]])", "256");
    look_at_devices("many", "h100:1024", R"([["data",16],["pipeline",8],["model",8]])", "1024");
    look_at_devices("thousands", "h100:8192", R"([["data",64],["pipeline",16],["model",8]])",
                    "4096");
}

void bench_edits() {
    bench::OpenStudio open;
    edit(open.studio(), open.window(), "data and model", "\"2d\"",
         {R"([["data",16],["model",4]])", R"([["data",8],["model",8]])"});
    edit(open.studio(), open.window(), "a pipeline too", "\"3d\"",
         {R"([["pipeline",4],["data",4],["model",4]])",
          R"([["pipeline",4],["data",8],["model",2]])"});
    // Planning alone, of a small model on this machine.
    open.window().showPage("home"); // ends what is being planned
    open.studio().opener().open(bench::OpenStudio::preset("gpt-6x384.json"));
    const auto planner = ui::enginePlanner(open.studio().paths().calibration);
    for (const auto& [name, make] :
         {std::pair("the training step of a small GPT planned", planner.step),
          std::pair("all programs of it planned", planner.plan)}) {
        print(name, timed(5, [&](int) { make(open.studio().draft().config(), nullptr, {}); }), 500);
    }
}
