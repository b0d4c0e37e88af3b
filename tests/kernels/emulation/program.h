// SPDX-License-Identifier: Apache-2.0
// Generated kernels as the host compiler made them, in one batch
// (tests/kernels/groups/write_groups).
#pragma once

#include <cstdint>

namespace weft::test {

struct CompiledGroup {
    const char* name;
    void (*run)(const std::uint64_t* words); // one thread of the grid
    std::size_t words;
};

/// Ends with a row without a name.
extern const CompiledGroup kCompiledGroups[];

} // namespace weft::test
