// SPDX-License-Identifier: Apache-2.0
// Losses of a whole sample, and the settings of cross_entropy, against figures of PyTorch 2.x in
// double (torch.nn.functional; dice and the z-loss written out there with its ops).
#include "core/base/error.h"
#include "core/nn/functions.h"
#include "tests/nn/loss_figures.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <set>

using namespace weft;
using test::LossInput;

namespace {

const std::vector<float> kFigureOutputs = {0.5F, -1.0F, 2.0F, 0.0F, 3.0F, -2.0F};
const std::vector<float> kFigureLabels = {1.0F, 0.0F, 0.25F, 0.0F, 1.0F, 1.0F};
const std::vector<std::int32_t> kFigureClasses = {2, 0};

struct FigureCase {
    std::string settings;
    std::vector<float> numbers; // empty: the classes
    std::vector<double> terms;
    std::vector<double> gradient;
};

const std::vector<FigureCase>& figure_cases() {
    static const std::vector<FigureCase> cases = {
        // binary_cross_entropy_with_logits(reduction="none").mean(1)
        {R"({"type": "bce"})",
         kFigureLabels,
         {0.804755561, 0.956220848},
         {-0.12584689, 0.0896471405, 0.210265693, 0.166666667, -0.0158086244, -0.293599026}},
        {R"({"type": "bce", "positive_weight": 2.5})", // pos_weight=2.5
         kFigureLabels,
         {1.05766005, 2.04397853},
         {-0.314617224, 0.0896471405, 0.195365327, 0.166666667, -0.039521561, -0.733997565}},
        {R"({"type": "bce"})", // of one_hot(classes, 3)
         {},
         {0.471422228, 1.28955418},
         {0.207486444, 0.0896471405, -0.0397343073, -0.166666667, 0.317524709, 0.0397343073}},
        // kl_div(log_softmax(x, 1), t, reduction="none").sum(1)
        {R"({"type": "kl"})",
         {0.2F, 0.3F, 0.5F, 0.0F, 1.0F, 0.0F},
         {0.411658283, 0.0549852354},
         {-0.0247096079, -0.260887427, 0.285597035, 0.0471234165, -0.0535008774, 0.00637746092}},
        // 1 - cosine_similarity(x, t, dim=1)
        {R"({"type": "cosine"})",
         {1.0F, -2.0F, 0.5F, -1.0F, 0.5F, 4.0F},
         {0.333333333, 1.43405737},
         {-0.126984127, 0.253968254, 0.158730159, 0.0667780563, -0.133556113, -0.200334169}},
        {R"({"type": "dice", "smooth": 0.5})",
         kFigureLabels,
         {0.379558643, 0.35076158},
         {-0.0920451996, 0.0346335386, 0.00359024975, 0.0398621052, -0.0149867971, -0.0348303209}},
        {R"({"type": "cross_entropy", "class_weights": [0.5, 2.0, 3.0]})",
         {},
         {0.72393389, 1.52749262},
         {0.525871176, 0.11733772, -0.643208896, -0.476438292, 0.473249561, 0.00318873046}},
        {R"({"type": "cross_entropy", "z_loss": 0.01})",
         {},
         {0.29154606, 3.14831458},
         {0.183147999, 0.0408658423, -0.179187615, -0.949997357, 1.00432994, 0.0067671219}},
    };
    return cases;
}

// f32 of numbers up to 4, over sums of three: some 1e-6.
bool near(double a, double b) {
    return std::abs(a - b) < 2e-6 * (1 + std::abs(b));
}

LossInput input_of(const std::vector<float>& numbers) {
    LossInput input{.outputs = kFigureOutputs, .numbers = numbers};
    input.classes = numbers.empty() ? kFigureClasses : std::vector<std::int32_t>();
    return input;
}

} // namespace

class SampleLossTest : public QObject {
    Q_OBJECT
private slots:
    void every_loss_of_samples_has_figures() {
        std::set<std::string> with_figures;
        for (const FigureCase& row : figure_cases()) {
            with_figures.insert(config::json_of(row.settings).at("type").get<std::string>());
        }
        for (const char* name : {"bce", "kl", "cosine", "dice", "cross_entropy"}) {
            QVERIFY2(with_figures.contains(name), name);
        }
    }

