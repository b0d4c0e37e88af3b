// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 7, 20 and 24: many runs, many checkpoints, a million scalars out of files.
#include "core/data/dataset.h"
#include "core/train/logging/tensorboard_writer.h"
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "ui/bridge/run/run_reader.h"
#include "ui/models/checkpoint_model.h"
#include "ui/models/run_table_model.h"

#include <QElapsedTimer>
#include <QTableView>
#include <QTest>

#include <cstdio>
#include <fstream>

using namespace weft;

namespace {

namespace fs = std::filesystem;

/// A million scalars, each in a record of its own, as add_scalar of PyTorch writes them.
fs::path make_event_file(const fs::path& folder) {
    fs::create_directories(folder);
    std::string bytes = train::framed_record(train::version_event(1));
    for (int step = 0; step < 100000; ++step) {
        for (int tag = 0; tag < 10; ++tag) {
            bytes += train::framed_record(train::scalar_event(
                1.0 + step, step, {{"group/tag" + std::to_string(tag), 1.0 / (1 + step)}}));
        }
    }
    std::ofstream(folder / "events.out.tfevents.1.host", std::ios::binary) << bytes;
    return folder;
}

/// A million rows of three numbers and a class.
void time_csv(const fs::path& file) {
    {
        std::ofstream out(file, std::ios::binary);
        out << "a,b,c,kind\n";
        for (int i = 0; i < 1000000; ++i) {
            out << i % 977 << ',' << 0.5 + i % 13 << ',' << -i << (i % 2 == 0 ? ",yes\n" : ",no\n");
        }
    }
    const config::Json section = {
        {"train", {{"type", "csv"}, {"path", file.string()}}}, {"validation", nullptr}};
    const config::Checked checked = config::check_fields(section, data::data_fields(), "/data");
    bench::print("24  1,000,000 rows of CSV read as data",
                 bench::timed_once([&] { data::open_data(checked.value, {}); }), "ms", 2000);
}

/// A million scalars as steps of eight numbers each.
fs::path make_event_log(const fs::path& folder) {
    fs::create_directories(folder);
    std::ofstream file(folder / "events.jsonl", std::ios::binary);
    for (int i = 1; i <= 125000; ++i) {
        train::StepEvent step;
        step.step = i;
        step.epoch = i / 1000.0;
        step.loss = 2.0 / i;
        step.learning_rate = 1e-3;
        step.grad_norm = 0.5;
        step.samples_per_s = 1000;
        step.step_ms = 10;
        step.memory_bytes = 1 << 20;
        file << train::to_line({i, 1.0 + i, step}) << '\n';
    }
    return folder;
}

void time_import(const char* what, const fs::path& folder) {
    ui::RunModel model;
    ui::RunReader reader(model);
    QElapsedTimer clock;
    clock.start();
    reader.open(folder);
    if (!bench::wait_for("scalars read", [&] { return !reader.isReading(); })) {
        std::printf("%s: not read\n", what);
        return;
    }
    bench::print(what, bench::ms_since(clock), "ms", 1000);
}

void make_runs(const fs::path& root, int count) {
    for (int i = 0; i < count; ++i) {
        const fs::path run = root / ("2026-01-01_run_" + std::to_string(1000 + i));
        fs::create_directories(run);
        std::ofstream(run / "config.json")
            << R"({"optimizer": {"learning_rate": )" << 1e-4 * (1 + i % 17) << "}}";
        train::RunInfo info;
        info.name = "run";
        info.state = "finished";
        train::write_run_info(run, info);
        std::ofstream events(run / "events.jsonl");
        for (int step = 1; step <= 100; ++step) {
            train::StepEvent event;
            event.step = step;
            event.loss = 1.0 / (step + i);
            events << train::to_line({step, 1.0 + step, event}) << '\n';
        }
        const train::EvaluationEvent evaluation{100, {{"validation/loss", 1.0 / (1 + i % 97)}}};
        events << train::to_line({101, 101.0, evaluation}) << '\n';
    }
}

void time_table(ui::Studio& studio, ui::MainWindow& window) {
    window.showPage("runs");
    QElapsedTimer clock;
    clock.start();
    studio.index().refresh();
    auto* table = window.findChild<QTableView*>("runTable");
    if (!bench::wait_for("500 runs listed", [&] { return table->model()->rowCount() == 500; })) {
        std::puts("the runs were not listed");
        return;
    }
    bench::print("    500 runs listed", bench::ms_since(clock), "ms", 1000);
    std::vector<double> sorted;
    for (int column = 0; column < table->model()->columnCount(); ++column) {
        clock.restart();
        table->sortByColumn(column, Qt::AscendingOrder);
        table->repaint();
        sorted.push_back(bench::ms_since(clock));
    }
    bench::print("7   500 runs sorted by a column and painted", sorted, 100);
}

void time_checkpoints(ui::Studio& studio, ui::MainWindow& window, const fs::path& run) {
    const fs::path checkpoints = run / "checkpoints";
    const std::vector<float> weights(64, 1.0F);
    std::vector<checkpoint::TensorView> views;
    for (int i = 0; i < 40; ++i) { // as many arrays as a small network has
        checkpoint::TensorView& view = views.emplace_back();
        view.name = "layers." + std::to_string(i) + ".weight";
        view.kind = "parameters";
        view.type = {ir::DType::f32, {64}};
        view.data = std::as_bytes(std::span(weights));
    }
    checkpoint::Record record;
    record.step = 1;
    checkpoint::write_checkpoint(checkpoints, views, record);
    for (int step = 2; step <= 2000; ++step) {
        fs::copy(checkpoints / checkpoint::folder_name(1),
                 checkpoints / checkpoint::folder_name(step));
    }
    QElapsedTimer clock;
    double first = -1;
    QObject::connect(&studio.index(), &ui::RunIndex::checkpointsFound, &window,
                     [&] { first = first < 0 ? bench::ms_since(clock) : first; });
    bool all = false;
    QObject::connect(&studio.index(), &ui::RunIndex::checkpointsRead, &window, [&] { all = true; });
    clock.start();
    studio.index().readCheckpoints(run);
    if (!bench::wait_for("2,000 checkpoints read", [&] { return all; })) {
        std::puts("the checkpoints were not read");
    }
    bench::print("20  first rows of 2,000 checkpoints", first, "ms", 200);
    bench::print("20  a checkpoint's header read", bench::ms_since(clock) / 2000, "ms", 10);
}

} // namespace

void bench_runs() {
    bench::OpenStudio open;
    time_import("24  1,000,000 scalars of TensorBoard", make_event_file(open.root() / "million"));
    time_import("24  1,000,000 scalars of events.jsonl", make_event_log(open.root() / "events"));
    time_csv(open.root() / "million.csv");
    make_runs(open.runs(), 500);
    time_table(open.studio(), open.window());
    time_checkpoints(open.studio(), open.window(), open.runs() / "2026-01-01_run_1000");
}
