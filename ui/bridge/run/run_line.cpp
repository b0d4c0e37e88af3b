// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_line.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/train/control/control_client.h"
#include "core/train/record/event_lines.h"
#include "core/train/record/run_folder.h"
#include "ui/bridge/background.h"
#include "ui/bridge/run/log_tail.h"

#include <QUuid>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace weft::ui {
namespace {

constexpr double kLookSeconds = 0.02;   // between two looks for a process that is starting
constexpr double kFollowSeconds = 0.25; // between two looks at files
constexpr double kPatienceSeconds = 3;  // before a live process counts as out of reach
constexpr std::size_t kFollowEvents = 4096;

using train::CommandEvent;

struct Outgoing {
    std::string id; // that its answer carries; empty: it has no answer of its own
    std::string line;
};

std::string claimLine(const std::string& as, bool take_over) {
    return config::Json{
        {"command", "claim"}, {"by", "studio"}, {"as", as}, {"take_over", take_over}}
        .dump();
}

} // namespace

// What both threads touch.
struct RunLine::Shared {
    Shared() : wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Shared() { ::close(wake); }

    const int wake;
    const std::string as = QUuid::createUuid().toString().toStdString(); // over any connection
    std::mutex mutex;
    std::vector<Outgoing> to_send;
    std::optional<std::int64_t> stream_after;
    bool leaving = false;
    LineNews news;
};

class RunLine::Thread {
public:
    Thread(Target target, std::shared_ptr<Shared> shared)
        : target_(std::move(target)), shared_(std::move(shared)),
          log_(target_.log, target_.log_offset), kills_before_(memoryKills(target_.counters)),
          thread_([this] { run(); }) {}
    ~Thread() { thread_.join(); }

private:
    void run();
    std::unique_ptr<train::ControlClient> connect();
    void talk(train::ControlClient& client);
    void sendAgain(train::ControlClient& client);
    void sendNew(train::ControlClient& client);
    void forget(const train::Event& event);
    void take(const std::string& line);
    void takeAnswer(const CommandEvent& answer);
    void follow();
    void readFile();
    void takeRead(std::vector<train::Event> events);
    void refuseWhatWaits();
    void finish(ProcessEnd end);
    void setControl(RunControlState::Who who, const std::string& why);
    bool knowsWhereToBegin();
    bool isLeaving();
    void wait(double seconds);
    void drainWake();

    const Target target_;
    const std::shared_ptr<Shared> shared_;
    LogTail log_;
    const std::optional<std::int64_t> kills_before_;
    SystemClock clock_;
    std::int64_t last_seq_ = -1; // negative: not told where to begin
    bool subscribed_ = false;
    std::vector<Outgoing> unanswered_; // commands that were sent
    RunControlState::Who who_ = RunControlState::Who::Asking;
    std::unique_ptr<train::EventReader> reader_; // while the process is out of reach
    std::thread thread_;                         // last: it begins when the rest is there
};

void RunLine::Thread::run() {
    try {
        while (const auto client = connect()) {
            talk(*client);
        }
    } catch (const std::exception& fault) {
        // The folder went away while it was read.
        setControl(RunControlState::Who::Unreachable, fault.what());
        finish({});
    }
}

// Null when the process has ended or we are leaving.
std::unique_ptr<train::ControlClient> RunLine::Thread::connect() {
    std::string why = "it has no control socket";
    const double began_s = clock_.steady_s();
    for (;;) {
        if (isLeaving()) {
            return nullptr;
        }
        if (const auto end = target_.child > 0 ? endOf(target_.child) : std::nullopt) {
            finish(*end);
            return nullptr;
        }
        const auto lock = train::read_lock(target_.folder);
        if (!lock && target_.child == 0) {
            finish({});
            return nullptr;
        }
        const bool speaks_otherwise = lock && lock->protocol != train::kControlProtocol;
        if (speaks_otherwise) {
            why = "it speaks version " + std::to_string(lock->protocol) +
                  " of the control protocol and this studio version " +
                  std::to_string(train::kControlProtocol) +
                  ": control it from the Weft that started it, or with signals";
        } else if (lock && !lock->control.empty()) {
            try {
                auto client = std::make_unique<train::ControlClient>(lock->control);
                reader_.reset();
                return client;
            } catch (const Error& fault) {
                why = fault.message();
            }
        }
        const bool out_of_reach =
            lock && (speaks_otherwise || clock_.steady_s() - began_s > kPatienceSeconds);
        if (out_of_reach) {
            setControl(RunControlState::Who::Unreachable, why);
            follow();
        }
        wait(out_of_reach ? kFollowSeconds : kLookSeconds);
    }
}

