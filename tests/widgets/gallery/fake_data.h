// SPDX-License-Identifier: GPL-3.0-or-later
// Invented numbers and pictures for the gallery; the same on every run.
#pragma once

#include "widgets/curves/sparkline.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/memory_bar.h"

#include <vector>

namespace weft::gallery {

struct Curve {
    std::vector<double> x;
    std::vector<double> y;
};

/// A loss that falls from `start` towards `end` over `count` steps, with noise.
Curve lossCurve(int count, double start, double end, double noise, unsigned seed);
/// Every `stride`-th point of a slightly higher, noiseless curve.
Curve validationCurve(int count, int stride, double start, double end);
Curve learningRate(int from, int to, int total, int warmup, double peak);
Curve gradientNorm(int count, unsigned seed);

std::vector<widgets::GridImage> samples();
std::vector<widgets::MemorySegment> measuredMemory();
std::vector<widgets::MemorySegment> plannedMemory();
widgets::SparklineData sparkline(int points, double share, bool failed, unsigned seed);

} // namespace weft::gallery
