// SPDX-License-Identifier: Apache-2.0
// What a disk may hold after the power went. Durable is only what was synced: a file's content by a
// sync of the file, names in a folder by a sync of the folder. Of what came later every page of a
// file holds some state that it has had since, and every change of a name happened or did not,
// each for itself. That is weaker than what file systems promise (Pillai et al., "All File Systems
// Are Not Created Equal", OSDI 2014, name the orders that each of them keeps).
#pragma once

#include "tests/sim/checkpoint/disk_calls.h"

#include <random>
#include <span>

namespace weft::checkpoint::test {

/// Lays into `folder`, which is empty, what is left when the power goes after `changes`.
void leave_after_power_cut(std::span<const DiskChange> changes, std::mt19937& random,
                           const std::filesystem::path& folder);

} // namespace weft::checkpoint::test
