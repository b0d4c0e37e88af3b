// SPDX-License-Identifier: Apache-2.0
// Exchanges beside computation: what waits for which of them, that computation goes on meanwhile,
// and what becomes of a fault.
#include "core/base/error.h"
#include "core/exec/exchange_lane.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <semaphore>

using namespace weft;

namespace {

/// Steps over arrays of four floats, by number.
struct Program {
    std::vector<plan::Step> steps;

    static plan::Operand array(int number) {
        plan::Operand out;
        out.offset = std::int64_t{16} * number;
        out.type = {ir::DType::f32, {4}};
        return out;
    }
    void add(const char* kind, std::vector<int> reads, std::vector<int> writes,
             bool hides = false) {
        plan::Step& step = steps.emplace_back();
        step.op.kind = kind;
        for (const int one : reads) {
            step.inputs.push_back(array(one));
        }
        for (const int one : writes) {
            step.outputs.push_back(array(one));
        }
        if (hides) {
            step.op.attributes.set("overlaps", std::string("backward"));
        }
    }
    /// As prepare_program does, without kernels.
    exec::PreparedProgram prepared() const {
        exec::PreparedProgram out;
        for (const plan::Step& step : steps) {
            out.steps.emplace_back().step = &step;
        }
        exec::order_beside(out);
        return out;
    }
};

/// Goes on when it is let, and fails where it is told to.
class HeldExchange final : public exec::Exchange {
public:
    void run(const plan::Step& step, std::span<const void* const>,
             std::span<void* const>) override {
        begun.release();
        go.acquire();
        if (&step == fails) {
            throw Error(ErrorKind::device, "rank 1", "is gone");
        }
        traffic_.waited_s += 0.25;
        order.push_back(&step);
    }
    const std::vector<std::string>& links() const override { return links_; }
    std::size_t link_of(const plan::Step&) const override { return 0; }
    exec::comm::Traffic traffic(std::size_t) const override { return traffic_; }
    bool may_go_beside() const override { return true; }

    std::counting_semaphore<> begun{0};
    std::counting_semaphore<> go{0};
    const plan::Step* fails = nullptr;
    std::vector<const plan::Step*> order;

private:
    std::vector<std::string> links_{"data"};
    exec::comm::Traffic traffic_;
};

} // namespace

class ExchangeLaneTest : public QObject {
    Q_OBJECT

private slots:
    void a_step_waits_for_the_exchanges_whose_bytes_it_touches() {
        Program program;
        program.add("all_reduce", {0}, {0}, true);
        program.add("all_reduce", {1}, {2}, true);
        program.add("all_reduce", {3}, {3}, true);
        program.steps.push_back({});
        program.steps.back().count = 1; // a loop may touch anything
        program.steps.back().steps.resize(1);
        program.add("all_reduce", {4}, {4}, true);
        program.add("all_reduce", {5}, {5}); // hides behind nothing: goes after all of them
        const exec::PreparedProgram made = program.prepared();
        const auto behind = [&](std::size_t i) { return made.steps[i].behind; };
        QVERIFY(made.steps[0].beside && made.steps[1].beside && made.steps[2].beside);
        QVERIFY(!made.steps[3].beside && made.steps[4].beside && !made.steps[5].beside);
        QCOMPARE(behind(0) + behind(1) + behind(2), 0); // they follow each other anyway
        QCOMPARE(behind(3), 3);
        QCOMPARE(behind(5), 4);
    }

    void a_reader_and_a_writer_wait_and_others_do_not() {
        Program program;
        program.add("all_reduce", {0}, {1}, true);
        program.add("all_reduce", {2}, {2}, true);
        program.add("relu", {3}, {4});
        program.add("relu", {1}, {5}); // reads what the first one makes
        program.add("relu", {6}, {0}); // writes where it read, which has been waited for
        program.add("relu", {6}, {2});
        program.add("relu", {2}, {7});
        const exec::PreparedProgram made = program.prepared();
        std::vector<int> behind;
        for (const exec::PreparedStep& step : made.steps) {
            behind.push_back(step.behind);
        }
        QCOMPARE(behind, (std::vector<int>{0, 0, 0, 1, 0, 2, 0}));
    }

    void computation_goes_on_while_exchanges_are_under_way() {
        Program program;
        program.add("all_reduce", {0}, {0}, true);
        program.add("all_reduce", {1}, {1}, true);
        const exec::PreparedProgram made = program.prepared();
        HeldExchange exchange;
        exec::ExchangeLane lane(exchange);
        for (int run = 0; run < 2; ++run) {
            lane.begin(made.steps[0]);
            lane.begin(made.steps[1]);
            exchange.begun.acquire(); // the first is under way, and this thread is here
            QCOMPARE(lane.begun(), 2);
            QVERIFY(!exchange.begun.try_acquire()); // the second is not
            exchange.go.release();
            const auto first = lane.wait(1);
            QCOMPARE(first.size(), std::size_t{1});
            QCOMPARE(first[0].step, &made.steps[0]);
            QCOMPARE(first[0].waited_s, 0.25);
            QVERIFY(first[0].end_s >= first[0].start_s);
            exchange.go.release();
            const auto second = lane.wait(2);
            QCOMPARE(second.size(), std::size_t{1});
            QCOMPARE(second[0].step, &made.steps[1]);
            QVERIFY(second[0].start_s >= first[0].end_s);
            QVERIFY(lane.wait(2).empty());
            exchange.begun.acquire();
            lane.end();
            QCOMPARE(lane.begun(), 0);
        }
        QCOMPARE(exchange.order.size(), std::size_t{4});
    }

    void a_fault_reaches_whoever_waits_and_nothing_is_exchanged_after_it() {
        Program program;
        program.add("all_reduce", {0}, {0}, true);
        program.add("all_reduce", {1}, {1}, true);
        const exec::PreparedProgram made = program.prepared();
        HeldExchange exchange;
        exchange.fails = &program.steps[0];
        exec::ExchangeLane lane(exchange);
        lane.begin(made.steps[0]);
        lane.begin(made.steps[1]);
        exchange.go.release(2);
        const auto said = test::error_of([&] { lane.wait(2); });
        QVERIFY(said && said->text().find("is gone") != std::string::npos);
        QVERIFY(exchange.order.empty());
    }
};

WEFT_TEST(ExchangeLaneTest)
#include "exchange_lane_test.moc"
