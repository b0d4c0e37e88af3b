// SPDX-License-Identifier: Apache-2.0
// The socket of a run: who hears what, who may command, and that nobody can hold up training.
#include "core/base/error.h"
#include "core/train/control/control_client.h"
#include "core/train/control/control_server.h"
#include "core/train/control/control_socket.h"
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <cstring>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using namespace weft;
using namespace weft::train;
namespace fs = std::filesystem;

constexpr int kPatienceMs = 30000;
constexpr int kNoProcess = 1 << 30; // above every number that a process can have

StepEvent step_at(std::int64_t step) {
    StepEvent event;
    event.step = step;
    return event;
}

/// A log, a server over it and what it was told to do.
class ServerDesk {
public:
    explicit ServerDesk(const fs::path& folder)
        : log_((fs::create_directories(folder), folder)), server(folder / "c.sock", folder) {
        server.start([this](Command command) {
            const std::lock_guard lock(mutex_);
            posted_.push_back(std::move(command));
        });
    }

    /// As the session does: into the file first.
    void say(Payload payload) { server.publish(log_.write(std::move(payload))); }
    void say_steps(std::int64_t first, std::int64_t last) {
        for (std::int64_t step = first; step <= last; ++step) {
            say(step_at(step));
        }
    }
    std::vector<std::string> posted() {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> ids;
        for (const Command& command : posted_) {
            ids.push_back(command.id);
        }
        return ids;
    }

private:
    EventLog log_;
    std::mutex mutex_;
    std::vector<Command> posted_;

public:
    ControlServer server; // last: its thread ends first
};

/// One end of a connection that waits for what it expects.
class Talker {
public:
    explicit Talker(const ServerDesk& desk) : client_(desk.server.socket()) {}

    void send(const std::string& line) { client_.send(line); }
    /// The next event that fulfils `wanted`; nullopt when the other end is gone or patience is.
    template <typename Wanted>
    std::optional<Event> wait_for(Wanted wanted) {
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < kPatienceMs;) {
            const bool alive = client_.transfer();
            for (const std::string& line : client_.take_lines()) {
                waiting_.push_back(line);
            }
            while (!waiting_.empty()) {
                const auto event = parse_event(waiting_.front());
                waiting_.pop_front();
                if (event && wanted(*event)) {
                    return event;
                }
            }
            if (!alive) {
                return std::nullopt;
            }
            client_.wait(1);
        }
        return std::nullopt;
    }
    /// The next answer of the channel to this command.
    std::optional<CommandEvent> answer_to(const std::string& command) {
        const auto event = wait_for([&](const Event& candidate) {
            const auto* found = std::get_if<CommandEvent>(&candidate.payload);
            return found != nullptr && candidate.seq == 0 && found->command == command;
        });
        return event ? std::optional(std::get<CommandEvent>(event->payload)) : std::nullopt;
    }
    /// Numbers of the events up to this one.
    std::vector<std::int64_t> seqs_until(std::int64_t last) {
        std::vector<std::int64_t> seqs;
        wait_for([&](const Event& event) {
            if (event.seq > 0) {
                seqs.push_back(event.seq);
            }
            return event.seq == last;
        });
        return seqs;
    }
    /// Sends what is queued.
    void push() { client_.transfer(); }
    void wait_until_gone() {
        wait_for([](const Event&) { return false; });
    }

private:
    ControlClient client_;
    std::deque<std::string> waiting_;
};

/// As soon as the server has a place for one more that waits.
std::unique_ptr<Talker> connected(const ServerDesk& desk) {
    QElapsedTimer clock;
    for (clock.start(); clock.elapsed() < kPatienceMs; std::this_thread::yield()) {
        try {
            return std::make_unique<Talker>(desk);
        } catch (const Error&) {
            // Some wait already.
        }
    }
    return nullptr;
}

std::vector<std::int64_t> range(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> out;
    for (std::int64_t i = first; i <= last; ++i) {
        out.push_back(i);
    }
    return out;
}

