// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "widgets/curves/series_store.h"

#include <cmath>
#include <map>
#include <numeric>
#include <random>

using weft::widgets::SeriesExtent;
using weft::widgets::SeriesPoint;
using weft::widgets::SeriesStore;

namespace {

struct Points {
    std::vector<double> x;
    std::vector<double> y;
};

Points randomPoints(int count, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal(0.2, 1.0);
    std::uniform_real_distribution<double> gap(0.0, 3.0);
    Points points;
    double x = -40.0;
    for (int i = 0; i < count; ++i) {
        x += i % 7 == 0 ? 0.0 : gap(engine); // some x are equal
        points.x.push_back(x);
        points.y.push_back(normal(engine));
    }
    return points;
}

// Minimum and maximum of [low, high] by looking at every point.
SeriesExtent naiveExtent(const Points& points, double low, double high, bool positive) {
    SeriesExtent extent;
    for (std::size_t i = 0; i < points.x.size(); ++i) {
        if (points.x[i] >= low && points.x[i] <= high && (!positive || points.y[i] > 0.0)) {
            extent.low = std::min(extent.low, points.y[i]);
            extent.high = std::max(extent.high, points.y[i]);
        }
    }
    return extent;
}

} // namespace

class SeriesStoreTest : public QObject {
    Q_OBJECT
private slots:
    // Three numbers a point, and a sixteenth of its blocks: twice that at most while it grows.
    void a_short_series_takes_little_memory() {
        for (const int count : {1, 20, 100, 1000, 5000}) {
            const Points points = randomPoints(count, 7);
            SeriesStore store;
            store.setSmoothing(0.9);
            store.append(points.x, points.y);
            const std::size_t needed = std::size_t(count) * 3 * sizeof(double);
            QVERIFY2(store.bytes() >= needed && store.bytes() <= 3 * needed + 2000,
                     qPrintable(QString("%1 points, %2 bytes").arg(count).arg(store.bytes())));
            // Taken back and appended again it is what it was.
            store.rewindTo(points.x[std::size_t(count / 2)]);
            store.rewindTo(-1000);
            QCOMPARE(store.size(), std::size_t{0});
            store.append(points.x, points.y);
            QCOMPARE(store.size(), std::size_t(count));
            for (std::size_t i = 0; i < std::size_t(count); ++i) {
                QVERIFY((store.at(i) == SeriesPoint{points.x[i], points.y[i]}));
            }
        }
    }

    void points_outside_are_counted_as_by_a_look_at_each() {
        for (const int count : {1, 16, 257, 4097, 20000}) {
            const Points points = randomPoints(count, static_cast<unsigned>(count));
            SeriesStore store;
            store.append(points.x, points.y);
            for (const SeriesExtent& y : {SeriesExtent{-1.0, 1.5}, SeriesExtent{-9.0, 9.0},
                                          SeriesExtent{-9.0, 3.2}, SeriesExtent{2.0, 2.1}}) {
                for (const auto& [low, high] :
                     {std::pair(points.x.front(), points.x.back()),
                      std::pair(points.x.front() + 3.0, points.x.back() / 2)}) {
                    std::size_t expected = 0;
                    for (std::size_t i = 0; i < points.x.size(); ++i) {
                        expected += points.x[i] >= low && points.x[i] <= high &&
                                            (points.y[i] < y.low || points.y[i] > y.high)
                                        ? 1
                                        : 0;
                    }
                    QCOMPARE(store.countOutside(low, high, y, SeriesStore::Column::Raw), expected);
                }
            }
        }
    }

    void quantiles_of_equally_likely_values_are_these_shares() {
        SeriesStore store;
        std::mt19937 engine(3);
        std::uniform_real_distribution<double> value(0.0, 1.0);
        for (int i = 0; i < 50000; ++i) {
            const double x = i;
            const double y = value(engine);
            store.append(std::span(&x, 1), std::span(&y, 1));
        }
        const SeriesExtent middle = store.quantiles(0, 50000, 0.25, 0.75, SeriesStore::Column::Raw,
                                                    SeriesStore::Domain::All);
        // Standard error of a quartile of 4,096 points: sqrt(0.25 * 0.75 / 4096) = 0.007.
        QVERIFY(std::abs(middle.low - 0.25) < 0.03);
        QVERIFY(std::abs(middle.high - 0.75) < 0.03);
        QVERIFY(!store
                     .quantiles(60000, 70000, 0.1, 0.9, SeriesStore::Column::Raw,
                                SeriesStore::Domain::All)
                     .valid());
    }

