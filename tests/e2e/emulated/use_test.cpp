// SPDX-License-Identifier: Apache-2.0
// What emulated GPUs say that they did in a step, whose clock is that of the host.
#include "core/base/clock.h"
#include "core/train/compute.h"
#include "core/train/measure/timed_session.h"
#include "core/train/record/devices_event.h"
#include "tests/e2e/emulated/emulated_run.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>

using namespace weft;

namespace {

const test::EmulatedModel& model_called(const char* name) {
    const auto& models = test::emulated_models();
    const auto model = std::find_if(models.begin(), models.end(),
                                    [&](const auto& one) { return one.name == name; });
    WEFT_CHECK(model != models.end(), "there is such a model");
    return *model;
}

/// Some steps, and what is told of the last.
struct Told {
    std::shared_ptr<const plan::ExecutionPlan> plan;
    std::vector<exec::DeviceUse> uses;
    train::DevicesEvent event;
    double start_s = 0, end_s = 0; // of the last step, as seen from outside
};

Told tell(test::EmulatedModel model, int devices) {
    constexpr int kSteps = 4; // the first queues, the second captures, the others replay
    const compile::RunConfig config = test::config_of(model);
    const exec::Compute compute = test::emulated(devices);
    Told out;
    out.plan = test::plan_for(config, compute.backends);
    test::SteppedRun run(config, compute, out.plan);
    const SystemClock clock;
    for (int step = 0; step < kSteps; ++step) {
        out.start_s = clock.steady_s();
        run.step();
    }
    for (const plan::StateSlot& slot : out.plan->state_slots) {
        run.executor().read_slot(slot.name); // until all have done the step
    }
    for (int device = 0; device < devices; ++device) {
        out.uses.push_back(run.executor().last_use(device));
    }
    out.end_s = clock.steady_s();
    out.event = train::devices_event(run.executor(), kSteps, nullptr);
    return out;
}

/// Positions of a program's calls, as often and in the order in which they run.
void append_positions(const std::vector<plan::Step>& steps, int& position, std::vector<int>& out) {
    for (const plan::Step& step : steps) {
        const int at = position++;
        if (!step.is_loop()) {
            out.push_back(at);
            continue;
        }
        std::vector<int> body;
        append_positions(step.steps, position, body);
        for (std::int64_t visit = 0; visit < step.count; ++visit) {
            out.insert(out.end(), body.begin(), body.end());
        }
    }
}

struct TimedCall {
    const plan::Step* step = nullptr;
    int position = 0;
    double start_s = 0, end_s = 0;
};

class Watcher final : public exec::StepObserver {
public:
    void step_done(const plan::Step& step, int position, double start_s, double end_s) override {
        calls.push_back({&step, position, start_s, end_s});
    }
    std::vector<TimedCall> calls;
};

} // namespace

class EmulatedUseTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void cleanup() { test::set_machine({}); }

    void every_device_tells_of_the_last_step_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("devices");
        QTest::newRow("one") << "MLP with dropout" << 1;
        QTest::newRow("data parallel") << "MLP, data parallel on 4" << 4;
        QTest::newRow("2d") << "GPT, 2d on 2 x 2" << 4;
    }
    void every_device_tells_of_the_last_step() {
        QFETCH(QString, model);
        QFETCH(int, devices);
        test::set_machine({.devices = devices});
        const Told told = tell(model_called(model.toUtf8().constData()), devices);
        const double whole_ms = (told.end_s - told.start_s) * 1e3;
        std::int64_t planned = 0;
        for (const plan::Collective& one : plan::collectives(*told.plan->find("train_step"))) {
            planned += one.sent_bytes;
        }
        QCOMPARE(planned > 0, devices > 1);
        for (const train::DevicesEvent::Device& one : told.event.devices) {
            QVERIFY(one.compute_ms > 0 && one.exchange_ms >= 0 && one.waited_ms >= 0);
            QVERIFY(one.compute_ms + one.exchange_ms + one.waited_ms <= whole_ms);
            QCOMPARE(one.exchange_ms + one.waited_ms > 0, devices > 1);
            QCOMPARE(one.sent_bytes, planned);
        }
        std::int64_t in_links = 0;
        for (const train::DevicesEvent::Link& link : told.event.links) {
            in_links += link.sent_bytes;
            QVERIFY(link.exchange_ms >= 0 && link.waited_ms >= 0);
        }
        QCOMPARE(in_links, planned);
        for (const exec::DeviceUse& use : told.uses) { // an end is noticed late, never early
            QVERIFY(use.start_s >= told.start_s);
            QVERIFY(use.end_s - use.start_s <= told.end_s - told.start_s);
        }
    }

    // The emulation's clock is the host's, and each piece of work of a slow device takes 300 us.
    void an_observer_is_told_when_each_call_ran_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("devices");
        QTest::newRow("one") << "MLP in four microsteps with an average" << 1;
        QTest::newRow("with exchanges") << "MLP, ZeRO 1 on 4" << 4;
    }
    void an_observer_is_told_when_each_call_ran() {
        QFETCH(QString, model);
        QFETCH(int, devices);
        constexpr double kSlow_s = 300e-6;
        constexpr double kRead_s = 1e-6; // clocks are read apart from each other
        test::set_machine({.devices = devices, .slow = 0});
        const compile::RunConfig config = test::config_of(model_called(model.toUtf8().constData()));
        const exec::Compute compute = test::emulated(devices);
        const auto plan = test::plan_for(config, compute.backends);
        std::vector<int> positions;
        int position = 0;
        append_positions(plan->find("train_step")->steps, position, positions);
        test::SteppedRun run(config, compute, plan);
        run.step();
        run.step(); // makes the graph, which has no times
        Watcher watcher;
        const SystemClock clock;
        run.executor().set_observer(&watcher);
        for (int step = 0; step < 3; ++step) { // a graph anew, and played back
            watcher.calls.clear();
            const double before_s = clock.steady_s();
            run.step();
            const double after_s = clock.steady_s();
            QCOMPARE(watcher.calls.size(), positions.size());
            for (std::size_t i = 0; i < positions.size(); ++i) {
                const TimedCall& call = watcher.calls[i];
                QCOMPARE(call.position, positions[i]);
                QVERIFY(call.step == plan::step_at(*plan->find("train_step"), positions[i]));
                QVERIFY(call.start_s > before_s && call.end_s < after_s + kRead_s);
                const bool exchanges = call.step->op.attributes.has("cause");
                QVERIFY(call.end_s - call.start_s > (exchanges ? 0 : kSlow_s - kRead_s));
            }
        }
        const std::size_t told = watcher.calls.size();
        run.executor().set_observer(nullptr);
        run.step();
        QCOMPARE(watcher.calls.size(), told);
    }

    void a_session_on_a_gpu_is_timed_call_by_call() {
        train::look_for_modules({{WEFT_EMULATED_MODULES}, {}, {}, true});
        test::EmulatedModel model = model_called("MLP with dropout");
        model.overrides.emplace_back("mesh.devices=cuda");
        const train::TimedSteps timed = train::time_session(
            test::config_of(model),
            {.folder = path("timed"), .threads = 1, .seconds = 0.1, .stop = {}});
        QCOMPARE(timed.plan->device, std::string("cuda"));
        QVERIFY(timed.steps >= static_cast<int>(train::kFewestTimedSteps));
        std::vector<int> positions;
        int position = 0;
        append_positions(timed.plan->find("train_step")->steps, position, positions);
        double kernels_s = 0;
        for (const int at : positions) {
            QVERIFY(timed.kernel_s.at(static_cast<std::size_t>(at)) > 0);
            kernels_s += timed.kernel_s[static_cast<std::size_t>(at)];
        }
        QVERIFY(kernels_s < timed.step_s);
    }

    void who_waits_for_a_slow_device_says_so() {
        test::set_machine({.devices = 2, .slow = 1});
        const Told told = tell(model_called("GPT, tensor parallel on 2"), 2);
        const exec::DeviceUse& fast = told.uses[0];
        const exec::DeviceUse& slow = told.uses[1];
        const double step_s = slow.end_s - slow.start_s;
        QVERIFY2(fast.together().waited_s > step_s / 4, // nearly all of it, where the host is quick
                 qPrintable(QString("%1 of %2").arg(fast.together().waited_s).arg(step_s)));
        QVERIFY2(slow.together().waited_s < step_s / 10,
                 qPrintable(QString("%1 of %2").arg(slow.together().waited_s).arg(step_s)));
    }

    void a_pipeline_tells_when_each_action_ran() {
        test::set_machine({.devices = 2});
        test::EmulatedModel model = model_called("GPT, pipeline on 2");
        const Told told = tell(model, 2);
        const plan::Pipeline& pipeline = *told.plan->pipeline;
        for (std::size_t stage = 0; stage < 2; ++stage) {
            const auto& actions = told.event.stages[stage];
            QCOMPARE(actions.size(), pipeline.actions[stage].size());
            double end_ms = 0;
            for (std::size_t i = 0; i < actions.size(); ++i) {
                QCOMPARE(actions[i].action, pipeline.actions[stage][i]);
                QVERIFY(actions[i].start_ms >= end_ms);
                QVERIFY(actions[i].end_ms > actions[i].start_ms);
                end_ms = actions[i].end_ms;
            }
        }
    }
};

WEFT_TEST(EmulatedUseTest)
#include "use_test.moc"
