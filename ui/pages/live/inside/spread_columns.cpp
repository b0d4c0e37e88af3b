// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/inside/spread_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::ui {
namespace {

using train::WrittenSpread;

constexpr int kLinearParts = 80;
constexpr double kLeftOut = 0.001; // at each end of a linear axis

double binTop(int bin) {
    using namespace train;
    return bin < kZeroBin   ? -lower_edge(2 * kZeroBin - bin)
           : bin > kZeroBin ? lower_edge(bin + 1)
                            : 0;
}

double binBottom(int bin) {
    using namespace train;
    return bin < kZeroBin   ? -lower_edge(2 * kZeroBin - bin + 1)
           : bin > kZeroBin ? lower_edge(bin)
                            : 0;
}

double binnedIn(const WrittenSpread& spread) {
    return static_cast<double>(
        std::accumulate(spread.bins.begin(), spread.bins.end(), std::int64_t{0}));
}

struct Extent {
    double low = 0, high = 0;
};

/// Without kLeftOut at both ends.
Extent extentOf(const WrittenSpread& spread) {
    const double least = kLeftOut * binnedIn(spread);
    Extent out{spread.low, spread.high};
    double below = 0;
    for (std::size_t i = 0; i < spread.bins.size(); ++i) {
        below += static_cast<double>(spread.bins[i]);
        if (below > least) {
            out.low = std::max(spread.low, binBottom(spread.first_bin + static_cast<int>(i)));
            break;
        }
    }
    double above = 0;
    for (std::size_t i = spread.bins.size(); i-- > 0;) {
        above += static_cast<double>(spread.bins[i]);
        if (above > least) {
            out.high = std::min(spread.high, binTop(spread.first_bin + static_cast<int>(i)));
            break;
        }
    }
    return out;
}

std::vector<float> logarithmicShares(const WrittenSpread& spread, int first, int last) {
    std::vector<float> out(static_cast<std::size_t>(last - first + 1), 0.0F);
    const double all = binnedIn(spread);
    for (std::size_t i = 0; i < spread.bins.size(); ++i) {
        out[static_cast<std::size_t>(spread.first_bin - first) + i] =
            static_cast<float>(static_cast<double>(spread.bins[i]) / all);
    }
    return out;
}

std::vector<float> linearShares(const WrittenSpread& spread, const std::vector<double>& edges) {
    std::vector<double> out(edges.size() - 1, 0.0);
    const double all = binnedIn(spread);
    const double part = (edges.back() - edges.front()) / static_cast<double>(out.size());
    const auto place = [&](double value) {
        return std::clamp((value - edges.front()) / part, 0.0, static_cast<double>(out.size()));
    };
    for (std::size_t i = 0; i < spread.bins.size(); ++i) {
        const int bin = spread.first_bin + static_cast<int>(i);
        // The outermost reach no farther than the numbers do.
        const double bottom = std::max(binBottom(bin), spread.low);
        const double top = std::min(binTop(bin), spread.high);
        const double share = static_cast<double>(spread.bins[i]) / all;
        const double from = place(bottom);
        const double to = place(top);
        const auto first = static_cast<std::size_t>(
            std::min(std::floor(from), static_cast<double>(out.size() - 1)));
        if (!(top > bottom) || to - from < 1e-9) {
            const bool inside = bottom >= edges.front() && bottom <= edges.back();
            out[first] += inside ? share : 0;
            continue;
        }
        const double width = (top - bottom) / part;
        for (std::size_t at = first; at < out.size() && static_cast<double>(at) < to; ++at) {
            const double common =
                std::min(to, static_cast<double>(at + 1)) - std::max(from, static_cast<double>(at));
            out[at] += share * common / width;
        }
    }
    return {out.begin(), out.end()};
}

} // namespace

widgets::SpreadHistory spreadHistory(std::span<const std::int64_t> steps,
                                     std::span<const WrittenSpread* const> spreads,
                                     SpreadAxis axis) {
    widgets::SpreadHistory out;
    out.steps.assign(steps.begin(), steps.end());
    out.shares.resize(steps.size());
    Extent extent;
    int first = train::kSpreadBins;
    int last = -1;
    for (const WrittenSpread* spread : spreads) {
        if (spread->bins.empty()) {
            continue;
        }
        const Extent own = extentOf(*spread);
        extent =
            last < 0 ? own : Extent{std::min(extent.low, own.low), std::max(extent.high, own.high)};
        first = std::min(first, spread->first_bin);
        last = std::max(last, spread->first_bin + static_cast<int>(spread->bins.size()) - 1);
    }
    if (last < 0) {
        return out;
    }
    if (axis == SpreadAxis::Logarithmic) {
        out.edges.push_back(binBottom(first));
        for (int bin = first; bin <= last; ++bin) {
            out.edges.push_back(binTop(bin));
        }
    } else {
        if (!(extent.high > extent.low)) { // all are the same number
            const double room = std::max(std::abs(extent.low) * 0.5, 1e-12);
            extent = {extent.low - room, extent.high + room};
        }
        for (int i = 0; i <= kLinearParts; ++i) {
            out.edges.push_back(extent.low + (extent.high - extent.low) * i / double(kLinearParts));
        }
    }
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        if (!spreads[i]->bins.empty()) {
            out.shares[i] = axis == SpreadAxis::Logarithmic
                                ? logarithmicShares(*spreads[i], first, last)
                                : linearShares(*spreads[i], out.edges);
        }
    }
    return out;
}

} // namespace weft::ui
