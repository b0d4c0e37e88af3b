// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/save_steps.h"
#include "tests/support/weft_test.h"

using namespace weft::train;

class SaveStepsTest : public QObject {
    Q_OBJECT

private slots:
    void steps_before_and_beside_a_save_are_told_apart() {
        SaveSteps steps;
        for (const double ms : {9.0, 10.0, 11.0}) {
            steps.completed(ms);
        }
        steps.save_begun(3);
        for (const double ms : {20.0, 12.0, 13.0}) {
            steps.completed(ms);
        }
        const SaveNeighbours of = steps.save_ended(3);
        QCOMPARE(of.before_ms, std::optional(10.0));
        QCOMPARE(of.during_ms, std::optional(13.0));
        QCOMPARE(of.longest_ms, std::optional(20.0));
        // What was slow beside that save is no measure of what is usual.
        steps.completed(9.0);
        steps.save_begun(7);
        QCOMPARE(steps.save_ended(7).before_ms, std::optional(9.0));
    }

    void what_was_not_measured_is_not_told() {
        SaveSteps steps;
        steps.save_begun(1);
        const SaveNeighbours alone = steps.save_ended(1);
        QVERIFY(!alone.before_ms && !alone.during_ms && !alone.longest_ms);
        QVERIFY(!steps.save_ended(1).during_ms); // told once
        steps.completed(5);
        QVERIFY(!steps.save_ended(2).before_ms); // never begun
    }

    void old_steps_are_forgotten() {
        SaveSteps steps;
        steps.completed(1000);
        for (std::size_t i = 0; i < 2 * SaveSteps::kQuietSteps; ++i) {
            steps.completed(i < SaveSteps::kQuietSteps ? 50 : 5);
        }
        steps.save_begun(100);
        QCOMPARE(steps.save_ended(100).before_ms, std::optional(5.0));
    }
};

WEFT_TEST(SaveStepsTest)
#include "save_steps_test.moc"
