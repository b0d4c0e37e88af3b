// SPDX-License-Identifier: Apache-2.0
// The verdict, from recordings made up for one cause each; the sums of the tables.
#include "core/config/json.h"
#include "core/profile/time_table.h"
#include "core/profile/trace.h"
#include "core/profile/verdict.h"
#include "tests/support/weft_test.h"
#include "tests/unit/profile/made_up_recording.h"

#include <cmath>
#include <map>

using namespace weft;
using profile::CauseKind;
using test::MadeUpRecording;

namespace {

/// The first cause and its share in percent.
std::pair<std::string, int> first_cause(const profile::Recording& recording) {
    const auto causes = profile::causes_of(recording);
    return causes.empty() ? std::pair<std::string, int>("", 0)
                          : std::pair(std::string(profile::cause_name(causes.front().kind)),
                                      static_cast<int>(std::lround(causes.front().share * 100)));
}

using Named = std::pair<std::string, int>;

} // namespace

class VerdictTest : public QObject {
    Q_OBJECT
private slots:
    void a_step_near_its_best_time_has_no_cause() {
        const auto recording =
            MadeUpRecording().batch_after(1).call(test::product("a", 900), 950).done();
        QVERIFY(profile::causes_of(recording).empty());
        QVERIFY(profile::verdict_of({}).starts_with("Nothing stands out"));
    }

    void a_late_batch_is_data_starvation() {
        const auto recording =
            MadeUpRecording().batch_after(400).call(test::product("a", 590), 600).done();
        QCOMPARE(first_cause(recording), Named("data starvation", 40));
        QCOMPARE(profile::causes_of(recording).front().setting, std::string("data.num_workers"));
    }

    void products_of_microseconds_are_small() {
        MadeUpRecording made;
        for (int i = 0; i < 10; ++i) {
            made.call(test::product("layer " + std::to_string(i), 2), 10);
        }
        QCOMPARE(first_cause(made.done()), Named("small products", 80));
    }

    // 300 of the 400 in a row, of 1400, could be done at once; the one that stands alone is no
    // chain.
    void elementwise_ops_in_a_row_are_an_unfused_chain() {
        MadeUpRecording made;
        for (int i = 0; i < 4; ++i) {
            made.call(test::elementwise("chain " + std::to_string(i), 90), 100);
        }
        made.call(test::product("a", 880), 900).call(test::elementwise("alone", 90), 100);
        QCOMPARE(first_cause(made.done()), Named("unfused chain", 21));
    }

    void calls_at_the_speed_of_memory_are_memory_bandwidth() {
        const auto recording = MadeUpRecording()
                                   .call(test::reduction("norm", 500), 600)
                                   .call(test::product("a", 390), 400)
                                   .done();
        QCOMPARE(first_cause(recording), Named("memory bandwidth", 60));
    }

    void a_call_far_from_its_best_time_is_a_slow_kernel() {
        const auto recording = MadeUpRecording()
                                   .call(test::product("a", 100), 500)
                                   .call(test::reduction("norm", 300), 320)
                                   .done();
        QCOMPARE(first_cause(recording), Named("slow kernel", 49));
        QVERIFY(
            profile::verdict_of(profile::causes_of(recording)).find("5.0 times its best time") !=
            std::string::npos);
    }

    // Device 1 computes 800, device 0 400 and then waits 400.
    void uneven_devices_are_imbalance_and_not_waiting() {
        const auto recording = MadeUpRecording(2)
                                   .call(test::product("a", 390), 400)
                                   .call(test::all_reduce(), 410, 400)
                                   .call(test::product("b", 790), 800, 0, 1)
                                   .call(test::all_reduce(), 10, 0, 1)
                                   .done();
        QCOMPARE(first_cause(recording), Named("imbalance", 25));
        for (const profile::Cause& cause : profile::causes_of(recording)) {
            QVERIFY(cause.kind != CauseKind::waiting);
        }
    }

    // Even devices that come to each of two exchanges in turns.
    void even_devices_that_wait_are_waiting_at_barriers() {
        const auto recording = MadeUpRecording(2)
                                   .call(test::product("a", 290), 300)
                                   .call(test::all_reduce(), 210, 200)
                                   .call(test::product("b", 490), 500)
                                   .call(test::all_reduce(), 10)
                                   .call(test::product("b", 490), 500, 0, 1)
                                   .call(test::all_reduce(), 10, 0, 1)
                                   .call(test::product("a", 290), 300, 0, 1)
                                   .call(test::all_reduce(), 210, 200, 1)
                                   .done();
        QCOMPARE(first_cause(recording), Named("waiting at barriers", 20));
    }