    void extent_equals_a_look_at_every_point() {
        // Sizes on both sides of the pyramid's fan of 16 and of the chunk of 4,096.
        for (const int count : {1, 15, 16, 17, 255, 257, 4095, 4097, 20000}) {
            const Points points = randomPoints(count, static_cast<unsigned>(count));
            SeriesStore store;
            store.append(points.x, points.y);
            std::mt19937 engine(7);
            std::uniform_real_distribution<double> place(points.x.front() - 5.0,
                                                         points.x.back() + 5.0);
            for (int i = 0; i < 60; ++i) {
                double low = place(engine);
                double high = place(engine);
                if (low > high) {
                    std::swap(low, high);
                }
                for (const bool positive : {false, true}) {
                    const SeriesExtent expected = naiveExtent(points, low, high, positive);
                    const SeriesExtent got = store.extent(low, high, SeriesStore::Column::Raw,
                                                          positive ? SeriesStore::Domain::Positive
                                                                   : SeriesStore::Domain::All);
                    QCOMPARE(got.low, expected.low);
                    QCOMPARE(got.high, expected.high);
                }
            }
        }
    }

    void query_holds_minimum_and_maximum_of_every_bucket() {
        const Points points = randomPoints(30000, 3);
        SeriesStore store;
        store.append(points.x, points.y);
        constexpr int kPixels = 400;
        const double low = points.x[1000];
        const double high = points.x[29000];
        std::vector<SeriesPoint> got;
        store.query(low, high, kPixels, SeriesStore::Column::Raw, SeriesStore::Domain::All, got);
        QVERIFY(got.size() <= 2 * kPixels + 4);
        // The rule of the header, computed anew: width 2^k not below one pixel, edges on multiples.
        const double width = std::exp2(std::ceil(std::log2((high - low) / kPixels)));
        std::map<long long, SeriesExtent> expected;
        for (std::size_t i = 0; i < points.x.size(); ++i) {
            if (points.x[i] >= low && points.x[i] <= high) {
                SeriesExtent& e = expected[static_cast<long long>(std::floor(points.x[i] / width))];
                e.low = std::min(e.low, points.y[i]);
                e.high = std::max(e.high, points.y[i]);
            }
        }
        std::map<long long, SeriesExtent> found;
        for (const SeriesPoint& point : got) {
            if (point.x >= low && point.x <= high) {
                SeriesExtent& e = found[static_cast<long long>(std::floor(point.x / width))];
                e.low = std::min(e.low, point.y);
                e.high = std::max(e.high, point.y);
            }
        }
        QCOMPARE(found.size(), expected.size());
        for (const auto& [bucket, extent] : expected) {
            QCOMPARE(found[bucket].low, extent.low);
            QCOMPARE(found[bucket].high, extent.high);
        }
        QVERIFY(std::is_sorted(got.begin(), got.end(),
                               [](const auto& a, const auto& b) { return a.x < b.x; }));
    }

    void panning_by_a_whole_bucket_keeps_the_points_inside() {
        const Points points = randomPoints(50000, 11);
        SeriesStore store;
        store.append(points.x, points.y);
        const double span = 20000.0;
        const double width = std::exp2(std::ceil(std::log2(span / 500)));
        std::vector<SeriesPoint> first;
        std::vector<SeriesPoint> second;
        const double low = width * 100;
        store.query(low, low + span, 500, SeriesStore::Column::Raw, SeriesStore::Domain::All,
                    first);
        store.query(low + width, low + width + span, 500, SeriesStore::Column::Raw,
                    SeriesStore::Domain::All, second);
        const auto inner = [&](const std::vector<SeriesPoint>& all) {
            std::vector<SeriesPoint> kept;
            for (const SeriesPoint& p : all) {
                if (p.x >= low + 2 * width && p.x < low + span - 2 * width) {
                    kept.push_back(p);
                }
            }
            return kept;
        };
        QVERIFY(inner(first).size() > 500);
        QVERIFY(inner(first) == inner(second));
    }

