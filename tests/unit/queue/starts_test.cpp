// SPDX-License-Identifier: Apache-2.0
// Which entries start when, and what becomes of those whose process is gone: tables.
#include "core/queue/outcome.h"
#include "core/queue/starts.h"
#include "tests/support/weft_test.h"
#include "tests/unit/queue/queue_parts.h"

namespace {

using namespace weft::queue;
using namespace weft::test;

std::string started(const std::vector<Entry>& entries, const Machine& machine) {
    std::string out;
    for (const Start& one : choose_starts(entries, machine)) {
        out += (out.empty() ? "" : " ") + std::to_string(one.id);
        for (std::size_t i = 0; i < one.gpus.size(); ++i) {
            out += (i == 0 ? ":" : ",") + std::to_string(one.gpus[i]);
        }
    }
    return out;
}

class StartsTest : public QObject {
    Q_OBJECT

    const Machine cpu_{1, {}};
    const Machine four_{2, {0, 1, 2, 3}};

    static void is(const std::string& found, const char* expected) {
        QCOMPARE(QString::fromStdString(found), QString(expected));
    }

private slots:
    void one_after_another_in_order() {
        is(started({waiting_entry(5), waiting_entry(3)}, cpu_), "5");
        is(started({running_entry(5), waiting_entry(3)}, cpu_), "");
        is(started({waiting_entry(5), waiting_entry(3), waiting_entry(1)}, four_), "5 3");
        is(started({}, cpu_), "");
    }

    void only_what_waits_is_started() {
        std::vector<Entry> entries;
        for (const State state : kStates) {
            entries.push_back(waiting_entry(static_cast<std::int64_t>(entries.size())));
            entries.back().state = state;
        }
        QCOMPARE(choose_starts(entries, {10, {}}).size(), std::size_t{1});
    }

    void gpus_are_given_to_one_run_each() {
        is(started({waiting_entry(1, "cuda:2"), waiting_entry(2, "cuda"), waiting_entry(3, "auto"),
                    waiting_entry(4, "cuda")},
                   four_),
           "1:0,1 2:2 3:3");
        is(started({running_entry(1, "cuda:2", {0, 2}), waiting_entry(2, "cuda:2")}, four_),
           "2:1,3");
        is(started({waiting_entry(1, "cuda:3,1"), waiting_entry(2, "cuda:2")}, four_),
           "1:3,1 2:0,2");
        is(started({running_entry(1, "cuda", {1}), waiting_entry(2, "cuda:1,")}, four_), "");
    }

    void who_waits_for_many_is_not_overtaken_on_the_same_devices() {
        is(started({running_entry(1, "cuda", {0}), waiting_entry(2, "cuda:4"),
                    waiting_entry(3, "cuda"), waiting_entry(4, "cpu")},
                   four_),
           "4");
    }

    void what_can_never_start_keeps_nobody_back() {
        is(started({waiting_entry(1, "cuda:8"), waiting_entry(2, "cuda")}, four_), "2:0");
        is(started({waiting_entry(1, "cuda"), waiting_entry(2, "cpu:4")}, cpu_), "2");
        QVERIFY(!problem_of(waiting_entry(1, "cuda"), cpu_).empty());
        QVERIFY(!problem_of(waiting_entry(1, "cuda:8"), four_).empty());
        QVERIFY(!problem_of(waiting_entry(1, "cuda:4,"), four_).empty());
        for (const char* devices : {"auto", "cpu", "cpu:8"}) {
            QVERIFY(problem_of(waiting_entry(1, devices), cpu_).empty());
        }
    }

    void what_became_of_a_run_data() {
        QTest::addColumn<QString>("state");
        QTest::addColumn<int>("saved");
        QTest::addColumn<int>("code"); // -1: not known
        QTest::addColumn<QString>("message");
        QTest::addColumn<bool>("asked");
        QTest::addColumn<bool>("leaving");
        QTest::addColumn<int>("outcome");
        const auto row = [](const char* name, const char* state, int saved, int code,
                            const char* message, bool asked, bool leaving, Outcome outcome) {
            QTest::newRow(name) << state << saved << code << message << asked << leaving
                                << static_cast<int>(outcome);
        };
        // The entry trains to step 9.
        row("its rung", "stopped", 9, 0, "", false, false, Outcome::reached);
        row("its rung, told by nobody", "stopped", 9, -1, "", false, false, Outcome::reached);
        row("saved, then killed", "running", 9, -1, "", false, false, Outcome::reached);
        row("finished early", "finished", 6, 0, "", false, false, Outcome::reached);
        row("asked, but ready", "finished", 9, 75, "", true, false, Outcome::reached);
        row("killed", "running", 3, -1, "", false, false, Outcome::again);
        row("killed before its folder was made", "", -1, -1, "", false, false, Outcome::again);
        row("the queue ends", "stopped", 5, 75, "", false, true, Outcome::again);
        row("the queue ends at once", "stopped", 3, 143, "", false, true, Outcome::again);
        row("a reboot", "stopped", 5, -1, "", false, false, Outcome::again);
        row("stopped in the studio", "stopped", 5, 75, "", false, false, Outcome::stopped);
        row("interrupted", "stopped", 3, 130, "", false, false, Outcome::stopped);
        row("asked to stop", "stopped", 5, 75, "", true, false, Outcome::stopped);
        row("asked to stop, then a reboot", "running", 5, -1, "", true, false, Outcome::stopped);
        row("refused", "", -1, 2, "no such file", false, false, Outcome::failed);
        row("diverged", "failed", 3, 5, "the loss is nan", false, false, Outcome::failed);
        row("diverged, told by nobody", "failed", 3, -1, "the loss is nan", false, false,
            Outcome::failed);
    }

    void what_became_of_a_run() {
        QFETCH(QString, state);
        QFETCH(int, saved);
        QFETCH(int, code);
        QFETCH(QString, message);
        QFETCH(bool, asked);
        QFETCH(bool, leaving);
        QFETCH(int, outcome);
        Entry entry = running_entry(1);
        entry.until_step = 9;
        entry.attempts = 1;
        entry.stop = asked;
        Ended ended;
        ended.run_state = state.toStdString();
        ended.saved_step = saved;
        ended.message = message.toStdString();
        ended.exit_code = code < 0 ? std::nullopt : std::optional(code);
        ended.leaving = leaving;
        const Judgement judgement = judge(entry, ended);
        QCOMPARE(static_cast<int>(judgement.outcome), outcome);
        if (judgement.outcome == Outcome::failed) {
            QCOMPARE(QString::fromStdString(judgement.reason), message);
        }
    }

    void who_dies_again_and_again_without_getting_further_has_failed() {
        Entry entry = running_entry(1);
        entry.saved_step = 5;
        Ended ended;
        ended.run_state = "running";
        for (int deaths = 0; deaths < kMostAttempts; ++deaths) {
            entry.attempts = deaths;
            ended.seen = true;
            ended.saved_step = 5;
            QVERIFY(judge(entry, ended).outcome ==
                    (deaths + 1 < kMostAttempts ? Outcome::again : Outcome::failed));
            ended.saved_step = 6;
            QVERIFY(judge(entry, ended).outcome == Outcome::again);
            // Found dead: the machine went down, however often.
            ended.saved_step = 5;
            ended.seen = false;
            QVERIFY(judge(entry, ended).outcome == Outcome::again);
        }
    }
};

} // namespace

WEFT_TEST(StartsTest)
#include "starts_test.moc"
