// SPDX-License-Identifier: Apache-2.0
// Every gradient kernel of the reference back end against central differences of its forward
// kernel, in f64. The loss is a fixed random weighting of the forward's first output.
#include "kernels/reference/reference_list.h"
#include "tests/kernels/reference_support.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft::test;

class ReferenceGradients : public QObject {
    Q_OBJECT

private slots:
    void of_activations_match_finite_differences();
    void of_softmax_match_finite_differences();
    void of_layer_norm_match_finite_differences();
    void of_rms_norm_match_finite_differences();
    void of_batch_norm_match_finite_differences();
    void of_attention_match_finite_differences_data();
    void of_attention_match_finite_differences();
    void of_convolution_match_finite_differences();
    void of_pooling_match_finite_differences();
    void of_embedding_match_finite_differences();
    void of_cross_entropy_match_finite_differences();
};

namespace {

constexpr double kStep = 1e-5;
// Central differences in f64: truncation of order step^2 = 1e-10 times a third derivative, rounding
// of order 1e-16 / step = 1e-11.
constexpr double kTolerance = 1e-7;

std::vector<Tensor> outputs_of(const Call& call) {
    const Result r = run(weft_reference_backend(), call);
    return r.status == WEFT_OK ? r.outputs : std::vector<Tensor>();
}

double loss_of(const Call& call, const Tensor& weights) {
    const std::vector<Tensor> outputs = outputs_of(call);
    double loss = 0;
    for (std::int64_t i = 0; i < weights.count(); ++i) {
        loss += weights.get(i) * outputs.at(0).get(i);
    }
    return loss;
}

/// Largest distance between `gradient` and the numerical gradient of the weighted forward in
/// `input`.
double distance(Call forward, std::size_t input, const Tensor& weights, const Tensor& gradient) {
    double largest = 0;
    for (std::int64_t i = 0; i < gradient.count(); ++i) {
        const double x = forward.inputs[input].get(i);
        forward.inputs[input].set(i, x + kStep);
        const double up = loss_of(forward, weights);
        forward.inputs[input].set(i, x - kStep);
        const double down = loss_of(forward, weights);
        forward.inputs[input].set(i, x);
        const double error = std::fabs((up - down) / (2 * kStep) - gradient.get(i));
        largest = std::isnan(error) ? error : std::fmax(largest, error);
    }
    return largest;
}

bool close(double error) {
    return error < kTolerance;
} // false for NaN

Tensor random_reals(const Shape& shape, unsigned seed, double low = -1, double high = 1) {
    return noise(WEFT_F64, shape, seed, low, high);
}

} // namespace

void ReferenceGradients::of_activations_match_finite_differences() {
    struct Row {
        const char *op, *grad;
        bool from_output;
    };
    for (const Row& row : {Row{"relu", "relu_grad", false}, Row{"gelu", "gelu_grad", false},
                           Row{"gelu_erf", "gelu_erf_grad", false}, Row{"silu", "silu_grad", false},
                           Row{"tanh", "tanh_grad", true}, Row{"sigmoid", "sigmoid_grad", true}}) {
        const Tensor dy = random_reals({40}, 2);
        const Call forward{row.op, {random_reals({40}, 1, -3, 3)}, {f64({40})}, {}, {}, {}};
        const Tensor seen = row.from_output ? outputs_of(forward).at(0) : forward.inputs[0];
        const Tensor dx = outputs_of({row.grad, {seen, dy}, {f64({40})}, {}, {}, {}}).at(0);
        QVERIFY2(close(distance(forward, 0, dy, dx)), row.op);
    }
}

void ReferenceGradients::of_softmax_match_finite_differences() {
    const Call forward{"softmax", {random_reals({3, 5}, 1, -3, 3)}, {f64({3, 5})}, {}, {}, {}};
    const Tensor dy = random_reals({3, 5}, 2);
    const Tensor y = outputs_of(forward).at(0);
    const Tensor dx = outputs_of({"softmax_grad", {y, dy}, {f64({3, 5})}, {}, {}, {}}).at(0);
    QVERIFY(close(distance(forward, 0, dy, dx)));
}

