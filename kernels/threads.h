// SPDX-License-Identifier: Apache-2.0
// Whether the threads of a team look for each other for long before they sleep. On a quiet machine
// that is quickest: who sleeps is woken late. Where other programs want the cores, who looks takes
// them from the very thread that is waited for. So the team looks long until its members wait for
// cores, and again when they no longer do. No result depends on it.
//
// libgomp looks GOMP_SPINCOUNT times, but at most 100 times while a process has more threads in
// teams than there are cores (its wait.h and team.c, GCC 4.4 and later). A team that sleeps is
// enough for that.
#pragma once

#include <memory>

namespace weft::kernels {

/// Decides, from what the members of a team have waited for cores.
class TeamPatience {
public:
    /// `waited` is the share of the last `seconds` in which the member that had to wait most was
    /// ready to compute and had no core.
    void observe(double waited, double seconds);
    bool looks_long() const { return long_; }

private:
    bool long_ = true;
    double quiet_s_ = 0; // that the members have had their cores
};

/// Threads in a team of their own that sleep until it is destroyed.
class SleepingTeam {
public:
    /// As many that the process has more threads in teams than cores, with one team of
    /// `computing`. Throws std::system_error where the system starts no further thread.
    explicit SleepingTeam(int computing);
    ~SleepingTeam();
    SleepingTeam(const SleepingTeam&) = delete;
    SleepingTeam& operator=(const SleepingTeam&) = delete;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::kernels