/// A socket file that a killed process left behind.
void leave_socket(const fs::path& path) {
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    QCOMPARE(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(descriptor);
}

class ControlTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path path(const char* name) const { return fs::path(dir_.path().toStdString()) / name; }

private slots:
    void a_subscriber_gets_every_event_from_its_number_once_and_in_order() {
        ServerDesk desk(path("subscribe"));
        desk.say_steps(1, 50);
        Talker talker(desk);
        talker.send(R"({"command": "subscribe", "from": 20, "id": "s"})");
        const auto answer = talker.answer_to("subscribe");
        QVERIFY(answer && answer->accepted);
        QCOMPARE(answer->id, std::string("s"));
        desk.say_steps(51, 60);
        QVERIFY(talker.seqs_until(60) == range(20, 60));
        // Again from the beginning.
        talker.send(R"({"command": "subscribe", "from": 1})");
        QVERIFY(talker.answer_to("subscribe")->accepted);
        QVERIFY(talker.seqs_until(60) == range(1, 60));
    }

    void what_is_far_back_comes_from_the_file() {
        ServerDesk desk(path("far_back"));
        desk.say_steps(1, 20000); // more than is kept in memory
        Talker talker(desk);
        talker.send(R"({"command": "subscribe", "from": 3})");
        QVERIFY(talker.answer_to("subscribe")->accepted);
        QVERIFY(talker.seqs_until(20000) == range(3, 20000));
    }

    void a_client_hears_of_the_present_without_asking() {
        ServerDesk desk(path("present"));
        desk.say_steps(1, 5);
        Talker talker(desk);
        talker.send(R"({"command": "claim"})"); // its answer says that the client is served
        QVERIFY(talker.answer_to("claim")->accepted);
        desk.say_steps(6, 7);
        QVERIFY(talker.seqs_until(7) == range(6, 7));
    }

    void two_clients_hear_the_same() {
        ServerDesk desk(path("two"));
        Talker one(desk);
        Talker two(desk);
        for (Talker* talker : {&one, &two}) {
            talker->send(R"({"command": "subscribe", "from": 1})");
            QVERIFY(talker->answer_to("subscribe")->accepted);
        }
        desk.say_steps(1, 300);
        desk.say(StateEvent{RunState::finished, "", "", 0, 0});
        QVERIFY(one.seqs_until(301) == range(1, 301));
        QVERIFY(two.seqs_until(301) == range(1, 301));
    }

    void commands_are_posted_and_rubbish_is_refused_to_its_sender_alone() {
        ServerDesk desk(path("rubbish"));
        Talker talker(desk);
        Talker other(desk);
        talker.send("rubbish");
        talker.send("\x01\xff[[[[");
        talker.send("{}");
        talker.send(R"({"command": "dance", "id": 7})");
        talker.send(R"({"command": "subscribe", "from": 0})");
        talker.send(R"({"command": "subscribe", "from": "all"})");
        for (int i = 0; i < 3; ++i) {
            QVERIFY(!talker.answer_to("")->accepted);
        }
        const auto unknown = talker.answer_to("");
        QVERIFY(!unknown->accepted && unknown->reason.find("dance") != std::string::npos);
        QCOMPARE(unknown->id, std::string("7"));
        QVERIFY(!talker.answer_to("subscribe")->accepted);
        QVERIFY(!talker.answer_to("subscribe")->accepted);
        talker.send(R"({"command": "pause", "id": "p"})");
        QTRY_VERIFY_WITH_TIMEOUT((talker.push(), desk.posted() == std::vector<std::string>{"p"}),
                                 kPatienceMs);
        // The other client heard nothing of it: the first thing that it hears is this event.
        desk.say(step_at(1));
        QVERIFY(other.wait_for([](const Event&) { return true; })->seq == 1);
    }

    void a_line_that_is_too_long_is_refused_and_the_next_one_is_taken() {
        ServerDesk desk(path("long_line"));
        Talker talker(desk);
        talker.send(std::string(3 * kMostControlLineBytes, 'x'));
        talker.send(R"({"command": "pause", "id": "after"})");
        const auto refused = talker.answer_to("");
        QVERIFY(refused && refused->reason.find("1 MiB") != std::string::npos);
        QTRY_VERIFY_WITH_TIMEOUT(
            (talker.push(), desk.posted() == std::vector<std::string>{"after"}), kPatienceMs);
    }

    void a_line_of_countless_fields_is_refused_at_once() {
        ServerDesk desk(path("wide_line"));
        Talker talker(desk);
        for (const bool equal : {true, false}) {
            std::string line = R"({"command":"pause")";
            for (int i = 0; line.size() + 20 < kMostControlLineBytes; ++i) {
                line += equal ? ",\"a\":0" : ",\"" + std::to_string(i) + "\":0";
            }
            talker.send(line + "}");
        }
        QElapsedTimer clock;
        clock.start();
        for (int i = 0; i < 2; ++i) {
            const auto refused = talker.answer_to("");
            QVERIFY(refused && !refused->accepted);
        }
        desk.server.stop();
        QVERIFY(clock.elapsed() < 10'000); // minutes where each field is looked for among all
        QVERIFY(desk.posted().empty());
    }

    void clients_that_never_speak_lock_nobody_out() {
        ServerDesk desk(path("crowd"));
        Talker owner(desk);
        owner.send(R"({"command": "claim"})");
        QVERIFY(owner.answer_to("claim")->accepted);
        const auto first = connected(desk);
        std::vector<std::unique_ptr<Talker>> idle;
        const auto crowd = [&] {
            for (int i = 0; i < 100; ++i) {
                idle.push_back(connected(desk));
            }
        };
        crowd();
        const auto late = connected(desk);
        late->send(R"({"command": "subscribe", "from": 1})");
        const auto served = late->answer_to("subscribe");
        QVERIFY(served && served->accepted);
        // Who came first and never spoke is told why it had to go; who speaks and who has control
        // stay.
        const auto sent_away = first->answer_to("");
        QVERIFY(sent_away && sent_away->reason.find("64 clients") != std::string::npos);
        crowd();
        const auto last = connected(desk);
        last->send(R"({"command": "subscribe", "from": 1})");
        QVERIFY(last->answer_to("subscribe")->accepted);
        desk.say(step_at(1));
        QVERIFY(late->seqs_until(1) == range(1, 1));
        owner.send(R"({"command": "pause", "id": "mine"})");
        QTRY_VERIFY_WITH_TIMEOUT((owner.push(), desk.posted() == std::vector<std::string>{"mine"}),
                                 kPatienceMs);
    }

    void a_client_that_never_reads_holds_up_nobody_and_loses_nothing() {
        ServerDesk desk(path("never_reads"));
        Talker lazy(desk);
        lazy.send(R"({"command": "subscribe", "from": 1})");
        QVERIFY(lazy.answer_to("subscribe")->accepted);
        Talker busy(desk);
        busy.send(R"({"command": "subscribe", "from": 1})");
        QVERIFY(busy.answer_to("subscribe")->accepted);
        // Some 6 MB: more than the socket and every buffer of the server hold.
        desk.say_steps(1, 30000);
        QVERIFY(busy.seqs_until(30000) == range(1, 30000));
        QVERIFY(lazy.seqs_until(30000) == range(1, 30000));
    }

    void the_last_events_reach_a_client_before_the_end() {
        const fs::path folder = path("farewell");
        auto desk = std::make_unique<ServerDesk>(folder);
        Talker talker(*desk);
        talker.send(R"({"command": "subscribe", "from": 1})");
        QVERIFY(talker.answer_to("subscribe")->accepted);
        desk->say_steps(1, 40);
        desk->server.stop();
        QVERIFY(talker.seqs_until(40) == range(1, 40));
        desk.reset();
        talker.wait_until_gone();
        QVERIFY(!fs::exists(folder / "c.sock"));
    }

    void one_client_at_a_time_has_control() {
        ServerDesk desk(path("claim"));
        auto first = std::make_unique<Talker>(desk);
        Talker second(desk);
        first->send(R"({"command": "claim", "by": "studio", "id": "1"})");
        QVERIFY(first->answer_to("claim")->accepted);
        second.send(R"({"command": "claim", "by": "studio", "id": "2"})");
        const auto refused = second.answer_to("claim");
        QVERIFY(!refused->accepted);
        QVERIFY(refused->reason.find("studio (process " + std::to_string(::getpid()) + ")") !=
                std::string::npos);
        second.send(R"({"command": "stop", "id": "no"})");
        const auto stop = second.answer_to("stop");
        QVERIFY(!stop->accepted && stop->id == "no" && !stop->reason.empty());
        QVERIFY(desk.posted().empty());
        // The one in line gets it when the first leaves.
        first.reset();
        const auto accepted = second.answer_to("claim");
        QVERIFY(accepted->accepted && accepted->id == "2");
        second.send(R"({"command": "stop", "id": "yes"})");
        QTRY_VERIFY_WITH_TIMEOUT((second.push(), desk.posted() == std::vector<std::string>{"yes"}),
                                 kPatienceMs);
    }

    void control_can_be_taken_over_and_comes_back() {
        ServerDesk desk(path("take_over"));
        Talker first(desk);
        auto second = std::make_unique<Talker>(desk);
        first.send(R"({"command": "claim"})");
        QVERIFY(first.answer_to("claim")->accepted);
        second->send(R"({"command": "claim", "take_over": true})");
        QVERIFY(second->answer_to("claim")->accepted);
        QVERIFY(!first.answer_to("claim")->accepted);
        first.send(R"({"command": "pause"})");
        QVERIFY(!first.answer_to("pause")->accepted);
        second.reset();
        QVERIFY(first.answer_to("claim")->accepted);
    }

    // Over a network a connection that was cut may be open at this end for long.
    void who_comes_back_over_another_connection_has_control_again() {
        ServerDesk desk(path("comes_back"));
        Talker cut(desk);
        cut.send(R"({"command": "claim", "by": "studio", "as": "a studio"})");
        QVERIFY(cut.answer_to("claim")->accepted);
        Talker other(desk);
        other.send(R"({"command": "claim", "by": "studio", "as": "another"})");
        QVERIFY(!other.answer_to("claim")->accepted);
        auto back = std::make_unique<Talker>(desk);
        back->send(R"({"command": "claim", "by": "studio", "as": "a studio"})");
        QVERIFY(back->answer_to("claim")->accepted);
        QVERIFY(!cut.answer_to("claim")->accepted);
        cut.send(R"({"command": "pause"})");
        QVERIFY(!cut.answer_to("pause")->accepted);
        // The connection that was cut waits for nothing: the next in line is the other.
        back.reset();
        QVERIFY(other.answer_to("claim")->accepted);
    }

    void the_socket_is_private() {
        ServerDesk desk(path("private"));
        struct stat status {};
        QCOMPARE(::stat(desk.server.socket().c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, mode_t{0600});
    }

    void a_stale_socket_is_replaced_and_a_live_one_is_not() {
        const fs::path folder = path("stale");
        fs::create_directories(folder);
        leave_socket(folder / "c.sock");
        ServerDesk desk(folder);
        QVERIFY_EXCEPTION_THROWN(ControlServer(folder / "c.sock", folder), Error);
        Talker talker(desk);
        talker.send(R"({"command": "claim"})");
        QVERIFY(talker.answer_to("claim")->accepted);
        // A file that is no socket stays what it is.
        std::ofstream(folder / "file") << "text";
        QVERIFY_EXCEPTION_THROWN(ControlServer(folder / "file", folder), Error);
        QCOMPARE(fs::file_size(folder / "file"), std::uintmax_t{4});
        QVERIFY_EXCEPTION_THROWN(ControlServer(folder / std::string(120, 'x'), folder), Error);
    }

    void sockets_of_dead_processes_are_swept_away() {
        fs::create_directories(path("runtime"));
        const fs::path folder = control_folder(path("runtime"), path("none"));
        const fs::path dead = folder / (std::to_string(kNoProcess) + ".sock");
        const fs::path living = folder / (std::to_string(::getppid()) + ".sock");
        leave_socket(dead);
        leave_socket(living); // its process may be about to listen
        std::ofstream(folder / "1073741824.txt") << "not ours";
        const fs::path free = free_control_path(folder);
        QVERIFY(!fs::exists(free));
        QVERIFY(!fs::exists(dead));
        QVERIFY(fs::exists(living));
        QVERIFY(fs::exists(folder / "1073741824.txt"));
    }

    void sockets_lie_in_a_private_folder_with_a_short_name() {
        fs::create_directories(path("run"));
        QCOMPARE(control_folder(path("run"), path("none")), path("run") / "weft");
        struct stat status {};
        QCOMPARE(::stat((path("run") / "weft").c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, mode_t{0700});
        // Without a runtime folder, or with one whose name is too long.
        const fs::path temp = path("temp");
        fs::create_directories(temp);
        const fs::path own = temp / ("weft-" + std::to_string(::geteuid()));
        QCOMPARE(control_folder("", temp), own);
        const fs::path deep = path("deep") / std::string(90, 'd');
        fs::create_directories(deep);
        QCOMPARE(control_folder(deep, temp), own);
        // Somebody else may look into it: then it is not used.
        fs::permissions(own, fs::perms::others_read, fs::perm_options::add);
        QVERIFY_EXCEPTION_THROWN(control_folder("", temp), Error);
    }

    void lines_are_found_by_their_number_data() {
        QTest::addColumn<int>("lines");
        for (const int lines : {0, 1, 2, 3, 17, 5000}) {
            QTest::addRow("%d", lines) << lines;
        }
    }

    void lines_are_found_by_their_number() {
        QFETCH(int, lines);
        const fs::path folder = path("lines") / std::to_string(lines);
        fs::create_directories(folder);
        std::string text;
        for (int i = 1; i <= lines; ++i) {
            Event event{i, 0,
                        WarningEvent{std::string(static_cast<std::size_t>(i * 37 % 500), '"'),
                                     R"("seq":9})"}};
            text += to_line(event) + "\n";
            if (i % 5 == 0) {
                text += "{damaged\n";
            }
        }
        text += R"({"event":"warning","seq":)"; // torn
        std::ofstream(folder / "events.jsonl") << text;
        for (const int after : {0, 1, 2, 16, 17, 2500, 4999, 5000, 9999}) {
            EventLines reader(folder, after);
            std::vector<std::int64_t> seqs;
            for (auto part = reader.read(4096); !part.empty(); part = reader.read(4096)) {
                for (const EventLines::Line& line : part) {
                    seqs.push_back(line.seq);
                    QCOMPARE(parse_event(line.text)->seq, line.seq);
                }
            }
            QVERIFY(seqs == range(after + 1, lines));
        }
    }

    void the_lock_tells_where_a_run_is_controlled_and_other_hosts_by_their_heartbeat() {
        const fs::path folder = path("lock");
        fs::create_directories(folder);
        QVERIFY(!read_lock(folder).has_value());
        {
            const RunLock lock(folder, "/run/weft/1.sock");
            const auto info = read_lock(folder);
            QVERIFY(info.has_value());
            QCOMPARE(info->control, std::string("/run/weft/1.sock"));
            QCOMPARE(info->pid, std::int64_t{::getpid()});
        }
        const auto write = [&](double age_s) {
            std::ofstream(folder / "lock")
                << R"({"pid": 5, "host": "elsewhere", "heartbeat": )"
                << std::to_string(SystemClock().epoch_s() - age_s) << "}";
        };
        write(3);
        QVERIFY(is_live(folder));
        write(600);
        QVERIFY(!is_live(folder));
        std::ofstream(folder / "lock") << R"({"pid": "x", "heartbeat": []})";
        QVERIFY(!is_live(folder));
    }
};

} // namespace

WEFT_TEST(ControlTest)
#include "control_test.moc"
