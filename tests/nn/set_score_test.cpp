// SPDX-License-Identifier: Apache-2.0
// Metrics of whole sets against their definitions, counted pair by pair and class by class.
#include "core/exec/interpreter.h"
#include "core/nn/loss_def.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using Rows = std::vector<std::vector<float>>;

namespace {

double scored(const nn::MetricDef& metric, const nn::ScoredTargets& targets, const Rows& rows) {
    const auto score = metric.score(targets);
    for (const std::vector<float>& row : rows) {
        score->add(row);
    }
    return score->value();
}

/// Numbers that repeat and look random: what is compared has ties.
float scattered(int i) {
    return static_cast<float>((i * 37 + 11) % 23) / 23.0F;
}

/// Over all pairs of one that is there and one that is not.
double area_by_pairs(const std::vector<float>& scores, const std::vector<bool>& real) {
    double wins = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
            if (real[i] && !real[j]) {
                wins += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
                pairs += 1;
            }
        }
    }
    return wins / pairs;
}

} // namespace

class SetScoreTest : public QObject {
    Q_OBJECT
private slots:
    void auroc_is_the_share_of_pairs_in_order() {
        constexpr int kTerms = 60;
        Rows of_classes;
        Rows of_labels;
        double classes = 0;
        double labels = 0;
        for (int i = 0; i < kTerms; ++i) {
            const auto label = static_cast<float>((i * i) % 3);
            std::vector<float> row = {scattered(i), scattered(3 * i), scattered(i + 7), label};
            of_classes.push_back(row);
            row.back() = label == 0 ? 1.0F : 0.0F;
            row.push_back(label == 1 ? 1.0F : 0.0F);
            row.push_back(i % 4 == 0 ? 1.0F : 0.0F);
            of_labels.push_back(row);
        }
        for (std::size_t k = 0; k < 3; ++k) {
            std::vector<float> scores;
            std::vector<bool> is_class;
            std::vector<bool> has_label;
            for (int i = 0; i < kTerms; ++i) {
                const auto at = static_cast<std::size_t>(i);
                scores.push_back(of_classes[at][k]);
                is_class.push_back(of_classes[at][3] == static_cast<float>(k));
                has_label.push_back(of_labels[at][3 + k] > 0.5F);
            }
            labels += area_by_pairs(scores, has_label) / 3;
            // i * i is 0 or 1 by 3: the third class is nowhere, and is left out.
            classes += k < 2 ? area_by_pairs(scores, is_class) / 2 : 0;
        }
        QVERIFY(std::abs(scored(nn::kAurocMetric, {3, 3}, of_classes) - classes) < 1e-12);
        QVERIFY(std::abs(scored(nn::kAurocMetric, {0, 3}, of_labels) - labels) < 1e-12);
    }

    void auroc_of_one_kind_alone_is_not_known() {
        QVERIFY(std::isnan(scored(nn::kAurocMetric, {0, 1}, {{0.2F, 1.0F}, {0.7F, 1.0F}})));
        QVERIFY(std::isnan(scored(nn::kAurocMetric, {0, 1}, {})));
        QVERIFY(
            std::isnan(scored(nn::kAurocMetric, {0, 1}, {{std::nanf(""), 1.0F}, {0.7F, 0.0F}})));
    }

    void macro_f1_is_the_mean_of_the_classes_that_occur() {
        // Found and true. Class 0: precision 2/3, recall 1; 1: 1/2 and 1/3; 2: 0 and 0; 3: nowhere.
        const Rows rows = {{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 1}};
        const double f0 = 2 * (2.0 / 3) * 1 / (2.0 / 3 + 1);
        const double f1 = 2 * (1.0 / 2) * (1.0 / 3) / (1.0 / 2 + 1.0 / 3);
        QVERIFY(std::abs(scored(nn::kMacroF1Metric, {4, 4}, rows) - (f0 + f1 + 0) / 3) < 1e-12);
        // Two labels: found right once of twice each; never found where it is.
        const Rows labels = {{0.9F, 0.1F, 1, 1}, {0.6F, 0.2F, 0, 0}, {0.5F, 0.3F, 1, 1}};
        QVERIFY(std::abs(scored(nn::kMacroF1Metric, {0, 2}, labels) - (0.5 + 0) / 2) < 1e-12);
    }

    void calibration_error_is_that_of_its_bins() {
        // Bins of 1/15: two in the last, one of them true; one in the bin of 0.5, true.
        const Rows rows = {{0.95F, 1}, {0.99F, 0}, {0.5F, 1}};
        const double expected = (std::abs(0.95 + 0.99 - 1) + std::abs(0.5 - 1)) / 3;
        QVERIFY(std::abs(scored(nn::kCalibrationErrorMetric, {10, 10}, rows) - expected) < 1e-7);
        // What is right as often as it says.
        Rows right(10, {0.8F, 1});
        right[0][1] = right[1][1] = 0;
        QVERIFY(scored(nn::kCalibrationErrorMetric, {10, 10}, right) < 1e-7);
        QVERIFY(scored(nn::kCalibrationErrorMetric, {10, 10}, {{1.0F, 1}}) == 0);
        QVERIFY(scored(nn::kCalibrationErrorMetric, {10, 10}, {{0.0F, 0}}) == 0);
    }

    void top5_counts_the_five_largest_of_equal_ones_the_first() {
        ir::Program program;
        program.name = "top5";
        const ir::ValueId output =
            program.add_argument(ir::Role::batch, "output", {ir::DType::f32, {3, 7}});
        const ir::ValueId target =
            program.add_argument(ir::Role::batch, "target", {ir::DType::i32, {3}});
        ops::Builder b(program, program.body);
        program.add_result(ir::Role::output, "terms",
                           nn::kTop5AccuracyMetric.build(b, {output, target}));
        std::vector<exec::Tensor> arguments = {exec::Tensor({ir::DType::f32, {3, 7}}),
                                               exec::Tensor({ir::DType::i32, {3}})};
        const std::vector<float> logits = {1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4,
                                           5, 6, 7, 0, 0, 0, 0, 0, 0, 0};
        const std::vector<std::int32_t> classes = {2, 1, 4};
        std::copy(logits.begin(), logits.end(), arguments[0].span<float>().begin());
        std::copy(classes.begin(), classes.end(), arguments[1].span<std::int32_t>().begin());
        const auto found = exec::interpret(program, arguments);
        QCOMPARE(found[0].span<float>()[0], 1.0F);
        QCOMPARE(found[0].span<float>()[1], 0.0F);
        QCOMPARE(found[0].span<float>()[2], 1.0F);
    }

    void a_metric_is_of_terms_of_the_loss_of_sets_or_of_texts() {
        for (const nn::MetricDef* metric : nn::kMetrics) {
            const int ways = (metric->build != nullptr ? 1 : 0) +
                             (metric->from_loss != nullptr ? 1 : 0) +
                             (metric->row != nullptr ? 1 : 0) + (metric->of_text ? 1 : 0);
            QVERIFY2(ways == 1, std::string(metric->name).c_str());
            QCOMPARE(metric->row != nullptr || metric->of_text, metric->score != nullptr);
        }
    }
};

WEFT_TEST(SetScoreTest)
#include "set_score_test.moc"
