// SPDX-License-Identifier: Apache-2.0
// Measures over many runs against SciPy 1.17.1 and NumPy 2.4.6; the calls stand beside the figures.
#include "core/compare/curves.h"
#include "core/compare/statistics.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <limits>

namespace {

using namespace weft::compare;

constexpr double kRounding = 1e-12; // of sums of a dozen numbers of order 1
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

const std::vector<double> kRates = {1e-4, 3e-4, 1e-3, 3e-3, 1e-4, 3e-4, 1e-3, 3e-3};
const std::vector<double> kAccuracies = {0.853, 0.905, 0.922, 0.893, 0.842, 0.917, 0.932, 0.913};

bool close(double a, double b) {
    return std::abs(a - b) <= kRounding;
}

} // namespace

class StatisticsTest : public QObject {
    Q_OBJECT
private slots:
    void ranks_of_equal_values_are_the_mean_of_theirs() {
        // scipy.stats.rankdata([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
        QCOMPARE(ranks(std::vector<double>{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}),
                 (std::vector<double>{4.5, 1.5, 6, 1.5, 8, 11, 3, 10, 8, 4.5, 8}));
    }

    void rank_correlation_is_that_of_scipy() {
        // scipy.stats.spearmanr(rates, accuracies).statistic
        const auto found = rank_correlation(kRates, kAccuracies);
        QVERIFY(found && close(found->value, 0.4879500364742666));
        QCOMPARE(found->runs, std::size_t{8});
    }

    void rank_correlation_of_any_rising_function_is_one() {
        std::vector<double> x;
        std::vector<double> up;
        std::vector<double> down;
        for (int i = 0; i < 20; ++i) {
            x.push_back(i * 0.3);
            up.push_back(std::exp(i * 0.3));
            down.push_back(-std::pow(i * 0.3, 3));
        }
        QVERIFY(close(rank_correlation(x, up)->value, 1));
        QVERIFY(close(rank_correlation(x, down)->value, -1));
    }

    void what_cannot_be_told_is_not_said() {
        QVERIFY(!rank_correlation(std::vector<double>{1, 2}, std::vector<double>{1, 2}));
        QVERIFY(!rank_correlation(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}));
        // Runs without a value do not count.
        const auto found = rank_correlation(std::vector<double>{1, 2, kNone, 3, 4},
                                            std::vector<double>{1, 2, 3, kNone, 4});
        QVERIFY(found && found->runs == 3);
        // Every run a group of its own; one group; no variance.
        using Groups = std::vector<std::size_t>;
        QVERIFY(!variance_share(Groups{0, 1, 2}, std::vector<double>{1, 2, 3}));
        QVERIFY(!variance_share(Groups{0, 0, 0}, std::vector<double>{1, 2, 3}));
        QVERIFY(!variance_share(Groups{0, 0, 1}, std::vector<double>{2, 2, 2}));
    }

    void the_share_of_variance_is_epsilon_squared() {
        // df_b (F - 1) / (df_b F + df_w) with F of scipy.stats.f_oneway
        const auto by_rate = variance_share(groups_of(kRates, 6), kAccuracies);
        QVERIFY(by_rate && close(by_rate->value, 0.9113043478260869));
        QCOMPARE(by_rate->runs, std::size_t{8});
        const auto uneven = variance_share(std::vector<std::size_t>{0, 1, 2, 2, 0, 1, 1, 0, 2},
                                           std::vector<double>{1, 2.5, 3, 3.5, 0.5, 2, 9, 1.5, 4});
        QVERIFY(uneven && close(uneven->value, 0.1764705882352941));
        // Less than chance would give: -0.4996 there.
        const auto chance =
            variance_share(std::vector<std::size_t>{0, 0, 1, 1}, std::vector<double>{1, 5, 2, 4.1});
        QVERIFY(chance && chance->value == 0);
    }

    void many_values_are_grouped_with_their_neighbours() {
        std::vector<double> values;
        for (int i = 0; i < 12; ++i) {
            values.push_back((i * 7) % 12); // each of 0 to 11 once
        }
        const std::vector<std::size_t> groups = groups_of(values, 4);
        std::vector<int> counts(4, 0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            ++counts[groups[i]];
            for (std::size_t j = 0; j < values.size(); ++j) {
                QVERIFY(values[i] >= values[j] || groups[i] <= groups[j]); // in their order
            }
        }
        QCOMPARE(counts, (std::vector<int>{3, 3, 3, 3}));
        QCOMPARE(groups_of(std::vector<double>{5, kNone, 5, 7}, 4),
                 (std::vector<std::size_t>{0, kNoGroup, 0, 1}));
        QCOMPARE(groups_of(std::vector<std::string>{"b", "", "a", "b"}),
                 (std::vector<std::size_t>{0, kNoGroup, 1, 0}));
    }

    void mean_and_band_are_those_of_interpolated_curves() {
        const std::vector<std::vector<CurvePoint>> curves = {
            {{0, 4}, {10, 3}, {20, 2.5}, {30, 2.25}},
            {{5, 6}, {15, 1}, {20, kNone}, {25, 2}},
            {{0, 1}, {30, 7}}};
        // numpy.interp where x lies within a curve; mean, min, max and std(ddof=1) of the values
        const std::vector<BandPoint> expected = {
            {0, 2.5, 1, 4, 2.1213203435596424, 2},
            {5, 3.8333333333333335, 2, 6, 2.0207259421636903, 3},
            {10, 3.1666666666666665, 3, 3.5, 0.2886751345948129, 3},
            {15, 2.5833333333333335, 1, 4, 1.506928443335427, 3},
            {20, 3, 1.5, 5, 1.8027756377319946, 3},
            {25, 3.4583333333333335, 2, 6, 2.209119356968594, 3},
            {30, 4.625, 2.25, 7, 3.3587572106361008, 2}};
        const std::vector<BandPoint> range = mean_and_band(curves, Band::range);
        const std::vector<BandPoint> deviation = mean_and_band(curves, Band::deviation);
        QCOMPARE(range.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const BandPoint& one = expected[i];
            QCOMPARE(range[i].x, one.x);
            QCOMPARE(range[i].curves, one.curves);
            QVERIFY(close(range[i].mean, one.mean));
            QVERIFY(close(range[i].low, one.low));
            QVERIFY(close(range[i].high, one.high));
            QVERIFY(close(range[i].deviation, one.deviation));
            QVERIFY(close(deviation[i].low, one.mean - one.deviation));
            QVERIFY(close(deviation[i].high, one.mean + one.deviation));
        }
    }

    void long_curves_are_asked_at_evenly_spread_places_with_both_ends() {
        std::vector<CurvePoint> line;
        for (int i = 0; i <= 1000; ++i) {
            line.push_back({1.0 * i, 2.0 * i});
        }
        const auto found =
            mean_and_band(std::vector<std::vector<CurvePoint>>{line}, Band::range, 11);
        QCOMPARE(found.size(), std::size_t{11});
        for (std::size_t i = 0; i < found.size(); ++i) {
            QCOMPARE(found[i].x, 100.0 * static_cast<double>(i));
            QCOMPARE(found[i].mean, 200.0 * static_cast<double>(i));
            QCOMPARE(found[i].deviation, 0.0);
        }
    }
};

WEFT_TEST(StatisticsTest)

#include "statistics_test.moc"
