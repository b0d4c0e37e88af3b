// SPDX-License-Identifier: Apache-2.0
// What became of a run whose process has ended, out of its folder: whoever started the process may
// be gone.
#pragma once

#include "core/queue/entry.h"

namespace weft::queue {

/// What is known of an ended process and its run.
struct Ended {
    std::string run_state;        // of the folder, "" where there is no run yet
    std::string message;          // of a run that failed since it was started
    std::int64_t saved_step = -1; // newest checkpoint
    bool seen = false;            // it was a child of ours; else it was found gone
    std::optional<int> exit_code; // of a child that ended by itself
    bool leaving = false;         // we told it to stop, as the queue itself ends
};

enum class Outcome : std::uint8_t {
    reached, // its full length, or until_step
    again,   // interrupted: it goes on where it last saved
    failed,
    stopped, // by a person
};
struct Judgement {
    Outcome outcome = Outcome::again;
    std::string reason;
};

/// Deaths in a row that a scheduler saw, without getting further, before an entry counts as failed.
/// What was found dead does not count: the machine may have gone down.
inline constexpr int kMostAttempts = 3;

/// Pure.
Judgement judge(const Entry& entry, const Ended& ended);

/// Reads the folder of the run. `seen`, `exit_code` and `leaving` are the caller's.
Ended look_at(const Entry& entry);

/// The sweep's metric of the last evaluation that is not after `step` (none: of the last one);
/// without a value where the run has no such number, or one that is not finite.
RungValue value_of(const std::filesystem::path& run, const std::string& metric,
                   std::optional<std::int64_t> step);

} // namespace weft::queue
