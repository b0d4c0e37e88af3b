// SPDX-License-Identifier: Apache-2.0
// The curves of a group of runs as one: their mean, and a band around it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::compare {

struct CurvePoint {
    double x = 0;
    double y = 0;
};

struct BandPoint {
    double x = 0;
    double mean = 0;
    double low = 0;
    double high = 0;
    double deviation = 0; // of a sample: over n - 1; 0 of one curve
    std::size_t curves = 0;
};

enum class Band {
    range,     // from the smallest to the largest
    deviation, // a standard deviation below and above the mean
};

/// At every x that any curve has, or at `most` of them that are evenly spread over the list: of the
/// curves that reach from before to behind it, each by the straight line between its neighbours.
/// Each curve is in the order of its x; points that are not finite are left out.
std::vector<BandPoint> mean_and_band(std::span<const std::vector<CurvePoint>> curves, Band band,
                                     std::size_t most = 2000);

} // namespace weft::compare
