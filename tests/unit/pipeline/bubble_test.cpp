// SPDX-License-Identifier: Apache-2.0
// Simulated bubbles, makespans and microbatches in flight against the formulas of the papers. Costs
// are whole numbers or halves of them, so that sums are exact.
#include "core/pipeline/schedule_list.h"
#include "core/pipeline/simulate.h"
#include "tests/support/weft_test.h"

#include <algorithm>

using namespace weft::pipeline;

namespace {

constexpr int kStages[] = {1, 2, 3, 4, 8};
constexpr int kMicrobatches[] = {1, 2, 3, 4, 8, 12, 32};

// Three digits, as the published figures have.
constexpr double kThreeDigits = 5e-4;
// Chunks cost fractions of a stage, whose sums round: a few units in the last place.
constexpr double kRounding = 1e-12;

/// The backward costs twice the forward.
constexpr PartCost kUsual{1.0, 1.0, 1.0};

Timeline run(const Schedule& schedule, const PartCost& stage = kUsual, double send_ms = 0.0) {
    return simulate(schedule, Costs::even(schedule, stage, send_ms));
}

bool near(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance;
}

void each_shape(const std::function<void(int stages, int microbatches)>& look) {
    for (const int stages : kStages) {
        for (const int microbatches : kMicrobatches) {
            look(stages, microbatches);
        }
    }
}

} // namespace

