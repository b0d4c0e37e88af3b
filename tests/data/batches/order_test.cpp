// SPDX-License-Identifier: Apache-2.0
// The validation split and the order of samples.
#include "core/data/loader.h"
#include "core/data/split.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

using namespace weft;
using namespace weft::data::test;
using data::Sampler;

namespace {

std::vector<std::int64_t> order(const Sampler& sampler, std::int64_t samples, std::int64_t epoch) {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < samples; ++i) {
        out.push_back(sampler.index(epoch, i));
    }
    return out;
}

} // namespace

class OrderTest : public QObject {
    Q_OBJECT

private slots:
    void every_epoch_visits_every_sample_once() {
        for (const std::int64_t samples :
             {1, 2, 3, 4, 5, 7, 8, 9, 31, 100, 255, 256, 257, 1000, 4097}) {
            std::vector<std::int64_t> all(static_cast<std::size_t>(samples));
            std::iota(all.begin(), all.end(), 0);
            for (const std::uint64_t seed : {0ull, 1ull, 0xffffffffffffffffull}) {
                for (const std::int64_t epoch : {0, 1, 2, 1000000}) {
                    std::vector<std::int64_t> seen =
                        order(Sampler(samples, true, seed), samples, epoch);
                    std::sort(seen.begin(), seen.end());
                    QCOMPARE(seen, all);
                }
            }
        }
    }

    void order_changes_with_epoch_and_seed_and_with_nothing_else() {
        const auto first = order(Sampler(1000, true, 7), 1000, 0);
        QCOMPARE(order(Sampler(1000, true, 7), 1000, 0), first);
        QVERIFY(order(Sampler(1000, true, 7), 1000, 1) != first);
        QVERIFY(order(Sampler(1000, true, 8), 1000, 0) != first);
    }

    void without_shuffle_position_is_index() {
        const Sampler sampler(10, false, 3);
        QCOMPARE(sampler.index(5, 0), 0);
        QCOMPARE(sampler.index(5, 9), 9);
    }

    void every_sample_is_as_likely_at_every_position() {
        // 12 samples, 12,000 epochs: each of 144 cells expects 1,000. Chi-square has 11 x 11
        // degrees of freedom; 121 + 5 sqrt(242) is five standard deviations out.
        constexpr std::int64_t kSamples = 12;
        constexpr std::int64_t kEpochs = 12000;
        std::vector<double> cells(kSamples * kSamples);
        const Sampler sampler(kSamples, true, 42);
        for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
            for (std::int64_t position = 0; position < kSamples; ++position) {
                ++cells[static_cast<std::size_t>(position * kSamples +
                                                 sampler.index(epoch, position))];
            }
        }
        double chi_square = 0;
        for (const double count : cells) {
            chi_square += (count - 1000) * (count - 1000) / 1000;
        }
        QVERIFY2(chi_square < 121 + 5 * std::sqrt(242.0), std::to_string(chi_square).c_str());
    }

    void neighbours_in_the_order_are_unrelated() {
        // The mean distance of two random samples of n is (n * n - 1) / (3 n); its deviation over
        // n - 1 pairs is about n / sqrt(18 n). Five of these.
        constexpr std::int64_t kSamples = 10000;
        const auto seen = order(Sampler(kSamples, true, 1), kSamples, 0);
        double sum = 0;
        for (std::size_t i = 1; i < seen.size(); ++i) {
            sum += std::abs(static_cast<double>(seen[i] - seen[i - 1]));
        }
        const double n = kSamples;
        QVERIFY(std::abs(sum / (n - 1) - (n * n - 1) / (3 * n)) < 5 * n / std::sqrt(18 * n));
    }

    void split_takes_the_same_share_of_every_class() {
        // 600 of class 0, 300 of class 1, 95 of class 2, 5 of class 3.
        const NumberSource source(1000, [](std::int64_t i) {
            return i < 600 ? 0 : i < 900 ? 1 : i < 995 ? 2 : 3;
        });
        const data::Split split = data::split_by_class(source, 0.1, 0);
        QCOMPARE(split.validation.size(), std::size_t(100));
        QCOMPARE(split.train.size(), std::size_t(900));
        std::map<std::int32_t, int> counts;
        std::set<std::int64_t> all(split.train.begin(), split.train.end());
        for (const std::int64_t index : split.validation) {
            ++counts[source.label(index)];
            all.insert(index);
        }
        QCOMPARE(all.size(), std::size_t(1000));
        QCOMPARE(counts[0], 60);
        QCOMPARE(counts[1], 30);
        QCOMPARE(counts[2] + counts[3], 10); // 9.5 and 0.5: one of the two is rounded up
        QVERIFY(counts[2] == 9 || counts[2] == 10);
    }

    void split_is_a_function_of_the_seed() {
        const NumberSource source(500,
                                  [](std::int64_t i) { return static_cast<std::int32_t>(i % 5); });
        const auto first = data::split_by_class(source, 0.2, 1).validation;
        QCOMPARE(data::split_by_class(source, 0.2, 1).validation, first);
        QVERIFY(data::split_by_class(source, 0.2, 2).validation != first);
    }

    void tiny_splits_leave_both_sides_a_sample() {
        const NumberSource two(2, [](std::int64_t) { return -1; });
        for (const double share : {0.001, 0.5, 0.9}) {
            const data::Split split = data::split_by_class(two, share, 0);
            QCOMPARE(split.train.size(), std::size_t(1));
            QCOMPARE(split.validation.size(), std::size_t(1));
        }
        const NumberSource one(1, [](std::int64_t) { return -1; });
        QVERIFY(error_of([&] { data::split_by_class(one, 0.5, 0); }).has_value());
    }
};

WEFT_TEST(OrderTest)
#include "order_test.moc"