void RunLine::Thread::talk(train::ControlClient& client) {
    client.send(claimLine(shared_->as, false));
    subscribed_ = false;
    bool asked = false;
    bool sent_again = unanswered_.empty();
    for (bool alive = true; alive && !isLeaving();) {
        if (!asked && knowsWhereToBegin()) {
            client.send(R"({"command": "subscribe", "by": "studio", "from": )" +
                        std::to_string(last_seq_ + 1) + "}");
            asked = true;
        }
        if (!sent_again && subscribed_) {
            sendAgain(client);
            sent_again = true;
        }
        if (sent_again) {
            sendNew(client);
        }
        alive = client.transfer();
        for (const std::string& line : client.take_lines()) {
            take(line);
        }
        log_.read(shared_->mutex, shared_->news.log);
        if (alive) {
            client.wait(kFollowSeconds, shared_->wake);
            drainWake();
        }
    }
}

// The connection before this one was dropped, maybe with lines that nobody had read. What the
// process took is in the run's record by the time it answers here; the rest it has not heard.
void RunLine::Thread::sendAgain(train::ControlClient& client) {
    readFile();
    reader_.reset();
    for (const Outgoing& command : unanswered_) {
        client.send(command.line);
    }
}

void RunLine::Thread::sendNew(train::ControlClient& client) {
    const std::lock_guard guard(shared_->mutex);
    for (Outgoing& command : std::exchange(shared_->to_send, {})) {
        client.send(command.line);
        if (!command.id.empty()) {
            unanswered_.push_back(std::move(command));
        }
    }
}

void RunLine::Thread::forget(const train::Event& event) {
    if (const auto* answer = std::get_if<CommandEvent>(&event.payload)) {
        std::erase_if(unanswered_, [&](const Outgoing& sent) { return sent.id == answer->id; });
    }
}

void RunLine::Thread::take(const std::string& line) {
    const std::int64_t seq = train::seq_of(line);
    // Before its subscription is answered a client hears of the present only.
    if (seq > 0 && (!subscribed_ || seq <= last_seq_)) {
        return;
    }
    auto event = train::parse_event(line);
    if (event) {
        forget(*event);
    }
    if (seq == 0) {
        if (const auto* answer = event ? std::get_if<CommandEvent>(&event->payload) : nullptr) {
            takeAnswer(*answer);
        }
        return;
    }
    last_seq_ = seq;
    if (event) {
        const std::lock_guard guard(shared_->mutex);
        shared_->news.events.push_back(std::move(*event));
    }
}

void RunLine::Thread::takeAnswer(const CommandEvent& answer) {
    if (answer.command == "subscribe") {
        subscribed_ = answer.accepted;
    } else if (answer.command == "claim") {
        setControl(answer.accepted ? RunControlState::Who::Mine : RunControlState::Who::Other,
                   answer.reason);
    } else {
        const std::lock_guard guard(shared_->mutex);
        shared_->news.refusals.push_back(answer);
    }
}

void RunLine::Thread::follow() {
    readFile();
    refuseWhatWaits();
    log_.read(shared_->mutex, shared_->news.log);
}

// Until what is there has been read, a piece at a time: somebody may leave meanwhile.
void RunLine::Thread::readFile() {
    if (!knowsWhereToBegin()) {
        return;
    }
    if (!reader_) {
        reader_ = std::make_unique<train::EventReader>(target_.folder);
        reader_->skip_through(last_seq_);
    }
    bool more = true;
    while (more && !isLeaving()) {
        std::vector<train::Event> events = reader_->read(kFollowEvents);
        more = events.size() == kFollowEvents;
        takeRead(std::move(events));
    }
}

