// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/series_store.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {

const SeriesStore::Levels& SeriesStore::levels(Column column) const {
    return column == Column::Raw ? raw_ : smoothed_;
}

void SeriesStore::append(std::span<const double> x, std::span<const double> y) {
    const std::size_t count = std::min(x.size(), y.size());
    const bool was_sparse = size() < kDensePoints;
    ++revision_;
    for (std::size_t i = 0; i < count; ++i) {
        if (!std::isfinite(x[i])) {
            continue;
        }
        const bool back = (!empty() && x[i] < x_[size() - 1]) ||
                          (!non_finite_.empty() && x[i] < non_finite_.back().x);
        if (back) {
            rewindTo(x[i]);
        }
        if (std::isfinite(y[i])) {
            appendOne(x[i], y[i]);
        } else {
            non_finite_.push_back({x[i], y[i]});
        }
    }
    if (was_sparse && weight_ > 0.0) {
        restartSmoothing(); // each of them stands for fewer now
    }
}

double SeriesStore::weightOf(double weight, std::size_t points) {
    const auto dense = static_cast<double>(kDensePoints);
    return points == 0 || points >= kDensePoints
               ? weight
               : std::pow(weight, dense / static_cast<double>(points));
}

void SeriesStore::appendOne(double x, double y) {
    x_.push(x);
    pushColumn(raw_, y);
    pushColumn(smoothed_, smoother_.add(y));
    if (y <= 0.0) {
        ++non_positive_;
    }
}

// A block is made when its last point is there, and the block above when its last block is: one
// pass over the points, and only a sixteenth of that again for all levels together.
void SeriesStore::pushColumn(Levels& column, double y) {
    column.y.push(y);
    std::size_t span = kFan;
    for (std::size_t level = 0; column.y.size() % span == 0; ++level) {
        if (level == column.blocks.size()) {
            column.blocks.emplace_back();
        }
        column.blocks[level].push(blockOf(column, level, column.blocks[level].size()));
        span *= kFan;
    }
}

/// A block in the making, with the values at its places.
struct SeriesStore::Widest {
    Block block;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    double low_positive = std::numeric_limits<double>::infinity();

    void include(std::uint32_t index, double y) {
        if (y < low) {
            low = y;
            block.low = index;
        }
        if (y > high) {
            high = y;
            block.high = index;
        }
        if (y > 0.0 && y < low_positive) {
            low_positive = y;
            block.low_positive = index;
        }
    }
    void include(const Levels& column, const Block& other) {
        for (const std::uint32_t index : {other.low, other.high, other.low_positive}) {
            if (index != kNone) {
                include(index, column.y[index]);
            }
        }
    }
    /// All of it, but without low_positive.
    void includeRange(const Levels& column, std::size_t first, std::size_t end) {
        while (first < end) {
            const std::span<const double> values = column.y.piece(first, end);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double y = values[i];
                if (y < low) {
                    low = y;
                    block.low = static_cast<std::uint32_t>(first + i);
                }
                if (y > high) {
                    high = y;
                    block.high = static_cast<std::uint32_t>(first + i);
                }
            }
            first += values.size();
        }
    }
    void include(const Levels& column, std::size_t first, std::size_t end) {
        while (first < end) {
            const std::span<const double> values = column.y.piece(first, end);
            for (std::size_t i = 0; i < values.size(); ++i) {
                include(static_cast<std::uint32_t>(first + i), values[i]);
            }
            first += values.size();
        }
    }
};

SeriesStore::Block SeriesStore::blockOf(const Levels& column, std::size_t level,
                                        std::size_t index) const {
    Widest widest;
    if (level == 0) {
        widest.include(column, index * kFan, (index + 1) * kFan);
    } else {
        for (std::size_t i = index * kFan; i < (index + 1) * kFan; ++i) {
            widest.include(column, column.blocks[level - 1][i]);
        }
    }
    return widest.block;
}

// Minimum and maximum of [first, end): whole blocks of the highest level that fits, then smaller.
SeriesStore::Block SeriesStore::reduce(const Levels& column, std::size_t first, std::size_t end,
                                       Domain domain) const {
    Widest widest;
    std::size_t i = first;
    while (i < end) {
        std::size_t level = 0;
        std::size_t span = 1;
        while (level < column.blocks.size() && i % (span * kFan) == 0 && i + span * kFan <= end) {
            span *= kFan;
            ++level;
        }
        if (level == 0) {
            span = std::min(end, (i / kFan + 1) * kFan) - i;
            domain == Domain::All ? widest.includeRange(column, i, i + span)
                                  : widest.include(column, i, i + span);
        } else {
            widest.include(column, column.blocks[level - 1][i / span]);
        }
        i += span;
    }
    return widest.block;
}

void SeriesStore::rewindTo(double x) {
    ++revision_;
    truncate(lowerBound(x));
    const auto end = std::lower_bound(non_finite_.begin(), non_finite_.end(), x,
                                      [](const SeriesPoint& p, double at) { return p.x < at; });
    non_finite_.erase(end, non_finite_.end());
}

void SeriesStore::truncate(std::size_t size) {
    if (size == x_.size()) {
        return;
    }
    x_.truncate(size);
    truncateColumn(raw_, size);
    non_positive_ = 0;
    for (std::size_t i = 0; i < size; ++i) {
        non_positive_ += raw_.y[i] <= 0.0 ? 1 : 0;
    }
    restartSmoothing();
}

