// SPDX-License-Identifier: Apache-2.0
// The queue on disk: what is written is read, by many at once, and a decision is whole.
#include "core/base/file.h"
#include "core/queue/advance.h"
#include "core/queue/process.h"
#include "core/queue/view.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/queue/queue_parts.h"

#include <set>
#include <thread>

namespace {

using namespace weft;
using namespace weft::queue;
using namespace weft::test;

Sweep halving_sweep(std::vector<std::int64_t> rungs, int eta) {
    Sweep out;
    out.name = "s";
    out.method = Method::halving;
    out.metric = "validation/loss";
    out.rungs = std::move(rungs);
    out.eta = eta;
    return out;
}

Book book_with_trials(int trials, const Sweep& sweep) {
    Book book;
    book.sweeps.push_back(sweep);
    for (int trial = 0; trial < trials; ++trial) {
        Entry entry = waiting_entry(0);
        entry.sweep = sweep.name;
        entry.trial = trial;
        entry.until_step = sweep.rungs.front();
        entry.settings = {{"seed", trial}};
        book.add(entry);
    }
    return book;
}

void reach(Book& book, int trial, double value) {
    Entry& entry = book.entries[book.trials_of("s")[static_cast<std::size_t>(trial)]];
    note_rung(book, entry, {1, value});
    advance(book, 100);
}

const Entry& trial_of(const Book& book, int trial) {
    return book.entries[book.trials_of("s")[static_cast<std::size_t>(trial)]];
}

class BookTest : public QObject, private TestFolder {
    Q_OBJECT

    void write_queue(const char* name, const std::string& text) {
        make_directories(path(name));
        write_file_atomically(path(name) / "queue.json", text);
    }

private slots:
    void all_that_is_noted_comes_back() {
        Entry entry = waiting_entry(0, "cuda:2");
        entry.config = "configs/1.json";
        entry.base_dir = "/tmp/ä";
        entry.resumes = "/runs/a";
        entry.from = "best";
        entry.overrides = {"seed=3"};
        entry.gpus = {1, 3};
        entry.until_step = 9;
        entry.state = State::paused;
        entry.reason = "why";
        entry.stop = true;
        entry.run = "/runs/b";
        entry.attempts = 2;
        entry.saved_step = 7;
        entry.added = 1.5;
        entry.started = 2.5;
        entry.ended = 3.5;
        entry.sweep = "s";
        entry.trial = 4;
        entry.rung = 1;
        entry.settings = {{"optimizer.learning_rate", 0.1}};
        entry.results = {{3, 0.25}, {9, std::nullopt}};
        Sweep sweep = halving_sweep({3, 9}, 3);
        sweep.vary = {"a=1,2"};
        sweep.seed = std::uint64_t{1} << 63;
        sweep.smaller_is_better = false;
        change_book(path("whole"), [&](Book& book) {
            book.add(entry);
            book.sweeps.push_back(sweep);
        });
        const Book read = read_book(path("whole"));
        entry.id = 1;
        QCOMPARE(queue::to_json(read.entries.at(0)).dump(), queue::to_json(entry).dump());
        QCOMPARE(queue::to_json(read.sweeps.at(0)).dump(), queue::to_json(sweep).dump());
        QCOMPARE(read.sweeps.at(0).seed, sweep.seed);
        QCOMPARE(read.entries.at(0).results, entry.results);
        QCOMPARE(read.next_id, std::int64_t{2});
    }

    void no_queue_is_an_empty_one() {
        QVERIFY(read_book(path("nothing")).entries.empty());
        QVERIFY(stamp_of(path("nothing")).empty());
    }

    void a_change_that_throws_changes_nothing() {
        change_book(path("thrown"), [](Book& book) { book.add(waiting_entry(0)); });
        const std::string stamp = stamp_of(path("thrown"));
        QVERIFY_THROWS_EXCEPTION(Error, change_book(path("thrown"), [](Book& book) {
                                     book.add(waiting_entry(0));
                                     throw Error(ErrorKind::usage, "", "no");
                                 }));
        QCOMPARE(read_book(path("thrown")).entries.size(), std::size_t{1});
        QCOMPARE(stamp_of(path("thrown")), stamp);
        change_book(path("thrown"), [](Book& book) { book.add(waiting_entry(0)); }); // is free
        QCOMPARE(read_book(path("thrown")).entries.size(), std::size_t{2});
    }

    void of_many_writers_none_is_lost() {
        constexpr int kWriters = 4;
        constexpr int kChanges = 10;
        std::vector<std::jthread> writers;
        for (int i = 0; i < kWriters; ++i) {
            writers.emplace_back([this] {
                for (int j = 0; j < kChanges; ++j) {
                    change_book(path("many"), [](Book& book) { book.add(waiting_entry(0)); });
                }
            });
        }
        writers.clear();
        const Book book = read_book(path("many"));
        std::set<std::int64_t> ids;
        for (const Entry& entry : book.entries) {
            ids.insert(entry.id);
        }
        QCOMPARE(ids.size(), std::size_t{kWriters * kChanges});
    }

    void what_is_no_queue_is_never_written_over() {
        for (const char* text : {"{", "[]", R"({"format": 1})", R"({"format": 1, "next_id": "x"})",
                                 R"({"format": 1, "next_id": 1, "entries": [{}], "sweeps": []})",
                                 R"({"format": 2, "next_id": 1, "entries": [], "sweeps": []})"}) {
            write_queue("damaged", text);
            QVERIFY_THROWS_EXCEPTION(Error, read_book(path("damaged")));
            QVERIFY_THROWS_EXCEPTION(
                Error, change_book(path("damaged"), [](Book& book) { book.entries.clear(); }));
            QCOMPARE(read_file(path("damaged") / "queue.json"), std::string(text));
        }
    }

