// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 24: a million scalars out of files that other programs wrote.
#include "core/train/run_folder.h"
#include "core/train/tensorboard_reader.h"
#include "core/train/tensorboard_writer.h"
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"

#include <QTemporaryDir>

namespace {

using namespace weft;

constexpr std::int64_t kSteps = 250000;
constexpr std::int64_t kEvents = 1000000;

} // namespace

void bench_import() {
    const QTemporaryDir dir;
    const std::filesystem::path root = dir.path().toStdString();
    {
        train::TensorboardWriter writer(root, 1000, "bench");
        for (std::int64_t step = 1; step <= kSteps; ++step) {
            const double value = 1.0 / static_cast<double>(step);
            writer.add(1000 + value, step,
                       {{"loss", value}, {"accuracy", 1 - value}, {"lr", 1e-3}, {"norm", value}});
        }
    }
    bench::print("24  1,000,000 scalars of TensorBoard, 4 tags",
                 bench::timed(3,
                              [&](int) {
                                  train::TensorboardReader reader(root);
                                  std::vector<train::ScalarSeries> series;
                                  train::append(series, reader.read());
                              }),
                 1000);
    const auto run = bench::make_long_run(root / "run", kEvents);
    bench::print("24  1,000,000 steps of our events.jsonl",
                 bench::timed(3,
                              [&](int) {
                                  train::EventReader reader(run);
                                  reader.read();
                              }),
                 1000);
}
