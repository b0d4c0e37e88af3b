// SPDX-License-Identifier: Apache-2.0
// What models that make samples are trained on beside the bound of variational ones: the two sides
// of an adversarial loss, and the density of a flow. Losses and gradients against their definitions
// in double; a flow against a numerical determinant.
#include "core/autodiff/gradients.h"
#include "core/exec/interpreter.h"
#include "core/nn/loss_def.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <functional>
#include <numbers>

using namespace weft;
using namespace weft::test;
using config::Json;

namespace {

using Doubles = std::vector<double>;

/// Objectives of a loss, and the gradient of each by every value that it reads, [samples] each.
struct ObjectiveRun {
    std::vector<exec::Tensor> terms;
    std::vector<std::vector<exec::Tensor>> gradients; // by objective and input
};

ObjectiveRun run_objectives(const nn::LossDef& loss, const Json& settings,
                            const std::vector<std::pair<std::string, std::vector<float>>>& reads,
                            const exec::Tensor& output) {
    ir::Program program;
    program.name = "loss";
    std::vector<std::pair<std::string, ir::ValueId>> published;
    std::vector<exec::Tensor> arguments = {output};
    nn::Prediction prediction{program.add_argument(ir::Role::batch, "output", output.type), {}};
    std::vector<ir::ValueId> by = {prediction.output};
    for (const auto& [name, values] : reads) {
        const ir::Shape shape{std::ssize(values)};
        by.push_back(program.add_argument(ir::Role::batch, name, {ir::DType::f32, shape}));
        published.emplace_back(name, by.back());
        arguments.push_back(f32(shape, values));
    }
    prediction.published = &published;
    prediction.settings = &settings;
    ops::Builder b(program, program.body);
    const auto objectives = nn::objectives_of(loss, b, settings, prediction);
    for (const nn::Objective& one : objectives) {
        program.add_result(ir::Role::output, "terms", one.terms);
        for (const ir::ValueId value : autodiff::append_gradients(
                 b, ops::reduce_sum(b, one.terms, {0}), ops::constant(b, 1.0), by)) {
            program.add_result(ir::Role::output, "gradient", value);
        }
    }
    const auto found = exec::interpret(program, arguments);
    ObjectiveRun out;
    std::size_t next = 0;
    for (std::size_t i = 0; i < objectives.size(); ++i) {
        out.terms.push_back(found[next++]);
        out.gradients.emplace_back();
        for (std::size_t k = 0; k < by.size(); ++k) {
            out.gradients.back().push_back(found[next++]);
        }
    }
    return out;
}

double soft(double x) {
    return x > 30 ? x : std::log1p(std::exp(x));
}

/// Of the discriminator and of the generator, by the scores of a sample and a made one.
std::array<double, 2> sides(const std::string& kind, double real, double fake) {
    if (kind == "non_saturating") {
        return {soft(-real) + soft(fake), soft(-fake)};
    }
    if (kind == "hinge") {
        return {std::max(0.0, 1 - real) + std::max(0.0, 1 + fake), -fake};
    }
    return {fake - real, -fake};
}

data::SampleInfo four_values() {
    return sample_of({ir::DType::f32, {4}}, {ir::DType::i32, {}}, 3);
}

/// One sample, one device; the last layers say something, which at the start they do not.
Run flow_run(bool levels) {
    Run run(checked_config(R"({"model": {"type": "flow", "couplings": 4, "hidden": [6],
        "temperature": 1.0}, "seed": 3, "training": {"global_batch_size": 1, "precision": "f32"}})",
                           {levels ? "model.levels=16" : "model.levels=null"}),
            four_values());
    double phase = 0.1;
    for (auto& [name, value] : run.state) {
        if (name.starts_with("couplings.")) {
            const std::vector<float> values = wave(value.type.shape.elements(), phase += 0.37);
            std::copy(values.begin(), values.end(), value.span<float>().begin());
        }
    }
    return run;
}

Doubles made_of(Run& run, const Doubles& latents) {
    Arrays in;
    in["latents"] = f32({1, 4}, {latents.begin(), latents.end()});
    in["labels"] = i32({1}, {2});
    const auto made = run.run("make", in).at("samples");
    return {made.span<float>().begin(), made.span<float>().end()};
}

double nats_of(Run& run, const Doubles& sample, std::int32_t label = 2) {
    Arrays in;
    in["inputs"] = f32({1, 4}, {sample.begin(), sample.end()});
    in["targets"] = i32({1}, {label});
    in["weights"] = f32({1}, {1.0F});
    in["random"] = i64({3}, {3, 0, 0});
    return static_cast<double>(scalar_of(run.run("evaluate", in).at("loss_sum")));
}