void SeriesStore::truncateColumn(Levels& column, std::size_t size) {
    column.y.truncate(size);
    std::size_t span = kFan;
    for (ChunkedArray<Block>& level : column.blocks) {
        level.truncate(size / span);
        span *= kFan;
    }
}

void SeriesStore::clear() {
    const double weight = weight_;
    const std::uint64_t revision = revision_;
    *this = SeriesStore();
    weight_ = weight;
    smoother_ = Smoother(weight);
    revision_ = revision + 1;
}

void SeriesStore::setSmoothing(double weight) {
    const double bounded = std::clamp(weight, 0.0, 0.9999);
    if (bounded != weight_) {
        weight_ = bounded;
        ++revision_;
        restartSmoothing();
    }
}

void SeriesStore::restartSmoothing() {
    smoothed_ = Levels{};
    smoother_ = Smoother(weightOf(weight_, raw_.y.size()));
    for (std::size_t i = 0; i < raw_.y.size(); ++i) {
        pushColumn(smoothed_, smoother_.add(raw_.y[i]));
    }
}

SeriesPoint SeriesStore::at(std::size_t index, Column column) const {
    return {x_[index], levels(column).y[index]};
}

SeriesPoint SeriesStore::last(Column column) const {
    return at(size() - 1, column);
}

std::size_t SeriesStore::lowerBound(double x) const {
    std::size_t low = 0;
    std::size_t high = size();
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

std::size_t SeriesStore::nearest(double x) const {
    const std::size_t after = lowerBound(x);
    if (after == 0 || empty()) {
        return after;
    }
    if (after == size()) {
        return size() - 1;
    }
    return x - x_[after - 1] < x_[after] - x ? after - 1 : after;
}

// One past the last point with x <= `x_high`.
std::size_t SeriesStore::endIndex(double x_high) const {
    return lowerBound(std::nextafter(x_high, std::numeric_limits<double>::infinity()));
}

SeriesExtent SeriesStore::extent(double x_low, double x_high, Column column, Domain domain) const {
    const Levels& data = levels(column);
    const Block block = reduce(data, lowerBound(x_low), endIndex(x_high), domain);
    SeriesExtent result;
    const std::uint32_t low = domain == Domain::All ? block.low : block.low_positive;
    if (low != kNone && (domain == Domain::All || data.y[block.high] > 0.0)) {
        result.low = data.y[low];
        result.high = data.y[block.high];
    }
    return result;
}

SeriesExtent SeriesStore::quantiles(double x_low, double x_high, double share_low,
                                    double share_high, Column column, Domain domain,
                                    std::size_t most) const {
    const Levels& data = levels(column);
    const std::size_t first = lowerBound(x_low);
    const std::size_t end = endIndex(x_high);
    std::vector<double> sample;
    sample.reserve(most);
    const std::size_t stride = (end - first + most - 1) / most;
    for (std::size_t i = first; i < end; i += stride) {
        if (domain == Domain::All || data.y[i] > 0.0) {
            sample.push_back(data.y[i]);
        }
    }
    if (sample.empty()) {
        return {};
    }
    // What lies above the first is all that the second is looked for in.
    auto sorted = sample.begin();
    const auto at = [&](double share) {
        const auto rank = sample.begin() + static_cast<std::ptrdiff_t>(
                                               share * static_cast<double>(sample.size() - 1));
        std::nth_element(sorted, rank, sample.end());
        sorted = rank;
        return *rank;
    };
    const double low = at(share_low);
    return {low, at(share_high)};
}

// Blocks whose minimum and maximum lie inside are passed over.
std::size_t SeriesStore::countOutside(double x_low, double x_high, const SeriesExtent& y,
                                      Column column) const {
    const Levels& data = levels(column);
    const std::size_t end = endIndex(x_high);
    const auto inside = [&](double value) { return value >= y.low && value <= y.high; };
    std::size_t count = 0;
    for (std::size_t i = lowerBound(x_low); i < end;) {
        std::size_t skip = 0;
        std::size_t span = kFan;
        for (std::size_t level = 0; level < data.blocks.size() && i % span == 0 && i + span <= end;
             ++level) {
            const Block& block = data.blocks[level][i / span];
            if (!inside(data.y[block.low]) || !inside(data.y[block.high])) {
                break;
            }
            skip = span;
            span *= kFan;
        }
        if (skip == 0) {
            count += inside(data.y[i]) ? 0 : 1;
            skip = 1;
        }
        i += skip;
    }
    return count;
}

std::size_t SeriesStore::bytes() const {
    std::size_t total = x_.bytes();
    for (const Levels* column : {&raw_, &smoothed_}) {
        total += column->y.bytes();
        for (const ChunkedArray<Block>& level : column->blocks) {
            total += level.bytes();
        }
    }
    return total + non_finite_.capacity() * sizeof(SeriesPoint);
}

std::vector<double> smoothed(std::vector<double> y, double weight) {
    const auto finite = [](double value) { return std::isfinite(value); };
    const auto points = static_cast<std::size_t>(std::count_if(y.begin(), y.end(), finite));
    Smoother smoother(SeriesStore::weightOf(weight, points));
    for (double& value : y) {
        value = finite(value) ? smoother.add(value) : value;
    }
    return y;
}

} // namespace weft::widgets
