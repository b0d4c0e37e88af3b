// SPDX-License-Identifier: Apache-2.0
// Losses of points against figures of PyTorch in double, written out there pair by pair; and who is
// nearest, counted.
#include "tests/nn/loss_figures.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>

using namespace weft;

namespace {

// Two pairs, one that is alone with its label, and one whose label is ignored.
const test::LossInput kPoints = {.samples = 6,
                                 .outputs = {0.5F, -1.0F, 2.0F, 0.0F, 3.0F, -2.0F, 1.0F, -0.5F,
                                             1.5F, -1.0F, 2.0F, 0.25F, 2.0F, 1.0F, -1.0F, 0.3F,
                                             0.2F, -0.7F},
                                 .classes = {0, 1, 0, 1, 2, -1}};

struct PairCase {
    const char* settings;
    std::vector<double> terms, gradient;
};

const std::vector<PairCase>& pair_cases() {
    static const std::vector<PairCase> cases = {
        {R"({"type": "nt_xent", "temperature": 0.5})",
         {0.161669422, 0.649607938, 0.236586477, 0.38733504, 0, 0},
         {-0.0900206631, 0.0786032908, 0.0618068112, 0.412043181, -0.140398379, -0.210597569,
          0.205383648, 0.287802321, -0.040988325, -0.050850511, -0.101434458, 0.608073623,
          -0.13063754, 0.281290698, 0.0200156188, 0, 0, 0}},
        {R"({"type": "triplet", "margin": 1.5})",
         {0.218653719, 1.37102086, 0.451466764, 0.856604481, 0, 0},
         {-0.552875233, -0.267194686, 0.00462146506, 0.550296484, -0.243187107, -0.364780661,
          1.12882452, 0.70111523, -0.518844603, -0.0889656681, -0.116218279, 0.57388356,
          -0.0371025943, 0.370291165, 0.296085976, 0, 0, 0}},
        {R"({"type": "triplet", "margin": 4.0, "unit_length": false})",
         {1.08283892, 3.65753645, 1.7838184, 3.25716883, 0, 0},
         {-1.5511917, -0.361718218, 0.692127518, 1.41924336, 0.085910028, -1.35996423, 1.47914338,
          1.6413648, -1.96580764, 0.526172012, -1.83964486, 1.78826327, -1.87336706, 0.474088252,
          0.845381083, 0, 0, 0}},
    };
    return cases;
}

double nearest(const std::vector<std::vector<float>>& rows) {
    const auto score =
        nn::kNearestAccuracyMetric.score({.classes = 3, .values = std::ssize(rows[0]) - 1});
    for (const std::vector<float>& row : rows) {
        score->add(row);
    }
    return score->value();
}

} // namespace

class PairLossTest : public QObject {
    Q_OBJECT
private slots:
    void values_and_gradients_are_those_of_pytorch() {
        for (const PairCase& row : pair_cases()) {
            const auto found = test::figures_of(row.settings, kPoints);
            QCOMPARE(found.terms.size(), row.terms.size());
            for (std::size_t i = 0; i < row.terms.size(); ++i) {
                // f32; distances are roots of differences of sums up to 26
                QVERIFY2(std::abs(found.terms[i] - row.terms[i]) < 5e-6, row.settings);
            }
            for (std::size_t i = 0; i < row.gradient.size(); ++i) {
                QVERIFY2(std::abs(found.gradient[i] - row.gradient[i]) < 2e-5, row.settings);
            }
        }
    }

    void a_batch_of_one_label_or_of_none_has_a_loss() {
        for (const char* settings : {R"({"type": "nt_xent"})", R"({"type": "triplet"})"}) {
            test::LossInput input = kPoints;
            input.classes = {-1, -1, -1, -1, -1, -1};
            for (const double term : test::figures_of(settings, input).terms) {
                QCOMPARE(term, 0.0);
            }
            input.classes = {1, 1, 1, 1, 1, 1};
            const auto found = test::figures_of(settings, input);
            for (const double number : found.terms) {
                QVERIFY2(std::isfinite(number), settings);
            }
            for (const double number : found.gradient) {
                QVERIFY2(std::isfinite(number), settings);
            }
        }
    }

    void equal_points_have_finite_slopes() {
        for (const char* settings : {R"({"type": "nt_xent"})", R"({"type": "triplet"})"}) {
            test::LossInput input = kPoints;
            std::fill(input.outputs.begin(), input.outputs.end(), 0.0F);
            for (const double number : test::figures_of(settings, input).gradient) {
                QVERIFY2(std::isfinite(number), settings);
            }
        }
    }

    // Cosines, not lengths: (10, 1) is nearest to (1, 0), and (0, 1) to (1, 8).
    void nearest_ones_are_counted() {
        const std::vector<std::vector<float>> rows = {
            {1, 0, 0}, {10, 1, 0}, {0, 1, 1}, {1, 8, 1}, {-1, 0.5F, 0}};
        QCOMPARE(nearest(rows), 0.8); // the last one's nearest has label 1
    }

    void one_point_has_no_nearest() { QVERIFY(std::isnan(nearest({{1, 2, 0}}))); }
};

WEFT_TEST(PairLossTest)
#include "pair_loss_test.moc"