    void data_on_its_way_are_exchanges() {
        const auto recording = MadeUpRecording(2)
                                   .call(test::product("a", 690), 700)
                                   .call(test::all_reduce(), 300)
                                   .call(test::product("a", 690), 700, 0, 1)
                                   .call(test::all_reduce(), 300, 0, 1)
                                   .done();
        QCOMPARE(first_cause(recording), Named("exchange", 30));
    }

    void the_parts_of_a_step_sum_up_to_its_wall() {
        const auto recording = MadeUpRecording(2)
                                   .batch_after(50)
                                   .call(test::product("a", 90), 100)
                                   .call(test::all_reduce(), 40, 30)
                                   .call(test::product("a", 90), 130, 0, 1)
                                   .call(test::all_reduce(), 10, 0, 1)
                                   .host_after(20)
                                   .done();
        const auto table = profile::time_table(recording, profile::Grouping::op);
        for (const profile::StepParts& parts : table.devices) {
            QCOMPARE(parts.wall_us, 210.0);
            QCOMPARE(parts.loader_us + parts.compute_us + parts.exchange_us + parts.waited_us +
                         parts.between_us + parts.host_us,
                     parts.wall_us);
        }
        QCOMPARE(table.devices[0].waited_us, 30.0);
        QCOMPARE(table.mean.compute_us, 115.0);
        double rows_us = 0;
        for (const profile::Row& row : table.rows) {
            rows_us += row.us;
        }
        QCOMPARE(rows_us, table.mean.compute_us + table.mean.exchange_us + table.mean.waited_us);
    }

    void rows_are_of_ops_layers_kernels_or_phases() {
        const auto recording = MadeUpRecording()
                                   .call(test::product("a", 10), 30)
                                   .call(test::product("b", 10), 20)
                                   .call(test::reduction("a", 10), 15)
                                   .done();
        const auto names = [&](const char* by) {
            std::string out;
            for (const auto& row : profile::time_table(recording, *profile::grouping_of(by)).rows) {
                out += row.name + "=" + std::to_string(std::lround(row.us)) + " ";
            }
            return out;
        };
        QCOMPARE(names("op"), std::string("matmul forward=50 layer_norm backward=15 "));
        QCOMPARE(names("layer"), std::string("a=45 b=20 "));
        QCOMPARE(names("kernel"), std::string("onednn matmul=50 cpu layer_norm=15 "));
        QCOMPARE(names("phase"), std::string("forward=50 backward=15 "));
        QVERIFY(!profile::grouping_of("colour"));
    }

    void two_recordings_differ_where_their_calls_do() {
        const auto by_op = [](const profile::Recording& recording) {
            return profile::time_table(recording, profile::Grouping::op);
        };
        const auto changes =
            profile::compare(by_op(MadeUpRecording().call(test::product("a", 10), 30).done()),
                             by_op(MadeUpRecording()
                                       .call(test::product("a", 10), 20)
                                       .call(test::reduction("n", 10), 35)
                                       .done()));
        QCOMPARE(changes.size(), 2U);
        QCOMPARE(changes[0].name, std::string("layer_norm backward"));
        QCOMPARE(changes[0].before_us, 0.0);
        QCOMPARE(changes[1].after_us - changes[1].before_us, -10.0);
    }

    // As trace viewers demand: spans of a thread are apart or one in the other.
    void spans_of_a_trace_nest_and_sum_up() {
        const auto recording = MadeUpRecording(2)
                                   .batch_after(50)
                                   .call(test::product("a", 90), 100)
                                   .call(test::all_reduce(), 40, 30)
                                   .call(test::product("a \"quoted\"", 90), 130, 0, 1)
                                   .call(test::all_reduce(), 10, 0, 1)
                                   .host_after(20)
                                   .done();
        const config::Json trace = config::json_of(profile::to_trace(recording));
        std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> threads;
        std::map<std::string, double> sums;
        for (const config::Json& event : trace.at("traceEvents")) {
            if (event.at("ph") != "X") {
                continue;
            }
            const double start = event.at("ts").get<double>();
            const double end = start + event.at("dur").get<double>();
            sums[event.at("cat").get<std::string>()] += end - start;
            for (const auto& [from, to] :
                 threads[{event.at("pid").get<int>(), event.at("tid").get<int>()}]) {
                const bool apart = end <= from || start >= to;
                const bool inside = start >= from && end <= to;
                QVERIFY(apart || inside);
            }
            threads[{event.at("pid").get<int>(), event.at("tid").get<int>()}].emplace_back(start,
                                                                                           end);
        }
        QCOMPARE(threads.size(), 5U); // the host, and kernels and exchanges of two devices
        QCOMPARE(sums["step"], 210.0);
        QCOMPARE(sums["loader"] + sums["devices"] + sums["host"], 210.0);
        QCOMPARE(sums["forward"], 230.0);
        QCOMPARE(sums["waiting"], 30.0);
    }
};

WEFT_TEST(VerdictTest)
#include "verdict_test.moc"
