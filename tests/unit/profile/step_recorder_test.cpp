// SPDX-License-Identifier: Apache-2.0
// What the recorder keeps of a plan's calls, told by hand with a clock of the test's own.
#include "core/profile/step_recorder.h"
#include "core/profile/time_table.h"
#include "tests/support/weft_test.h"
#include "tests/unit/exec/tiny_training.h"

#include <map>

using namespace weft;

namespace {

constexpr double kCallSeconds = 0.25; // a binary fraction: sums are exact
constexpr double kGapSeconds = 0.125;

std::shared_ptr<const plan::ExecutionPlan> tiny_plan() {
    compile::PipelineOptions options;
    options.backends = {weft_reference_backend()};
    return std::make_shared<plan::ExecutionPlan>(
        compile::build_plan(test::TinyTraining{.microsteps = 3}.programs(), options));
}

/// Runs the program as an executor would, without any kernel. Returns the calls made.
class ToldRun {
public:
    ToldRun(exec::StepObserver& observer, ManualClock& clock)
        : observer_(observer), clock_(clock) {}

    int run(const std::vector<plan::Step>& steps, int position = 0) {
        for (const plan::Step& step : steps) {
            if (step.is_loop()) {
                const int body = position + 1;
                for (std::int64_t visit = 0; visit < step.count; ++visit) {
                    position = run(step.steps, body);
                }
                continue;
            }
            clock_.advance(kGapSeconds);
            const double start_s = clock_.steady_s();
            clock_.advance(kCallSeconds);
            observer_.step_done(step, position++, start_s, clock_.steady_s());
            ++calls;
        }
        return position;
    }

    int calls = 0;

private:
    exec::StepObserver& observer_;
    ManualClock& clock_;
};

} // namespace

class StepRecorderTest : public QObject {
    Q_OBJECT
private slots:
    void the_times_of_a_recording_sum_up_to_the_walls_of_its_steps() {
        const auto plan = tiny_plan();
        ManualClock clock(1.7e9);
        clock.advance(1000);
        profile::StepRecorder recorder(plan, cost::CostModel(cost::Calibration{}), {"cpu:0"}, 2,
                                       clock);
        int calls = 0;
        for (std::int64_t step = 5; step < 7; ++step) {
            recorder.begin_step(step);
            clock.advance(0.5);
            recorder.batch_ready();
            ToldRun told(recorder.observer(0), clock);
            told.run(plan->find("train_step")->steps);
            calls = told.calls;
            recorder.computed();
            clock.advance(0.25);
            recorder.end_step();
            clock.advance(10); // an evaluation is no part of any step
        }
        const profile::Recording recording = recorder.recording("run");
        QCOMPARE(recording.dropped, 0);
        QCOMPARE(recording.steps.size(), 2U);
        QCOMPARE(recording.steps[1].step, 6);
        QCOMPARE(recording.devices[0].events.size(), static_cast<std::size_t>(2 * calls));
        const auto parts = profile::time_table(recording, profile::Grouping::op).mean;
        QCOMPARE(parts.loader_us, 0.5e6);
        QCOMPARE(parts.host_us, 0.25e6);
        QCOMPARE(parts.compute_us, calls * kCallSeconds * 1e6);
        QCOMPARE(parts.between_us, calls * kGapSeconds * 1e6);
        QCOMPARE(parts.wall_us, 0.75e6 + parts.compute_us + parts.between_us);
    }

    void calls_of_a_loop_are_told_apart_from_those_around_it() {
        const auto plan = tiny_plan();
        ManualClock clock;
        profile::StepRecorder recorder(plan, cost::CostModel(cost::Calibration{}), {"cpu:0"}, 1,
                                       clock);
        recorder.begin_step(1);
        recorder.batch_ready();
        ToldRun(recorder.observer(0), clock).run(plan->find("train_step")->steps);
        recorder.computed();
        recorder.end_step();
        const profile::Recording recording = recorder.recording("run");
        std::map<int, int> executions;
        for (const profile::Event& event : recording.devices[0].events) {
            ++executions[event.call];
        }
        QCOMPARE(executions.size(), recording.calls.size());
        for (const auto& [call, count] : executions) {
            const bool updates = recording.calls[static_cast<std::size_t>(call)].phase == "update";
            QVERIFY(!updates || count == 1);
            QVERIFY(count == 1 || count == 3);
        }
    }

    void a_step_has_as_many_events_as_it_makes_calls() {
        const auto plan = tiny_plan();
        ManualClock clock;
        profile::StepRecorder recorder(plan, cost::CostModel(cost::Calibration{}), {"cpu:0"}, 1,
                                       clock);
        ToldRun told(recorder.observer(0), clock);
        told.run(plan->find("train_step")->steps);
        QCOMPARE(profile::events_of_step(*plan), told.calls);
    }

    void calls_that_find_no_room_are_counted() {
        const auto plan = tiny_plan();
        ManualClock clock;
        profile::StepRecorder recorder(plan, cost::CostModel(cost::Calibration{}), {"cpu:0"}, 1,
                                       clock);
        recorder.begin_step(1);
        recorder.batch_ready();
        ToldRun told(recorder.observer(0), clock);
        told.run(plan->find("train_step")->steps);
        told.run(plan->find("train_step")->steps);
        recorder.computed();
        recorder.end_step();
        QCOMPARE(recorder.recording("run").dropped, told.calls / 2);
    }
};

WEFT_TEST(StepRecorderTest)
#include "step_recorder_test.moc"
