// SPDX-License-Identifier: Apache-2.0
// Losses of numbers, the focal loss and stablemax, against their definitions in double, and their
// gradients against central differences of those.
#include "core/autodiff/gradients.h"
#include "core/exec/interpreter.h"
#include "core/nn/loss_def.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <functional>
#include <set>

using namespace weft;
using config::Json;

namespace {

struct LossCase {
    std::string settings;
    std::function<double(double)> of; // an error
};

const std::vector<LossCase>& loss_cases() {
    const auto pinball = [](double q) {
        return [q](double x) { return x < 0 ? -q * x : (1 - q) * x; };
    };
    static const std::vector<LossCase> cases = {
        {R"({"type": "mse"})", [](double x) { return x * x; }},
        {R"({"type": "mae"})", [](double x) { return std::abs(x); }},
        {R"({"type": "huber"})",
         [](double x) { return std::abs(x) < 1 ? x * x / 2 : std::abs(x) - 0.5; }},
        {R"({"type": "huber", "delta": 0.25})",
         [](double x) { return std::abs(x) < 0.25 ? x * x / 2 : 0.25 * (std::abs(x) - 0.125); }},
        {R"({"type": "smooth_l1", "beta": 0.5})",
         [](double x) { return std::abs(x) < 0.5 ? x * x : std::abs(x) - 0.25; }},
        {R"({"type": "log_cosh"})", [](double x) { return std::log(std::cosh(x)); }},
        {R"({"type": "quantile"})", pinball(0.5)},
        {R"({"type": "quantile", "quantile": 0.9})", pinball(0.9)},
    };
    return cases;
}

// Errors on both sides of every bend, and none on one.
const std::vector<float> kOutputs = {0.0F, 0.1F, 0.4F, -3.0F, 1.75F, 20.0F};
const std::vector<float> kTargets = {0.2F, 0.0F, 0.0F, 1.0F, 1.0F, -1.0F};
constexpr std::int64_t kValues = 3; // of a sample

exec::Tensor values_tensor(const std::vector<float>& values) {
    exec::Tensor out({ir::DType::f32, {std::ssize(values) / kValues, kValues}});
    std::copy(values.begin(), values.end(), out.span<float>().begin());
    return out;
}

/// Losses of the samples, and the gradient of their sum by prediction.
std::vector<exec::Tensor> run_loss(const nn::LossDef& loss, const Json& settings) {
    ir::Program program;
    program.name = "loss";
    const ir::Type type = values_tensor(kOutputs).type;
    const ir::ValueId output = program.add_argument(ir::Role::batch, "output", type);
    const ir::ValueId target = program.add_argument(ir::Role::batch, "target", type);
    ops::Builder b(program, program.body);
    const ir::ValueId terms = loss.build(b, settings, {output, target});
    program.add_result(ir::Role::output, "terms", terms);
    const ir::ValueId sum = ops::reduce_sum(b, terms, {0});
    const std::vector<ir::ValueId> by = {output};
    program.add_result(ir::Role::output, "gradient",
                       autodiff::append_gradients(b, sum, ops::constant(b, 1.0), by).front());
    const std::vector<exec::Tensor> arguments = {values_tensor(kOutputs), values_tensor(kTargets)};
    return exec::interpret(program, arguments);
}

/// s(x) of the definition (Prieto et al. 2025, section 4).
double stable(double x) {
    return x >= 0 ? x + 1 : 1 / (1 - x);
}

struct StablemaxRun {
    std::vector<double> terms, gradient; // [N], [N, V]
};

/// Loss terms of logits [N, V], and the gradient of their sum.
StablemaxRun run_stablemax(const std::vector<float>& logits, std::size_t classes,
                           const std::vector<std::int32_t>& labels) {
    const auto count = std::ssize(labels);
    ir::Program program;
    program.name = "loss";
    const ir::Type type{ir::DType::f32, {count, static_cast<std::int64_t>(classes)}};
    const ir::ValueId output = program.add_argument(ir::Role::batch, "output", type);
    const ir::ValueId target =
        program.add_argument(ir::Role::batch, "target", {ir::DType::i32, {count}});
    ops::Builder b(program, program.body);
    const ir::ValueId terms = nn::find_loss("stablemax")->build(b, Json(), {output, target});
    program.add_result(ir::Role::output, "terms", terms);
    const std::vector<ir::ValueId> by = {output};
    program.add_result(
        ir::Role::output, "gradient",
        autodiff::append_gradients(b, ops::reduce_sum(b, terms, {0}), ops::constant(b, 1.0), by)
            .front());
    std::vector<exec::Tensor> arguments = {exec::Tensor(type),
                                           exec::Tensor({ir::DType::i32, {count}})};
    std::copy(logits.begin(), logits.end(), arguments[0].span<float>().begin());
    std::copy(labels.begin(), labels.end(), arguments[1].span<std::int32_t>().begin());
    const auto found = exec::interpret(program, arguments);
    const auto numbers = [&](std::size_t i) {
        const auto span = found[i].span<float>();
        return std::vector<double>(span.begin(), span.end());
    };
    return {numbers(0), numbers(1)};
}

} // namespace

