// SPDX-License-Identifier: Apache-2.0
#include "kernels/threads.h"

#include "kernels/weft_kernels.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

namespace weft::kernels {
namespace {

constexpr double kEvery_s = 0.1;

// Beside a program that keeps one of two cores busy a member waits 0.25 to 0.45 of the time. On a
// quiet machine the loader and the writer of events make it 0.14 where steps take 3 ms, else 0.05.
constexpr double kBusy = 0.25;
constexpr double kQuiet = 0.18;
constexpr double kQuiet_s = 0.5;

/// How long a thread was ready to compute, since it began, and had no core.
struct WaitedFor {
    pid_t thread = 0; // 0: the system does not say
    long long ns = 0;
};

/// Of the calling thread.
WaitedFor read_waited() {
    const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return {};
    }
    char text[96] = {};
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    WaitedFor out;
    long long computed_ns = 0;
    if (length > 0 && std::sscanf(text, "%lld %lld", &computed_ns, &out.ns) == 2) {
        out.thread = ::gettid();
    }
    return out;
}

/// Watches the team of the thread that it belongs to.
class TeamWatch {
public:
    void observe() {
        const double passed_s = since_last_s();
        const int team = omp_get_max_threads();
        if (team < 2 || passed_s < kEvery_s) {
            return;
        }
        std::vector<WaitedFor> members(static_cast<std::size_t>(team));
#pragma omp parallel num_threads(team)
        members[static_cast<std::size_t>(omp_get_thread_num())] = read_waited();
        long long longest_ns = 0;
        for (std::size_t i = 0; i < std::min(members.size(), members_.size()); ++i) {
            if (members[i].thread == members_[i].thread) {
                longest_ns = std::max(longest_ns, members[i].ns - members_[i].ns);
            }
        }
        members_ = std::move(members);
        last_ = std::chrono::steady_clock::now();
        patience_.observe(static_cast<double>(longest_ns) * 1e-9 / passed_s, passed_s);
        settle(team);
    }

private:
    double since_last_s() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - last_).count();
    }

    void settle(int team) {
        if (patience_.looks_long()) {
            sleeping_.reset();
        } else if (sleeping_ == nullptr) {
            try {
                sleeping_ = std::make_unique<SleepingTeam>(team);
            } catch (const std::system_error&) {
                // The team goes on looking: slow, and right.
            }
        }
    }

    std::chrono::steady_clock::time_point last_{};
    std::vector<WaitedFor> members_; // as they were at last_
    TeamPatience patience_;
    std::unique_ptr<SleepingTeam> sleeping_;
};

} // namespace

void TeamPatience::observe(double waited, double seconds) {
    quiet_s_ = waited < kQuiet ? quiet_s_ + seconds : 0;
    long_ = long_ ? waited < kBusy : quiet_s_ >= kQuiet_s;
}

struct SleepingTeam::State {
    std::mutex mutex;
    std::condition_variable changed;
    bool begun = false;
    bool done = false;
    std::jthread thread;
};

SleepingTeam::SleepingTeam(int computing) : state_(std::make_unique<State>()) {
    const int threads = std::max(omp_get_num_procs() - computing, 0) + 2;
    { // libgomp ends the process where it can start no thread
        std::vector<std::jthread> tried;
        for (int i = 0; i < threads; ++i) {
            tried.emplace_back([] {});
        }
    }
    state_->thread = std::jthread([state = state_.get(), threads] {
        int begun = 0;
#pragma omp parallel num_threads(threads) reduction(+ : begun)
        ++begun;
        std::unique_lock lock(state->mutex);
        state->begun = begun > 0;
        state->changed.notify_all();
        state->changed.wait(lock, [state] { return state->done; });
    });
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->begun; });
}

SleepingTeam::~SleepingTeam() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->done = true;
    }
    state_->changed.notify_all();
}

} // namespace weft::kernels

// OpenMP keeps the team size per calling thread, which is just what the edge promises; oneDNN asks
// OpenMP for it.
extern "C" void weft_set_threads(int32_t threads) {
    // oneDNN computes wrong numbers where a team is smaller than it was told.
    omp_set_dynamic(0);
    omp_set_num_threads(std::min(threads > 0 ? threads : omp_get_num_procs(), weft_thread_limit()));
}

extern "C" int32_t weft_thread_limit(void) {
    return omp_get_thread_limit();
}

extern "C" int32_t weft_threads(void) {
    return omp_get_max_threads();
}

extern "C" void weft_observe_team(void) {
    thread_local weft::kernels::TeamWatch watch;
    watch.observe();
}
