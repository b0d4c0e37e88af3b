// SPDX-License-Identifier: GPL-3.0-or-later
// Moments of a training step against the plan's own figures.
#include "tests/support/weft_test.h"
#include "tests/ui/small_gpt.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/pipeline_chart.h"
#include "ui/bridge/plan/step_moment.h"

#include <algorithm>
#include <numeric>

namespace {

using namespace weft;
using test::digest_of;
using test::find_op;
using test::kFourDataRanks;
using test::kGpipe;
using test::kTwoByTwo;
using test::small_gpt;
using test::step_of;
using Touch = ui::TensorTouch;

/// Bytes alive at an op by the plan's own list of changes.
std::int64_t alive_at(const plan::PlannedProgram& program, int op) {
    std::int64_t alive = 0;
    for (const auto& [position, bytes] : program.timeline) {
        alive = position <= op ? bytes : alive;
    }
    return alive;
}

bool has(const std::vector<Touch>& touches, const Touch& wanted) {
    return std::find(touches.begin(), touches.end(), wanted) != touches.end();
}

} // namespace

class StepMomentTest : public QObject {
    Q_OBJECT

private slots:
    void bytes_of_a_moment_are_the_plans_own() {
        const auto digest = digest_of(small_gpt(kTwoByTwo));
        const plan::PlannedProgram& program = step_of(*digest);
        const ui::StepMoments moments(digest);
        QVERIFY(!program.timeline.empty());
        for (int position = 0; position < moments.count(); ++position) {
            const ui::StepMoment moment = moments.at(position);
            QCOMPARE(moment.total, alive_at(program, moment.op));
            QCOMPARE(std::accumulate(moment.bytes.begin(), moment.bytes.end(), qint64{0}),
                     moment.total);
        }
        // By category at the peak.
        const auto wanted = plan::bytes_by_category(*digest->plan, program);
        const ui::StepMoment peak = moments.at(moments.positionOf(program.peak_step, 0));
        for (const auto& [position, bytes] : program.timeline) {
            QVERIFY(peak.total >= bytes);
        }
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto category = ui::toWidget(static_cast<plan::Category>(i));
            QCOMPARE(peak.bytes[static_cast<std::size_t>(category)], wanted[i]);
        }
    }

    // 16 samples over two data ranks in microbatches of 4 are two microsteps.
    void a_repeated_microstep_is_shown_as_often_as_it_runs() {
        const auto digest = digest_of(small_gpt(kTwoByTwo));
        const plan::PlannedProgram& program = step_of(*digest);
        const auto& segments = program.segments;
        QCOMPARE(segments.size(), std::size_t{3});
        QCOMPARE(segments[1].repeat, 2);
        const int body = segments[1].steps - 1; // less the loop itself
        const ui::StepMoments moments(digest);
        QCOMPARE(moments.count(), segments[0].steps + 2 * body + segments[2].steps);
        QStringList phases;
        for (const widgets::TimelineSpan& span : moments.timeline().spans) {
            phases.append(span.name);
            QCOMPARE(moments.at(span.first).phase, span.name);
            QCOMPARE(moments.at(span.first + span.count - 1).phase, span.name);
        }
        QCOMPARE(phases.join(" | "), "setup | forward 1 of 2 | backward 1 of 2 | forward 2 of 2 | "
                                     "backward 2 of 2 | update");
        const int inside = segments[0].steps + body / 2;
        const ui::StepMoment first = moments.at(inside);
        const ui::StepMoment second = moments.at(inside + body);
        QCOMPARE(first.op, second.op);
        QCOMPARE(first.total, second.total);
        QCOMPARE(first.microstep, 0);
        QCOMPARE(second.microstep, 1);
        // An op is found where one looks.
        QCOMPARE(moments.positionOf(first.op, 0), inside);
        QCOMPARE(moments.positionOf(first.op, inside + body - 1), inside + body);
        for (int position = 0; position < moments.count(); ++position) {
            QCOMPARE(moments.positionOf(moments.at(position).op, position), position);
        }
    }

    void ops_begin_when_those_before_them_are_predicted_to_end() {
        const auto digest = digest_of(small_gpt(kTwoByTwo), true);
        const ui::StepMoments moments(digest);
        QVERIFY(moments.timed());
        constexpr double kRounding = 1e-9; // sums of a thousand doubles
        const double whole = *digest->plan->predicted_step_ms;
        QVERIFY(std::abs(moments.duration() - whole) <= kRounding * whole);
        double sum = 0;
        for (int position = 0; position < moments.count(); ++position) {
            sum += plan::step_at(step_of(*digest), moments.at(position).op)->predicted_ms;
        }
        // What calibration or work beside the ops adds is shared out.
        const double scale = whole / sum;
        double now = 0;
        for (int position = 0; position < moments.count(); ++position) {
            const ui::StepMoment moment = moments.at(position);
            QVERIFY(std::abs(moment.time - now) <= kRounding * whole);
            now += scale * plan::step_at(step_of(*digest), moment.op)->predicted_ms;
        }
        const int middle = moments.count() / 2;
        QCOMPARE(moments.positionAtTime(moments.at(middle).time + kRounding * whole), middle);
    }

    void without_a_prediction_ops_follow_one_another() {
        const ui::StepMoments moments(digest_of(small_gpt(kTwoByTwo)));
        QVERIFY(!moments.timed());
        QCOMPARE(moments.duration(), static_cast<double>(moments.count()));
        QCOMPARE(moments.atTime(17.5).position, 17);
    }

    // Gradients of data ranks are added up while the backward phase goes on.
    void a_collective_that_hides_is_there_beside_what_hides_it() {
        config::Json document = small_gpt(kFourDataRanks);
        document["model"]["width"] = 1024; // several buckets of gradients
        const auto digest = digest_of(document, true);
        const ui::StepMoments moments(digest);
        const plan::PlannedProgram& program = step_of(*digest);
        const int hidden = find_op(
            program, [](const auto& s) { return !s.op.attributes.text("overlaps", "").empty(); });
        QVERIFY(hidden >= 0);
        const int issued = moments.positionOf(hidden, 0);
        QCOMPARE(moments.at(issued).collective, hidden);
        const ui::StepMoment next = moments.at(issued + 1);
        QCOMPARE(next.time, moments.at(issued).time); // nobody waits for it
        QVERIFY(!plan::collective_of(*plan::step_at(program, next.op)));
        QCOMPARE(next.collective, hidden);
        constexpr double kRounding = 1e-9;
        const double whole = *digest->plan->predicted_step_ms;
        QVERIFY(std::abs(moments.duration() - whole) <= kRounding * whole);
        QStringList phases;
        for (const widgets::TimelineSpan& span : moments.timeline().spans) {
            phases.append(span.name);
        }
        QCOMPARE(phases.join(" | "), "forward | backward | update");
    }

    void a_collective_is_named_with_its_axis() {
        const auto digest = digest_of(small_gpt(kTwoByTwo));
        const ui::StepMoments moments(digest);
        const auto all = plan::collectives(step_of(*digest));
        QVERIFY(!all.empty());
        QCOMPARE(moments.timeline().ticks.size(),
                 std::accumulate(all.begin(), all.end(), 0.0,
                                 [](double sum, const auto& one) { return sum + one.count; }));
        for (const plan::Collective& one : all) {
            const ui::StepMoment moment = moments.at(moments.positionOf(one.position, 0));
            QCOMPARE(moment.collective, one.position);
            QVERIFY(moment.title.contains("over " + QString::fromStdString(one.axes.front())));
            QVERIFY(std::find(moments.timeline().ticks.begin(), moments.timeline().ticks.end(),
                              moment.position) != moments.timeline().ticks.end());
        }
    }

    void actions_of_a_pipeline_happen_when_its_schedule_says() {
        const auto digest = digest_of(small_gpt(kGpipe), true);
        const plan::Pipeline& pipeline = *digest->plan->pipeline;
        const ui::StepMoments moments(digest);
        constexpr double kRounding = 1e-9;
        const double whole = *digest->plan->predicted_step_ms;
        QVERIFY(std::abs(moments.duration() - whole) <= kRounding * whole);
        const auto own = static_cast<std::size_t>(digest->stage);
        const ui::PipelineChart chart = ui::predictedChart(pipeline, ui::scheduleOf(pipeline));
        const double before = moments.timeOfAction(0, 0); // stage 0 begins the schedule
        for (int action = 0; action < static_cast<int>(pipeline.times[own].size()); ++action) {
            const plan::ActionTime& time = pipeline.times[own][static_cast<std::size_t>(action)];
            const ui::StepMoment first = moments.at(moments.positionOfAction(action));
            QVERIFY(std::abs(first.time - before - time.start_ms) <= kRounding * whole);
            QCOMPARE(first.stages[own].action.toStdString(), time.action);
            QVERIFY(std::abs(ui::chartTime(chart.data, first.place) - time.start_ms) <=
                    kRounding * whole);
            const ui::StepMoment middle =
                moments.atTime(before + (time.start_ms + time.end_ms) / 2);
            QVERIFY(middle.place.runs);
            QCOMPARE(middle.place.action, action);
            QVERIFY(std::abs(ui::chartTime(chart.data, middle.place) + before - middle.time) <=
                    kRounding * whole);
        }
    }

    void every_stage_holds_what_its_own_program_holds_then() {
        const auto digest = digest_of(small_gpt(kGpipe), true);
        const plan::Pipeline& pipeline = *digest->plan->pipeline;
        const ui::StepMoments moments(digest);
        const double before = moments.timeOfAction(0, 0);
        for (std::size_t stage = 0; stage < pipeline.times.size(); ++stage) {
            const plan::PlannedProgram& program = step_of(*digest, static_cast<int>(stage));
            const plan::ActionTime& time = pipeline.times[stage][1];
            const ui::StepMoment moment =
                moments.atTime(before + (time.start_ms + time.end_ms) / 2);
            QCOMPARE(moment.stages[stage].action.toStdString(), time.action);
            bool found = false; // it is one of the states of the action's ops
            for (int op = 0; const plan::Step* step = plan::step_at(program, op); ++op) {
                found = found || (step->op.action == time.action &&
                                  alive_at(program, op) == moment.stages[stage].total);
            }
            QVERIFY(found);
        }
        // While it waits it does nothing: the last stage, before anything has come to it.
        QCOMPARE(moments.atTime(before).stages.back().action, QString());
    }

    void around_its_schedule_a_stage_updates_and_does_not_wait() {
        const auto digest = digest_of(small_gpt(kGpipe), true);
        const ui::StepMoments moments(digest);
        const auto own = static_cast<std::size_t>(digest->stage);
        const ui::StepMoment last = moments.at(moments.count() - 1);
        QCOMPARE(last.stages[own].around, QString("update"));
        QVERIFY(last.stages[own].action.isEmpty());
        const ui::StepMoment acts = moments.at(moments.positionOfAction(0));
        QVERIFY(acts.stages[own].around.isEmpty());
        QVERIFY(moments.atTime(moments.timeOfAction(0, 0)).stages.back().around.isEmpty());
    }

    // Huang et al. 2019, figure 2c, with even stages: the last forward of stage 3 of 4 begins after
    // 3 + 3 others.
    void an_unpredicted_pipeline_runs_in_forwards_of_even_stages() {
        const auto digest = digest_of(small_gpt(kGpipe));
        const ui::StepMoments moments(digest);
        QVERIFY(!moments.timed());
        QCOMPARE(moments.timeOfAction(3, 3) - moments.timeOfAction(0, 0), 6.0);
    }

    void ops_touch_what_they_read_and_write() {
        using ui::TensorSide;
        const auto digest = digest_of(small_gpt(kTwoByTwo, "bf16"));
        const plan::PlannedProgram& program = step_of(*digest);
        const ui::StepMoments moments(digest);
        const auto touches = [&](ir::Phase phase, const std::string& kind) {
            const int op = find_op(program, [&](const plan::Step& step) {
                // With the gelu, where the machine has a kernel for both.
                return (step.op.kind == kind || step.op.kind == kind + "_gelu") &&
                       step.op.path == "blocks.2.mlp.up" && step.op.phase == phase;
            });
            return moments.at(moments.positionOf(op, 0)).touches;
        };
        const QString weight = "blocks.2.mlp.up.weight";
        // A product reads the bf16 copy of the weight: that is the parameter too.
        QVERIFY(has(touches(ir::Phase::forward, "linear"),
                    {weight, TensorSide::Parameter, true, false}));
        // The update reads gradient, parameter and moments and writes the last two.
        const int update = find_op(program, [&](const plan::Step& step) {
            return std::any_of(step.outputs.begin(), step.outputs.end(), [&](const auto& output) {
                return output.buffer >= 0 &&
                       program.buffers[static_cast<std::size_t>(output.buffer)].name ==
                           weight.toStdString();
            });
        });
        const auto updated = moments.at(moments.positionOf(update, 0)).touches;
        QVERIFY(has(updated, {weight, TensorSide::Parameter, true, true}));
        QVERIFY(has(updated, {weight, TensorSide::Optimizer, true, true}));
        QVERIFY(has(updated, {weight, TensorSide::Gradient, true, false}));
        // Its gradient is written in the backward phase.
        bool written = false;
        for (int op = 0; op < static_cast<int>(digest->ops.size()); ++op) {
            const plan::Step& step = *plan::step_at(program, op);
            if (step.op.phase == ir::Phase::backward && step.op.path == "blocks.2.mlp.up") {
                for (const Touch& touch : moments.at(moments.positionOf(op, 0)).touches) {
                    written = written || (touch.tensor == weight && touch.written &&
                                          touch.side == TensorSide::Gradient);
                    QVERIFY(touch.side != TensorSide::Parameter || !touch.written);
                }
            }
        }
        QVERIFY(written);
    }
};

WEFT_TEST(StepMomentTest)
#include "step_moment_test.moc"
