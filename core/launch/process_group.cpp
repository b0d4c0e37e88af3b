// SPDX-License-Identifier: Apache-2.0
#include "core/launch/process_group.h"

#include "core/base/error.h"
#include "core/launch/local_members.h"
#include "core/launch/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace weft::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCommunication = 6;
constexpr std::size_t kMostLine = 64 << 10;
constexpr int kStopsBeforeAllAreKilled = 3;
// A rank on another host is told to end by its connection, which is cut if that does not help.
constexpr std::chrono::milliseconds kConnectionPatience{2000};

const char* signal_word(int number) {
    switch (number) {
    case SIGINT: return "INT";
    case SIGTERM: return "TERM";
    case SIGHUP: return "HUP";
    case SIGUSR1: return "USR1";
    default: return "KILL";
    }
}

void write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno != EINTR) {
            return; // nobody reads: the end is seen elsewhere
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
}

// ssh says 255 for a rank that was killed and for a connection that ended, or was killed itself.
bool is_out_of_sight(const Member& member, int code) {
    return member.reads_secret && (code == kSshFailed || code == 128 + SIGKILL);
}

// One started member.
struct Running {
    const Member* member = nullptr;
    Child child;
    Descriptor in;     // names of signals
    Descriptor output; // what it prints, but of rank 0
    std::string line;  // of that, not yet ended
    bool ended = false;
};

class Group {
public:
    Group(const std::vector<Member>& members, const std::string& secret,
          const WatchOptions& options)
        : options_(options) {
        try {
            for (const Member& member : members) {
                start(member, secret);
            }
        } catch (...) {
            kill_all();
            reap_all();
            throw;
        }
    }

    GroupEnd watch() {
        while (living() > 0) {
            wait_for_news();
            if (kill_at_ && Clock::now() >= *kill_at_) {
                end_patience();
            }
        }
        for (Running& one : all_) {
            drain(one);
        }
        if (by_our_hand_) {
            end_.code = kCommunication;
        }
        return end_;
    }

private:
    void start(const Member& member, const std::string& secret) {
        Running one;
        one.member = &member;
        Pipe in = make_pipe();
        Pipe output = make_pipe();
        ChildFiles files;
        if (member.reads_signals) {
            files.in = in.read.number();
        } else if (member.rank == 0 && ::isatty(STDIN_FILENO) == 0) {
            files.in = STDIN_FILENO; // a terminal would stop a process that is not in front
        }
        files.out = member.rank == 0 ? STDOUT_FILENO : output.write.number();
        files.error = member.rank == 0 ? STDERR_FILENO : output.write.number();
        one.child = spawn(member.words, member.variables, files);
        if (member.reads_signals) {
            one.in = std::move(in.write);
        }
        if (member.rank != 0) {
            one.output = std::move(output.read);
        }
        if (member.reads_secret) {
            write_all(one.in.number(), secret + "\n");
        }
        all_.push_back(std::move(one));
    }

    std::size_t living() const {
        return static_cast<std::size_t>(
            std::count_if(all_.begin(), all_.end(), [](const Running& one) { return !one.ended; }));
    }

