// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges of the axes, decimation into the graphs, zoom and follow.
#include "widgets/curves/line_chart_private.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::widgets {
namespace {

constexpr double kOutlierShare = 0.01;                           // at each end
constexpr std::size_t kMostSampled = 4096, kFewestSampled = 512; // points of a series, to find them
constexpr std::size_t kSampledInAll = 32768;
constexpr double kWorthClipping = 1.5; // times the height of the rest
constexpr double kNewestShare = 0.1;   // of the view: what following has to show
constexpr double kEdgePixels = 8.0;    // room for marks at the first and last point

ChartRange padded(double low, double high, double share) {
    if (!(high > low)) {
        const double half = std::max(std::abs(low) * 0.1, 1e-9);
        return {low - half, high + half};
    }
    const double room = (high - low) * share;
    return {low - room, high + room};
}

} // namespace

std::optional<double> LineChart::Private::newestX() const {
    std::optional<double> newest;
    for (const auto& entry : series) {
        if (entry->isDrawn() && !entry->store.empty() && entry->isActual()) {
            newest = std::max(newest.value_or(entry->store.last().x), entry->store.last().x);
        }
    }
    return newest;
}

ChartRange LineChart::Private::automaticX() const {
    SeriesExtent extent;
    const auto include = [&extent](double x) {
        extent.low = std::min(extent.low, x);
        extent.high = std::max(extent.high, x);
    };
    for (const auto& entry : series) {
        if (!entry->isDrawn()) {
            continue;
        }
        if (!entry->store.empty()) {
            include(entry->store.at(0).x);
            include(entry->store.last().x);
        }
        for (const SeriesPoint& point : entry->store.nonFinite()) {
            include(point.x);
        }
    }
    if (planned) {
        include(planned->low);
        include(planned->high);
    }
    if (!extent.valid()) {
        return {0.0, 1.0};
    }
    if (extent.low == extent.high) {
        return {extent.low - 0.5, extent.high + 0.5};
    }
    const double pixels = std::max(32.0, static_cast<double>(plot->axisRect()->width()));
    return padded(extent.low, extent.high, kEdgePixels / pixels);
}

SeriesExtent LineChart::Private::extentInView(const ChartRange& x) const {
    SeriesExtent extent;
    for (const auto& entry : series) {
        if (!entry->isDrawn()) {
            continue;
        }
        const bool raw_shown = entry->spec.form != SeriesForm::Thin &&
                               entry->spec.form != SeriesForm::Bold &&
                               entry->spec.form != SeriesForm::Inherited;
        const SeriesExtent own = entry->store.extent(
            x.low, x.high, raw_shown ? SeriesStore::Column::Raw : entry->column(), domain());
        extent.low = std::min(extent.low, own.low);
        extent.high = std::max(extent.high, own.high);
        if (entry->band) {
            extent.low = std::min(
                extent.low, entry->band->low.extent(x.low, x.high, entry->column(), domain()).low);
            extent.high =
                std::max(extent.high,
                         entry->band->high.extent(x.low, x.high, entry->column(), domain()).high);
        }
    }
    return extent;
}

// Where the middle 98 % of each series lie: of fewer points each where there are many.
SeriesExtent LineChart::Private::bulkInView(const ChartRange& x) {
    const auto drawn = static_cast<std::size_t>(std::count_if(
        series.begin(), series.end(), [](const auto& entry) { return entry->isDrawn(); }));
    const std::size_t sample =
        std::clamp(kSampledInAll / std::max<std::size_t>(1, drawn), kFewestSampled, kMostSampled);
    SeriesExtent extent;
    for (const auto& entry : series) {
        if (!entry->isDrawn()) {
            continue;
        }
        const SeriesStore::View now{x.low,
                                    x.high,
                                    static_cast<int>(sample),
                                    SeriesStore::Column::Raw,
                                    domain(),
                                    entry->store.revision()};
        if (entry->bulk_seen_as != now) {
            entry->bulk_seen_as = now;
            entry->bulk = entry->store.quantiles(x.low, x.high, kOutlierShare, 1.0 - kOutlierShare,
                                                 now.column, now.domain, sample);
        }
        extent.low = std::min(extent.low, entry->bulk.low);
        extent.high = std::max(extent.high, entry->bulk.high);
    }
    return extent;
}

bool LineChart::Private::helpsToClip(const SeriesExtent& all, const SeriesExtent& bulk) const {
    if (!bulk.valid() || !(bulk.high > bulk.low)) {
        return false;
    }
    const auto height = [this](const SeriesExtent& extent) {
        return log ? std::log(extent.high / extent.low) : extent.high - extent.low;
    };
    return height(all) > kWorthClipping * height(bulk);
}

