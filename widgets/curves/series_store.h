// SPDX-License-Identifier: GPL-3.0-or-later
// All points of one series, kept for ever: append-only chunks of (x, y) plus the smoothed y, and a
// pyramid of the positions of minima and maxima that answers range queries without touching every
// point. Not a QObject, no Qt; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace weft::widgets {

/// Grows by whole chunks, so that appending never moves what is there; the first one doubles until
/// it is as large as the others, so that hundreds of short series stay small.
template <typename T>
class ChunkedArray {
public:
    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const { return chunks_[i >> kShift][i & kMask]; }
    T& operator[](std::size_t i) { return chunks_[i >> kShift][i & kMask]; }
    void push(const T& value) {
        if (size_ == first_ && size_ <= kMask) {
            growFirst();
        } else if ((size_ & kMask) == 0 && (size_ >> kShift) == chunks_.size()) {
            chunks_.push_back(std::make_unique<T[]>(kMask + 1));
        }
        chunks_[size_ >> kShift][size_ & kMask] = value;
        ++size_;
    }
    /// What lies in one piece from `first` on, up to `end`.
    std::span<const T> piece(std::size_t first, std::size_t end) const {
        const std::size_t stop = std::min(end, ((first >> kShift) + 1) << kShift);
        return {&(*this)[first], stop - first};
    }
    void truncate(std::size_t size) {
        size_ = size;
        chunks_.resize((size + kMask) >> kShift);
        first_ = chunks_.empty() ? 0 : first_;
    }
    std::size_t bytes() const {
        return chunks_.empty() ? 0 : (first_ + (chunks_.size() - 1) * (kMask + 1)) * sizeof(T);
    }

private:
    static constexpr std::size_t kShift = 12;
    static constexpr std::size_t kMask = (std::size_t{1} << kShift) - 1;
    static constexpr std::size_t kLeast = 16; // of the first chunk

    void growFirst() {
        first_ = std::max(kLeast, 2 * first_);
        auto grown = std::make_unique<T[]>(first_);
        if (chunks_.empty()) {
            chunks_.push_back(std::move(grown));
        } else {
            std::copy_n(chunks_.front().get(), size_, grown.get());
            chunks_.front() = std::move(grown);
        }
    }

    std::vector<std::unique_ptr<T[]>> chunks_;
    std::size_t first_ = 0; // room in the first chunk
    std::size_t size_ = 0;
};

struct SeriesPoint {
    double x = 0.0;
    double y = 0.0;
    bool operator==(const SeriesPoint&) const = default;
};

struct SeriesExtent {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    bool valid() const { return low <= high; }
};

/// The debiased exponential moving average that curves are drawn by: after n values it is
/// m_n / (1 - w^n) with m_n = w m_(n-1) + (1 - w) y_n. A weight of 0 leaves values as they are.
class Smoother {
public:
    explicit Smoother(double weight = 0.0) : weight_(weight) {}
    /// Takes a finite value; the average with it.
    double add(double y) {
        average_ = weight_ * average_ + (1.0 - weight_) * y;
        remaining_ *= weight_;
        return average_ / (1.0 - remaining_);
    }

private:
    double weight_;
    double average_ = 0.0;
    double remaining_ = 1.0; // w^n
};

class SeriesStore {
public:
    enum class Column { Raw, Smoothed };
    enum class Domain { All, Positive }; // Positive: what a log axis can show

    /// Appends points. x must not decrease; a point whose x lies before the last one first takes
    /// back all points at or after it (the run went back to a checkpoint). Points whose y is not
    /// finite are kept apart in nonFinite(); a non-finite x is dropped with them.
    /// Spans of unequal length use the shorter length.
    void append(std::span<const double> x, std::span<const double> y);
    /// Takes back every point with x >= `x`.
    void rewindTo(double x);
    void clear();

    /// Weight of the Smoother, in [0, 1). Recomputes all; 0 means raw = smoothed. Of few points
    /// each stands for many: see weightOf.
    void setSmoothing(double weight);
    double smoothing() const { return weight_; }
    /// The weight is of a series of at least kDensePoints; each point of a sparser one stands for
    /// kDensePoints / points of those, or a mean over ten would be all that is seen of ten.
    static double weightOf(double weight, std::size_t points);
    static constexpr std::size_t kDensePoints = 200;
    /// What curves are smoothed by until somebody chooses.
    static constexpr double kUsualSmoothing = 0.9;