class LossTest : public QObject {
    Q_OBJECT
private slots:
    void every_loss_of_numbers_has_a_case() {
        std::set<std::string> with_case;
        for (const LossCase& row : loss_cases()) {
            with_case.insert(config::json_of(row.settings).at("type").get<std::string>());
        }
        // Those of what a sample's numbers say together: sample_loss_test.cpp, expression_test.cpp,
        // sequence_loss_test.cpp.
        with_case.insert({"bce", "kl", "cosine", "dice", "expression", "ctc"});
        for (const nn::LossDef* loss : nn::kLosses) {
            QVERIFY2(loss->needs_classes || loss->of_input ||
                         with_case.contains(std::string(loss->name)),
                     std::string(loss->name).c_str());
        }
    }

    void values_and_gradients_are_those_of_the_definition() {
        constexpr double kStep = 1e-6;
        for (const LossCase& row : loss_cases()) {
            const Json given = config::json_of(row.settings);
            const nn::LossDef* loss = nn::find_loss(given.at("type").get<std::string>());
            QVERIFY(loss != nullptr);
            Json settings = given;
            settings.erase("type");
            const config::Checked checked = config::check_fields(settings, loss->fields());
            QVERIFY(checked.ok());
            const auto found = run_loss(*loss, checked.value);
            for (std::size_t sample = 0; sample < kOutputs.size() / kValues; ++sample) {
                double expected = 0;
                for (std::size_t k = sample * kValues; k < (sample + 1) * kValues; ++k) {
                    const double x =
                        static_cast<double>(kOutputs[k]) - static_cast<double>(kTargets[k]);
                    expected += row.of(x) / kValues;
                    const double slope =
                        (row.of(x + kStep) - row.of(x - kStep)) / (2 * kStep) / kValues;
                    const auto is = static_cast<double>(found[1].span<float>()[k]);
                    QVERIFY2(std::abs(is - slope) < 1e-6 * (1 + std::abs(slope)),
                             (row.settings + " value " + std::to_string(k)).c_str());
                }
                const auto is = static_cast<double>(found[0].span<float>()[sample]);
                QVERIFY2(std::abs(is - expected) < 1e-6 * (1 + expected), row.settings.c_str());
            }
        }
    }