    void wait_for_news() {
        std::vector<pollfd> waiting{{options_.signal_descriptor, POLLIN, 0}};
        for (Running& one : all_) {
            waiting.push_back({one.ended ? -1 : one.child.ended.number(), POLLIN, 0});
            waiting.push_back({one.output.number(), POLLIN, 0});
        }
        int patience = -1;
        if (kill_at_) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now()).count();
            patience = static_cast<int>(std::max<std::int64_t>(left, 0));
        }
        if (::poll(waiting.data(), waiting.size(), patience) <= 0) {
            return;
        }
        if (waiting[0].revents != 0) {
            pass_signal_on();
        }
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (waiting[2 * i + 2].revents != 0) {
                read_output(all_[i]);
            }
        }
        // Rank 0 first: of a rank that it lost by ending itself nothing is to be said.
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (waiting[2 * i + 1].revents != 0) {
                note_end(all_[i]);
            }
        }
    }

    void pass_signal_on() {
        signalfd_siginfo info{};
        if (::read(options_.signal_descriptor, &info, sizeof info) != sizeof info) {
            return;
        }
        const int number = static_cast<int>(info.ssi_signo);
        if (number != SIGUSR1) {
            end_.asked = true;
            if (++stops_ > kStopsBeforeAllAreKilled) {
                kill_all();
                return;
            }
        }
        for (Running& one : all_) {
            if (one.member->rank == 0) {
                send(one, number);
            }
        }
    }

    void send(Running& one, int number) {
        if (one.ended) {
            return;
        }
        if (one.in.is_open()) {
            write_all(one.in.number(), std::string(signal_word(number)) + "\n");
        } else {
            ::kill(number == SIGKILL ? -one.child.pid : one.child.pid, number);
        }
    }

    void note_end(Running& one) {
        const int code = reap(one.child);
        one.ended = true;
        one.in.close();
        if (one.member->rank == 0) {
            end_.code = code;
            const bool lost = is_out_of_sight(*one.member, code);
            if (end_.cause.empty() && !end_.asked && (lost || code > 128)) {
                blame(one, code);
            }
            if (lost || (one.member->all_ranks && code > 128)) {
                end_.code = kCommunication; // of which rank 0 knows nothing
            }
            kill_at_ = Clock::now() + options_.farewell;
            leader_ended_ = true;
            return;
        }
        // Rank 0 may have seen its death, and ended, before the system said it here.
        const bool killed = code > 128 && !farewell_is_over_;
        if (!end_.cause.empty() || code == 0 || all_are_killed_ || (leader_ended_ && !killed)) {
            return;
        }
        end_.lost_rank = one.member->rank;
        blame(one, code);
        if (!leader_ended_) {
            kill_at_ = Clock::now() + options_.last_words;
            if (is_out_of_sight(*one.member, code)) {
                // It may be only out of sight, and then rank 0 sees no reason to end.
                end_.gave_up = true;
                send_leader(SIGTERM);
            }
        }
    }

    void blame(const Running& one, int code) {
        const std::string who = one.member->all_ranks ? "a rank"
                                                      : "rank " + std::to_string(one.member->rank) +
                                                            " on " + one.member->host;
        if (is_out_of_sight(*one.member, code)) {
            end_.cause = who + " was killed, or its connection was lost";
        } else if (code > 128) {
            end_.cause = who + " was killed by signal " + std::to_string(code - 128);
        } else {
            end_.cause = who + " ended with exit code " + std::to_string(code);
        }
        // One that ended by itself has said why.
        if (options_.tell && code > 128) {
            options_.tell(end_.cause);
        }
    }

    void send_leader(int number) {
        for (Running& one : all_) {
            if (one.member->rank == 0) {
                send(one, number);
            }
        }
    }

    // Whoever should have ended by now is killed: rank 0, or when it has ended the others.
    void end_patience() {
        kill_at_.reset();
        farewell_is_over_ = leader_ended_;
        if (!leader_ended_) {
            if (options_.tell && !by_our_hand_) {
                options_.tell("rank 0 did not end within " +
                              std::to_string(options_.last_words.count() / 1000) +
                              " s after that, and is killed");
            }
            by_our_hand_ = true;
        }
        for (Running& one : all_) {
            if (leader_ended_ || one.member->rank == 0) {
                end_one(one);
            }
        }
        if (living() > 0 && leader_ended_) {
            kill_at_ = Clock::now() + kConnectionPatience;
        }
    }

    void end_one(Running& one) {
        if (one.ended) {
            return;
        }
        if (one.in.is_open()) {
            send(one, SIGKILL);
            one.in.close();
        } else {
            ::kill(-one.child.pid, SIGKILL);
        }
        if (!leader_ended_) {
            kill_at_ = Clock::now() + kConnectionPatience;
        }
    }

    void kill_all() {
        all_are_killed_ = true;
        for (Running& one : all_) {
            if (!one.ended) {
                send(one, SIGKILL);
                one.in.close();
                ::kill(-one.child.pid, SIGKILL);
            }
        }
    }

    void reap_all() {
        for (Running& one : all_) {
            if (!one.ended) {
                reap(one.child);
                one.ended = true;
            }
        }
    }

    void print(const Running& one, const std::string& line) {
        write_all(options_.error, "[rank " + std::to_string(one.member->rank) + " " +
                                      one.member->host + "] " + line + "\n");
    }

    // False: there is nothing more to read now.
    bool read_output(Running& one) {
        char bytes[4096];
        const ssize_t count = ::read(one.output.number(), bytes, sizeof bytes);
        if (count <= 0) {
            if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
                one.output.close();
            }
            return false;
        }
        one.line.append(bytes, static_cast<std::size_t>(count));
        for (std::size_t end = one.line.find('\n'); end != std::string::npos;
             end = one.line.find('\n')) {
            print(one, one.line.substr(0, end));
            one.line.erase(0, end + 1);
        }
        if (one.line.size() > kMostLine) {
            print(one, one.line);
            one.line.clear();
        }
        return true;
    }

    // What is in the pipe; a process that an ended one left may hold it open.
    void drain(Running& one) {
        pollfd waiting{one.output.number(), POLLIN, 0};
        while (one.output.is_open() && ::poll(&waiting, 1, 0) > 0 && read_output(one)) {
        }
        if (!one.line.empty()) {
            print(one, one.line);
        }
    }

    const WatchOptions& options_;
    std::vector<Running> all_;
    GroupEnd end_;
    std::optional<Clock::time_point> kill_at_;
    bool leader_ended_ = false;
    bool farewell_is_over_ = false; // others are killed
    bool by_our_hand_ = false;
    bool all_are_killed_ = false;
    int stops_ = 0;
};

} // namespace

bool GroupEnd::is_fault() const {
    constexpr int kNoFaults[] = {0, 2, 5, 75};
    const bool ended_well =
        std::find(std::begin(kNoFaults), std::end(kNoFaults), code) != std::end(kNoFaults);
    return !asked && (!ended_well || (gave_up && code == 75));
}

GroupEnd watch_group(const std::vector<Member>& members, const std::string& secret,
                     const WatchOptions& options) {
    return Group(members, secret, options).watch();
}

} // namespace weft::launch
