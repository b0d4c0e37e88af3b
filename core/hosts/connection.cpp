// SPDX-License-Identifier: Apache-2.0
#include "core/hosts/connection.h"

#include "core/base/text.h"
#include "core/launch/local_members.h"
#include "core/launch/shell_text.h"
#include "core/launch/spawn.h"

#include <cctype>
#include <csignal>
#include <optional>
#include <poll.h>
#include <unistd.h>

namespace weft::hosts {
namespace {

constexpr int kNoProgram = 127;
constexpr int kForwardPatienceMs = 20000;
constexpr int kTickMs = 500;

/// For a message.
std::string last_said(const std::string& text) {
    return shown(launch::last_line(text), 300);
}

// Before every script. Whoever's PATH it is: a program of the host's own folder is found by its
// path.
std::string preamble(const Host& host) {
    const std::string runs =
        host.runs.empty() ? "${WEFT_RUNS:-$HOME/WeftRuns}" : launch::shell_quoted(host.runs);
    return "runs=" + runs +
           "; case $runs in /*) ;; *) runs=$HOME/$runs;; esac; export WEFT_RUNS=$runs\n" +
           "weft_program=" + launch::shell_quoted(host.program) +
           "; case $weft_program in '~/'*) weft_program=$HOME/${weft_program#'~/'};; esac\n"
           "weft() { \"$weft_program\" \"$@\"; }\n";
}

[[noreturn]] void refuse_unreachable(const Host& host, const std::string& said) {
    throw Error(ErrorKind::device, host.name, "cannot be reached: " + last_said(said),
                "Try `ssh " + host.name + "`: it has to take your key without a question.");
}

/// What has come; the end is closed where nothing more will.
void read_some(launch::Descriptor& from, std::string& to) {
    char bytes[4096];
    const ssize_t count = ::read(from.number(), bytes, sizeof bytes);
    if (count > 0) {
        to.append(bytes, static_cast<std::size_t>(count));
    } else if (count == 0) {
        from.close();
    }
}

/// The last share in what `rsync --info=progress2` has said, "1,238,099  42%  3.1MB/s ...", which
/// is taken out of it.
std::optional<double> share_in(std::string& told) {
    const std::size_t sign = told.rfind('%');
    if (sign == std::string::npos) {
        return std::nullopt;
    }
    std::size_t begin = sign;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(told[begin - 1])) != 0) {
        --begin;
    }
    const std::string number = told.substr(begin, sign - begin);
    told.erase(0, sign + 1);
    return number.empty() || number.size() > 3 ? std::nullopt
                                               : std::optional(std::stod(number) / 100);
}

} // namespace

Connection::Connection(Host host, const Path& sockets, std::stop_token stop)
    : host_(std::move(host)), socket_((sockets / "ssh-%C").string()), stop_(std::move(stop)) {}

std::vector<std::string> Connection::ssh() const {
    std::vector<std::string> words = launch::ssh_words(host_.name);
    words.resize(words.size() - 2); // the host, and the end of options before it
    words.insert(words.end(), {"-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o",
                               "ControlPath=" + socket_, "-o", "StreamLocalBindUnlink=yes"});
    return words;
}

std::vector<std::string> Connection::words_for(const std::string& script) const {
    std::vector<std::string> words = ssh();
    // Whatever shell the user has there, sh reads the script.
    words.insert(words.end(), {"--", host_.name,
                               "exec sh -c " + launch::shell_quoted(preamble(host_) + script)});
    return words;
}

std::string Connection::ask(const std::string& script, int patience_ms) const {
    const launch::Answer answer = launch::ask({words_for(script)}, patience_ms, stop_).front();
    if (answer.code == -1 && stop_.stop_requested()) {
        throw Stopped();
    }
    if (answer.code == -1) {
        throw Error(ErrorKind::device, host_.name,
                    "does not answer within " + format_duration(patience_ms / 1000.0),
                    "See whether it is up and the network is there.");
    }
    if (answer.code == launch::kSshFailed) {
        refuse_unreachable(host_, answer.error);
    }
    if (answer.code == kNoProgram || answer.code == kNoProgram - 1) {
        throw Error(ErrorKind::runtime, host_.name,
                    "has no " + host_.program + " that can be run: " + last_said(answer.error),
                    "Install it there, or unpack Weft's archive and name its path: weft hosts add "
                    "NAME --program PATH.");
    }
    if (answer.code != 0) {
        throw Error(ErrorKind::runtime, host_.name, last_said(answer.error),
                    "`weft hosts check " + host_.name + "` looks at what the host lacks.");
    }
    return answer.out;
}