void ReferenceGradients::of_layer_norm_match_finite_differences() {
    const Shape shape{2, 3, 6};
    const Call forward{"layer_norm",
                       {random_reals(shape, 1, -2, 3), random_reals({6}, 2), random_reals({6}, 3)},
                       {f64(shape), f64({2, 3}), f64({2, 3})},
                       {real("eps", 1e-3)},
                       {},
                       {}};
    const Tensor dy = random_reals(shape, 4);
    const auto saved = outputs_of(forward);
    const Tensor& x = forward.inputs[0];
    const auto dx = outputs_of({"layer_norm_input_grad",
                                {x, forward.inputs[1], saved.at(1), saved.at(2), dy},
                                {f64(shape)},
                                {},
                                {},
                                {}});
    const auto parameters = outputs_of({"layer_norm_param_grad",
                                        {x, saved.at(1), saved.at(2), dy},
                                        {f64({6}), f64({6})},
                                        {},
                                        {},
                                        {}});
    QVERIFY(close(distance(forward, 0, dy, dx.at(0))));
    QVERIFY(close(distance(forward, 1, dy, parameters.at(0))));
    QVERIFY(close(distance(forward, 2, dy, parameters.at(1))));
}

void ReferenceGradients::of_rms_norm_match_finite_differences() {
    const Shape shape{2, 3, 6};
    const Call forward{"rms_norm",
                       {random_reals(shape, 1, -2, 3), random_reals({6}, 2)},
                       {f64(shape), f64({2, 3})},
                       {real("eps", 1e-3)},
                       {},
                       {}};
    const Tensor dy = random_reals(shape, 4);
    const auto saved = outputs_of(forward);
    const Tensor& x = forward.inputs[0];
    const auto dx = outputs_of(
        {"rms_norm_input_grad", {x, forward.inputs[1], saved.at(1), dy}, {f64(shape)}, {}, {}, {}});
    const auto dscale =
        outputs_of({"rms_norm_param_grad", {x, saved.at(1), dy}, {f64({6})}, {}, {}, {}});
    QVERIFY(close(distance(forward, 0, dy, dx.at(0))));
    QVERIFY(close(distance(forward, 1, dy, dscale.at(0))));
}

void ReferenceGradients::of_batch_norm_match_finite_differences() {
    const Shape shape{4, 3, 2};
    for (const bool weighted : {false, true}) {
        Call forward{"batch_norm",
                     {random_reals(shape, 1, -2, 3), random_reals({2}, 2), random_reals({2}, 3)},
                     {f64(shape), f64({2}), f64({2})},
                     {real("eps", 1e-3)},
                     {},
                     {}};
        if (weighted) {
            forward.inputs.push_back(tensor(WEFT_F64, {4}, {1, 1, 0, 1}));
        }
        const Tensor dy = random_reals(shape, 4);
        const auto saved = outputs_of(forward);
        Call backward{"batch_norm_grad",
                      {forward.inputs[0], forward.inputs[1], saved.at(1), saved.at(2), dy},
                      {f64(shape), f64({2}), f64({2})},
                      {real("eps", 1e-3)},
                      {},
                      {}};
        if (weighted) {
            backward.inputs.push_back(forward.inputs[3]);
        }
        const auto gradients = outputs_of(backward);
        for (std::size_t i = 0; i < 3; ++i) {
            QVERIFY(close(distance(forward, i, dy, gradients.at(i))));
        }
    }
}

void ReferenceGradients::of_attention_match_finite_differences_data() {
    QTest::addColumn<bool>("causal");
    QTest::addColumn<double>("rate");
    QTest::newRow("full") << false << 0.0;
    QTest::newRow("causal") << true << 0.0;
    QTest::newRow("causal with dropout") << true << 0.4;
}