ChartRange LineChart::Private::automaticY(const ChartRange& x) {
    SeriesExtent extent = extentInView(x);
    const SeriesExtent bulk = bulkInView(x);
    const bool outliers = extent.valid() && helpsToClip(extent, bulk);
    clipped = outliers && clip_outliers;
    if (clipped) {
        extent = bulk;
    }
    if (outliers != has_outliers) {
        has_outliers = outliers;
        emit q->hasOutliersChanged(outliers);
    }
    if (threshold && (!log || *threshold > 0.0)) {
        extent.low = std::min(extent.low, *threshold);
        extent.high = std::max(extent.high, *threshold);
    }
    if (!extent.valid()) {
        return log ? ChartRange{0.1, 1.0} : ChartRange{0.0, 1.0};
    }
    if (log) {
        if (extent.low == extent.high) {
            return {extent.low / 2.0, extent.high * 2.0};
        }
        const ChartRange exponents = padded(std::log10(extent.low), std::log10(extent.high), 0.06);
        return {std::pow(10.0, exponents.low), std::pow(10.0, exponents.high)};
    }
    // Zero is kept as the floor where the curve comes near to it.
    if (extent.low >= 0.0 && extent.low < 0.2 * extent.high) {
        extent.low = 0.0;
    }
    ChartRange range = padded(extent.low, extent.high, 0.06);
    if (extent.low == 0.0) {
        range.low = -0.02 * (range.high - range.low);
    }
    return range;
}

// The zoomed view moved to the newest point. It begins where the data begin and is no wider than
// they are, but keeps its width for when there are more.
ChartRange LineChart::Private::followedX(double newest) {
    const double width = user_x->high - user_x->low;
    const double end = newest + width * 0.02;
    const ChartRange all = automaticX();
    user_x->low = std::max(all.low, end - width);
    user_x->high = user_x->low + width;
    return {user_x->low, std::min(user_x->high, std::max(all.high, end))};
}

bool LineChart::Private::isNewestWithin(const ChartRange& x, const ChartRange& y,
                                        double newest) const {
    const double from = newest - kNewestShare * (x.high - x.low);
    return std::any_of(series.begin(), series.end(), [&](const auto& entry) {
        if (!entry->isDrawn() || !entry->isActual()) {
            return false;
        }
        const SeriesExtent own = entry->store.extent(from, newest, entry->column(), domain());
        return own.low <= y.high && own.high >= y.low;
    });
}

void LineChart::Private::updateRanges() {
    const std::optional<double> newest = newestX();
    const bool follows = user_x && following && newest;
    const QCPRange before = plot->xAxis->range();
    const ChartRange x = follows ? followedX(*newest) : user_x.value_or(automaticX());
    if (follows && user_y && !isNewestWithin(x, *user_y, *newest)) {
        user_y.reset(); // else the view would follow a curve that it does not show
    }
    clipped = false;
    const ChartRange y = user_y ? *user_y : automaticY(x);
    plot->xAxis->setRange(x.low, x.high);
    plot->yAxis->setRange(y.low, y.high);
    // Without points the numbers on the axes would be made up.
    plot->yAxis->setTickLabels(hasPoints());
    plot->xAxis->setTickLabels(x_axis_visible && (hasPoints() || planned));
    plot->xAxis->grid()->setVisible(hasPoints());
    plot->yAxis->grid()->setVisible(hasPoints());
    // The axes' own rectangle follows the size of the chart only when they are drawn.
    const QMargins margins = plot->axisRect()->margins();
    const int across = plot->width() - margins.left() - margins.right();
    x_ticker->setRoom(std::clamp(across / 96, 3, 9), across);
    y_ticker->setRoom(std::clamp(plot->axisRect()->height() / 44, 2, 7));
    if (before != plot->xAxis->range()) {
        emit q->xRangeChanged(x.low, x.high);
    }
}

SeriesStore::View LineChart::Private::seenAs(const SeriesStore& store,
                                             SeriesStore::Column column) const {
    const QCPRange x = plot->xAxis->range();
    return {x.lower, x.upper,  std::max(1, plot->axisRect()->width()),
            column,  domain(), store.revision()};
}

void LineChart::Private::refreshDrawn(DrawnLine& line, const SeriesStore& store,
                                      SeriesStore::Column column) {
    const SeriesStore::View now = seenAs(store, column);
    if (line.seen_as != now) {
        store.query(std::exchange(line.seen_as, now), now, line.points);
    }
}

void LineChart::Private::refreshGraph(ChartSeries& entry) {
    const SeriesStore::View now = seenAs(entry.store, entry.column());
    if (entry.line_seen_as == now) {
        return;
    }
    entry.line_seen_as = now;
    entry.store.query(now.x_low, now.x_high, now.pixels, now.column, now.domain, scratch);
    QVector<QCPGraphData> data;
    data.reserve(static_cast<qsizetype>(scratch.size()));
    for (const SeriesPoint& point : scratch) {
        data.append(QCPGraphData(point.x, point.y));
    }
    entry.line->data()->set(data, true);
}

