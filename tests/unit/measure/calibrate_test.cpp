// SPDX-License-Identifier: Apache-2.0
// What a machine teaches about itself, and what finished runs add. Times are whatever they are:
// what is checked is how they hang together.
#include "core/train/measure/calibrate.h"

#include "core/base/file.h"
#include "core/compile/predict.h"
#include "core/train/measure/machine_cost.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/unit/train/small_run.h"

#include <QTemporaryDir>

#include <algorithm>
#include <cmath>

using namespace weft;
using namespace weft::train;
using weft::test::small_run;

namespace {

cost::Calibration made_up(const cost::MachineKey& machine) {
    return {machine, cost::Ceilings{{2e11, 1e11, 1e10, 1e-6}, "f32 units", 1.7e9, 0}, {}};
}

} // namespace

class CalibrateTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::filesystem::path file() const {
        return std::filesystem::path(folder_.path().toStdString()) / "calibration.json";
    }

private slots:
    void init() { remove_tree(file()); }

    void ceilings_and_classes_are_learnt_from_training_steps() {
        std::vector<std::string> said;
        CalibrateOptions options;
        options.threads = 1;
        options.seconds_each = 0.02;
        options.folder = std::filesystem::path(folder_.path().toStdString()) / "bench";
        options.progress = [&](const std::string& what) { said.push_back(what); };
        const std::vector<compile::RunConfig> configs = {small_run("one", 32, 64),
                                                         small_run("two", 64, 128)};
        const CalibrationReport report = calibrate(configs, options);
        QCOMPARE(said.size(), std::size_t{3});
        QVERIFY(report.calibration.machine == machine_key(1));
        const cost::Limits& limits = report.calibration.ceilings->limits;
        QVERIFY(limits.f32_flops > 1e8 && limits.bf16_flops >= limits.f32_flops);
        QVERIFY(limits.bandwidth > 1e7 && limits.overhead_s > 0 && limits.overhead_s < 1e-2);
        double shares = 0;
        for (const ClassTiming& one : report.classes) {
            QVERIFY(one.correction.factor > 0 && one.correction.samples > 0);
            shares += one.share;
        }
        QCOMPARE(report.steps.size(), configs.size());
        for (const StepTiming& step : report.steps) {
            QVERIFY(step.steps >= 1 && step.measured_ms > 0 && step.utilisation > 0);
            QVERIFY(step.predicted.ms > 0 && step.transferred.ms > 0);
        }
        // A step has more to it than kernels, and with that the parts add up to the whole.
        const auto beside =
            std::find_if(report.classes.begin(), report.classes.end(),
                         [](const ClassTiming& one) { return one.name == "beside kernels"; });
        QVERIFY(beside != report.classes.end() && beside->share > 0);
        QVERIFY2(std::abs(shares - 1) < 1e-9, std::to_string(shares).c_str());
        QVERIFY(!std::filesystem::exists(options.folder));
        // What was learnt prices a plan; without it nothing is priced.
        cost::write_calibration(file(), report.calibration);
        const cost::CostModel model = machine_cost_model(file(), 1);
        QVERIFY(model.available());
        const auto plan = shared_plan(configs[0], {.cost = &model, .threads = 1});
        QVERIFY(std::abs(*plan->predicted_step_ms / report.steps[0].predicted.ms - 1) < 1e-6);
    }

    void a_finished_run_prices_its_program_by_what_its_steps_took() {
        const compile::RunConfig config = small_run("one", 32, 64);
        cost::write_calibration(file(), made_up(machine_key(1)));
        const cost::CostModel before = machine_cost_model(file(), 1);
        const auto plan = shared_plan(config, {.cost = &before, .threads = 1});
        std::vector<double> step_ms(99, 3.0);
        step_ms.back() = 500; // a step beside a checkpoint does not move the median
        QCOMPARE(note_finished_run(file(), 1, *plan, step_ms), std::string());
        const cost::CostModel after = machine_cost_model(file(), 1);
        const auto again = shared_plan(config, {.cost = &after, .threads = 1});
        QVERIFY(std::abs(*again->predicted_step_ms - 3.0) < 1e-9);
        QVERIFY(again->predicted_error < plan->predicted_error);
        // A second run replaces the first; it does not multiply with it.
        QCOMPARE(note_finished_run(file(), 1, *again, std::vector<double>(99, 4.0)), std::string());
        const cost::CostModel last = machine_cost_model(file(), 1);
        QVERIFY(std::abs(*shared_plan(config, {.cost = &last, .threads = 1})->predicted_step_ms -
                         4.0) < 1e-9);
        // Another program is not touched by it.
        const compile::RunConfig other = small_run("one", 48, 64);
        QCOMPARE(*shared_plan(other, {.cost = &last, .threads = 1})->predicted_step_ms,
                 *shared_plan(other, {.cost = &before, .threads = 1})->predicted_step_ms);
    }

    void short_runs_and_unmeasured_machines_teach_nothing() {
        const compile::RunConfig config = small_run("one", 32, 64);
        const auto plan = shared_plan(config, {.threads = 1});
        QCOMPARE(note_finished_run(file(), 1, *plan, std::vector<double>(99, 3.0)), std::string());
        QVERIFY(!std::filesystem::exists(file()));
        cost::write_calibration(file(), made_up(machine_key(1)));
        const std::string text = read_file(file());
        QCOMPARE(note_finished_run(file(), 1, *plan, std::vector<double>(19, 3.0)), std::string());
        QCOMPARE(note_finished_run({}, 1, *plan, std::vector<double>(99, 3.0)), std::string());
        QCOMPARE(read_file(file()), text);
    }

    void a_damaged_file_costs_the_prediction_and_nothing_else() {
        write_file_atomically(file(), "{");
        const cost::CostModel model = machine_cost_model(file(), 1);
        QVERIFY(!model.available());
        QVERIFY2(model.basis().find("damaged") != std::string::npos, model.basis().c_str());
        QVERIFY(model.basis().find("weft bench machine") != std::string::npos);
        QVERIFY(!machine_cost_model({}, 1).available());
    }
};

WEFT_TEST(CalibrateTest)
#include "calibrate_test.moc"
