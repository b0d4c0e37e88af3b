// SPDX-License-Identifier: Apache-2.0
// What a process with one rank of a run exchanges with the others, as those see it who look after
// the run (core/exec/ranks).
#pragma once

#include <string>
#include <vector>

namespace weft::exec::comm {

/// Where a rank is.
struct RankPosition {
    std::string where;          // "collective 5 (gradients) of group data"; empty: in no exchange
    std::vector<int> waits_for; // ranks of the world; empty: it waits for nobody
};

class OwnExchanges {
public:
    virtual ~OwnExchanges() = default;
    /// From any thread.
    virtual RankPosition position() const = 0;
    /// Ends them: waiting and later calls throw weft::Error{device} with this reason. From any
    /// thread that is not inside a call.
    virtual void abort(std::string reason) = 0;
};

} // namespace weft::exec::comm
