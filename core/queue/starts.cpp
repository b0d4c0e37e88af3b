// SPDX-License-Identifier: Apache-2.0
#include "core/queue/starts.h"

#include "core/compile/mesh/mesh_config.h"

#include <algorithm>

namespace weft::queue {
namespace {

struct Want {
    std::vector<int> named; // these GPUs
    std::size_t count = 0;  // of GPUs, whichever are free
    bool on_cpu() const { return named.empty() && count == 0; }
};

// "cuda:2" is two GPUs, "cuda:0,2" names them.
Want want_of(const Entry& entry, const Machine& machine) {
    Want out;
    if (!entry.stays_here()) {
        return out; // what it takes is of others
    }
    const std::vector<int> gpus = compile::gpus_named(entry.devices);
    if (entry.devices.find(',') != std::string::npos) {
        out.named = gpus;
    } else if (!gpus.empty()) {
        out.count = gpus.size();
    } else if (entry.devices == "auto" && entry.hosts.empty() && !machine.gpus.empty()) {
        out.count = 1; // which it may leave for the CPU
    }
    return out;
}

bool holds(const std::vector<int>& gpus, int one) {
    return std::find(gpus.begin(), gpus.end(), one) != gpus.end();
}

} // namespace

std::string problem_of(const Entry& entry, const Machine& machine) {
    const Want want = want_of(entry, machine);
    if (want.count > machine.gpus.size()) {
        return "it wants " + std::to_string(want.count) + (want.count == 1 ? " GPU" : " GPUs") +
               ", and this machine has " +
               (machine.gpus.empty() ? "none" : std::to_string(machine.gpus.size()));
    }
    for (const int one : want.named) {
        if (!holds(machine.gpus, one)) {
            return "it wants GPU " + std::to_string(one) + ", which is not here";
        }
    }
    return {};
}

std::vector<Start> choose_starts(std::span<const Entry> entries, const Machine& machine) {
    std::vector<int> free = machine.gpus;
    int free_runs = machine.runs_at_once;
    for (const Entry& entry : entries) {
        if (entry.state != State::running) {
            continue;
        }
        free_runs -= entry.gpus.empty() ? 1 : 0;
        std::erase_if(free, [&](int one) { return holds(entry.gpus, one); });
    }
    std::vector<Start> out;
    for (const Entry& entry : entries) {
        if (entry.state != State::waiting || !problem_of(entry, machine).empty()) {
            continue;
        }
        const Want want = want_of(entry, machine);
        if (want.on_cpu()) {
            if (free_runs > 0) {
                out.push_back({entry.id, {}});
            }
            --free_runs;
            continue;
        }
        std::vector<int> given = want.named;
        if (given.empty() && want.count <= free.size()) {
            given.assign(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(want.count));
        }
        const bool all_free =
            !given.empty() &&
            std::all_of(given.begin(), given.end(), [&](int one) { return holds(free, one); });
        if (!all_free) {
            free.clear(); // kept back for it
            continue;
        }
        std::erase_if(free, [&](int one) { return holds(given, one); });
        out.push_back({entry.id, std::move(given)});
    }
    return out;
}

} // namespace weft::queue
