// SPDX-License-Identifier: Apache-2.0
// Signals as commands: SIGINT, SIGTERM and SIGHUP (a terminal that closes) once stop and save,
// twice stop now, three times leave at once; SIGUSR1 saves a checkpoint. A thread waits for them,
// so nothing runs inside a signal handler.
#pragma once

#include "core/base/wake.h"
#include "core/train/control/command.h"

#include <atomic>
#include <functional>
#include <thread>

namespace weft::cli {

/// What a shell reports of a program that a signal ended: 128 and the signal's number.
int exit_code_of_signal(int number);

/// Blocks SIGINT, SIGTERM, SIGUSR1 and, but under nohup, SIGHUP for the calling thread and all that
/// it starts later. A signalfd of them, the caller's to close. Throws weft::Error{runtime}.
int open_signals();

class SignalWatcher {
public:
    /// Blocks the signals for the calling thread and all that it starts later: make it first.
    SignalWatcher();
    ~SignalWatcher();
    SignalWatcher(const SignalWatcher&) = delete;
    SignalWatcher& operator=(const SignalWatcher&) = delete;

    /// Calls `post` on the watcher's thread from now on.
    void start(std::function<void(train::Command)> post);
    /// Nothing is posted after this.
    void stop();
    /// The first signal that asked to stop; 0 for none.
    int ended_by() const { return ended_by_.load(); }

private:
    void watch(const std::function<void(train::Command)>& post);

    int signals_ = -1; // signalfd
    Wake wake_;        // the end
    std::atomic<int> ended_by_ = 0;
    std::thread thread_;
};

} // namespace weft::cli