    void values_and_gradients_are_those_of_pytorch() {
        for (const FigureCase& row : figure_cases()) {
            const auto found = test::figures_of(row.settings, input_of(row.numbers));
            QCOMPARE(found.terms.size(), row.terms.size());
            QCOMPARE(found.gradient.size(), row.gradient.size());
            for (std::size_t i = 0; i < row.terms.size(); ++i) {
                QVERIFY2(near(found.terms[i], row.terms[i]), row.settings.c_str());
            }
            for (std::size_t i = 0; i < row.gradient.size(); ++i) {
                QVERIFY2(near(found.gradient[i], row.gradient[i]), row.settings.c_str());
            }
        }
    }

    void an_ignored_class_has_no_loss_and_no_gradient() {
        for (const char* settings :
             {R"({"type": "bce"})", R"({"type": "cross_entropy", "z_loss": 0.1})",
              R"({"type": "cross_entropy", "class_weights": [1, 2, 3]})",
              R"json({"type": "expression", "expression": "sum(square(y - one_hot(t)))"})json"}) {
            LossInput input{.outputs = kFigureOutputs};
            input.classes = {2, -1};
            const auto found = test::figures_of(settings, input);
            QVERIFY2(found.terms[0] > 0, settings);
            QVERIFY2(found.terms[1] == 0, settings);
            for (std::size_t i = 3; i < 6; ++i) {
                QVERIFY2(found.gradient[i] == 0, settings);
            }
        }
    }

    void a_mixed_sample_has_the_mean_by_shares() {
        LossInput mixed{.outputs = kFigureOutputs};
        mixed.classes = {2, 0};
        mixed.others = {0, 1};
        mixed.shares = {0.75F, 0.5F};
        LossInput first{.outputs = kFigureOutputs};
        first.classes = mixed.classes;
        LossInput second{.outputs = kFigureOutputs};
        second.classes = mixed.others;
        for (const char* settings :
             {R"({"type": "bce"})", R"({"type": "cross_entropy", "class_weights": [1, 2, 3]})",
              R"json({"type": "expression", "expression": "cross_entropy(y, t)"})json"}) {
            const auto one = test::figures_of(settings, first).terms;
            const auto other = test::figures_of(settings, second).terms;
            const auto both = test::figures_of(settings, mixed).terms;
            QVERIFY2(near(both[0], 0.75 * one[0] + 0.25 * other[0]), settings);
            QVERIFY2(near(both[1], 0.5 * one[1] + 0.5 * other[1]), settings);
        }
    }

    void outputs_far_from_zero_do_not_overflow() {
        const LossInput input{.outputs = {1000.0F, -1000.0F, 0.0F, -1000.0F, 1000.0F, 0.0F},
                              .numbers = {1.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F}};
        const auto bce = test::figures_of(R"({"type": "bce"})", input);
        QVERIFY(near(bce.terms[0], std::log(2.0) / 3));
        QVERIFY(near(bce.terms[1], (2000 + std::log(2.0)) / 3));
        QVERIFY(near(bce.gradient[3], -1.0 / 3));
        const auto kl = test::figures_of(R"({"type": "kl"})", input);
        QVERIFY(near(kl.terms[0], 0));
        QVERIFY(near(kl.terms[1], 2000));
        QVERIFY(near(kl.gradient[3], -1));
        QVERIFY(near(kl.gradient[4], 1));
    }

    void vectors_without_length_have_a_finite_cosine() {
        const LossInput input{.outputs = {0, 0, 0, 1, 0, 0}, .numbers = {1, 2, 3, 0, 0, 0}};
        const auto found = test::figures_of(R"({"type": "cosine"})", input);
        QCOMPARE(found.terms[0], 1.0);
        QCOMPARE(found.terms[1], 1.0);
        for (const double slope : found.gradient) {
            QVERIFY(std::isfinite(slope));
        }
    }

    void class_weights_are_one_per_class() {
        try {
            test::figures_of(R"({"type": "cross_entropy", "class_weights": [1, 2]})", input_of({}));
            QFAIL("two weights for three classes");
        } catch (const Error& error) {
            QCOMPARE(error.where(), std::string("/loss/class_weights"));
            QCOMPARE(error.text(), std::string("2 weights are given, but there are 3 classes"));
        }
    }
};

WEFT_TEST(SampleLossTest)
#include "sample_loss_test.moc"