    void what_a_view_takes_over_from_the_one_before_is_what_it_would_have_asked_for() {
        const Points points = randomPoints(40000, 13);
        SeriesStore store;
        store.setSmoothing(0.9);
        store.append(points.x, points.y);
        const double middle = points.x[20000];
        SeriesStore::View before;
        std::vector<SeriesPoint> kept;
        const auto moveTo = [&](double low, double high, int pixels, SeriesStore::Column column,
                                SeriesStore::Domain domain) {
            const SeriesStore::View now{low, high, pixels, column, domain, store.revision()};
            store.query(before, now, kept);
            before = now;
            std::vector<SeriesPoint> anew;
            store.query(low, high, pixels, column, domain, anew);
            return kept == anew;
        };
        // Steps of a pan, of zooms through every width of buckets and down to single points, and
        // leaps that leave nothing to take over.
        std::mt19937 engine(5);
        std::uniform_real_distribution<double> share(-1.0, 1.0);
        double span = points.x.back();
        double center = middle;
        for (int i = 0; i < 600; ++i) {
            const bool smooth = (i / 60) % 2 == 1;
            const bool positive = (i / 30) % 3 == 1;
            span *= i % 150 < 75 ? 0.93 : 1.08;
            center = i % 40 == 39 ? middle * (1.0 + share(engine))
                                  : center + 0.02 * span * share(engine);
            QVERIFY(moveTo(center - span / 2, center + span / 2, i % 100 < 50 ? 400 : 401,
                           smooth ? SeriesStore::Column::Smoothed : SeriesStore::Column::Raw,
                           positive ? SeriesStore::Domain::Positive : SeriesStore::Domain::All));
            if (i % 90 == 89) {
                store.append(std::vector{points.x.back() + i}, std::vector{1e3});
            }
        }
    }

    void few_points_come_back_as_they_are() {
        const Points points = randomPoints(500, 5);
        SeriesStore store;
        store.append(points.x, points.y);
        std::vector<SeriesPoint> got;
        store.query(points.x.front(), points.x.back(), 400, SeriesStore::Column::Raw,
                    SeriesStore::Domain::All, got);
        QCOMPARE(got.size(), std::size_t{500});
        for (std::size_t i = 0; i < got.size(); ++i) {
            QCOMPARE(got[i].y, points.y[i]);
        }
    }

    void a_log_axis_gets_positive_points_only_and_the_rest_is_counted() {
        SeriesStore store;
        store.append(std::vector<double>{0, 1, 2, 3}, std::vector<double>{1.0, 0.0, -2.0, 4.0});
        QCOMPARE(store.nonPositiveCount(), std::size_t{2});
        std::vector<SeriesPoint> got;
        store.query(0, 3, 100, SeriesStore::Column::Raw, SeriesStore::Domain::Positive, got);
        QVERIFY((got == std::vector<SeriesPoint>{{0, 1.0}, {3, 4.0}}));
    }

