// SPDX-License-Identifier: Apache-2.0
// Finds accesses of a device's streams to the same bytes that nothing orders: no stream's own order
// and no event. Looks at what is queued, so that it does not depend on what happens to run first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::test {

/// For each stream the last of its items that is known to be done before.
using VectorClock = std::vector<std::int64_t>;

void merge(VectorClock& into, const VectorClock& from);

struct Access {
    std::uintptr_t begin = 0, end = 0;
    bool writes = false;
};

/// Of one device.
class OrderChecker {
public:
    /// An item of a stream touches memory; `known` is what it comes after, its own stream included.
    /// The text names both items of the first pair that nothing orders; else empty.
    std::string touch(const std::vector<Access>& accesses, int stream, std::int64_t item,
                      const VectorClock& known, const std::string& name);

private:
    struct Toucher {
        int stream = -1;
        std::int64_t item = 0;
        std::string name;
    };
    /// Bytes from the key to `end` that the same items have touched last.
    struct Stretch {
        std::uintptr_t end = 0;
        Toucher writer;
        std::vector<Toucher> readers; // since then
    };
    using Stretches = std::map<std::uintptr_t, Stretch>;

    Stretches::iterator cut(std::uintptr_t at);

    Stretches stretches_;
};

} // namespace weft::test
