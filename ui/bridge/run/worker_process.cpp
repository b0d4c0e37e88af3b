// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/worker_process.h"

#include "core/base/file.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::ui {
namespace {

constexpr int kWorkerNice = 10;
constexpr int kFirstOtherDescriptor = 3;

// What posix_spawn is told, freed with it.
struct SpawnOptions {
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};

    explicit SpawnOptions(const WorkerCommand& command) {
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, command.log.c_str(),
                                         O_WRONLY | O_CREAT | O_APPEND, 0644);
        posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
        posix_spawn_file_actions_addclosefrom_np(&files, kFirstOtherDescriptor);
        posix_spawnattr_init(&attributes);
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnOptions() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnOptions(const SpawnOptions&) = delete;
    SpawnOptions& operator=(const SpawnOptions&) = delete;
};

/// Texts of an environment; they end with this process's and the command's.
std::vector<char*> environmentOf(std::vector<std::string>& own) {
    std::vector<char*> out;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('=') + 1);
        if (std::none_of(own.begin(), own.end(),
                         [&](const std::string& one) { return one.starts_with(name); })) {
            out.push_back(*entry);
        }
    }
    for (std::string& entry : own) {
        out.push_back(entry.data());
    }
    out.push_back(nullptr);
    return out;
}

} // namespace

StartedWorker startWorker(const WorkerCommand& command) {
    std::string program = command.program.string();
    std::vector<std::string> arguments = command.arguments;
    std::vector<char*> argv{program.data()};
    for (std::string& argument : arguments) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    std::vector<std::string> own = command.environment;
    const SpawnOptions options(command);
    StartedWorker started;
    const int number = ::posix_spawn(&started.pid, program.c_str(), &options.files,
                                     &options.attributes, argv.data(), environmentOf(own).data());
    if (number != 0) {
        started.pid = -1;
        started.problem =
            QCoreApplication::translate("Worker", "The worker %1 cannot be started: %2.")
                .arg(pathText(command.program), toQString(system_error_text(number)));
        return started;
    }
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(started.pid), kWorkerNice);
    return started;
}

std::optional<ProcessEnd> endOf(pid_t child) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
        return std::nullopt;
    }
    if (ended < 0) {
        return ProcessEnd{}; // it is no child of ours any more
    }
    return WIFSIGNALED(status) ? ProcessEnd{true, 0, WTERMSIG(status)}
                               : ProcessEnd{true, WEXITSTATUS(status), 0};
}

std::optional<std::int64_t> memoryKills(const std::filesystem::path& counters) {
    std::ifstream file(counters);
    for (std::string name, value; file >> name >> value;) {
        if (name == "oom_kill") {
            bool number = false;
            const qint64 kills = QString::fromStdString(value).toLongLong(&number);
            return number ? std::optional<std::int64_t>(kills) : std::nullopt;
        }
    }
    return std::nullopt;
}

QString signalText(int number) {
    const char* name = ::sigabbrev_np(number);
    const QString text = QCoreApplication::translate("Worker", "signal %1").arg(number);
    return name == nullptr ? text : text + " (SIG" + QString::fromLatin1(name) + ")";
}

} // namespace weft::ui
