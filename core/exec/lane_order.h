// SPDX-License-Identifier: Apache-2.0
// Which calls of a program have to wait for which on other lanes of a device. Private to core/exec.
//
// Calls of a lane run in their order. Two calls on different lanes may run at the same time, so
// where they touch the same bytes and one of them writes, the later waits for the earlier.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::exec {

/// Bytes [begin, end) of the arena.
struct Touched {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// A call in program order.
struct LaneCall {
    int lane = 0; // 0: computation
    std::vector<Touched> reads;
    std::vector<Touched> writes;
};

/// As few waits as keep the order: what follows from a lane's own order or from another wait is not
/// waited for.
struct LaneOrder {
    std::vector<std::vector<int>> waits; // [call] earlier ones on other lanes
    std::vector<bool> waits_for_begin;   // [call] the first of its lane, which waits for none of
                                         // computation: what was queued before comes first
    std::vector<int> open;               // calls that computation waits for at the end
};
LaneOrder order_lanes(const std::vector<LaneCall>& calls, int lanes);

} // namespace weft::exec
