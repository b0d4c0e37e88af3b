// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/pipeline/schedule_list.h"
#include "core/pipeline/schedule_text.h"
#include "core/pipeline/simulate.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::pipeline;

namespace {

/// Every schedule of the list for a sweep of shapes that it takes.
void each_schedule(const std::function<void(const Schedule&)>& look) {
    for (const ScheduleDef& def : schedule_list()) {
        for (const int stages : {1, 2, 3, 4, 5, 8}) {
            for (const int microbatches : {1, 2, 3, 4, 6, 8, 15, 16}) {
                for (const int chunks : {1, 2, 3, 5}) {
                    if ((chunks == 1 || def.takes_chunks) &&
                        def.problem(stages, microbatches, chunks).empty()) {
                        look(make_schedule(def.name, stages, microbatches, chunks));
                    }
                }
            }
        }
    }
}

Schedule parse(const char* text) {
    return parse_schedule(text, "mine.txt");
}

/// Two stages, two microbatches, as 1F1B, with some words of it replaced.
Schedule broken(std::vector<Action> first, std::vector<Action> second) {
    return {"broken", 2, 2, 1, {std::move(first), std::move(second)}};
}

constexpr Action F(int microbatch) {
    return {ActionKind::forward, microbatch, 0};
}
constexpr Action B(int microbatch) {
    return {ActionKind::backward, microbatch, 0};
}
constexpr Action I(int microbatch) {
    return {ActionKind::input_grad, microbatch, 0};
}
constexpr Action W(int microbatch) {
    return {ActionKind::weight_grad, microbatch, 0};
}

using Sentences = std::vector<std::string>;

} // namespace

class ScheduleTest : public QObject {
    Q_OBJECT

    static void expect_error(const std::function<void()>& act, const char* where,
                             const char* text) {
        try {
            act();
            QFAIL("no error");
        } catch (const Error& error) {
            QCOMPARE(error.kind(), ErrorKind::usage);
            QCOMPARE(QString::fromStdString(error.where()), QString(where));
            QCOMPARE(QString::fromStdString(error.text()), QString(text));
        }
    }

private slots:
    void every_schedule_is_legal() {
        int seen = 0;
        each_schedule([&](const Schedule& schedule) {
            ++seen;
            const Sentences problems = check(schedule);
            QVERIFY2(problems.empty(), problems.empty() ? "" : problems[0].c_str());
        });
        QVERIFY(seen > 200);
    }

    void every_schedule_comes_back_from_its_text() {
        each_schedule([](const Schedule& schedule) {
            QVERIFY(parse_schedule(to_text(schedule), "text") == schedule);
        });
    }

    // Gradients add up in the order of one device.
    void parts_see_microbatches_in_ascending_order() {
        each_schedule([](const Schedule& schedule) {
            for (const auto& actions : schedule.stage_actions) {
                std::map<std::pair<ActionKind, int>, int> next;
                for (const Action& action : actions) {
                    QCOMPARE(action.microbatch, (next[{action.kind, action.chunk}]++));
                }
            }
        });
    }