void RunLine::Thread::takeRead(std::vector<train::Event> events) {
    const std::lock_guard guard(shared_->mutex);
    for (train::Event& event : events) {
        if (event.seq > last_seq_) {
            last_seq_ = event.seq;
            forget(event);
            shared_->news.events.push_back(std::move(event));
        }
    }
}

void RunLine::Thread::refuseWhatWaits() {
    const std::lock_guard guard(shared_->mutex);
    std::vector<Outgoing> waiting = std::exchange(unanswered_, {});
    std::move(shared_->to_send.begin(), shared_->to_send.end(), std::back_inserter(waiting));
    shared_->to_send.clear();
    for (const Outgoing& sent : waiting) {
        if (const auto parsed = train::parse_command(sent.line); parsed.command) {
            shared_->news.refusals.push_back(
                {sent.id, "studio", std::string(train::command_name(parsed.command->kind)), false,
                 "the process that trains the run cannot be reached"});
        }
    }
}

// What was written and not sent is read from the file: nothing is missing, nothing is there twice.
void RunLine::Thread::finish(ProcessEnd end) {
    if (const auto kills = memoryKills(target_.counters); kills && kills_before_) {
        end.memory_kills = *kills - *kills_before_;
    }
    while (!knowsWhereToBegin() && !isLeaving()) {
        wait(kFollowSeconds);
    }
    try {
        reader_.reset();
        readFile();
        reader_.reset();
        log_.read(shared_->mutex, shared_->news.log);
    } catch (const Error&) {
        // The folder is gone; what came before stays.
    }
    const std::lock_guard guard(shared_->mutex);
    shared_->news.end = end;
}

void RunLine::Thread::setControl(RunControlState::Who who, const std::string& why) {
    if (who_ == who && who != RunControlState::Who::Other) {
        return;
    }
    who_ = who;
    const std::lock_guard guard(shared_->mutex);
    shared_->news.control = RunControlState{who, why};
}

bool RunLine::Thread::knowsWhereToBegin() {
    if (last_seq_ < 0) {
        const std::lock_guard guard(shared_->mutex);
        last_seq_ = shared_->stream_after.value_or(-1);
    }
    return last_seq_ >= 0;
}

bool RunLine::Thread::isLeaving() {
    const std::lock_guard guard(shared_->mutex);
    return shared_->leaving;
}

void RunLine::Thread::wait(double seconds) {
    pollfd polled{shared_->wake, POLLIN, 0};
    ::poll(&polled, 1, static_cast<int>(seconds * 1000));
    drainWake();
}

void RunLine::Thread::drainWake() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto drained = ::read(shared_->wake, &count, sizeof count);
}

RunLine::RunLine(Target target)
    : shared_(std::make_shared<Shared>()),
      thread_(std::make_unique<Thread>(std::move(target), shared_)) {}

namespace {

void signalWake(int wake) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
}

} // namespace

RunLine::~RunLine() {
    {
        const std::lock_guard guard(shared_->mutex);
        shared_->leaving = true;
    }
    signalWake(shared_->wake);
    // A disk may take its time over a read: whoever leaves does not wait for it.
    backgroundPool()->start(
        [thread = std::shared_ptr<Thread>(std::move(thread_))]() mutable { thread.reset(); });
}

void RunLine::stream(std::int64_t after_seq) {
    {
        const std::lock_guard guard(shared_->mutex);
        shared_->stream_after = after_seq;
    }
    signalWake(shared_->wake);
}

void RunLine::send(const train::Command& command) {
    {
        const std::lock_guard guard(shared_->mutex);
        shared_->to_send.push_back({command.id, train::to_json(command).dump()});
    }
    signalWake(shared_->wake);
}

void RunLine::takeOver() {
    {
        const std::lock_guard guard(shared_->mutex);
        shared_->to_send.push_back({{}, claimLine(shared_->as, true)});
    }
    signalWake(shared_->wake);
}

LineNews RunLine::takeNews() {
    const std::lock_guard guard(shared_->mutex);
    return std::exchange(shared_->news, {});
}

} // namespace weft::ui
