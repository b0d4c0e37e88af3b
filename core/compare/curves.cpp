// SPDX-License-Identifier: Apache-2.0
#include "core/compare/curves.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace weft::compare {
namespace {

std::vector<CurvePoint> finite(const std::vector<CurvePoint>& curve) {
    std::vector<CurvePoint> out;
    for (const CurvePoint& point : curve) {
        if (std::isfinite(point.x) && std::isfinite(point.y)) {
            out.push_back(point);
        }
    }
    return out;
}

/// A curve that is asked from left to right.
class Reader {
public:
    explicit Reader(std::vector<CurvePoint> points) : points_(std::move(points)) {}

    std::optional<double> at(double x) {
        while (next_ < points_.size() && points_[next_].x < x) {
            ++next_;
        }
        if (next_ == points_.size()) {
            return std::nullopt;
        }
        const CurvePoint& after = points_[next_];
        if (after.x == x) {
            return after.y;
        }
        if (next_ == 0) {
            return std::nullopt;
        }
        const CurvePoint& before = points_[next_ - 1];
        const double share = (x - before.x) / (after.x - before.x);
        return before.y + share * (after.y - before.y);
    }
    const std::vector<CurvePoint>& points() const { return points_; }

private:
    std::vector<CurvePoint> points_;
    std::size_t next_ = 0;
};

std::vector<double> places(const std::vector<Reader>& readers, std::size_t most) {
    std::vector<double> all;
    for (const Reader& reader : readers) {
        for (const CurvePoint& point : reader.points()) {
            all.push_back(point.x);
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() <= most || most < 2) {
        return all;
    }
    std::vector<double> out;
    for (std::size_t i = 0; i < most; ++i) {
        out.push_back(all[i * (all.size() - 1) / (most - 1)]);
    }
    return out;
}

BandPoint summarised(double x, const std::vector<double>& values, Band band) {
    BandPoint out;
    out.x = x;
    out.curves = values.size();
    for (const double value : values) {
        out.mean += value / static_cast<double>(values.size());
    }
    double squares = 0;
    for (const double value : values) {
        squares += (value - out.mean) * (value - out.mean);
    }
    out.deviation =
        values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0.0;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    out.low = band == Band::range ? *low : out.mean - out.deviation;
    out.high = band == Band::range ? *high : out.mean + out.deviation;
    return out;
}

} // namespace

std::vector<BandPoint> mean_and_band(std::span<const std::vector<CurvePoint>> curves, Band band,
                                     std::size_t most) {
    std::vector<Reader> readers;
    for (const std::vector<CurvePoint>& curve : curves) {
        readers.emplace_back(finite(curve));
    }
    std::vector<BandPoint> out;
    std::vector<double> values;
    for (const double x : places(readers, most)) {
        values.clear();
        for (Reader& reader : readers) {
            if (const auto value = reader.at(x)) {
                values.push_back(*value);
            }
        }
        if (!values.empty()) {
            out.push_back(summarised(x, values, band));
        }
    }
    return out;
}

} // namespace weft::compare