    // Twelve trials, a third goes on: 12, 4, 1.
    void the_best_go_on_and_the_others_end() {
        Book book = book_with_trials(12, halving_sweep({1, 3, 9}, 3));
        for (int trial = 0; trial < 12; ++trial) {
            QVERIFY(trial_of(book, 0).state != State::stopped);
            reach(book, trial, (trial * 5) % 12);
        }
        std::set<int> on;
        for (int trial = 0; trial < 12; ++trial) {
            const Entry& entry = trial_of(book, trial);
            if (entry.state == State::waiting) {
                on.insert(trial);
                QCOMPARE(entry.until_step, std::optional<std::int64_t>(3));
                QCOMPARE(entry.rung, std::size_t{1});
            } else {
                QCOMPARE(entry.state, State::stopped);
                QVERIFY(entry.reason.starts_with("stopped early: place "));
                QVERIFY(entry.reason.ends_with(" of 12 at step 1"));
            }
        }
        QCOMPARE(on, (std::set<int>{0, 3, 5, 10})); // 5 t mod 12 = 0, 3, 1, 2
        const std::string before = queue::to_json(trial_of(book, 1)).dump();
        advance(book, 200);
        QCOMPARE(queue::to_json(trial_of(book, 1)).dump(), before);
        for (const int trial : on) {
            reach(book, trial, trial == 5 ? 0 : 1);
        }
        QCOMPARE(trial_of(book, 5).state, State::waiting);
        QVERIFY(!trial_of(book, 5).until_step); // the full length
        reach(book, 5, 0.5);
        QCOMPARE(trial_of(book, 5).state, State::done);
        QVERIFY(table_of(book, book.sweeps[0]).rows[5].best);
        QCOMPARE(table_of(book, book.sweeps[0]).ended, std::size_t{12});
    }

    void a_rung_is_noted_once() {
        Book book = book_with_trials(2, halving_sweep({1, 3}, 2));
        Entry& entry = book.entries[0];
        note_rung(book, entry, {1, 0.5});
        note_rung(book, entry, {1, 0.7});
        QCOMPARE(entry.results, (std::vector<RungValue>{{1, 0.5}}));
    }

    void who_goes_on_starts_before_those_that_have_not_begun() {
        Sweep sweep = halving_sweep({1, 3}, 2);
        sweep.method = Method::asha;
        Book book = book_with_trials(4, sweep);
        Entry other = waiting_entry(0);
        book.entries.insert(book.entries.begin(), other); // keeps its place
        reach(book, 0, 1);
        reach(book, 1, 0.5);
        std::vector<int> order;
        for (const Entry& entry : book.entries) {
            order.push_back(entry.sweep.empty() ? -1 : entry.trial);
        }
        QCOMPARE(order, (std::vector<int>{-1, 0, 1, 2, 3}));
        QCOMPARE(trial_of(book, 1).state, State::waiting);
        QCOMPARE(trial_of(book, 0).state, State::paused);
        reach(book, 2, 0.1);
        reach(book, 3, 0.2); // now the second best of four
        QCOMPARE(trial_of(book, 2).state, State::waiting);
        QCOMPARE(trial_of(book, 3).state, State::waiting);
    }

    void a_table_for_programs_quotes_what_it_must() {
        Book book = book_with_trials(1, halving_sweep({1, 3}, 3));
        book.entries[0].settings = {{"model.hidden", {64, 32}}, {"name", "say \"a\""}};
        book.entries[0].results = {{1, 0.1}};
        book.entries[0].reason = "a,b";
        const std::string text = to_csv(table_of(book, book.sweeps[0]));
        QCOMPARE(QString::fromStdString(text),
                 QString("trial,id,state,reason,run,model.hidden,name,validation/loss at 1,"
                         "validation/loss at 3\r\n"
                         "0,1,waiting,\"a,b\",,\"[64,32]\",\"say \"\"a\"\"\",0.1,\r\n"));
    }

    void a_lock_lives_as_long_as_the_process_that_was_started() {
        const Path lock = path("locks") / "1.lock";
        QVERIFY(!is_held(lock));
        const Path log = path("locks") / "log.txt";
        auto process = Process::start({{"/bin/sleep", "1000"}, {}, lock, log});
        QVERIFY(process.has_value());
        QVERIFY(is_held(lock));
        // A second one does not begin, whoever asks.
        QVERIFY(!Process::start({{"/bin/true"}, {}, lock, log}).has_value());
        process->ask_to_stop();
        QTRY_VERIFY(process->poll().ended);
        QVERIFY(!process->poll().exit_code);
        QVERIFY(!is_held(lock));
    }

    void exit_codes_and_what_was_said_are_kept() {
        const Path log = path("said") / "1.txt";
        auto process = Process::start({{"/bin/sh", "-c", "echo $NAME; echo b >&2; exit 7"},
                                       {"NAME=a"},
                                       path("said") / "1.lock",
                                       log});
        QTRY_VERIFY(process->poll().ended);
        QCOMPARE(process->poll().exit_code, std::optional<int>(7));
        QCOMPARE(read_file(log), std::string("a\nb\n"));
        QVERIFY_THROWS_EXCEPTION(
            Error, Process::start({{"/no/such/program"}, {}, path("said") / "2.lock", log}));
        QVERIFY(!is_held(path("said") / "2.lock"));
    }
};

} // namespace

WEFT_TEST(BookTest)
#include "book_test.moc"