class BubbleTest : public QObject {
    Q_OBJECT

private slots:
    // Published for a backward of twice the forward.
    void bubbles_equal_the_known_figures_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("stages");
        QTest::addColumn<int>("microbatches");
        QTest::addColumn<int>("chunks");
        QTest::addColumn<double>("of_ideal");
        const auto row = [](const char* name, int stages, int microbatches, int chunks,
                            double of_ideal) {
            QTest::addRow("%s p=%d m=%d v=%d", name, stages, microbatches, chunks)
                << name << stages << microbatches << chunks << of_ideal;
        };
        row("gpipe", 4, 8, 1, 0.375);
        row("1f1b", 4, 8, 1, 0.375);
        row("interleaved_1f1b", 4, 8, 2, 0.1875);
        row("interleaved_1f1b", 4, 8, 4, 0.09375);
        row("1f1b", 8, 32, 1, 0.21875);
        row("interleaved_1f1b", 8, 32, 2, 0.109375);
        row("1f1b", 16, 8, 1, 1.875);
        row("gpipe", 16, 8, 1, 1.875);
    }
    void bubbles_equal_the_known_figures() {
        QFETCH(QString, name);
        QFETCH(int, stages);
        QFETCH(int, microbatches);
        QFETCH(int, chunks);
        QFETCH(double, of_ideal);
        const Timeline timeline =
            run(make_schedule(name.toStdString(), stages, microbatches, chunks));
        QVERIFY(timeline.deadlock.empty());
        QVERIFY2(near(timeline.bubble_of_ideal, of_ideal, kThreeDigits),
                 qPrintable(QString::number(timeline.bubble_of_ideal)));
    }

    void four_stages_and_eight_microbatches_take_33_forwards() {
        const Timeline timeline = run(one_f_one_b(4, 8));
        QCOMPARE(timeline.makespan_ms, 33.0);
        QCOMPARE(timeline.ideal_ms, 24.0);
        QVERIFY(near(timeline.bubble_of_total, 0.273, kThreeDigits));
    }

    void gpipe_and_1f1b_wait_for_p_minus_1_microbatches() {
        each_shape([](int p, int m) {
            for (const Schedule& schedule : {gpipe(p, m), one_f_one_b(p, m)}) {
                for (const PartCost& cost : {kUsual, PartCost{2.0, 3.0, 0.5}}) {
                    const double t = cost.forward_ms + cost.input_grad_ms + cost.weight_grad_ms;
                    const Timeline timeline = run(schedule, cost);
                    QCOMPARE(timeline.makespan_ms, (m + p - 1) * t);
                    QCOMPARE(timeline.bubble_of_total * (m + p - 1), p - 1.0);
                    QCOMPARE(timeline.bubble_of_ideal * m, p - 1.0);
                }
            }
        });
    }

    void interleaving_divides_the_bubble_by_the_chunks() {
        each_shape([](int p, int m) {
            for (const int v : {1, 2, 3, 4}) {
                if (m % p == 0) {
                    const Timeline timeline = run(interleaved_1f1b(p, m, v));
                    QVERIFY2(near(timeline.bubble_of_ideal, (p - 1.0) / (m * v), kRounding),
                             qPrintable(QString("p=%1 m=%2 v=%3").arg(p).arg(m).arg(v)));
                }
            }
        });
    }

    // Holds where the paper's schedule is meant to be used: as many microbatches as stages, and
    // weight gradients that fit into the gaps.
    void zero_bubble_h1_waits_for_p_minus_1_times_f_plus_b_minus_w() {
        each_shape([](int p, int m) {
            for (const PartCost& cost : {kUsual, PartCost{2.0, 3.0, 1.0}, PartCost{3.0, 3.0, 2.0},
                                         PartCost{2.0, 2.0, 1.0}, PartCost{3.0, 2.0, 2.0}}) {
                if (m >= p) {
                    const double t = cost.forward_ms + cost.input_grad_ms + cost.weight_grad_ms;
                    const double bubble_ms =
                        (p - 1) * (cost.forward_ms + cost.input_grad_ms - cost.weight_grad_ms);
                    QCOMPARE(run(zero_bubble_h1(p, m), cost).makespan_ms, m * t + bubble_ms);
                }
            }
        });
    }

    void zero_bubble_h1_is_never_slower_than_1f1b() {
        each_shape([](int p, int m) {
            for (const PartCost& cost :
                 {kUsual, PartCost{1.0, 1.0, 3.0}, PartCost{1.0, 4.0, 2.0}}) {
                QVERIFY(run(zero_bubble_h1(p, m), cost).makespan_ms <=
                        run(one_f_one_b(p, m), cost).makespan_ms);
            }
        });
    }

    void microbatches_in_flight_are_those_of_the_schedule() {
        each_shape([](int p, int m) {
            const Timeline all = run(gpipe(p, m));
            const Timeline few = run(one_f_one_b(p, m));
            const Timeline zero = run(zero_bubble_h1(p, m));
            for (int stage = 0; stage < p; ++stage) {
                const auto s = static_cast<std::size_t>(stage);
                QCOMPARE(all.in_flight[s], static_cast<double>(m));
                QCOMPARE(few.in_flight[s], static_cast<double>(std::min(p - stage, m)));
                // The same on every stage, and no more than 1F1B has on the first.
                QCOMPARE(zero.in_flight[s], static_cast<double>(std::min(p, m)));
            }
        });
    }

    // Against the p microbatches of 1F1B; with p microbatches in all there are no more than these.
    void interleaving_holds_more_by_the_memory_factor() {
        for (const int p : {2, 4, 8}) {
            for (const int v : {2, 3, 4}) {
                const double factor = 1.0 + (p - 1.0) / (p * v);
                const Timeline timeline = run(interleaved_1f1b(p, 4 * p, v));
                QVERIFY(near(timeline.in_flight[0], p * factor, kRounding));
                QCOMPARE(run(interleaved_1f1b(p, p, v)).in_flight[0], static_cast<double>(p));
            }
        }
    }

    void sending_delays_each_hop_of_the_first_and_the_last_microbatch() {
        // GPipe: stages are busy without a pause after their first input, so only fill and drain
        // have hops: p - 1 each.
        for (const int p : {2, 4}) {
            QCOMPARE(run(gpipe(p, 8), kUsual, 0.25).makespan_ms,
                     run(gpipe(p, 8)).makespan_ms + 2 * (p - 1) * 0.25);
        }
        QCOMPARE(run(one_f_one_b(1, 8), kUsual, 0.25).makespan_ms, 24.0); // nobody to send to
    }

    void uneven_stages_are_paced_by_the_slowest() {
        const Schedule schedule = gpipe(3, 4);
        const Costs costs{{{1.0, 1.0, 0.0}, {3.0, 4.0, 2.0}, {1.0, 2.0, 0.0}}, 0.0};
        const Timeline timeline = simulate(schedule, costs);
        // Filling 1, then the middle stage's 4 x 3; its backwards wait for the last stage: 1 + 2;
        // then 4 x 6, and the first stage's last backward.
        QCOMPARE(timeline.makespan_ms, 1.0 + 4 * 3.0 + 3.0 + 4 * 6.0 + 1.0);
        QCOMPARE(timeline.ideal_ms, 4 * 9.0);
        QCOMPARE(timeline.busy_ms, (std::vector<double>{8.0, 36.0, 12.0}));
    }

    void cells_follow_each_other_and_what_they_need() {
        const Schedule schedule = interleaved_1f1b(2, 4, 2);
        const Timeline timeline = run(schedule, kUsual, 0.5);
        for (std::size_t s = 0; s < timeline.stages.size(); ++s) {
            const auto& cells = timeline.stages[s];
            QCOMPARE(cells.size(), schedule.stage_actions[s].size());
            for (std::size_t i = 0; i < cells.size(); ++i) {
                QVERIFY(cells[i].action == schedule.stage_actions[s][i]);
                QVERIFY(i == 0 || cells[i].start_ms >= cells[i - 1].end_ms);
            }
        }
        // Part 1 of microbatch 0 starts when part 0 (half a stage: 0.5) has been sent.
        QCOMPARE(timeline.stages[1][0].start_ms, 1.0);
    }
};

WEFT_TEST(BubbleTest)
#include "bubble_test.moc"
