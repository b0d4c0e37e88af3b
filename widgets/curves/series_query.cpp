// SPDX-License-Identifier: GPL-3.0-or-later
// What a SeriesStore answers a view: its points, or the smallest and largest of each bucket.
#include "widgets/curves/series_store.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

double bucketWidth(const SeriesStore::View& view) {
    const double per_pixel = (view.x_high - view.x_low) / std::max(1, view.pixels);
    return std::exp2(std::ceil(std::log2(per_pixel)));
}

/// As they are, without buckets.
bool fit(std::size_t points, const SeriesStore::View& view) {
    return points <= 2 * static_cast<std::size_t>(std::max(1, view.pixels));
}

auto firstAt(std::vector<SeriesPoint>& points, double x) {
    return std::lower_bound(points.begin(), points.end(), x,
                            [](const SeriesPoint& point, double at) { return point.x < at; });
}

} // namespace

// The same for an x that lies after the point `from`: at once where the guess is right, else by
// strides that double.
std::size_t SeriesStore::lowerBoundNear(std::size_t from, std::size_t guess, double x) const {
    if (guess > from && guess <= size() && x_[guess - 1] < x &&
        (guess == size() || !(x_[guess] < x))) {
        return guess;
    }
    std::size_t low = from;
    std::size_t stride = 1;
    while (low + stride < size() && x_[low + stride] < x) {
        low += stride;
        stride *= 2;
    }
    std::size_t high = std::min(size(), low + stride);
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (x_[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void SeriesStore::addPoints(std::size_t first, std::size_t end, Column column, Domain domain,
                            std::vector<SeriesPoint>& out) const {
    const Levels& data = levels(column);
    for (std::size_t i = first; i < std::min(end, size()); ++i) {
        if (domain == Domain::All || data.y[i] > 0.0) {
            out.push_back({x_[i], data.y[i]});
        }
    }
}

// The buckets of the points [first, end).
void SeriesStore::decimate(std::size_t first, std::size_t end, double width, Column column,
                           Domain domain, std::vector<SeriesPoint>& out) const {
    const Levels& data = levels(column);
    double edge = first < end ? std::floor(x_[first] / width) * width : 0.0;
    std::size_t count = 1; // of the bucket before: mostly that of the next one
    for (std::size_t from = first; from < end;) {
        edge = std::max(edge + width, std::floor(x_[from] / width) * width + width);
        const std::size_t to = std::min(end, lowerBoundNear(from, from + count, edge));
        count = to - from;
        const Block block = reduce(data, from, to, domain);
        const std::uint32_t low = domain == Domain::All ? block.low : block.low_positive;
        const std::uint32_t high = block.high;
        from = to;
        if (low == kNone || (domain == Domain::Positive && !(data.y[high] > 0.0))) {
            continue;
        }
        out.push_back(at(std::min(low, high), column));
        if (low != high) {
            out.push_back(at(std::max(low, high), column));
        }
    }
}

void SeriesStore::query(double x_low, double x_high, int pixels, Column column, Domain domain,
                        std::vector<SeriesPoint>& out) const {
    out.clear();
    query({}, {x_low, x_high, pixels, column, domain, revision_}, out);
}

// One bucket more than pixels may touch the view, because edges lie on multiples.
void SeriesStore::query(const View& before, const View& now,
                        std::vector<SeriesPoint>& points) const {
    const std::size_t first = lowerBound(now.x_low);
    const std::size_t end = endIndex(now.x_high);
    std::vector<SeriesPoint> out;
    out.reserve(points.size() + 4);
    addPoints(first - std::min<std::size_t>(first, 1), first, now.column, now.domain, out);
    if (fit(end - first, now)) {
        addPoints(first, end, now.column, now.domain, out);
    } else {
        const double width = bucketWidth(now);
        const double from = std::ceil(std::max(before.x_low, now.x_low) / width) * width;
        const double to = std::floor(std::min(before.x_high, now.x_high) / width) * width;
        if (from < to && hasBuckets(before, width) && before.column == now.column &&
            before.domain == now.domain) {
            decimate(first, lowerBound(from), width, now.column, now.domain, out);
            out.insert(out.end(), firstAt(points, from), firstAt(points, to));
            decimate(lowerBound(to), end, width, now.column, now.domain, out);
        } else {
            decimate(first, end, width, now.column, now.domain, out);
        }
    }
    addPoints(end, end + 1, now.column, now.domain, out);
    points.swap(out);
}

// Of this width, of the points as they are.
bool SeriesStore::hasBuckets(const View& view, double width) const {
    return view.revision == revision_ && bucketWidth(view) == width &&
           !fit(endIndex(view.x_high) - lowerBound(view.x_low), view);
}

} // namespace weft::widgets