    /// Another one after every change of the points or of their smoothing.
    std::uint64_t revision() const { return revision_; }
    std::size_t size() const { return x_.size(); }
    bool empty() const { return x_.size() == 0; }
    SeriesPoint at(std::size_t index, Column column = Column::Raw) const;
    SeriesPoint last(Column column = Column::Raw) const;
    /// First index with x >= `x`.
    std::size_t lowerBound(double x) const;
    /// Index of the point nearest to `x`; size() when empty.
    std::size_t nearest(double x) const;

    /// At most two points per bucket (its minimum and maximum, in x order), at most 2 * `pixels` +
    /// 4 in all, with one neighbour beyond each end so that lines leave the view. Buckets have a
    /// width of 2^k and edges at its multiples, in data space: the same data always decimates the
    /// same way while the view moves. With <= 2 * pixels points in view, these points themselves.
    void query(double x_low, double x_high, int pixels, Column column, Domain domain,
               std::vector<SeriesPoint>& out) const;
    /// What the answer of a query depends on.
    struct View {
        double x_low = 0.0;
        double x_high = 0.0;
        int pixels = 0;
        Column column = Column::Raw;
        Domain domain = Domain::All;
        std::uint64_t revision = ~std::uint64_t{0};
        bool operator==(const View&) const = default;
    };
    /// Makes of the answer to one view the answer to another. Buckets that lie in both are taken
    /// over, so that a view that moves a little costs its ends only.
    void query(const View& before, const View& now, std::vector<SeriesPoint>& points) const;
    /// Smallest and largest y with x in [x_low, x_high].
    SeriesExtent extent(double x_low, double x_high, Column column, Domain domain) const;

    /// The y that `share_low` and `share_high` (0 to 1) of the points with x in [x_low, x_high] lie
    /// below: of an even sample of at most `sample` of them, so the same data always answers the
    /// same.
    SeriesExtent quantiles(double x_low, double x_high, double share_low, double share_high,
                           Column column, Domain domain, std::size_t sample = 4096) const;
    /// How many points with x in [x_low, x_high] lie outside `y`.
    std::size_t countOutside(double x_low, double x_high, const SeriesExtent& y,
                             Column column) const;

    const std::vector<SeriesPoint>& nonFinite() const { return non_finite_; }
    /// Points that a log axis cannot show.
    std::size_t nonPositiveCount() const { return non_positive_; }
    /// Bytes held, for the memory budget of a chart.
    std::size_t bytes() const;

private:
    static constexpr std::size_t kFan = 16;
    static constexpr std::uint32_t kNone = 0xffffffffu;

    struct Block {
        std::uint32_t low = kNone;          // index of the minimum
        std::uint32_t high = kNone;         // index of the maximum
        std::uint32_t low_positive = kNone; // index of the smallest value > 0
    };
    struct Widest;
    struct Levels {
        ChunkedArray<double> y;
        // blocks[k] covers kFan^(k+1) points each; whole blocks only
        std::vector<ChunkedArray<Block>> blocks;
    };

    void appendOne(double x, double y);
    void pushColumn(Levels& column, double y);
    Block blockOf(const Levels& column, std::size_t level, std::size_t index) const;
    std::size_t endIndex(double x_high) const;
    std::size_t lowerBoundNear(std::size_t from, std::size_t guess, double x) const;
    void decimate(std::size_t first, std::size_t end, double width, Column column, Domain domain,
                  std::vector<SeriesPoint>& out) const;
    void addPoints(std::size_t first, std::size_t end, Column column, Domain domain,
                   std::vector<SeriesPoint>& out) const;
    bool hasBuckets(const View& view, double width) const;
    /// For Domain::All it may leave out low_positive.
    Block reduce(const Levels& column, std::size_t first, std::size_t end, Domain domain) const;
    const Levels& levels(Column column) const;
    void truncate(std::size_t size);
    void truncateColumn(Levels& column, std::size_t size);
    void restartSmoothing();

    ChunkedArray<double> x_;
    Levels raw_;
    Levels smoothed_;
    std::vector<SeriesPoint> non_finite_;
    std::size_t non_positive_ = 0;
    std::uint64_t revision_ = 0;
    double weight_ = 0.0;
    Smoother smoother_; // by weightOf the points that there are
};

/// These points as a series of them is drawn; what is not finite stays as it is.
std::vector<double> smoothed(std::vector<double> y, double weight);

} // namespace weft::widgets
