// SPDX-License-Identifier: GPL-3.0-or-later
// The line to a run's process, with a process that does what a real one does only when things go
// wrong: it drops connections, speaks another version, or its disk does not answer.
#include "core/train/control/control_server.h"
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/background.h"
#include "ui/bridge/run/run_line.h"

#include <QTemporaryDir>

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

/// A run's folder with its lock, its record and its socket.
class Worker {
public:
    explicit Worker(const fs::path& folder)
        : folder_((fs::create_directories(folder), folder)), lock_(folder, socket().string()),
          log_(folder) {}

    enum class Answer { None, InTheRecord, ToAll };
    /// Listens; what it takes is heard() and answered like this.
    void listen(Answer how) {
        server_ = std::make_unique<train::ControlServer>(socket(), folder_);
        server_->start([this, how](const train::Command& command) {
            const std::lock_guard guard(mutex_);
            heard_.push_back(command.id);
            if (how == Answer::None) {
                return;
            }
            const train::Event answer = log_.write(train::CommandEvent{
                command.id, command.by, std::string(train::command_name(command.kind)), true, ""});
            if (how == Answer::ToAll) {
                server_->publish(answer);
            }
        });
    }
    /// All connections are lost.
    void hangUp() {
        server_.reset();
        const std::lock_guard guard(mutex_);
        heard_.clear();
    }
    std::vector<std::string> heard() {
        const std::lock_guard guard(mutex_);
        return heard_;
    }

private:
    fs::path socket() const { return folder_ / "c.sock"; }

    fs::path folder_;
    train::RunLock lock_;
    train::EventLog log_;
    std::mutex mutex_;
    std::vector<std::string> heard_;
    std::unique_ptr<train::ControlServer> server_;
};

/// What a line has said so far.
struct Heard {
    explicit Heard(ui::RunLine& of) : line(of) {}
    void take() {
        ui::LineNews news = line.takeNews();
        for (const train::Event& event : news.events) {
            if (const auto* answer = std::get_if<train::CommandEvent>(&event.payload)) {
                answers.push_back(answer->id);
            }
        }
        for (const train::CommandEvent& refusal : news.refusals) {
            refusals.push_back(refusal.id);
        }
        control = news.control ? news.control : control;
    }
    bool hasAnswer(const std::string& id) {
        take();
        return std::count(answers.begin(), answers.end(), id) == 1;
    }

    ui::RunLine& line;
    std::vector<std::string> answers;
    std::vector<std::string> refusals;
    std::optional<ui::RunControlState> control;
};

train::Command command(train::CommandKind kind, const std::string& id) {
    return {kind, id, "studio"};
}

} // namespace

class RunLineTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path folder(const char* name) const { return fs::path(dir_.path().toStdString()) / name; }