/// By elimination with the largest pivot.
double log_determinant(std::vector<Doubles> rows) {
    double out = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto best = std::max_element(
            rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
            [&](const Doubles& a, const Doubles& b) { return std::abs(a[i]) < std::abs(b[i]); });
        std::swap(rows[i], *best);
        out += std::log(std::abs(rows[i][i]));
        for (std::size_t k = i + 1; k < rows.size(); ++k) {
            const double share = rows[k][i] / rows[i][i];
            for (std::size_t j = i; j < rows.size(); ++j) {
                rows[k][j] -= share * rows[i][j];
            }
        }
    }
    return out;
}

} // namespace

class DensityTest : public QObject {
    Q_OBJECT
private slots:
    void both_sides_and_their_gradients_are_those_of_the_definition_data() {
        QTest::addColumn<QByteArray>("kind");
        for (const char* kind : {"non_saturating", "hinge", "wasserstein"}) {
            QTest::newRow(kind) << QByteArray(kind);
        }
    }

    // No score lies on a bend of the hinge.
    void both_sides_and_their_gradients_are_those_of_the_definition() {
        QFETCH(QByteArray, kind);
        constexpr double kStep = 1e-5;
        const std::vector<float> real = {0.0F, 2.5F, -50.0F, 0.75F};
        const std::vector<float> fake = {0.5F, -3.0F, 40.0F, -0.25F};
        const std::vector<float> slopes = {0.1F, 0.0F, 2.0F, 1.5F};
        const Json settings = {{"kind", kind.toStdString()}};
        const ObjectiveRun found =
            run_objectives(nn::kAdversarialLoss, settings,
                           {{"real_score", real}, {"fake_score", fake}, {"slope_penalty", slopes}},
                           f32({4, 1}, std::vector<float>(4, 0.0F)));
        QCOMPARE(found.terms.size(), std::size_t{2});
        for (std::size_t side = 0; side < 2; ++side) {
            for (std::size_t i = 0; i < real.size(); ++i) {
                const double r = static_cast<double>(real[i]);
                const double f = static_cast<double>(fake[i]);
                const auto at = [&](double dr, double df) {
                    return sides(kind.toStdString(), r + dr, f + df)[side];
                };
                const double penalty = side == 0 ? static_cast<double>(slopes[i]) : 0.0;
                const auto near = [](const exec::Tensor& is, std::size_t k, double expected) {
                    return std::abs(static_cast<double>(is.span<float>()[k]) - expected) <
                           1e-5 * (1 + std::abs(expected));
                };
                QVERIFY(near(found.terms[side], i, at(0, 0) + penalty));
                const auto& gradients = found.gradients[side];
                QVERIFY(near(gradients[1], i, (at(kStep, 0) - at(-kStep, 0)) / (2 * kStep)));
                QVERIFY(near(gradients[2], i, (at(0, kStep) - at(0, -kStep)) / (2 * kStep)));
                QVERIFY(near(gradients[3], i, side == 0 ? 1.0 : 0.0));
            }
        }
    }

    void the_density_of_latents_and_its_gradient_are_those_of_the_definition() {
        const std::vector<float> latents = {0.0F, -1.5F, 2.0F, 0.25F, 3.0F, -0.5F};
        const std::vector<float> determinants = {-2.0F, 7.5F};
        const ObjectiveRun found =
            run_objectives(nn::kNegativeLogLikelihoodLoss, Json::object(),
                           {{"log_determinant", determinants}}, f32({2, 3}, latents));
        for (std::size_t sample = 0; sample < 2; ++sample) {
            double nats =
                1.5 * std::log(2 * std::numbers::pi) - static_cast<double>(determinants[sample]);
            for (std::size_t k = 3 * sample; k < 3 * sample + 3; ++k) {
                nats += 0.5 * std::pow(static_cast<double>(latents[k]), 2);
                QCOMPARE(found.gradients[0][0].span<float>()[k], latents[k]);
            }
            const auto is = static_cast<double>(found.terms[0].span<float>()[sample]);
            QVERIFY(std::abs(is - nats) < 1e-5 * std::abs(nats));
            QCOMPARE(found.gradients[0][1].span<float>()[sample], -1.0F);
        }
    }

