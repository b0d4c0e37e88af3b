// SPDX-License-Identifier: Apache-2.0
// Emulated GPUs that hang, fail or mean different things: who, at which exchange, and that it ends.
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/exec/queued_program.h"
#include "tests/e2e/emulated/emulated_run.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/support/weft_test.h"

#include <QRegularExpression>

#include <algorithm>

using namespace weft;

namespace {

constexpr double kTimeout_s = 1; // only time counts in which the waiting thread runs
constexpr double kLimit_s = 5; // from the trouble to the end, the timeout included
constexpr int kMostSteps = 30;

compile::RunConfig model_named(const char* name) {
    const auto& models = test::emulated_models();
    const auto model = std::find_if(models.begin(), models.end(),
                                    [&](const auto& one) { return one.name == name; });
    WEFT_CHECK(model != models.end(), "there is such a model");
    return test::config_of(*model);
}

struct FoundFault {
    QString text;
    double seconds = 0; // of the call that failed, and until nothing is left of the devices
};

/// Steps until one fails.
FoundFault train_until_fault(const compile::RunConfig& config,
                             std::shared_ptr<const plan::ExecutionPlan> plan, int devices) {
    const SystemClock clock;
    FoundFault out;
    double since_s = clock.steady_s();
    try {
        test::SteppedRun run(config, test::emulated(devices), std::move(plan),
                             {.threads = 1, .exchange_timeout_s = kTimeout_s});
        for (int step = 0; step < kMostSteps; ++step) {
            since_s = clock.steady_s();
            run.step();
        }
    } catch (const Error& fault) {
        out.text = QString::fromStdString(fault.text());
        WEFT_CHECK(fault.kind() == ErrorKind::device, "the fault is that of a device");
    }
    out.seconds = clock.steady_s() - since_s;
    return out;
}

FoundFault train_until_fault(const char* model, int devices) {
    const compile::RunConfig config = model_named(model);
    return train_until_fault(config, test::plan_for(config, test::emulated(devices).backends),
                             devices);
}

/// What the exchanges of a plan say that they move.
QStringList causes(const std::vector<plan::Step>& steps) {
    QStringList out;
    for (const plan::Step& step : steps) {
        out += causes(step.steps);
        if (const std::string& cause = step.op.attributes.text("cause", ""); !cause.empty()) {
            out += QString::fromStdString(cause);
        }
    }
    return out;
}

/// Calls of a program, as often as they run.
int calls_of(const std::vector<plan::Step>& steps) {
    int out = 0;
    for (const plan::Step& step : steps) {
        out += step.is_loop() ? static_cast<int>(step.count) * calls_of(step.steps) : 1;
    }
    return out;
}

} // namespace

