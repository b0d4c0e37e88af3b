// SPDX-License-Identifier: Apache-2.0
// Groups of real processes: small scripts that do what ranks do. They wait for each other through
// pipes and files, and end when they are told to.
#include "core/launch/process_group.h"
#include "core/launch/spawn.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/launch/launch_support.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

using namespace weft;
using namespace weft::launch;
using namespace std::chrono_literals;

namespace {

// Ends only by SIGKILL, and is not a shell that must wait for its children first.
constexpr const char* kStays = "trap '' TERM INT HUP USR1; while :; do sleep 0.05; done";

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

bool is_gone(const std::string& pid) {
    return ::kill(static_cast<pid_t>(std::stoi(pid)), 0) != 0;
}

} // namespace

class LaunchGroupTest : public QObject, private test::TestFolder {
    Q_OBJECT

    int number_ = 0;
    std::filesystem::path place_;
    std::vector<std::string> told_;

    static Member rank(int number, const std::string& script) {
        Member out;
        out.rank = number;
        out.host = "h" + std::to_string(number);
        out.words = {"sh", "-c", script};
        return out;
    }
    // Opens a named pipe to write, which waits for whoever reads it.
    std::string fifo(const char* name) const {
        const std::string file = (place_ / name).string();
        if (!std::filesystem::exists(file)) {
            test::run_words({"mkfifo", file});
        }
        return file;
    }
    std::string file(const char* name) const { return (place_ / name).string(); }