    // Change of variables with the determinant of the way back, taken by differences: what the
    // model says of a sample that it made itself.
    void a_flow_knows_the_density_of_what_it_makes() {
        constexpr double kStep = 1e-2; // f32 makes samples; the map has no sharp turns
        Run run = flow_run(false);
        const Doubles latents = {0.3, -0.8, 1.1, 0.2};
        const Doubles sample = made_of(run, latents);
        std::vector<Doubles> jacobian;
        double squares = 0;
        for (std::size_t i = 0; i < latents.size(); ++i) {
            Doubles above = latents;
            Doubles below = latents;
            above[i] += kStep;
            below[i] -= kStep;
            const Doubles a = made_of(run, above);
            const Doubles b = made_of(run, below);
            jacobian.emplace_back();
            for (std::size_t k = 0; k < a.size(); ++k) {
                jacobian.back().push_back((a[k] - b[k]) / (2 * kStep));
            }
            squares += latents[i] * latents[i];
        }
        const double expected =
            0.5 * squares + 2 * std::log(2 * std::numbers::pi) + log_determinant(jacobian);
        const double is = nats_of(run, sample);
        // differences of second order, where a relu bends of first
        QVERIFY2(std::abs(is - expected) < 0.02,
                 qPrintable(QString("%1 for %2").arg(is).arg(expected)));
    }

    void a_sample_whose_class_nobody_knows_is_one_of_no_class() {
        Run run = flow_run(false);
        const Doubles sample = {0.3, -0.8, 1.1, 0.2};
        const double of_none = nats_of(run, sample, 3);
        QCOMPARE(nats_of(run, sample, -1), of_none);
        QVERIFY(std::abs(nats_of(run, sample, 2) - of_none) > 1e-3);
    }

    // With nothing learnt a level has the probability of its interval under a logistic map: in
    // closed form, which what is drawn within the level bounds from above.
    void a_level_has_about_the_probability_of_its_interval() {
        Run run = flow_run(true);
        for (auto& [name, value] : run.state) {
            if (name.starts_with("couplings.")) {
                std::fill(value.span<float>().begin(), value.span<float>().end(), 0.0F);
            }
        }
        const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
        const auto logit = [](double p) { return std::log(p / (1 - p)); };
        for (const int level : {0, 7, 15}) {
            const double low = logit(0.05 + 0.9 * level / 16);
            const double high = logit(0.05 + 0.9 * (level + 1) / 16);
            const double nats = -4 * std::log(normal(high) - normal(low));
            const double is = nats_of(run, Doubles(4, level / 15.0));
            QVERIFY2(std::abs(is - nats) < 0.1 * nats, qPrintable(QString::number(is)));
        }
    }

    void settings_that_do_not_go_together_are_refused_data() {
        QTest::addColumn<QString>("document");
        QTest::addColumn<QString>("said");
        QTest::newRow("no penalty")
            << R"({"model": {"type": "gan"}, "loss": {"type": "adversarial", "kind": "wasserstein"}})"
            << "gradient_penalty is 0";
        QTest::newRow("a pipeline")
            << R"({"model": {"type": "gan"}, "mesh": {"strategy": "pipeline", "devices": "cpu:2"}})"
            << "no pipeline";
        QTest::newRow("moved pixels")
            << R"({"model": {"type": "flow"}, "data": {"train": {"type": "idx", "path": "unused"},
                    "transforms": [{"type": "normalize"}]}})"
            << "values from 0 to 1";
        QTest::newRow("no convolution") << R"({"model": {"type": "gan", "channels": []}})"
                                        << "no convolution";
    }

    void settings_that_do_not_go_together_are_refused() {
        QFETCH(QString, document);
        QFETCH(QString, said);
        std::string problems;
        try {
            const auto config = checked_config(document.toStdString(), {});
            compile::build_programs(
                config, sample_of({ir::DType::f32, {8, 8, 1}}, {ir::DType::i32, {}}, 10));
        } catch (const Error& error) {
            problems = error.message();
        } catch (const std::exception& error) {
            problems = error.what();
        }
        QVERIFY2(problems.find(said.toStdString()) != std::string::npos, problems.c_str());
    }

    void odd_numbers_of_values_have_no_halves() {
        const auto config = checked_config(R"({"model": {"type": "flow", "levels": null}})", {});
        try {
            compile::build_programs(config,
                                    sample_of({ir::DType::f32, {5}}, {ir::DType::i32, {}}, 3));
            QFAIL("accepted");
        } catch (const Error& error) {
            QVERIFY(error.text().find("two halves") != std::string::npos);
            QVERIFY(!error.hint().empty());
        }
    }
};

WEFT_TEST(DensityTest)
#include "density_test.moc"
