// SPDX-License-Identifier: Apache-2.0
// Stages that wait for each other for ever are found when they are planned.
#include "core/plan/exchange_order.h"
#include "tests/support/weft_test.h"

using namespace weft;
using plan::PlannedProgram, plan::Step;

namespace {

Step exchange(const char* kind, std::int64_t peer, const char* axes = "pipeline") {
    Step step;
    step.op.kind = kind;
    step.op.attributes = {{"axes", std::string(axes)}, {"peer", peer}, {"cause", std::string("h")}};
    return step;
}

Step send(std::int64_t peer) {
    return exchange("send", peer);
}
Step sent(std::int64_t peer) {
    return exchange("sent", peer);
}
Step receive(std::int64_t peer) {
    return exchange("receive", peer);
}
Step meeting(const char* axes) {
    return exchange("all_reduce", 0, axes);
}
Step times(std::int64_t count, std::vector<Step> steps) {
    Step loop;
    loop.count = count;
    loop.steps = std::move(steps);
    return loop;
}

std::string wait_of(std::vector<std::vector<Step>> stages) {
    std::vector<PlannedProgram> programs(stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
        programs[i].steps = std::move(stages[i]);
    }
    return plan::endless_wait(programs, "pipeline");
}

} // namespace

class ExchangeOrderTest : public QObject {
    Q_OBJECT

private slots:
    void there_and_back_ends() {
        QCOMPARE(wait_of({{send(1), receive(1), sent(1)}, {receive(0), send(0), sent(0)}}),
                 std::string());
        // Sends wait for nobody.
        QCOMPARE(wait_of({{send(1), receive(1)}, {send(0), receive(0)}}), std::string());
    }

    void who_receives_first_waits_for_ever() {
        QCOMPARE(wait_of({{receive(1), send(1)}, {receive(0), send(0)}}),
                 std::string("stage 0 waits for a message of stage 1 (h); "
                             "stage 1 waits for a message of stage 0 (h)"));
    }

    void a_ring_of_three_is_followed() {
        QCOMPARE(wait_of({{send(1), receive(2)}, {receive(0), send(2)}, {receive(1), send(0)}}),
                 std::string());
        QVERIFY(wait_of({{receive(2), send(1)}, {receive(0), send(2)}, {receive(1), send(0)}})
                    .starts_with("stage 0 waits for a message of stage 2"));
    }

    void a_message_more_or_less_is_found() {
        QCOMPARE(wait_of({{times(3, {send(1)})}, {times(3, {receive(0)})}}), std::string());
        QCOMPARE(wait_of({{times(2, {send(1)})}, {times(3, {receive(0)})}}),
                 std::string("stage 1 waits for a message of stage 0 (h)"));
        QCOMPARE(wait_of({{send(1), sent(1)}, {}}),
                 std::string("stage 0 waits for stage 1 to take a message (h)"));
    }

    void all_meet_along_the_axis_of_the_pipeline() {
        QCOMPARE(
            wait_of({{meeting("data,pipeline"), send(1)}, {meeting("data,pipeline"), receive(0)}}),
            std::string());
        QCOMPARE(
            wait_of({{meeting("data,pipeline"), send(1)}, {receive(0), meeting("data,pipeline")}}),
            std::string("stage 0 waits for all in all_reduce (h); "
                        "stage 1 waits for a message of stage 0 (h)"));
        // Devices of one stage run one program: what they do among themselves ends.
        QCOMPARE(wait_of({{meeting("data"), send(1)}, {receive(0)}}), std::string());
    }
};

WEFT_TEST(ExchangeOrderTest)
#include "exchange_order_test.moc"
