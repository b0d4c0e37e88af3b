// SPDX-License-Identifier: Apache-2.0
// Scores of labels beside what the papers define, and near pairs beside plain loops.
#include "core/train/audit/label_scores.h"
#include "core/train/audit/near_pairs.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace weft;

std::vector<float> softmax(const std::vector<double>& logits) {
    double sum = 0;
    for (const double z : logits) {
        sum += std::exp(z);
    }
    std::vector<float> out;
    for (const double z : logits) {
        out.push_back(static_cast<float>(std::exp(z) / sum));
    }
    return out;
}

} // namespace

class LabelScoresTest : public QObject {
    Q_OBJECT

private slots:
    // Pleiss et al. 2020, (1): z_label - max over the others of z.
    void a_margin_is_that_of_the_logits() {
        std::mt19937 random(4);
        std::normal_distribution<double> noise(0, 3);
        for (int round = 0; round < 50; ++round) {
            std::vector<double> z;
            for (int k = 0; k < 5; ++k) {
                z.push_back(noise(random));
            }
            const std::int32_t label = round % 5;
            std::vector<double> others = z;
            others.erase(others.begin() + label);
            const double expected = z[static_cast<std::size_t>(label)] -
                                    *std::max_element(others.begin(), others.end());
            const std::vector<float> p = softmax(z);
            QVERIFY(std::abs(train::margin_of(p, label) - expected) < 1e-4);
            QVERIFY(std::abs(std::exp(-train::loss_of(p, label)) -
                             static_cast<double>(p[static_cast<std::size_t>(label)])) < 1e-6);
        }
    }

    // Worked through by hand: thresholds are (0.9 + 0.7 + 0.2) / 3 = 0.6 and (0.8 + 0.6) / 2 = 0.7.
    void confident_labels_are_those_of_the_paper() {
        const std::vector<float> p = {0.9F, 0.1F, 0.7F, 0.3F, 0.2F, 0.8F, 0.2F, 0.8F, 0.4F, 0.6F};
        const std::vector<std::int32_t> labels = {0, 0, 0, 1, 1};
        const train::ConfidentLabels found = train::confident_labels(p, labels, 2);
        QVERIFY(std::abs(found.thresholds[0] - 0.6) < 1e-6);
        QVERIFY(std::abs(found.thresholds[1] - 0.7) < 1e-6);
        // The third is labelled 0 and believed to be 1; the last reaches no threshold.
        QCOMPARE(found.believed, (std::vector<std::int32_t>{0, 0, 1, 1, -1}));
    }

    void a_class_without_samples_is_believed_of_none() {
        const std::vector<float> p = {0.1F, 0.2F, 0.7F, 0.6F, 0.3F, 0.1F};
        const std::vector<std::int32_t> labels = {0, -1};
        const train::ConfidentLabels found = train::confident_labels(p, labels, 3);
        QVERIFY(std::isnan(found.thresholds[2]));
        QCOMPARE(found.believed, (std::vector<std::int32_t>{0, -1}));
    }

    void nearest_rows_are_those_of_plain_loops() {
        constexpr std::int64_t kRows = 1500; // more than a block
        constexpr std::int64_t kWidth = 7;
        std::mt19937 random(5);
        std::normal_distribution<float> noise;
        std::vector<float> rows(kRows * kWidth);
        std::generate(rows.begin(), rows.end(), [&] { return noise(random) + 2.0F; });
        train::centre_and_scale(rows, kWidth);
        double sum = 0;
        for (std::int64_t k = 0; k < kWidth; ++k) {
            sum += static_cast<double>(rows[static_cast<std::size_t>(k)]) *
                   static_cast<double>(rows[static_cast<std::size_t>(k)]);
        }
        QVERIFY(std::abs(sum - 1) < 1e-5);
        const auto found = train::nearest_rows(
            rows, kWidth, 3, 0.8, [](double) {}, std::stop_token());
        for (const std::size_t a : {std::size_t{0}, std::size_t{1023}, std::size_t{1499}}) {
            std::vector<std::pair<double, std::int64_t>> all;
            for (std::size_t b = 0; b < kRows; ++b) {
                double cosine = 0;
                for (std::size_t k = 0; k < kWidth; ++k) {
                    cosine += static_cast<double>(rows[a * kWidth + k]) *
                              static_cast<double>(rows[b * kWidth + k]);
                }
                if (a != b && cosine >= 0.8) {
                    all.emplace_back(-cosine, static_cast<std::int64_t>(b));
                }
            }
            std::sort(all.begin(), all.end());
            std::vector<std::int64_t> expected;
            for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i) {
                expected.push_back(all[i].second);
            }
            std::vector<std::int64_t> ours = found[a];
            std::sort(ours.begin(), ours.end());
            std::sort(expected.begin(), expected.end());
            QVERIFY(!expected.empty());
            QCOMPARE(ours, expected);
        }
    }

    void a_moved_image_is_the_same_one() {
        constexpr std::int64_t kSide = 12;
        std::mt19937 random(6);
        std::uniform_real_distribution<float> grey(0.0F, 1.0F);
        std::vector<float> large((kSide + 2) * (kSide + 2));
        std::generate(large.begin(), large.end(), [&] { return grey(random); });
        const auto cut = [&](std::int64_t down, std::int64_t right) {
            std::vector<float> out;
            for (std::int64_t i = 0; i < kSide; ++i) {
                for (std::int64_t j = 0; j < kSide; ++j) {
                    out.push_back(
                        large[static_cast<std::size_t>((i + down) * (kSide + 2) + j + right)]);
                }
            }
            return out;
        };
        const ir::Shape shape{kSide, kSide, 1};
        const std::vector<float> one = cut(0, 0);
        for (std::int64_t down = 0; down <= 2; ++down) {
            for (std::int64_t right = 0; right <= 2; ++right) {
                QVERIFY(std::abs(train::image_likeness(one, cut(down, right), shape) - 1) < 1e-6);
                QVERIFY(std::abs(train::image_likeness(cut(down, right), one, shape) - 1) < 1e-6);
            }
        }
        std::vector<float> other(one.size());
        std::generate(other.begin(), other.end(), [&] { return grey(random); });
        QVERIFY(train::image_likeness(one, other, shape) < 0.6);
        QCOMPARE(train::image_likeness(one, std::vector<float>(one.size(), 0.5F), shape), 0.0);
    }

    void rows_are_alike_by_how_far_they_are_apart() {
        std::vector<float> rows = {1, 10, 3, 30, 5, 20, 7, 20};
        train::standardise_columns(rows, 2);
        for (std::size_t column = 0; column < 2; ++column) {
            double sum = 0;
            double squares = 0;
            for (std::size_t row = 0; row < 4; ++row) {
                const auto value = static_cast<double>(rows[2 * row + column]);
                sum += value;
                squares += value * value;
            }
            QVERIFY(std::abs(sum) < 1e-6);
            QVERIFY(std::abs(squares / 4 - 1) < 1e-6);
        }
        const std::vector<float> a = {3, 4}; // |a - b|^2 = 1, |a|^2 + |b|^2 = 25 + 32
        const std::vector<float> b = {4, 4};
        QVERIFY(std::abs(train::row_likeness(a, b) - (1 - 1.0 / 57)) < 1e-12);
        QCOMPARE(train::row_likeness(a, a), 1.0);
        QCOMPARE(train::row_likeness(a, std::vector<float>{-4, 3}), 0.0);
    }
};

WEFT_TEST(LabelScoresTest)
#include "label_scores_test.moc"
