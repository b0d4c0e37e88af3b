// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 20: a run with 2,000 checkpoints.
#include "core/checkpoint/checkpoint.h"
#include "core/train/run_folder.h"
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "ui/models/checkpoint_model.h"

#include <QTemporaryDir>

#include <array>

namespace {

using namespace weft;

constexpr int kCheckpoints = 2000;

/// One real checkpoint; the others are links to its arrays with manifests of their own.
std::filesystem::path make_checkpoints(const std::filesystem::path& folder) {
    const std::array<float, 16> weight{};
    const checkpoint::TensorView tensor{
        "weight", "parameters", {ir::DType::f32, {16}}, std::as_bytes(std::span(weight))};
    checkpoint::Record record;
    record.config = compile::read_run_config_file(bench::OpenStudio::preset("fashion-mlp.json"))
                        .config.document;
    for (int i = 1; i <= kCheckpoints; ++i) {
        record.step = i * 100;
        record.metrics = {{"validation/loss", 1.0 / i}};
        record.metric_step = record.step;
        checkpoint::write_checkpoint(folder, {&tensor, 1}, record);
    }
    return folder;
}

} // namespace

void bench_lists() {
    const QTemporaryDir dir;
    const std::filesystem::path run = std::filesystem::path(dir.path().toStdString()) / "run";
    const auto folder = make_checkpoints(run / "checkpoints");
    std::vector<checkpoint::Entry> entries;
    const double listed =
        bench::timed_once([&] { entries = checkpoint::list_checkpoints(folder); });
    bench::print("20  a checkpoint's header read", listed / kCheckpoints, "ms", 10);
    bench::print("    2,000 of them, off the GUI thread", listed, "ms", 2000);
    ui::RunModel model;
    ui::CheckpointModel table;
    bench::print("20  their rows made, on the GUI thread",
                 bench::timed(5, [&](int) { table.setContent(model, entries); }), 200);
}