    // Drawn in the papers: GPipe figure 2, PipeDream-Flush figure 1, ZB-H1 figure 2 (its first and
    // its last stage, four stages).
    void the_schedules_are_those_of_the_papers() {
        const auto stage_text = [](const Schedule& schedule, std::size_t stage) {
            QStringList out;
            for (const Action& action : schedule.stage_actions[stage]) {
                out << QString::fromStdString(to_text(action, schedule.chunks));
            }
            return out.join(' ');
        };
        QCOMPARE(stage_text(gpipe(2, 3), 1), "F0 F1 F2 B0 B1 B2");
        QCOMPARE(stage_text(one_f_one_b(4, 5), 0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
        QCOMPARE(stage_text(one_f_one_b(4, 5), 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
        QCOMPARE(stage_text(zero_bubble_h1(4, 5), 0),
                 "F0 F1 F2 F3 I0 W0 F4 I1 W1 I2 W2 I3 W3 I4 W4");
        QCOMPARE(stage_text(zero_bubble_h1(4, 5), 3),
                 "F0 I0 F1 I1 F2 I2 F3 I3 W0 F4 I4 W1 W2 W3 W4");
        QCOMPARE(stage_text(interleaved_1f1b(2, 2, 2), 0),
                 "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0");
    }

    void each_fault_of_a_schedule_is_named() {
        QVERIFY(check(broken({F(0), F(1), B(0), B(1)}, {F(0), B(0), F(1), B(1)})).empty());
        QCOMPARE(check(broken({F(0), F(1), B(0)}, {F(0), B(0), F(1), B(1)})),
                 Sentences{"stage 0: B1 is missing"});
        QCOMPARE(check(broken({F(0), F(1), B(0), B(1)}, {F(0), B(0), F(1), I(1)})),
                 Sentences{"stage 1: W1 is missing"});
        QCOMPARE(check(broken({F(0), F(0), F(1), B(0), B(1)}, {F(0), B(0), F(1), B(1)})),
                 Sentences{"stage 0: F0 comes twice"});
        QCOMPARE(check(broken({F(0), F(1), B(0), B(1)}, {B(0), F(0), F(1), B(1)})),
                 Sentences{"stage 1: B0 comes before F0"});
        QCOMPARE(check(broken({F(0), F(1), B(0), W(1), I(1)}, {F(0), B(0), F(1), B(1)})),
                 Sentences{"stage 0: W1 comes before I1"});
        QCOMPARE(
            check(broken({F(0), F(1), B(0), B(1), W(1)}, {F(0), B(0), F(1), B(1)})),
            (Sentences{"stage 0: W1 comes before I1", "stage 0: W1 repeats a part of a backward"}));
        QCOMPARE(check(broken({F(0), F(1), B(0), B(1), F(2)}, {F(0), B(0), F(1), B(1)})),
                 Sentences{"stage 0: F2.0 names a microbatch or chunk that is not there"});
        QCOMPARE(check({"short", 2, 1, 1, {{F(0), B(0)}}}),
                 Sentences{"the schedule has actions for 1 stages and says that there are 2"});
    }

    // Each stage is right by itself; stage 0 wants B0 before it sends what stage 1 wants first.
    void stages_that_wait_for_each_other_are_named_and_not_looped_over() {
        const Schedule schedule = broken({F(0), B(0), F(1), B(1)}, {F(0), F(1), B(0), B(1)});
        const Sentences expected = {"stage 0 waits with B0 for B0 of stage 1, which never comes",
                                    "stage 1 waits with F1 for F1 of stage 0, which never comes"};
        QCOMPARE(check(schedule), expected);
        const Timeline timeline = simulate(schedule, Costs::even(schedule, {1.0, 1.0, 1.0}));
        QCOMPARE(timeline.deadlock, expected);
        QCOMPARE(timeline.stages[0].size(), std::size_t{1}); // what could run
    }

    void a_schedule_is_read_with_comments_and_long_stages() {
        const Schedule schedule = parse("# by hand\nschedule my own\nmicrobatches 2\n"
                                        "stage 0: F0 F1\n  B0 # first\n\tB1\n\n"
                                        "stage 1: F0 I0 W0 F1 B1\r\n");
        QCOMPARE(schedule.name, "my own");
        QCOMPARE(schedule.stages, 2);
        QCOMPARE(schedule.chunks, 1);
        QVERIFY(schedule.stage_actions[0] == (std::vector<Action>{F(0), F(1), B(0), B(1)}));
        QVERIFY(schedule.stage_actions[1] == (std::vector<Action>{F(0), I(0), W(0), F(1), B(1)}));
    }

    void errors_in_a_text_have_their_line_data() {
        QTest::addColumn<QString>("input");
        QTest::addColumn<QString>("where");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, const char* input, const char* where,
                            const char* text) { QTest::newRow(name) << input << where << text; };
        row("word", "microbatches 1\nstage 0: F0 X0", "mine.txt, line 2", "'X0' is no action");
        row("number", "microbatches 1\nstage 0: F B0", "mine.txt, line 2", "'F' is no action");
        row("rest", "microbatches 1\nstage 0: F0.0x B0", "mine.txt, line 2",
            "'F0.0x' is no action");
        row("huge", "microbatches 1\nstage 0: F99999999999 B0", "mine.txt, line 2",
            "'F99999999999' is no action");
        row("count", "microbatches zero", "mine.txt, line 1",
            "microbatches is a whole number from 1 to 1048576");
        row("order", "microbatches 1\nstage 1: F0 B0", "mine.txt, line 2",
            "stage 1 comes where stage 0 is expected");
        row("colon", "microbatches 1\nstage 0 F0 B0", "mine.txt, line 2",
            "a stage is written as 'stage 0: F0 B0'");
        row("early", "microbatches 1\nF0 B0", "mine.txt, line 2",
            "an action before the first 'stage 0:'");
        row("no count", "stage 0: F0 B0", "mine.txt", "a line 'microbatches N' is missing");
        row("no stage", "microbatches 1", "mine.txt", "there is no 'stage 0: ...'");
        row("empty", "", "mine.txt", "a line 'microbatches N' is missing");
        row("illegal", "microbatches 1\nstage 0: F0", "mine.txt", "stage 0: B0 is missing");
        row("many", "microbatches 9\nstage 0: F0", "mine.txt",
            "stage 0: B0 is missing; stage 0: F1 is missing; stage 0: B1 is missing; and 14 more "
            "problems");
    }
    void errors_in_a_text_have_their_line() {
        QFETCH(QString, input);
        QFETCH(QString, where);
        QFETCH(QString, text);
        expect_error([&] { parse_schedule(input.toStdString(), "mine.txt"); }, qPrintable(where),
                     qPrintable(text));
    }

    // A few words must not cost hours or gigabytes.
    void a_small_text_with_large_numbers_ends_soon() {
        std::string text = "microbatches 1048576\nchunks 1048576\n";
        for (int stage = 0; stage < 1000; ++stage) {
            text += "stage " + std::to_string(stage) + ": F0\n";
        }
        QVERIFY_THROWS_EXCEPTION(Error, parse_schedule(text, "mine.txt"));
    }

    void a_schedule_is_read_from_a_file() {
        QTemporaryDir folder;
        const Path path = folder.filePath("schedule.txt").toStdString();
        write_file_atomically(path, to_text(one_f_one_b(2, 4)));
        QVERIFY(read_schedule(path) == one_f_one_b(2, 4));
        QVERIFY_THROWS_EXCEPTION(Error, read_schedule(path.string() + ".absent"));
    }

    void impossible_requests_say_why() {
        expect_error([] { make_schedule("1f1", 2, 2); }, "pipeline schedule '1f1'",
                     "there is no such schedule");
        expect_error([] { make_schedule("interleaved_1f1b", 4, 6, 2); },
                     "pipeline schedule 'interleaved_1f1b'",
                     "6 microbatches are not a multiple of 4 stages");
        expect_error([] { make_schedule("gpipe", 4, 8, 2); }, "pipeline schedule 'gpipe'",
                     "has one chunk per stage");
        expect_error([] { make_schedule("gpipe", 0, 8); }, "pipeline schedule 'gpipe'",
                     "stages, microbatches and chunks are at least 1");
    }

    void names_are_those_of_the_configuration() {
        Sentences names;
        for (const ScheduleDef& def : schedule_list()) {
            names.emplace_back(def.name);
            QVERIFY(!def.help.empty());
            QCOMPARE(make_schedule(def.name, 2, 4).name, std::string(def.name));
        }
        QCOMPARE(names, (Sentences{"gpipe", "1f1b", "interleaved_1f1b", "zero_bubble_h1"}));
    }
};

WEFT_TEST(ScheduleTest)
#include "schedule_test.moc"
