// SPDX-License-Identifier: Apache-2.0
#include "core/hosts/partitions.h"

#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace weft::hosts {
namespace {

constexpr std::size_t kMostPartitions = 32; // a card has no room for more

/// The state without what Slurm adds to it: "idle~" is powered down, "mix*" does not answer.
std::string bare_state(const std::string& state) {
    return state.substr(0, state.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
}

void count(const std::string& state, bool yours, Partition& into) {
    const std::string bare = bare_state(state);
    const bool answers = state.find('*') == std::string::npos;
    static const std::set<std::string> kAtWork = {"alloc", "allocated",  "mix",  "mixed",
                                                  "comp",  "completing", "resv", "reserved"};
    if (answers && kAtWork.contains(bare)) {
        ++(yours ? into.yours : into.others);
    } else if (answers && bare == "idle") {
        ++into.idle;
    } else {
        ++into.off;
    }
}

} // namespace

const char* const kAskForPartitions =
    "command -v sinfo >/dev/null && {\n"
    "sinfo -h -N -o 'slurm-node %N %R %t' 2>/dev/null\n"
    "for l in $(squeue -h -t running -u \"$(id -un)\" -o %N 2>/dev/null); do\n"
    "scontrol show hostnames \"$l\" 2>/dev/null | sed 's/^/slurm-mine /'; done; }\n"
    "true\n";

std::vector<Partition> read_partitions(const std::string& said) {
    const std::vector<std::string> lines = split(said, '\n');
    std::set<std::string> mine;
    for (const std::string& line : lines) {
        if (const auto words = split(line, ' '); words.size() == 2 && words[0] == "slurm-mine") {
            mine.insert(words[1]);
        }
    }
    std::vector<Partition> out;
    for (const std::string& line : lines) {
        const auto words = split(line, ' ');
        if (words.size() != 4 || words[0] != "slurm-node") {
            continue;
        }
        auto found = std::find_if(out.begin(), out.end(),
                                  [&](const Partition& one) { return one.name == words[2]; });
        if (found == out.end() && out.size() < kMostPartitions) {
            out.push_back({.name = words[2]});
            found = std::prev(out.end());
        }
        if (found != out.end()) {
            count(words[3], mine.contains(words[1]), *found);
        }
    }
    return out;
}

} // namespace weft::hosts
