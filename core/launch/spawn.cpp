// SPDX-License-Identifier: Apache-2.0
#include "core/launch/spawn.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/wake.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace weft::launch {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what, int number) {
    throw Error(ErrorKind::runtime, what, "cannot be started: " + system_error_text(number),
                number == ENOENT ? "Install it, or name the program by its path." : "");
}

std::vector<std::string> environment_with(const std::vector<Variable>& variables) {
    std::map<std::string, std::string> all;
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string text = *one;
        if (const std::size_t end = text.find('='); end != std::string::npos) {
            all[text.substr(0, end)] = text.substr(end + 1);
        }
    }
    for (const auto& [name, value] : variables) {
        all[name] = value;
    }
    std::vector<std::string> out;
    for (const auto& [name, value] : all) {
        out.push_back(name + "=" + value);
    }
    return out;
}

// glibc 2.36 declares pidfd_open without C linkage.
int open_pidfd(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> out;
    for (const std::string& word : words) {
        out.push_back(const_cast<char*>(word.c_str()));
    }
    out.push_back(nullptr);
    return out;
}

// In the child, where only calls that signal handlers may make are safe.
[[noreturn]] void become(char* const* words, char* const* environment, const ChildFiles& files,
                         pid_t parent, int report) {
    const auto give_up = [report] {
        const int number = errno;
        const ssize_t written = ::write(report, &number, sizeof number);
        ::_exit(written < 0 ? 126 : 127);
    };
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) {
        ::_exit(128 + SIGTERM); // it ended before prctl
    }
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const int wanted[] = {files.in, files.out, files.error};
    // First away from the numbers 0 to 2, which one of the others may have to be copied from.
    int away[3];
    for (int i = 0; i < 3; ++i) {
        away[i] = ::fcntl(wanted[i] < 0 ? nothing : wanted[i], F_DUPFD_CLOEXEC, 3);
    }
    for (int i = 0; i < 3; ++i) {
        if (::dup2(away[i], i) < 0) {
            give_up();
        }
    }
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvpe(words[0], words, environment);
    give_up();
    ::_exit(127);
}

void append_from(Descriptor& from, std::string& into) {
    char bytes[4096];
    const ssize_t count = ::read(from.number(), bytes, sizeof bytes);
    if (count > 0) {
        into.append(bytes, static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        from.close();
    }
}

struct Asked {
    Child child;
    Descriptor out, error;
    Answer answer;
    bool ended = false;
};

Asked begin_to_ask(const std::vector<std::string>& words) {
    Asked one;
    Pipe out = make_pipe();
    Pipe error = make_pipe();
    one.child = spawn(words, {}, {-1, out.write.number(), error.write.number()});
    one.out = std::move(out.read);
    one.error = std::move(error.read);
    return one;
}

// Waits for news of any of them. False: there is nothing to wait for, or `end` is readable.
bool hear(std::vector<Asked>& all, int patience_ms, int end) {
    std::vector<pollfd> waiting;
    for (Asked& one : all) {
        waiting.push_back({one.out.number(), POLLIN, 0}); // closed ones are passed over
        waiting.push_back({one.error.number(), POLLIN, 0});
        waiting.push_back({one.ended ? -1 : one.child.ended.number(), POLLIN, 0});
    }
    bool open = false;
    for (const pollfd& one : waiting) {
        open = open || one.fd >= 0;
    }
    waiting.push_back({end, POLLIN, 0});
    if (!open || ::poll(waiting.data(), waiting.size(), patience_ms) == 0 ||
        waiting.back().revents != 0) {
        return false;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (waiting[3 * i].revents != 0) {
            append_from(all[i].out, all[i].answer.out);
        }
        if (waiting[3 * i + 1].revents != 0) {
            append_from(all[i].error, all[i].answer.error);
        }
        if (waiting[3 * i + 2].revents != 0) {
            all[i].answer.code = reap(all[i].child);
            all[i].ended = true;
        }
    }
    return true;
}

} // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

Descriptor::~Descriptor() {
    close();
}

void Descriptor::close() {
    if (number_ >= 0) {
        ::close(std::exchange(number_, -1));
    }
}

Pipe make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw Error(ErrorKind::runtime, "pipe", system_error_text(errno),
                    "Close files or raise the limit with `ulimit -n`.");
    }
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Child spawn(const std::vector<std::string>& words, const std::vector<Variable>& variables,
            const ChildFiles& files) {
    const std::vector<std::string> environment = environment_with(variables);
    const std::vector<char*> word_pointers = pointers_to(words);
    const std::vector<char*> environment_pointers = pointers_to(environment);
    Pipe report = make_pipe();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
        fail(words.front(), errno);
    }
    if (pid == 0) {
        become(word_pointers.data(), environment_pointers.data(), files, parent,
               report.write.number());
    }
    report.write.close();
    Child out{pid, Descriptor(open_pidfd(pid))};
    const int pidfd_problem = out.ended.is_open() ? 0 : errno;
    int number = 0;
    // Closed by exec: nothing to read means that the program runs.
    if (::read(report.read.number(), &number, sizeof number) == sizeof number) {
        reap(out);
        fail(words.front(), number);
    }
    if (pidfd_problem != 0) {
        ::kill(-pid, SIGKILL);
        reap(out);
        fail("waiting for " + words.front() + " (pidfd_open)", pidfd_problem);
    }
    return out;
}

int reap(Child& child) {
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    child.ended.close();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string last_line(std::string_view said) {
    const std::string_view whole = trim(said);
    const std::size_t end = whole.rfind('\n');
    return std::string(trim(end == std::string_view::npos ? whole : whole.substr(end + 1)));
}

std::vector<Answer> ask(const std::vector<std::vector<std::string>>& commands, int patience_ms,
                        const std::stop_token& stop) {
    const Wake stopped("programs that are asked");
    const std::stop_callback ring(stop, [&stopped] { stopped.ring(); });
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(patience_ms);
    std::vector<Asked> all;
    for (const std::vector<std::string>& words : commands) {
        all.push_back(begin_to_ask(words));
    }
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        if (left.count() <= 0 || !hear(all, static_cast<int>(left.count()), stopped.descriptor())) {
            break;
        }
    }
    std::vector<Answer> out;
    for (Asked& one : all) {
        if (!one.ended) {
            ::kill(-one.child.pid, SIGKILL);
            reap(one.child);
        }
        out.push_back(std::move(one.answer));
    }
    return out;
}

} // namespace weft::launch