    void focal_loss_is_that_of_the_definition() {
        // Three samples of four classes; the third has none.
        const std::vector<float> logits = {0.5F,  -1.0F, 2.0F, 0.1F, 3.0F, 0.0F,
                                           -2.0F, 1.0F,  1.0F, 1.0F, 0.0F, 0.0F};
        const std::vector<std::int32_t> classes = {1, 0, -1};
        const auto focal = [&](const std::vector<double>& x, std::size_t sample, double gamma) {
            if (classes[sample] < 0) {
                return 0.0;
            }
            double sum = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                sum += std::exp(x[sample * 4 + k]);
            }
            const auto own = sample * 4 + static_cast<std::size_t>(classes[sample]);
            const double p = std::exp(x[own]) / sum;
            return -std::pow(1 - p, gamma) * std::log(p);
        };
        for (const double gamma : {1.0, 2.0, 3.5}) {
            ir::Program program;
            program.name = "loss";
            const ir::ValueId output =
                program.add_argument(ir::Role::batch, "output", {ir::DType::f32, {3, 4}});
            const ir::ValueId target =
                program.add_argument(ir::Role::batch, "target", {ir::DType::i32, {3}});
            ops::Builder b(program, program.body);
            const ir::ValueId terms =
                nn::kFocalLoss.build(b, Json{{"gamma", gamma}}, {output, target});
            program.add_result(ir::Role::output, "terms", terms);
            const std::vector<ir::ValueId> by = {output};
            program.add_result(ir::Role::output, "gradient",
                               autodiff::append_gradients(b, ops::reduce_sum(b, terms, {0}),
                                                          ops::constant(b, 1.0), by)
                                   .front());
            std::vector<exec::Tensor> arguments = {exec::Tensor({ir::DType::f32, {3, 4}}),
                                                   exec::Tensor({ir::DType::i32, {3}})};
            std::copy(logits.begin(), logits.end(), arguments[0].span<float>().begin());
            std::copy(classes.begin(), classes.end(), arguments[1].span<std::int32_t>().begin());
            const auto found = exec::interpret(program, arguments);
            const std::vector<double> x(logits.begin(), logits.end());
            for (std::size_t i = 0; i < x.size(); ++i) {
                const auto changed = [&](double by_step) {
                    std::vector<double> other = x;
                    other[i] += by_step;
                    return focal(other, i / 4, gamma);
                };
                const double slope = (changed(1e-6) - changed(-1e-6)) / 2e-6;
                QVERIFY(std::abs(static_cast<double>(found[1].span<float>()[i]) - slope) < 2e-6);
            }
            for (std::size_t sample = 0; sample < 3; ++sample) {
                QVERIFY(std::abs(static_cast<double>(found[0].span<float>()[sample]) -
                                 focal(x, sample, gamma)) < 1e-6);
            }
        }
    }

    // FACTS A: logits 2, -1, 0 with the first as label give 0.405465108.
    void stablemax_gives_the_reference_vector() {
        const StablemaxRun found = run_stablemax({2.0F, -1.0F, 0.0F}, 3, {0});
        QVERIFY(std::abs(found.terms[0] - 0.405465108) < 1e-7);
    }

    void stablemax_in_f32_is_as_good_as_in_f64() {
        // From logits at which half of them is a last digit to those that grokking ends in.
        for (const double size : {1e-6, 0.1, 3.0, 50.0, 1e4}) {
            constexpr std::size_t kClasses = 11;
            std::vector<float> logits;
            std::vector<std::int32_t> labels;
            for (int i = 0; i < 50 * static_cast<int>(kClasses); ++i) {
                logits.push_back(static_cast<float>(size * std::sin(1.0 + 0.7 * i * i)));
            }
            for (int i = 0; i < 50; ++i) {
                labels.push_back(i % 12 - 1); // -1 is ignored
            }
            const StablemaxRun found = run_stablemax(logits, kClasses, labels);
            for (std::size_t n = 0; n < labels.size(); ++n) {
                const std::vector<double> x(logits.begin() + static_cast<long>(n * kClasses),
                                            logits.begin() + static_cast<long>((n + 1) * kClasses));
                double sum = 0;
                for (const double value : x) {
                    sum += stable(value);
                }
                const bool counts = labels[n] >= 0;
                const auto label = static_cast<std::size_t>(std::max(labels[n], 0));
                const double loss = counts ? std::log(sum / stable(x[label])) : 0.0;
                // The last digit of a number around 1 is 6e-8; those of log s(x) here reach 9.
                QVERIFY(std::abs(found.terms[n] - loss) < 2e-6);
                for (std::size_t k = 0; k < kClasses; ++k) {
                    const double slope = x[k] < 0 ? 1 / ((1 - x[k]) * (1 - x[k])) : 1.0;
                    const double own = k == label ? slope / stable(x[k]) : 0.0;
                    const double gradient = counts ? slope / sum - own : 0.0;
                    QVERIFY2(std::abs(found.gradient[n * kClasses + k] - gradient) < 3e-7,
                             std::to_string(size).c_str());
                }
            }
        }
    }

    void stablemax_has_a_gradient_at_zero() {
        const StablemaxRun found = run_stablemax({0.0F, 0.0F}, 2, {0});
        QVERIFY(std::abs(found.gradient[0] + 0.5) < 1e-7);
        QVERIFY(std::abs(found.gradient[1] - 0.5) < 1e-7);
    }
};

WEFT_TEST(LossTest)
#include "loss_test.moc"
