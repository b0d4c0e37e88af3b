// SPDX-License-Identifier: Apache-2.0
// The partitions of a host that has Slurm: how many of their nodes work, for whom, and how many are
// free. States are those of sinfo's "%t" (man sinfo, NODE STATE CODES).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::hosts {

/// Nodes of one partition. A node in part allocated is at work.
struct Partition {
    std::string name;
    std::int64_t yours = 0, others = 0; // at work for this user, for somebody else
    std::int64_t idle = 0;
    std::int64_t off = 0; // down, drained, in maintenance
    std::int64_t nodes() const { return yours + others + idle + off; }
    friend bool operator==(const Partition&, const Partition&) = default;
};

/// A part of a script for sh; says nothing where there is no Slurm.
extern const char* const kAskForPartitions;
/// What it said, between other lines; in Slurm's order.
std::vector<Partition> read_partitions(const std::string& said);

} // namespace weft::hosts
