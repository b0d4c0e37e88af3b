// SPDX-License-Identifier: Apache-2.0
// How a device of a mesh spent a run of a program. Times are of SystemClock::steady_s, so that
// those of several devices can be laid side by side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::exec {

/// An action of a pipeline's schedule: from the start of its first kernel to the end of its last.
/// Waiting for messages before it is not in it.
struct ActionUse {
    std::string_view action; // "F3"; text of the plan
    double start_s = 0;
    double end_s = 0;
};

/// What a device exchanged along some axes of the mesh.
struct LinkUse {
    std::string axes;      // "data", "data,fsdp"
    double exchange_s = 0; // in exchanges, waiting for others included
    double waited_s = 0;   // of these, waiting
    std::int64_t sent_bytes = 0;
    double moved_s = 0; // bytes were on their way, also while the device computed
};

/// A device that works by itself computes while it exchanges, as one that has a process does where
/// sums of gradients can hide behind the backward phase: exchanges count as far as computation
/// stood still for them. Of devices that work by themselves, with a process for each, nobody knows
/// how much of it was waiting.
struct DeviceUse {
    double start_s = 0;
    double end_s = 0;
    std::vector<LinkUse> links;
    std::vector<ActionUse> actions; // in the order of the program; none without a pipeline

    /// Over all links.
    LinkUse together() const {
        LinkUse out;
        for (const LinkUse& link : links) {
            out.exchange_s += link.exchange_s;
            out.waited_s += link.waited_s;
            out.sent_bytes += link.sent_bytes;
            out.moved_s += link.moved_s;
        }
        return out;
    }
};

} // namespace weft::exec
