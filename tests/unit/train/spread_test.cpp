// SPDX-License-Identifier: Apache-2.0
// Spreads against sums that are made number by number.
#include "core/train/inside/array_part.h"
#include "kernels/numbers.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace weft;
using namespace weft::train;

class SpreadTest : public QObject {
    Q_OBJECT

private slots:
    void a_number_is_between_the_edges_of_its_bin() {
        std::mt19937 random(1);
        std::uniform_real_distribution<float> exponent(-38, 22);
        for (int i = 0; i < 1000; ++i) {
            const float value = std::exp2(exponent(random));
            const int bin = bin_of(value);
            QVERIFY(lower_edge(bin) <= double(value) && double(value) < lower_edge(bin + 1));
            QCOMPARE(bin_of(-value) - kZeroBin, kZeroBin - bin);
        }
        QCOMPARE(bin_of(0.0F), kZeroBin);
        QCOMPARE(bin_of(-0.0F), kZeroBin);
        QCOMPARE(bin_of(1e-30F), kZeroBin + 1);
        QCOMPARE(bin_of(1e30F), kSpreadBins - 1);
        QCOMPARE(bin_of(-std::numeric_limits<float>::max()), 0);
    }

    void figures_are_those_of_a_plain_sum_data() {
        QTest::addColumn<int>("count");
        for (const int count : {1, 7, 8, 511, 512, 513, 5000}) {
            QTest::addRow("%d", count) << count;
        }
    }
    void figures_are_those_of_a_plain_sum() {
        QFETCH(int, count);
        std::mt19937 random(static_cast<unsigned>(count));
        std::normal_distribution<float> normal(0.3F, 2);
        std::vector<float> values;
        double sum = 0, squares = 0;
        std::int64_t zeros = 0, bad = 0;
        float low = std::numeric_limits<float>::max(), high = -low;
        for (int i = 0; i < count; ++i) {
            float value = i % 5 == 2 ? 0 : normal(random);
            value = i % 97 == 50   ? std::numeric_limits<float>::quiet_NaN()
                    : i % 97 == 51 ? std::numeric_limits<float>::infinity()
                                   : value;
            values.push_back(value);
            if (!std::isfinite(value)) {
                ++bad;
                continue;
            }
            sum += double(value);
            squares += double(value) * double(value);
            zeros += value == 0 ? 1 : 0;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        Spread spread;
        spread.add(ir::DType::f32, values.data(), count);
        QCOMPARE(spread.count, std::int64_t{count});
        QCOMPARE(spread.not_finite, bad);
        QCOMPARE(spread.zeros, zeros);
        QCOMPARE(spread.low, double(low));
        QCOMPARE(spread.high, double(high));
        QVERIFY(std::abs(spread.sum - sum) <= 1e-9 * count);
        QVERIFY(std::abs(spread.norm() - std::sqrt(squares)) <= 1e-9 * std::sqrt(squares) + 1e-12);
        QCOMPARE(spread.bins[kZeroBin], zeros);

        // Two halves are the whole.
        Spread halves, second;
        halves.add(ir::DType::f32, values.data(), count / 2);
        second.add(ir::DType::f32, values.data() + count / 2, count - count / 2);
        halves.add(second);
        QCOMPARE(halves.bins, spread.bins);
        QCOMPARE(halves.low, spread.low);
        QCOMPARE(halves.count, spread.count);
    }

    void what_is_tiny_or_huge_is_neither_lost_nor_too_much() {
        std::vector<float> values(100, 1e-25F);
        Spread spread;
        spread.add(ir::DType::f32, values.data(), 100);
        QVERIFY(std::abs(spread.norm() / 1e-24 - 1) < 1e-6); // sqrt(100) times it
        values.assign(100, 1e25F);
        spread = {};
        spread.add(ir::DType::f32, values.data(), 100);
        QVERIFY(std::abs(spread.norm() / 1e26 - 1) < 1e-6);
    }

    void half_precision_is_widened() {
        std::vector<kernels::bf16> values;
        for (const float value : {1.5F, -2.0F, 0.0F}) {
            values.push_back(kernels::to_bf16(value));
        }
        Spread spread;
        spread.add(ir::DType::bf16, values.data(), 3);
        QCOMPARE(spread.low, -2.0);
        QCOMPARE(spread.high, 1.5);
        QCOMPARE(spread.zeros, std::int64_t{1});
    }

    void a_scaled_spread_is_that_of_scaled_numbers() {
        std::vector<float> values, small;
        std::mt19937 random(3);
        std::normal_distribution<float> normal(0, 1000);
        for (int i = 0; i < 500; ++i) {
            values.push_back(normal(random));
            small.push_back(values.back() / 1024);
        }
        Spread scaled, wanted;
        scaled.add(ir::DType::f32, values.data(), 500);
        scaled.divide(1024);
        wanted.add(ir::DType::f32, small.data(), 500);
        QCOMPARE(scaled.bins, wanted.bins);
        QVERIFY(std::abs(scaled.norm() - wanted.norm()) < 1e-9 * wanted.norm());
        QCOMPARE(scaled.low, wanted.low);
    }

    void of_a_large_array_a_part_is_binned_and_all_of_it_is_summed() {
        const std::int64_t count = 1'000'000;
        std::vector<float> values(std::size_t(count), 0.5F);
        const ArrayPart part({ir::DType::f32, {count}}, sharding::Sharding::replicated(1), {}, 0);
        Spread spread;
        part.add_to(spread, reinterpret_cast<const std::byte*>(values.data()));
        QCOMPARE(spread.count, count);
        QCOMPARE(spread.norm(), 0.5 * std::sqrt(double(count)));
        const std::int64_t binned = spread.bins[std::size_t(bin_of(0.5F))];
        QCOMPARE(binned, part.samples());
        QVERIFY(binned >= ArrayPart::kMostSampled / 2 && binned <= ArrayPart::kMostSampled + 512);

        std::vector<std::byte> before;
        part.copy_samples(reinterpret_cast<const std::byte*>(values.data()), before);
        for (float& value : values) {
            value += 0.25F;
        }
        Spread changes;
        part.add_changes(changes, reinterpret_cast<const std::byte*>(values.data()), before);
        QCOMPARE(changes.count, part.samples());
        QCOMPARE(changes.low, 0.25);
        QCOMPARE(changes.high, 0.25);
    }
};

WEFT_TEST(SpreadTest)
#include "spread_test.moc"