void Connection::forward(const Path& local, const std::string& path) const {
    std::vector<std::string> words = ssh();
    words.insert(words.end(),
                 {"-O", "forward", "-L", local.string() + ":" + path, "--", host_.name});
    const launch::Answer answer = launch::ask({words}, kForwardPatienceMs, stop_).front();
    if (answer.code != 0) {
        refuse_unreachable(host_, answer.error);
    }
}

void Connection::end_forward(const Path& local, const std::string& path) const {
    std::vector<std::string> words = ssh();
    words.insert(words.end(),
                 {"-O", "cancel", "-L", local.string() + ":" + path, "--", host_.name});
    launch::ask({words}, kForwardPatienceMs);
    std::error_code problem;
    std::filesystem::remove(local, problem);
}

void Connection::pull(const std::vector<std::string>& options, const std::string& from,
                      const Path& to, const std::function<void()>& tick) const {
    std::vector<std::string> words = options;
    words.insert(words.end(), {"--", host_.name + ":" + from, to.string()});
    run_rsync(std::move(words), tick, {});
}

void Connection::push(const std::vector<std::string>& options, const Path& from,
                      const std::string& to, const std::function<void(double)>& progress) const {
    std::vector<std::string> words = options;
    if (progress) { // of the whole, whose size is known first
        words.insert(words.end(), {"--info=progress2", "--no-inc-recursive"});
    }
    words.insert(words.end(), {"--", from.string(), host_.name + ":" + to});
    run_rsync(std::move(words), {}, progress);
}

void Connection::run_rsync(std::vector<std::string> words, const std::function<void()>& tick,
                           const std::function<void(double)>& progress) const {
    // -s: names of files reach the host as they are. What stays silent for a minute is lost.
    words.insert(words.begin(), {"rsync", "-s", "--timeout=60", "-e", launch::shell_line(ssh())});
    launch::Pipe error = launch::make_pipe();
    launch::Pipe output = launch::make_pipe();
    launch::Child child =
        launch::spawn(words, {}, {-1, output.write.number(), error.write.number()});
    error.write.close();
    output.write.close();
    std::string said;
    std::string told; // of its output what has no end yet
    for (;;) {
        pollfd waiting[] = {{child.ended.number(), POLLIN, 0},
                            {error.read.number(), POLLIN, 0},
                            {output.read.number(), POLLIN, 0}};
        ::poll(waiting, 3, kTickMs);
        if (waiting[1].revents != 0) {
            read_some(error.read, said);
            continue;
        }
        if (waiting[2].revents != 0) {
            read_some(output.read, told);
            if (const auto share = share_in(told); share && progress) {
                progress(*share);
            }
            continue;
        }
        if (waiting[0].revents != 0) {
            break;
        }
        if (stop_.stop_requested()) {
            ::kill(-child.pid, SIGTERM);
            launch::reap(child);
            throw Stopped();
        }
        if (tick) {
            tick();
        }
    }
    const int code = launch::reap(child);
    // 24: a file was replaced while it was listed; the next pull has what took its place.
    if (code == 0 || code == 24) {
        return;
    }
    // 12, 30, 35 and 255: the connection ended or was never there (rsync(1), EXIT VALUES).
    const bool connection = code == 12 || code == 30 || code == 35 || code == launch::kSshFailed;
    if (connection && said.find("not found") == std::string::npos) {
        refuse_unreachable(host_, said);
    }
    throw Error(ErrorKind::runtime, host_.name, "rsync: " + last_said(said),
                "rsync has to be installed on both machines.");
}

} // namespace weft::hosts