    GroupEnd watch(const std::vector<Member>& members, WatchOptions options = {}) {
        const Descriptor lines(
            ::open(file("lines").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        options.error = lines.number();
        options.tell = [this](const std::string& line) { told_.push_back(line); };
        return watch_group(members, "the secret", options);
    }
    // A signalfd's bytes, in a pipe.
    static void put_signal(const Pipe& pipe, int number) {
        signalfd_siginfo info{};
        info.ssi_signo = static_cast<std::uint32_t>(number);
        QCOMPARE(::write(pipe.write.number(), &info, sizeof info),
                 static_cast<ssize_t>(sizeof info));
    }

private slots:
    void init() {
        place_ = path(("group" + std::to_string(++number_)).c_str());
        std::filesystem::create_directories(place_);
        told_.clear();
    }

    void the_exit_code_is_that_of_rank_0() {
        QCOMPARE(watch({rank(0, "exit 0"), rank(1, "exit 0")}).code, 0);
        QCOMPARE(watch({rank(0, "exit 75"), rank(1, "exit 0")}).code, 75);
        QCOMPARE(watch({rank(0, "kill -KILL $$"), rank(1, "exit 0")}).code, 128 + SIGKILL);
        QCOMPARE(told_.size(), std::size_t{1});
        QVERIFY(told_[0].find("rank 0 on h0 was killed by signal 9") != std::string::npos);
    }

    void variables_and_the_secret_arrive() {
        Member first = rank(0, "echo \"$RANK $WEFT_RUN_SECRET\" >" + file("first"));
        first.variables = {{"RANK", "0"}, {"WEFT_RUN_SECRET", "s"}};
        Member other = rank(1, "read secret; echo \"$RANK $secret\" >" + file("other"));
        other.variables = {{"RANK", "1"}};
        other.reads_secret = other.reads_signals = true;
        watch({first, other});
        QCOMPARE(content_of(file("first")), std::string("0 s\n"));
        QCOMPARE(content_of(file("other")), std::string("1 the secret\n"));
    }

    void lines_of_other_ranks_say_whose_they_are() {
        // Rank 0 ends last: everything has been written by then.
        watch({rank(0, "read x <" + fifo("end")),
               rank(3, "echo out; printf 'a\\nno end'; echo err >&2; echo >" + fifo("end"))});
        QCOMPARE(content_of(file("lines")),
                 std::string("[rank 3 h3] out\n[rank 3 h3] a\n[rank 3 h3] no enderr\n"));
    }

    void a_last_line_without_an_end_is_kept() {
        watch(
            {rank(0, "read x <" + fifo("end")), rank(1, "printf 'no end'; echo >" + fifo("end"))});
        QCOMPARE(content_of(file("lines")), std::string("[rank 1 h1] no end\n"));
    }

    void ranks_that_outlive_rank_0_are_killed() {
        WatchOptions options;
        options.farewell = 50ms;
        const GroupEnd end = watch(
            {rank(0, "read pid <" + fifo("pid") + "; echo $pid >" + file("kept") + "; exit 75"),
             rank(1, "echo $$ >" + fifo("pid") + "; " + kStays)},
            options);
        QCOMPARE(end.code, 75);
        QVERIFY(!end.is_fault());
        QVERIFY(is_gone(content_of(file("kept"))));
    }

    void rank_0_may_say_what_happened_when_another_died() {
        // The pipe ends with rank 1, as connections of ranks do.
        const GroupEnd end = watch({rank(0, "read x <" + fifo("alive") + "; exit 6"),
                                    rank(1, "exec 3>" + fifo("alive") + "; kill -KILL $$")});
        QCOMPARE(end.code, 6);
        QCOMPARE(end.lost_rank, 1);
        QVERIFY(end.is_fault());
        QVERIFY2(end.cause.find("rank 1 on h1 was killed by signal 9") != std::string::npos,
                 end.cause.c_str());
    }

    void a_rank_0_that_goes_on_alone_is_killed() {
        WatchOptions options;
        options.last_words = options.farewell = 50ms;
        const GroupEnd end = watch({rank(0, "echo $$ >" + file("pid") + "; " + kStays),
                                    rank(1, "exit 6"), rank(2, kStays)},
                                   options);
        QCOMPARE(end.code, 6);
        QCOMPARE(end.lost_rank, 1);
        QVERIFY(end.is_fault());
        QVERIFY(is_gone(content_of(file("pid"))));
    }

    void the_users_signal_goes_to_rank_0_alone() {
        const Pipe sent = make_pipe();
        WatchOptions options;
        options.signal_descriptor = sent.read.number();
        // Rank 1 would end with 9, rank 0 hears of the other first.
        std::thread sender([&] {
            const int ready = ::open(fifo("ready").c_str(), O_RDONLY | O_CLOEXEC);
            char byte = 0;
            if (::read(ready, &byte, 1) == 1) {
                put_signal(sent, SIGUSR1);
                put_signal(sent, SIGTERM);
            }
            ::close(ready);
        });
        const GroupEnd end =
            watch({rank(0, "trap 'echo usr1 >>" + file("got") + "' USR1; trap 'echo term >>" +
                               file("got") + "; exit 75' TERM; echo >" + fifo("ready") +
                               "; while :; do sleep 0.05; done"),
                   rank(1, "trap 'echo other >>" + file("got") + "' TERM USR1; read x <" +
                               fifo("never"))},
                  [&] {
                      options.farewell = 50ms;
                      return options;
                  }());
        sender.join();
        QCOMPARE(end.code, 75);
        QVERIFY(end.asked);
        QVERIFY(!end.is_fault());
        QCOMPARE(content_of(file("got")), std::string("usr1\nterm\n"));
    }

    void a_rank_that_reads_signals_gets_them_as_lines() {
        const Pipe sent = make_pipe();
        WatchOptions options;
        options.signal_descriptor = sent.read.number();
        for (const int number : {SIGUSR1, SIGHUP, SIGINT}) {
            put_signal(sent, number);
        }
        Member first = rank(0, "read a; read b; read c; read d; echo \"$a $b $c $d\" >" +
                                   file("got") + "; exit 130");
        first.reads_signals = first.reads_secret = true;
        const GroupEnd end = watch({first}, options);
        QCOMPARE(content_of(file("got")), std::string("the secret USR1 HUP INT\n"));
        QCOMPARE(end.code, 130);
        QVERIFY(!end.is_fault());
    }

    void who_asks_a_fourth_time_gets_an_end() {
        const Pipe sent = make_pipe();
        WatchOptions options;
        options.signal_descriptor = sent.read.number();
        for (int i = 0; i < 4; ++i) {
            put_signal(sent, SIGINT);
        }
        const GroupEnd end = watch({rank(0, kStays), rank(1, kStays)}, options);
        QVERIFY(end.code > 128 && end.asked);
    }

    // ssh ends with 255 when its connection does; the rank behind it may well go on.
    void a_rank_out_of_sight_makes_rank_0_stop_and_is_a_fault() {
        for (const char* end_of_ssh : {"exit 255", "kill -KILL $$"}) {
            Member other = rank(1, "read x; echo >" + fifo("ready") + "; " + end_of_ssh);
            other.reads_secret = other.reads_signals = true;
            const GroupEnd end = watch({rank(0, "trap 'exit 75' TERM; read x <" + fifo("ready") +
                                                    "; while :; do sleep 0.05; done"),
                                        other});
            QCOMPARE(end.code, 75);
            QVERIFY(end.gave_up && end.is_fault());
            QVERIFY2(end.cause.find("connection was lost") != std::string::npos, end.cause.c_str());
        }
    }

    void ranks_behind_a_connection_are_told_to_end_and_then_cut_off() {
        Member obeys = rank(1, "read x; read word; echo $word >" + file("word"));
        Member deaf = rank(2, kStays);
        obeys.reads_secret = obeys.reads_signals = true;
        deaf.reads_secret = deaf.reads_signals = true;
        WatchOptions options;
        options.farewell = 50ms;
        QCOMPARE(watch({rank(0, "exit 0"), obeys, deaf}, options).code, 0);
        QCOMPARE(content_of(file("word")), std::string("KILL\n"));
    }

    void one_that_starts_all_ranks_fails_by_communication_when_a_rank_is_killed() {
        Member all = rank(0, "exit 137"); // as mpirun does
        all.all_ranks = true;
        const GroupEnd end = watch({all});
        QCOMPARE(end.code, 6);
        QVERIFY(end.is_fault());
    }

    void what_helps_nobody_is_not_started_anew() {
        GroupEnd end;
        for (const int code : {0, 2, 5, 75}) {
            end.code = code;
            QVERIFY(!end.is_fault());
        }
        for (const int code : {1, 3, 4, 6, 137}) {
            end.code = code;
            end.asked = false;
            QVERIFY(end.is_fault());
            end.asked = true;
            QVERIFY(!end.is_fault());
        }
    }

    void a_program_that_is_not_there_is_named_and_the_others_are_ended() {
        Member absent = rank(1, "");
        absent.words = {"/no/such/weft"};
        const auto error = test::error_of([&] {
            watch({rank(0, "echo $$ >" + file("pid") + "; " + kStays), absent});
        });
        QVERIFY(error);
        QCOMPARE(error->where(), std::string("/no/such/weft"));
        const std::string pid = content_of(file("pid"));
        QVERIFY(pid.empty() || is_gone(pid));
    }

    // As signals that the caller blocks to read them, and those that it ignores.
    void a_child_begins_with_signals_as_usual() {
        sigset_t some;
        sigemptyset(&some);
        sigaddset(&some, SIGTERM);
        sigset_t before;
        pthread_sigmask(SIG_BLOCK, &some, &before);
        const auto old = std::signal(SIGPIPE, SIG_IGN);
        const std::vector<Answer> answers =
            ask({{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}}, 60000);
        std::signal(SIGPIPE, old);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        const QString out = QString::fromStdString(answers.at(0).out);
        QVERIFY2(out.contains("SigBlk:\t0000000000000000"), answers.at(0).out.c_str());
        const QString ignored = out.section("SigIgn:\t", 1).left(16);
        QVERIFY((ignored.toULongLong(nullptr, 16) & (1ULL << (SIGPIPE - 1))) == 0);
    }

    void answers_come_in_the_order_of_the_questions() {
        const std::vector<Answer> answers =
            ask({{"sh", "-c", "echo a; echo b >&2; exit 3"}, {"sh", "-c", "yes | head -n 100000"}},
                60000);
        QCOMPARE(answers.at(0).code, 3);
        QCOMPARE(answers.at(0).out, std::string("a\n"));
        QCOMPARE(answers.at(0).error, std::string("b\n"));
        QCOMPARE(answers.at(1).out.size(), std::size_t{200000});
        QCOMPARE(ask({{"sleep", "600"}}, 20).at(0).code, -1);
    }
};

WEFT_TEST(LaunchGroupTest)
#include "group_test.moc"