private slots:
    void a_command_that_a_dropped_connection_lost_is_sent_again() {
        Worker worker(folder("lost"));
        worker.listen(Worker::Answer::None);
        ui::RunLine line({folder("lost"), 0, {}, 0});
        Heard heard(line);
        line.stream(0);
        line.send(command(train::CommandKind::pause, "one"));
        QTRY_COMPARE_WITH_TIMEOUT(worker.heard().size(), std::size_t{1}, kPatienceMs);
        worker.hangUp();
        worker.listen(Worker::Answer::ToAll);
        QTRY_VERIFY_WITH_TIMEOUT(heard.hasAnswer("one"), kPatienceMs);
        QCOMPARE(worker.heard(), std::vector<std::string>{"one"});
    }

    void a_command_that_was_carried_out_is_not_sent_again() {
        Worker worker(folder("done"));
        worker.listen(Worker::Answer::InTheRecord);
        ui::RunLine line({folder("done"), 0, {}, 0});
        Heard heard(line);
        line.stream(0);
        line.send(command(train::CommandKind::step, "one"));
        QTRY_COMPARE_WITH_TIMEOUT(worker.heard().size(), std::size_t{1}, kPatienceMs);
        worker.hangUp();
        worker.listen(Worker::Answer::ToAll);
        line.send(command(train::CommandKind::step, "two"));
        QTRY_VERIFY_WITH_TIMEOUT(heard.hasAnswer("two"), kPatienceMs);
        QVERIFY(heard.hasAnswer("one"));
        QCOMPARE(worker.heard(), std::vector<std::string>{"two"});
    }

    void a_command_is_refused_when_the_process_is_out_of_reach() {
        Worker worker(folder("gone"));
        worker.listen(Worker::Answer::None);
        ui::RunLine line({folder("gone"), 0, {}, 0});
        Heard heard(line);
        line.stream(0);
        line.send(command(train::CommandKind::pause, "one"));
        QTRY_COMPARE_WITH_TIMEOUT(worker.heard().size(), std::size_t{1}, kPatienceMs);
        worker.hangUp();
        const auto refused = [&heard] {
            heard.take();
            return heard.refusals;
        };
        QTRY_COMPARE_WITH_TIMEOUT(refused(), std::vector<std::string>{"one"}, kPatienceMs);
    }

    void a_process_that_speaks_another_version_is_followed_and_not_commanded() {
        const fs::path run = folder("newer");
        fs::create_directories(run);
        train::ControlServer server(run / "c.sock", run);
        std::atomic<int> heard_there = 0;
        server.start([&heard_there](const train::Command&) { ++heard_there; });
        const config::Json lock = {{"pid", 1},
                                   {"host", "elsewhere"},
                                   {"heartbeat", SystemClock().epoch_s()},
                                   {"control", (run / "c.sock").string()},
                                   {"protocol", train::kControlProtocol + 1}};
        test::write_file(run / "lock", lock.dump());
        ui::RunLine line({run, 0, {}, 0});
        Heard heard(line);
        line.stream(0);
        line.send(command(train::CommandKind::pause, "one"));
        const auto refused = [&heard] {
            heard.take();
            return heard.refusals;
        };
        QTRY_COMPARE_WITH_TIMEOUT(refused(), std::vector<std::string>{"one"}, kPatienceMs);
        QVERIFY(heard.control && heard.control->who == ui::RunControlState::Who::Unreachable);
        QVERIFY2(heard.control->why.find(
                     "version " + std::to_string(train::kControlProtocol + 1)) != std::string::npos,
                 heard.control->why.c_str());
        QCOMPARE(heard_there.load(), 0);
    }

    void whoever_leaves_does_not_wait_for_a_disk_that_does_not_answer() {
        const fs::path run = folder("slow");
        fs::create_directories(run);
        QCOMPARE(::mkfifo((run / "events.jsonl").c_str(), 0600), 0); // to open it is to wait
        const config::Json lock = {{"pid", 1},
                                   {"host", "elsewhere"},
                                   {"heartbeat", SystemClock().epoch_s()},
                                   {"control", (run / "nobody.sock").string()}};
        test::write_file(run / "lock", lock.dump());
        auto line = std::make_unique<ui::RunLine>(ui::RunLine::Target{run, 0, {}, 0});
        line->stream(0);
        Heard heard(*line);
        const auto out_of_reach = [&heard] {
            heard.take();
            return heard.control && heard.control->who == ui::RunControlState::Who::Unreachable;
        };
        QTRY_VERIFY_WITH_TIMEOUT(out_of_reach(), kPatienceMs); // so it follows the files
        std::atomic<bool> left = false;
        std::thread leaving([&] {
            line.reset();
            left = true;
        });
        const bool at_once = QTest::qWaitFor([&left] { return left.load(); }, kPatienceMs / 10);
        // Whoever waits for the file goes on.
        const int other_end = ::open((run / "events.jsonl").c_str(), O_RDWR | O_NONBLOCK);
        leaving.join();
        QVERIFY(at_once);
        ui::backgroundPool()->waitForDone();
        ::close(other_end);
    }
};

WEFT_TEST(RunLineTest)
#include "run_line_test.moc"
