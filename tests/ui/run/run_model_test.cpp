// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "ui/bridge/run/curve_metric.h"
#include "ui/bridge/run/run_model.h"

#include <QSignalSpy>

namespace {

using namespace weft;

train::Event at(double time, train::Payload payload) {
    return {0, time, std::move(payload)};
}

train::StepEvent step(std::int64_t number, double loss) {
    train::StepEvent event;
    event.step = number;
    event.epoch = static_cast<double>(number) / 10;
    event.loss = loss;
    event.learning_rate = 0.1;
    event.grad_norm = 1;
    return event;
}

train::StateEvent state(train::RunState value, std::int64_t total = 0) {
    train::StateEvent event;
    event.state = value;
    event.total_steps = total;
    return event;
}

} // namespace

class RunModelTest : public QObject {
    Q_OBJECT

private slots:
    void steps_become_columns_of_one_length() {
        ui::RunModel model;
        QSignalSpy appended(&model, &ui::RunModel::stepsAppended);
        model.begin("runs/a", {});
        model.apply({at(100, state(train::RunState::running, 50)), at(101, step(1, 2.0)),
                     at(102, step(2, 1.5))});
        model.apply({at(103, step(3, 1.25))});
        QCOMPARE(model.steps().loss, (std::vector<double>{2.0, 1.5, 1.25}));
        QCOMPARE(model.steps().seconds, (std::vector<double>{1, 2, 3}));
        QCOMPARE(appended.count(), 2);
        QCOMPARE(appended.at(1).at(0).value<std::size_t>(), std::size_t{2});
        QCOMPARE(model.totalSteps(), 50);
        QCOMPARE(model.progress(), 3.0 / 50.0);
    }

    void how_far_data_are_read_is_known_until_the_next_phase() {
        ui::RunModel model;
        model.begin("runs/a", {});
        model.apply(
            {at(10, state(train::RunState::preparing)),
             at(12, train::OpeningEvent{{.name = "prices.csv", .unit = "rows", .done = 7}, 2.0})});
        QVERIFY(model.opening().has_value());
        QCOMPARE(model.opening()->opening.done, 7);
        model.apply({at(13, state(train::RunState::preparing))});
        QVERIFY(!model.opening().has_value());
    }

    void a_pause_is_not_training_time() {
        ui::RunModel model;
        model.begin("runs/a", {});
        model.apply({at(10, state(train::RunState::running)), at(12, step(1, 1)),
                     at(13, state(train::RunState::paused)),
                     at(53, state(train::RunState::running)), at(54, step(2, 1))});
        QCOMPARE(model.secondsTrained(), 4.0);
    }

    void no_time_left_is_shown_during_the_first_steps() {
        ui::RunModel model;
        model.begin("runs/a", {});
        std::vector<train::Event> events{at(0.5, state(train::RunState::running, 100))};
        for (int i = 1; i <= 29; ++i) {
            events.push_back(at(0.5 + i, step(i, 1)));
        }
        model.apply(events);
        QVERIFY(model.secondsLeft() < 0);
        model.apply({at(30.5, step(30, 1))});
        QCOMPARE(model.secondsLeft(), 70.0);
    }

    void a_resume_takes_back_the_steps_after_its_checkpoint() {
        ui::RunModel model;
        QSignalSpy rewound(&model, &ui::RunModel::stepsRewound);
        model.begin("runs/a", {});
        model.apply({at(1, state(train::RunState::running, 100)), at(2, step(1, 3)),
                     at(3, step(2, 2)), at(4, step(3, 1))});
        model.apply({at(60, train::ResumedEvent{"checkpoints/step-00000002", 2}),
                     at(61, state(train::RunState::running, 100)), at(62, step(3, 1.5))});
        QCOMPARE(rewound.count(), 1);
        QCOMPARE(model.steps().step, (std::vector<double>{1, 2, 3}));
        QCOMPARE(model.steps().loss, (std::vector<double>{3, 2, 1.5}));
        QCOMPARE(model.abandoned().size(), std::size_t{1});
        QCOMPARE(model.abandoned()[0].step, (std::vector<double>{3}));
        QCOMPARE(model.abandoned()[0].loss, (std::vector<double>{1}));
        QCOMPARE(model.resumes(), std::vector<std::int64_t>{2});
        QCOMPARE(model.secondsTrained(), 3.0); // two before, one after
    }

    void the_best_metric_knows_its_step_and_direction() {
        ui::RunModel model;
        model.begin("runs/a", {});
        const auto evaluation = [](std::int64_t number, double loss, double accuracy) {
            return train::EvaluationEvent{
                number, {{"validation/loss", loss}, {"validation/accuracy", accuracy}}};
        };
        model.apply({at(1, evaluation(10, 0.5, 0.8)), at(2, evaluation(20, 0.3, 0.9)),
                     at(3, evaluation(30, 0.4, 0.95))});
        QCOMPARE(model.bestMetric({"validation/loss", true})->step, 20.0);
        QCOMPARE(model.bestMetric({"validation/accuracy", false})->step, 30.0);
        QCOMPARE(*model.lastMetric("validation/loss"), 0.4);
        QVERIFY(!model.bestMetric({"validation/f1", false}));
    }