class EmulatedHangTest : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { test::set_machine({}); }

    // The ranks of this model meet in one group, so the meetings that the machine has counted are
    // the collectives that both have done.
    void a_rank_that_does_not_come_is_named_data() {
        QTest::addColumn<int>("works");
        QTest::newRow("before its first exchange") << 2;
        QTest::newRow("in its first step") << 400;
        QTest::newRow("in a graph") << 900;
    }
    void a_rank_that_does_not_come_is_named() {
        QFETCH(int, works);
        test::set_machine({.devices = 2, .works_before_hang = works, .troubled = 1});
        const FoundFault ended = train_until_fault("GPT, tensor parallel on 2", 2);
        const std::int64_t done = test::machine_counts().meetings;
        const QString where = done == 0 ? QString("has not come to collective 1()")
                                        : QString(R"(is at collective %1 \((.+)\))").arg(done);
        const QRegularExpression told(QString(R"(^rank 1 %1, the others wait at %2 \((.+)\), )"
                                              R"(for more than 1\.0 s \(group model\)$)")
                                          .arg(where)
                                          .arg(done + 1));
        const auto match = told.match(ended.text);
        QVERIFY2(match.hasMatch(), qPrintable(ended.text));
        const auto plan =
            test::plan_for(model_named("GPT, tensor parallel on 2"), test::emulated(2).backends);
        QStringList known;
        for (const plan::PlannedProgram& program : plan->programs) {
            known += causes(program.steps);
        }
        QVERIFY2((done == 0 || known.contains(match.captured(1))) &&
                     known.contains(match.captured(2)),
                 qPrintable(ended.text));
        QVERIFY2(ended.seconds < kLimit_s, qPrintable(QString::number(ended.seconds)));
    }

    void a_gpu_alone_that_does_not_end_is_named_data() {
        QTest::addColumn<int>("works");
        QTest::addColumn<QString>("told");
        QTest::newRow("in a copy") << 1 << "a copy from or to the host does not end";
        QTest::newRow("at its start") << 12 << "init does not end";
        QTest::newRow("in its first step") << 30 << "train_step does not end";
        QTest::newRow("in a graph") << 420 << "train_step does not end";
    }
    void a_gpu_alone_that_does_not_end_is_named() {
        QFETCH(int, works);
        QFETCH(QString, told);
        test::set_machine({.devices = 1, .works_before_hang = works});
        const FoundFault ended = train_until_fault("MLP with dropout", 1);
        QCOMPARE(ended.text, told + ", for more than 1.0 s");
        QVERIFY2(ended.seconds < kLimit_s, qPrintable(QString::number(ended.seconds)));
    }

    void a_long_program_tells_how_far_it_has_come() {
        const compile::RunConfig config = model_named("ResNet");
        const auto plan = test::plan_for(config, test::emulated(1).backends);
        const int calls = calls_of(plan->find("train_step")->steps);
        constexpr int kBeforeEnd = 20; // of the second step, with copies of results behind it
        QVERIFY2(calls > exec::kCallsBetweenStops + kBeforeEnd, qPrintable(QString::number(calls)));
        std::int64_t works = 0;
        {
            test::set_machine({.devices = 1});
            test::SteppedRun sound(config, test::emulated(1), plan);
            sound.step();
            sound.step();
            works = test::machine_load(0).works;
        }
        test::set_machine({.devices = 1, .works_before_hang = works - kBeforeEnd});
        const FoundFault ended = train_until_fault("ResNet", 1);
        const QRegularExpression told(
            R"(^train_step does not go on after (\d+) of its (\d+) calls, for more than 1\.0 s$)");
        const auto match = told.match(ended.text);
        QVERIFY2(match.hasMatch(), qPrintable(ended.text));
        QCOMPARE(match.captured(2).toInt(), calls);
        const int done = match.captured(1).toInt();
        QVERIFY2(done < calls && done + exec::kCallsBetweenStops > calls - kBeforeEnd,
                 qPrintable(ended.text));
    }

    void a_collective_that_does_not_end_is_named() {
        test::set_machine({.devices = 2, .meetings_before_hang = 40});
        const FoundFault ended = train_until_fault("GPT, tensor parallel on 2", 2);
        const QRegularExpression told(
            R"(^all ranks have come to collective 41 \(.+\), and it does )"
            R"(not end, for more than 1\.0 s \(group model\)$)");
        QVERIFY2(told.match(ended.text).hasMatch(), qPrintable(ended.text));
        QVERIFY2(ended.seconds < kLimit_s, qPrintable(QString::number(ended.seconds)));
    }

    void a_message_that_does_not_come_names_its_sender() {
        test::set_machine({.devices = 2, .works_before_hang = 200, .troubled = 0});
        const FoundFault ended = train_until_fault("GPT, pipeline on 2", 2);
        const QRegularExpression told(R"(^rank 0 is at message (\d+) to rank 1, which waits for )"
                                      R"((\d+) \(.+\), for more than 1\.0 s \(group .+\)$)");
        const auto match = told.match(ended.text);
        QVERIFY2(match.hasMatch(), qPrintable(ended.text));
        QCOMPARE(match.captured(2).toInt(), match.captured(1).toInt() + 1);
        QVERIFY2(ended.seconds < kLimit_s, qPrintable(QString::number(ended.seconds)));
    }

    void a_dead_rank_is_named_with_its_place_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("devices");
        QTest::addColumn<int>("dead");
        QTest::addColumn<int>("works");
        QTest::newRow("of two") << "GPT, tensor parallel on 2" << 2 << 1 << 170;
        QTest::newRow("of four") << "MLP, ZeRO 1 on 4" << 4 << 2 << 170;
        QTest::newRow("before what others read") << "MLP, ZeRO 1 on 4" << 4 << 2 << 150;
        QTest::newRow("whose result is read") << "GPT, tensor parallel on 2" << 2 << 0 << 170;
        QTest::newRow("a stage") << "GPT, pipeline on 2" << 2 << 0 << 170;
    }
    void a_dead_rank_is_named_with_its_place() {
        QFETCH(QString, model);
        QFETCH(int, devices);
        QFETCH(int, dead);
        QFETCH(int, works);
        test::set_machine({.devices = devices, .works_before_fault = works, .troubled = dead});
        const FoundFault ended = train_until_fault(model.toUtf8().constData(), devices);
        const QRegularExpression told(
            QString(R"(^rank %1 \(cuda:%1\) failed (at|after) (collective|message) \d+ .*)"
                    R"(of group .*: .*the emulated device has fallen off the bus$)")
                .arg(dead));
        QVERIFY2(told.match(ended.text).hasMatch(), qPrintable(ended.text));
        QVERIFY2(ended.seconds < kLimit_s, qPrintable(QString::number(ended.seconds)));
    }

    void ranks_that_never_come_together_are_given_up() {
        test::set_machine({.devices = 2, .absent_rank = 1});
        const FoundFault ended = train_until_fault("GPT, tensor parallel on 2", 2);
        QCOMPARE(ended.text, QString("all ranks have come to join group model of 0, and it does "
                                     "not end, for more than 1.0 s"));
        QVERIFY2(ended.seconds < kLimit_s, qPrintable(QString::number(ended.seconds)));
    }

    // Stages have programs of their own, which a fault of the compiler could make differ.
    void stages_that_mean_different_messages_are_found_before_any_runs_data() {
        QTest::addColumn<QString>("change");
        QTest::addColumn<QString>("told");
        QTest::newRow("another size")
            << "size"
            << R"(rank 0 sends message 1 as f32\[.+\] \(.+\), rank 1 expects message 1 as )";
        QTest::newRow("another type")
            << "type"
            << R"(rank 0 sends message 1 as f32\[.+\] \(.+\), rank 1 expects message 1 as i32\[)";
        QTest::newRow("one too few")
            << "missing"
            << R"(rank 0 sends message \d+ as f32\[.+\] \(.+\), rank 1 expects no )"
               R"(message \d+)";
    }
    void stages_that_mean_different_messages_are_found_before_any_runs() {
        QFETCH(QString, change);
        QFETCH(QString, told);
        const compile::RunConfig config = model_named("GPT, pipeline on 2");
        plan::ExecutionPlan changed = *test::plan_for(config, test::emulated(2).backends);
        plan::ProgramList programs;
        for (const plan::PlannedProgram& one : changed.programs) {
            plan::PlannedProgram program = one;
            if (program.name == "train_step" && program.stage == 1) {
                QVERIFY(alter(program.steps, change));
            }
            programs.push_back(std::move(program));
        }
        changed.programs = programs;
        test::set_machine({.devices = 2});
        const FoundFault ended = train_until_fault(
            config, std::make_shared<const plan::ExecutionPlan>(std::move(changed)), 2);
        const QRegularExpression expected("^messages differ: " + told + R"(.* \(group .+\)$)");
        QVERIFY2(expected.match(ended.text).hasMatch(), qPrintable(ended.text));
        QCOMPARE(test::machine_load(0).works, std::int64_t{0});
        QVERIFY2(ended.seconds < kLimit_s, qPrintable(QString::number(ended.seconds)));
    }

private:
    /// Of the messages that a stage takes the first, or the last is left out.
    static bool alter(std::vector<plan::Step>& steps, const QString& change) {
        const auto receives = [](const plan::Step& step) { return step.op.kind == "receive"; };
        const auto first = std::find_if(steps.begin(), steps.end(), receives);
        if (first == steps.end()) {
            return false;
        }
        ir::Type& type = first->outputs[0].type;
        if (change == "size") {
            type.shape = ir::Shape{type.shape.elements() + 1};
        } else if (change == "type") {
            type.dtype = ir::DType::i32;
        } else {
            steps.erase(std::find_if(steps.rbegin(), steps.rend(), receives).base() - 1);
        }
        return true;
    }
};

WEFT_TEST(EmulatedHangTest)
#include "hang_test.moc"
