// SPDX-License-Identifier: Apache-2.0
#include "core/base/stage_meter.h"
#include "tests/support/weft_test.h"

#include <thread>

using namespace weft;

class StageMeterTest : public QObject {
    Q_OBJECT
private slots:
    void time_is_that_of_the_innermost_stage() {
        ManualClock clock;
        StageMeter meter(clock);
        clock.advance(1);
        {
            const InStage decoding(Stage::decode);
            clock.advance(2);
            {
                const InStage reading(Stage::read);
                clock.advance(4);
            }
            clock.advance(8);
        }
        clock.advance(16);
        {
            const InStage transforming(Stage::transform);
            clock.advance(32);
        }
        QVERIFY((meter.seconds() == StageSeconds{17, 4, 10, 32}));
        clock.advance(64);
        QVERIFY((meter.seconds() == StageSeconds{81, 4, 10, 32}));
    }

    void a_fault_leaves_its_stage() {
        ManualClock clock;
        StageMeter meter(clock);
        try {
            const InStage reading(Stage::read);
            clock.advance(1);
            throw 1;
        } catch (int) {
            clock.advance(2);
        }
        QVERIFY((meter.seconds() == StageSeconds{2, 1, 0, 0}));
    }

    void stages_of_other_threads_and_without_a_meter_count_nothing() {
        ManualClock clock;
        {
            const InStage nobody_asks(Stage::read);
            clock.advance(1);
        }
        StageMeter meter(clock);
        std::thread([&] {
            const InStage elsewhere(Stage::decode);
            clock.advance(2);
        }).join();
        QVERIFY((meter.seconds() == StageSeconds{2, 0, 0, 0}));
    }
};

WEFT_TEST(StageMeterTest)
#include "stage_meter_test.moc"
