// SPDX-License-Identifier: Apache-2.0
// Which entries are started now: in order, as devices get free. Pure.
#pragma once

#include "core/queue/entry.h"

#include <span>

namespace weft::queue {

/// What there is to compute with.
struct Machine {
    int runs_at_once = 1;  // on the CPU
    std::vector<int> gpus; // by their numbers; each is of one run at a time
};

struct Start {
    std::int64_t id = 0;
    std::vector<int> gpus; // that it is given
};

/// An entry that has to wait keeps back those behind it that want the same kind of device, so that
/// one that wants many gets them in the end; not those that want another kind.
std::vector<Start> choose_starts(std::span<const Entry> entries, const Machine& machine);

/// Why this machine can never start it; empty: it can.
std::string problem_of(const Entry& entry, const Machine& machine);

} // namespace weft::queue
