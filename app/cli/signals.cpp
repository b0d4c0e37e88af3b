// SPDX-License-Identifier: Apache-2.0
#include "app/cli/signals.h"

#include "app/cli/context.h"
#include "core/base/file.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace weft::cli {
namespace {

sigset_t watched_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGUSR1}) {
        sigaddset(&set, number);
    }
    // `nohup` ignores it, and a blocked signal would come in all the same.
    struct sigaction hangup {};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        sigaddset(&set, SIGHUP);
    }
    return set;
}

} // namespace

int exit_code_of_signal(int number) {
    constexpr int kKilledBySignal = 128;
    return kKilledBySignal + number;
}

int open_signals() {
    const sigset_t set = watched_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    const int out = ::signalfd(-1, &set, SFD_CLOEXEC);
    if (out < 0) {
        throw Error(ErrorKind::runtime, "signals", "cannot be watched: " + system_error_text(errno),
                    "Close files or raise the limit with `ulimit -n`.");
    }
    return out;
}

SignalWatcher::SignalWatcher() : signals_(open_signals()), wake_("signals") {}

void SignalWatcher::stop() {
    if (thread_.joinable()) {
        wake_.ring();
        thread_.join();
    }
}

SignalWatcher::~SignalWatcher() {
    stop();
    ::close(signals_);
}

void SignalWatcher::start(std::function<void(train::Command)> post) {
    thread_ = std::thread([this, post = std::move(post)] { watch(post); });
}

void SignalWatcher::watch(const std::function<void(train::Command)>& post) {
    using train::CommandKind;
    int stops = 0;
    for (;;) {
        pollfd waiting[2] = {{signals_, POLLIN, 0}, {wake_.descriptor(), POLLIN, 0}};
        ::poll(waiting, 2, -1);
        if ((waiting[1].revents & POLLIN) != 0) {
            return;
        }
        signalfd_siginfo info{};
        if ((waiting[0].revents & POLLIN) == 0 ||
            ::read(signals_, &info, sizeof info) != sizeof info) {
            continue;
        }
        if (info.ssi_signo == SIGUSR1) {
            try {
                post({CommandKind::checkpoint, "", "signal", config::Json::object()});
            } catch (const std::bad_alloc&) {
                std::fputs("weft: no memory is left to save with: SIGUSR1 is not followed\n",
                           stderr);
            }
            continue;
        }
        int none = 0;
        ended_by_.compare_exchange_strong(none, static_cast<int>(info.ssi_signo));
        ++stops;
        if (stops > 2) {
            ::_exit(exit_code_of_signal(ended_by_));
        }
        try {
            post({stops == 1 ? CommandKind::stop : CommandKind::stop_now, "", "signal",
                  config::Json::object()});
        } catch (const std::bad_alloc&) {
            std::fputs("weft: no memory is left to stop with: ended without saving\n", stderr);
            ::_exit(exit_code_of_signal(ended_by_));
        }
    }
}

} // namespace weft::cli