void LineChart::Private::refreshLines() {
    for (const auto& entry : series) {
        const bool graph = entry->isGraph();
        // Without smoothing both lines would be the same.
        entry->raw.shown =
            entry->isDrawn() && entry->spec.form == SeriesForm::Smoothed && weight > 0.0;
        entry->main.shown = entry->isDrawn() && !graph;
        entry->line->setVisible(entry->isDrawn() && graph);
        if (entry->raw.shown) {
            refreshDrawn(entry->raw, entry->store, SeriesStore::Column::Raw);
        }
        if (entry->band && entry->isDrawn()) {
            refreshDrawn(entry->band->low_line, entry->band->low, entry->column());
            refreshDrawn(entry->band->high_line, entry->band->high, entry->column());
        }
        if (entry->main.shown) {
            refreshDrawn(entry->main, entry->store, entry->column());
        } else if (entry->isDrawn()) {
            refreshGraph(*entry);
        }
    }
}

void LineChart::Private::replot(QCustomPlot::RefreshPriority when) {
    replot_pending = stale = moved = move_pending = false;
    resting.stop();
    if (plot->viewport().isEmpty()) {
        return; // never laid out yet; a size brings the next one
    }
    updateRanges();
    refreshLines();
    if (!crosshair && drag == Drag::None) {
        crosshair_layer->setMode(QCPLayer::lmLogical);
    }
    plot->replot(when);
    q->setAccessibleDescription(q->describe());
}

void LineChart::replotNow() {
    d_->replot(QCustomPlot::rpImmediateRefresh);
}

void LineChart::Private::userChangedView() {
    viewMoved();
    if (on_user_view) {
        on_user_view();
    }
}

void LineChart::Private::viewMoved() {
    const bool has_picture = swift && picture_ratio > 0.0 && !stale && !replot_pending;
    if (!has_picture || !canBeSeen()) {
        scheduleReplot();
        return;
    }
    if (!move_pending) {
        move_pending = true;
        QMetaObject::invokeMethod(
            q,
            [this] {
                if (std::exchange(move_pending, false)) {
                    replotMoved();
                }
            },
            Qt::QueuedConnection);
    }
}

// The axes as they are now, and the lines as they were painted last. A view that fits itself keeps
// its height until it rests.
void LineChart::Private::replotMoved() {
    const QCPRange before_x = plot->xAxis->range();
    const QCPRange before_y = plot->yAxis->range();
    const std::optional<double> newest = newestX();
    const ChartRange x =
        user_x && following && newest ? followedX(*newest) : user_x.value_or(automaticX());
    plot->xAxis->setRange(x.low, x.high);
    if (user_y) {
        plot->yAxis->setRange(user_y->low, user_y->high);
    }
    if (before_x != plot->xAxis->range() || before_y != plot->yAxis->range()) {
        moved = true;
        resting.start();
    }
    if (before_x != plot->xAxis->range()) {
        emit q->xRangeChanged(x.low, x.high);
    }
    picture_kept = true;
    plot->replot(QCustomPlot::rpQueuedRefresh);
    picture_kept = false;
}

void LineChart::Private::setUserX(const ChartRange& x) {
    if (std::isfinite(x.low) && std::isfinite(x.high) && x.high - x.low > 1e-9) {
        user_x = x;
        userChangedView();
    }
}

void LineChart::Private::setUserY(const ChartRange& y) {
    if (std::isfinite(y.low) && std::isfinite(y.high) && y.high > y.low && (!log || y.low > 0.0)) {
        user_y = y;
        userChangedView();
    }
}

void LineChart::Private::setFollow(bool follow) {
    if (follow != following) {
        following = follow;
        if (follow || !swift) {
            scheduleReplot();
        }
        emit q->followingChanged(follow);
    }
}

ChartRange LineChart::xRange() const {
    const QCPRange range = d_->plot->xAxis->range();
    return {range.lower, range.upper};
}

ChartRange LineChart::yRange() const {
    const QCPRange range = d_->plot->yAxis->range();
    return {range.lower, range.upper};
}

void LineChart::setXRange(const ChartRange& range) {
    d_->setUserX(range);
}

void LineChart::setYRange(const ChartRange& range) {
    d_->setUserY(range);
}

bool LineChart::isFollowing() const {
    return d_->following;
}

void LineChart::setFollowing(bool follow) {
    d_->setFollow(follow);
}

void LineChart::resetView() {
    d_->user_x.reset();
    d_->user_y.reset();
    d_->setFollow(true);
    d_->userChangedView();
}

bool LineChart::isZoomed() const {
    return d_->user_x.has_value() || d_->user_y.has_value();
}

void LineChart::zoom(double factor) {
    d_->updateRanges();
    if (d_->swift) {
        d_->setFollow(false);
    }
    const ChartRange x = xRange();
    const double center = d_->crosshair.value_or(d_->following ? x.high : (x.low + x.high) / 2.0);
    const double low = center - (center - x.low) / factor;
    d_->setUserX({low, low + (x.high - x.low) / factor});
}

} // namespace weft::widgets