    void smoothing_equals_the_direct_formula() {
        const Points points = randomPoints(300, 9);
        constexpr double kWeight = 0.9;
        SeriesStore store;
        store.setSmoothing(kWeight);
        store.append(std::span(points.x).first(120), std::span(points.y).first(120));
        store.append(std::span(points.x).subspan(120), std::span(points.y).subspan(120));
        for (std::size_t n = 1; n <= points.y.size(); ++n) {
            double weighted = 0.0;
            double weights = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                const double w = std::pow(kWeight, static_cast<double>(n - 1 - i));
                weighted += w * points.y[i];
                weights += w;
            }
            // Sums of up to 300 terms of size 1 in another order: a few hundred roundings.
            const double got = store.at(n - 1, SeriesStore::Column::Smoothed).y;
            QVERIFY(std::abs(got - weighted / weights) < 1e-12);
        }
    }

    // A weight is of a series as dense as a chart; of a few points each stands for many of those.
    void a_few_points_are_not_smoothed_away() {
        SeriesStore store;
        store.setSmoothing(0.9);
        for (int i = 0; i < 10; ++i) {
            const double x = 100.0 * i;
            const double y = i < 5 ? 0.2 : 0.8;
            store.append(std::span(&x, 1), std::span(&y, 1));
        }
        // Of the whole way of ten points, the last five are half: what is drawn has come there.
        QVERIFY(store.last(SeriesStore::Column::Smoothed).y > 0.75);
        QVERIFY(store.last(SeriesStore::Column::Smoothed).y < 0.8);
    }

    void a_small_curve_is_smoothed_as_a_series_of_its_points() {
        for (const int count : {1, 10, 64, 500}) {
            const Points points = randomPoints(count, 5);
            std::vector<double> y = points.y;
            y.insert(y.begin() + count / 2, std::nan(""));
            std::vector<double> x(y.size());
            std::iota(x.begin(), x.end(), 0.0);
            SeriesStore store;
            store.setSmoothing(0.9);
            store.append(x, y);
            const std::vector<double> got = weft::widgets::smoothed(y, 0.9);
            QCOMPARE(got.size(), y.size());
            QVERIFY(std::isnan(got[static_cast<std::size_t>(count) / 2])); // a gap is left
            std::size_t drawn = 0;
            for (const double value : got) {
                if (std::isfinite(value)) {
                    QCOMPARE(value, store.at(drawn++, SeriesStore::Column::Smoothed).y);
                }
            }
            QCOMPARE(drawn, store.size());
        }
    }

    void a_constant_stays_constant_when_smoothed() {
        SeriesStore store;
        store.setSmoothing(0.99);
        for (int i = 0; i < 100; ++i) {
            const double x = i;
            const double y = 0.7;
            store.append(std::span(&x, 1), std::span(&y, 1));
        }
        QVERIFY(std::abs(store.last(SeriesStore::Column::Smoothed).y - 0.7) < 1e-12);
    }

    void changing_the_weight_later_gives_the_same_as_setting_it_first() {
        const Points points = randomPoints(5000, 2);
        SeriesStore first;
        first.setSmoothing(0.8);
        first.append(points.x, points.y);
        SeriesStore later;
        later.append(points.x, points.y);
        later.setSmoothing(0.8);
        for (std::size_t i = 0; i < first.size(); i += 97) {
            QCOMPARE(later.at(i, SeriesStore::Column::Smoothed).y,
                     first.at(i, SeriesStore::Column::Smoothed).y);
        }
    }

    void points_that_are_not_finite_are_kept_apart() {
        SeriesStore store;
        store.append(std::vector<double>{0, 1, 2, 3, 4},
                     std::vector<double>{1.0, NAN, INFINITY, -INFINITY, 2.0});
        QCOMPARE(store.size(), std::size_t{2});
        QCOMPARE(store.nonFinite().size(), std::size_t{3});
        const SeriesExtent extent =
            store.extent(0, 4, SeriesStore::Column::Raw, SeriesStore::Domain::All);
        QCOMPARE(extent.low, 1.0);
        QCOMPARE(extent.high, 2.0);
    }

    void going_back_takes_the_abandoned_points_away() {
        const Points points = randomPoints(10000, 21);
        SeriesStore store;
        store.setSmoothing(0.9);
        store.append(points.x, points.y);
        const double back_to = points.x[6000];
        store.append(std::vector<double>{back_to}, std::vector<double>{-50.0});
        // The oracle never saw what was taken back.
        SeriesStore oracle;
        oracle.setSmoothing(0.9);
        for (std::size_t i = 0; i < points.x.size() && points.x[i] < back_to; ++i) {
            oracle.append(std::span(&points.x[i], 1), std::span(&points.y[i], 1));
        }
        oracle.append(std::vector<double>{back_to}, std::vector<double>{-50.0});
        QCOMPARE(store.size(), oracle.size());
        QCOMPARE(store.nonPositiveCount(), oracle.nonPositiveCount());
        for (const auto column : {SeriesStore::Column::Raw, SeriesStore::Column::Smoothed}) {
            for (double low = points.x.front(); low < back_to; low += 331.0) {
                const SeriesExtent a =
                    store.extent(low, low + 700.0, column, SeriesStore::Domain::All);
                const SeriesExtent b =
                    oracle.extent(low, low + 700.0, column, SeriesStore::Domain::All);
                QCOMPARE(a.low, b.low);
                QCOMPARE(a.high, b.high);
            }
        }
        QCOMPARE(store.last().y, -50.0);
    }

    void nearest_finds_the_closest_x() {
        SeriesStore store;
        store.append(std::vector<double>{0, 10, 20}, std::vector<double>{1, 2, 3});
        QCOMPARE(store.nearest(-5), std::size_t{0});
        QCOMPARE(store.nearest(4), std::size_t{0});
        QCOMPARE(store.nearest(6), std::size_t{1});
        QCOMPARE(store.nearest(99), std::size_t{2});
    }

    void a_point_costs_at_most_24_bytes_and_15_percent() {
        const Points points = randomPoints(100000, 4);
        SeriesStore store;
        store.append(points.x, points.y);
        QVERIFY(static_cast<double>(store.bytes()) <= 100000 * 24 * 1.15);
    }
};

WEFT_TEST(SeriesStoreTest)
#include "series_store_test.moc"
