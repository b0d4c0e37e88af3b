// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 25: charts of a million points as files.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/suites.h"
#include "widgets/curves/line_chart.h"

#include <QFileInfo>
#include <QTemporaryDir>

#include <cmath>

namespace {

using namespace weft;

constexpr int kPoints = 1000000;

} // namespace

void bench_export() {
    const QTemporaryDir dir;
    widgets::LineChart chart;
    chart.resize(1000, 360);
    const int id = chart.addSeries({QStringLiteral("train/loss"), {}, 0});
    std::vector<double> x(kPoints);
    std::vector<double> y(kPoints);
    for (int i = 0; i < kPoints; ++i) {
        x[static_cast<std::size_t>(i)] = i;
        y[static_cast<std::size_t>(i)] = 2.3 / std::sqrt(1.0 + i / 500.0) + 0.05 * std::sin(i);
    }
    chart.append(id, x, y);
    chart.setSmoothing(0.6);
    chart.show();
    bench::settle();
    const QString png = dir.filePath("chart.png");
    const QString svg = dir.filePath("chart.svg");
    const QString pdf = dir.filePath("chart.pdf");
    const QString csv = dir.filePath("chart.csv");
    const auto mib = [](const QString& path) {
        return static_cast<double>(QFileInfo(path).size()) / (1 << 20);
    };
    bench::print("25  PNG at 2x", bench::timed(5, [&](int) { chart.exportPng(png); }), 300);
    bench::print("25  SVG", bench::timed(5, [&](int) { chart.exportSvg(svg); }), 500);
    bench::print("25  size of the SVG", mib(svg), "MiB", 1);
    bench::print("25  PDF", bench::timed(5, [&](int) { chart.exportPdf(pdf); }), 500);
    bench::print("25  size of the PDF", mib(pdf), "MiB", 1);
    bench::print("    CSV of every point", bench::timed(2, [&](int) { chart.exportCsv(csv); }),
                 2000);
}
