// SPDX-License-Identifier: Apache-2.0
#include "core/queue/process.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::queue {
namespace {

/// Closed by the destructor.
class Descriptor {
public:
    Descriptor(const Path& path, int flags)
        : number_(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0644)) {
        if (number_ < 0) {
            throw Error(ErrorKind::runtime, path.string(),
                        "cannot be opened: " + system_error_text(errno),
                        "The folder of the queue must be writable.");
        }
    }
    ~Descriptor() { ::close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

private:
    int number_;
};

struct flock on_all_of_it(short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

/// What posix_spawn is told; both are freed by the destructor.
class SpawnSettings {
public:
    SpawnSettings() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        // Signals that this process waits for or ignores are the child's own business.
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        sigdelset(&all, SIGHUP); // `nohup weft queue run` is for its runs, too
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setpgroup(&attributes, 0);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
    }
    ~SpawnSettings() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) {
        out.push_back(text.data());
    }
    out.push_back(nullptr);
    return out;
}

} // namespace

bool is_held(const Path& lock_file) {
    const int descriptor = ::open(lock_file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    struct flock lock = on_all_of_it(F_WRLCK);
    const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    ::close(descriptor);
    return held;
}

std::optional<Process> Process::start(const Launch& launch) {
    make_directories(launch.lock_file.parent_path());
    make_directories(launch.log_file.parent_path());
    const Descriptor lock(launch.lock_file, O_RDWR);
    struct flock whole = on_all_of_it(F_WRLCK);
    if (::fcntl(lock.number(), F_OFD_SETLK, &whole) != 0) {
        return std::nullopt;
    }
    const Descriptor log(launch.log_file, O_WRONLY | O_APPEND);
    SpawnSettings settings;
    ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&settings.actions, log.number(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&settings.actions, log.number(), STDERR_FILENO);
    // To the same number: it stays open in the child, and with it the lock.
    ::posix_spawn_file_actions_adddup2(&settings.actions, lock.number(), lock.number());
    std::vector<std::string> command = launch.command;
    std::vector<std::string> environment = launch.environment;
    pid_t pid = -1;
    const int problem =
        ::posix_spawn(&pid, command.front().c_str(), &settings.actions, &settings.attributes,
                      pointers_of(command).data(), pointers_of(environment).data());
    if (problem != 0) {
        throw Error(ErrorKind::runtime, command.front(),
                    "cannot be started: " + system_error_text(problem));
    }
    return Process(pid);
}

const Process::End& Process::poll() {
    int status = 0;
    const pid_t got = end_.ended ? 0 : ::waitpid(pid_, &status, WNOHANG);
    if (got > 0 || (got < 0 && errno != EINTR)) {
        end_.ended = true;
        end_.exit_code =
            got > 0 && WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
    }
    return end_;
}

void Process::ask_to_stop() const {
    ::kill(pid_, SIGTERM);
}

} // namespace weft::queue
