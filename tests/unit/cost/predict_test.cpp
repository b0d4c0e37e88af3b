// SPDX-License-Identifier: Apache-2.0
// Prices of a laid-out plan: every execution counted once, loops included.
#include "core/compile/pipeline.h"
#include "core/compile/predict.h"
#include "tests/support/weft_test.h"
#include "tests/unit/exec/tiny_training.h"

#include <cmath>

using namespace weft;

namespace {

constexpr cost::Limits kPredictLimits{4e10, 2e10, 1e10, 1e-6};

plan::ExecutionPlan plan_of(const test::TinyTraining& training, const cost::CostModel* cost) {
    compile::PipelineOptions options;
    options.threads = 1;
    options.backends = {weft_cpu_backend(), weft_reference_backend()};
    options.cost = cost;
    return compile::build_plan(training.programs(), options);
}

cost::CostModel model() {
    return cost::CostModel(cost::Calibration{{}, cost::Ceilings{kPredictLimits, "", 0, 0}, {}});
}

bool near_price(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

double sum_ms(const std::vector<plan::Step>& steps) {
    double sum = 0;
    for (const plan::Step& step : steps) {
        sum += step.predicted_ms;
    }
    return sum;
}

} // namespace

class PredictTest : public QObject {
    Q_OBJECT

private slots:
    void work_of_a_program_adds_up_to_its_flops() {
        const plan::ExecutionPlan plan = plan_of({.microsteps = 3}, nullptr);
        const plan::PlannedProgram& program = *plan.find("train_step");
        double flops = 0;
        double most = 0;
        for (const cost::Work& work : compile::work_of(program)) {
            flops += work.flops * work.times;
            most = std::max(most, work.times);
            QVERIFY(work.kernel.empty() == work.kind.empty());
            QVERIFY(work.product_flops <= work.flops && work.times >= 1);
        }
        QVERIFY(near_price(flops, program.flops));
        QCOMPARE(most, 3.0);
    }

    void a_program_takes_the_sum_of_its_steps_and_what_is_beside_kernels() {
        const cost::CostModel cost = model();
        const plan::ExecutionPlan plan = plan_of({.microsteps = 3}, &cost);
        for (const plan::PlannedProgram& program : plan.programs) {
            QVERIFY(program.predicted_ms > 0 && program.predicted_error > 0);
            const double beside_ms = cost.op_ms(compile::work_beside_kernels(program));
            QVERIFY(beside_ms > 0);
            QVERIFY(near_price(sum_ms(program.steps) + beside_ms, program.predicted_ms));
            for (const plan::Step& step : program.steps) {
                if (step.is_loop()) {
                    QVERIFY(near_price(step.predicted_ms, 3 * sum_ms(step.steps)));
                }
            }
        }
        QVERIFY(plan.predicted_step_ms);
        QCOMPARE(*plan.predicted_step_ms, plan.find("train_step")->predicted_ms);
        QCOMPARE(plan.predicted_error, plan.find("train_step")->predicted_error);
        QCOMPARE(plan.prediction_basis, cost.basis());
    }

    void without_ceilings_the_plan_says_what_to_do_and_predicts_nothing() {
        const cost::CostModel cost{cost::Calibration{}};
        const plan::ExecutionPlan plan = plan_of({}, &cost);
        QVERIFY(!plan.predicted_step_ms);
        QVERIFY(plan.prediction_basis.find("weft bench machine") != std::string::npos);
        QVERIFY(plan_of({}, nullptr).prediction_basis.empty());
    }

    // Per microstep and sample: two layers forward, their weight gradients, and the input gradient
    // of the second. 2 FLOPs for each weight and sample.
    void products_of_the_model_are_those_of_its_layers() {
        const test::TinyTraining t{.microsteps = 2};
        const double first = static_cast<double>(t.features * t.hidden);
        const double second = static_cast<double>(t.hidden * t.classes);
        const auto samples = static_cast<double>(t.microsteps * t.batch);
        QVERIFY(near_price(plan_of(t, nullptr).model_flops_per_step,
                           2 * samples * (2 * first + 3 * second)));
    }
};

WEFT_TEST(PredictTest)
#include "predict_test.moc"