    void an_evaluation_lies_where_its_point_is_on_every_axis() {
        ui::RunModel model;
        model.begin("runs/a", {});
        model.apply({at(100, state(train::RunState::running, 50)), at(101, step(1, 2.0)),
                     at(105, train::EvaluationEvent{1, {{"validation/loss", 1.5}}}),
                     at(106, step(2, 1.5))});
        const ui::CurveMetric loss = ui::curveMetric(model, "loss");
        for (const ui::XAxis axis : {ui::XAxis::Step, ui::XAxis::Epoch, ui::XAxis::Seconds,
                                     ui::XAxis::Wall, ui::XAxis::RelativeStep}) {
            std::vector<double> x;
            std::vector<double> y;
            ui::readEvaluations(model, loss, axis, 10, x, y);
            QCOMPARE(x.size(), std::size_t{1});
            QCOMPARE(ui::xOfEvaluation(model, axis, 1), std::optional(x[0]));
        }
        QVERIFY(*ui::xOfEvaluation(model, ui::XAxis::Seconds, 1) >
                *ui::xOfStep(model, ui::XAxis::Seconds, 1));
        QVERIFY(!ui::xOfEvaluation(model, ui::XAxis::Step, 2));
    }

    void phases_get_their_times_when_the_next_one_begins() {
        ui::RunModel model;
        model.begin("runs/a", {});
        train::StateEvent opening = state(train::RunState::preparing);
        opening.phase = "opening data";
        train::StateEvent compiling = state(train::RunState::preparing);
        compiling.phase = "compiling";
        compiling.phase_ms = 120;
        train::StateEvent running = state(train::RunState::running);
        running.phase_ms = 30;
        model.apply({at(1, state(train::RunState::validating)), at(1, opening), at(2, compiling)});
        QCOMPARE(model.phases().size(), std::size_t{2});
        QCOMPARE(model.phases()[0].ms, 120.0);
        QVERIFY(model.phases()[1].ms < 0);
        model.apply({at(3, running)});
        QCOMPARE(model.phases()[1].ms, 30.0);
    }

    void a_run_measured_in_minutes_progresses_by_time() {
        compile::RunConfig config;
        config.length = {compile::Cadence::Unit::minutes, 2};
        ui::RunModel model;
        model.begin("runs/a", config);
        QCOMPARE(model.progress(), 0.0);
        model.apply({at(10, state(train::RunState::running)), at(40, step(1, 1)),
                     at(50, state(train::RunState::paused)),
                     at(500, state(train::RunState::running)), at(520, step(2, 1))});
        QCOMPARE(model.secondsTrained(), 60.0); // 40 before the pause, 20 after
        QCOMPARE(model.progress(), 0.5);
        QCOMPARE(model.secondsLeft(), 60.0);
        model.apply({at(600, step(3, 1))}); // the last step may end a little late
        QCOMPARE(model.progress(), 1.0);
        QCOMPARE(model.secondsLeft(), 0.0);
    }

    void the_speed_is_of_the_last_seconds_and_does_not_jump_with_a_step() {
        ui::RunModel model;
        model.begin("runs/a", {});
        const auto timed = [](std::int64_t number, double ms) {
            train::StepEvent event = step(number, 1);
            event.step_ms = ms;
            event.samples_per_s = 32 / (ms * 1e-3); // 32 samples a step
            return event;
        };
        QCOMPARE(model.speed().per_second, 0.0);
        for (int i = 1; i <= 100; ++i) {
            model.apply({at(i * 0.1, timed(i, 100))});
        }
        QVERIFY(std::abs(model.speed().per_second - 320) < 0.01); // 10 steps a second
        QVERIFY(std::abs(model.speed().step_ms - 100) < 0.01);
        model.apply({at(10.3, timed(101, 300))});
        // One slow step among about twenty: 32 * 21 samples in 2 + 0.3 s.
        QVERIFY(model.speed().per_second > 270);
        QVERIFY(!model.speed().tokens);
    }

    void a_language_model_is_measured_in_tokens() {
        ui::RunModel model;
        model.begin("runs/a", {});
        train::StepEvent event = step(1, 1);
        event.step_ms = 500;
        event.samples_per_s = 16;
        event.tokens_per_s = 16 * 128;
        model.apply({at(1, event)});
        QVERIFY(model.speed().tokens);
        QCOMPARE(model.speed().per_second, 2048.0);
    }

    void without_a_known_length_there_is_no_progress() {
        ui::RunModel model;
        model.begin("runs/a", {});
        model.apply({at(10, state(train::RunState::running)), at(40, step(1, 1))});
        QVERIFY(model.progress() < 0);
        QVERIFY(model.secondsLeft() < 0);
    }
};

WEFT_TEST(RunModelTest)
#include "run_model_test.moc"