void ReferenceGradients::of_attention_match_finite_differences() {
    QFETCH(bool, causal);
    QFETCH(double, rate);
    const Shape query{2, 3, 4, 3};
    const Shape key{2, 5, 2, 3};
    const std::vector<Attribute> options = {flag("causal", causal), real("scale", 0.7),
                                            real("rate", rate), text("stream", "x")};
    Call forward{"attention",
                 {random_reals(query, 1), random_reals(key, 2), random_reals(key, 3)},
                 {f64(query), f64({2, 4, 3})},
                 options,
                 {},
                 {}};
    if (rate > 0) {
        forward.inputs.push_back(integers({3}, {5, 6, 7}));
    }
    const Tensor dout = random_reals(query, 4);
    const auto saved = outputs_of(forward);
    Call backward{
        "attention_grad",
        {forward.inputs[0], forward.inputs[1], forward.inputs[2], saved.at(0), saved.at(1), dout},
        {f64(query), f64(key), f64(key)},
        options,
        {},
        {}};
    if (rate > 0) {
        backward.inputs.push_back(forward.inputs[3]);
    }
    const auto gradients = outputs_of(backward);
    for (std::size_t i = 0; i < 3; ++i) {
        QVERIFY(close(distance(forward, i, dout, gradients.at(i))));
    }
}

void ReferenceGradients::of_convolution_match_finite_differences() {
    const Shape image{2, 5, 4, 2};
    const Shape weight{3, 2, 2, 3};
    const Shape result{2, 3, 4, 3};
    const std::vector<Attribute> window = {list("stride", {2, 1}), list("padding", {1, 0, 1, 1})};
    const Call forward{
        "conv2d", {random_reals(image, 1), random_reals(weight, 2)}, {f64(result)}, window, {}, {}};
    const Tensor dy = random_reals(result, 3);
    const auto dx =
        outputs_of({"conv2d_input_grad", {dy, forward.inputs[1]}, {f64(image)}, window, {}, {}});
    const auto dw =
        outputs_of({"conv2d_weight_grad", {forward.inputs[0], dy}, {f64(weight)}, window, {}, {}});
    QVERIFY(close(distance(forward, 0, dy, dx.at(0))));
    QVERIFY(close(distance(forward, 1, dy, dw.at(0))));
}

void ReferenceGradients::of_pooling_match_finite_differences() {
    const Shape image{2, 5, 4, 2};
    const Shape result{2, 3, 2, 2};
    const std::vector<Attribute> window = {list("window", {3, 2}), list("stride", {2, 2}),
                                           list("padding", {1, 0, 1, 0})};
    const Tensor dy = random_reals(result, 3);
    const Call max{"max_pool", {random_reals(image, 1)}, {f64(result)}, window, {}, {}};
    const Tensor y = outputs_of(max).at(0);
    const auto dmax =
        outputs_of({"max_pool_grad", {max.inputs[0], y, dy}, {f64(image)}, window, {}, {}});
    QVERIFY(close(distance(max, 0, dy, dmax.at(0))));
    const Call average{"avg_pool", {random_reals(image, 2)}, {f64(result)}, window, {}, {}};
    const auto davg = outputs_of({"avg_pool_grad", {dy}, {f64(image)}, window, {}, {}});
    QVERIFY(close(distance(average, 0, dy, davg.at(0))));
}

void ReferenceGradients::of_embedding_match_finite_differences() {
    const Call forward{
        "embedding", {random_reals({6, 3}, 1), indices({2, 5}, 2, 6)}, {f64({2, 5, 3})}, {}, {},
        {}};
    const Tensor dy = random_reals({2, 5, 3}, 3);
    const auto table = outputs_of(
        {"embedding_grad", {forward.inputs[1], dy}, {f64({6, 3})}, {integer("rows", 6)}, {}, {}});
    QVERIFY(close(distance(forward, 0, dy, table.at(0))));
}

void ReferenceGradients::of_cross_entropy_match_finite_differences() {
    for (const double smoothing : {0.0, 0.1}) {
        const std::vector<Attribute> options = {real("label_smoothing", smoothing)};
        Tensor labels = indices({4}, 2, 5);
        labels.set(1, -1);
        const Call forward{"cross_entropy",
                           {random_reals({4, 5}, 1, -3, 3), labels},
                           {f64({4}), f64({4})},
                           options,
                           {},
                           {}};
        const Tensor dloss = random_reals({4}, 3);
        const auto saved = outputs_of(forward);
        const auto gradient = outputs_of({"cross_entropy_grad",
                                          {forward.inputs[0], labels, saved.at(1), dloss},
                                          {f64({4, 5})},
                                          options,
                                          {},
                                          {}});
        QVERIFY(close(distance(forward, 0, dloss, gradient.at(0))));
    }
}

WEFT_TEST(ReferenceGradients)
#include "gradient_test.moc"
