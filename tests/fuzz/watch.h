// SPDX-License-Identifier: Apache-2.0
// Inputs read by a process of its own, which may crash, hang or take too much memory: what it was
// reading then is known.
#pragma once

#include "tests/fuzz/target.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace weft::test {

struct WatchLimits {
    unsigned input_seconds = 20;                       // for one input
    std::int64_t memory_bytes = std::int64_t{2} << 30; // taken above what the process has
};

/// What came of it. `harm` is empty: every input was read or refused.
struct Watched {
    std::uint64_t inputs = 0; // that were begun
    std::string harm{};       // "killed by signal 11 (Segmentation fault)"
    std::string input{};      // that did it
};

/// Hands input 0, 1, ... to the target until there is none, or one does harm: anything but a return
/// or a weft::Error. `next` is called in the other process. With sanitizers the limit of memory is
/// that of one allocation, by their options (fuzz_test.cpp).
Watched watch(const Target& target,
              const std::function<std::optional<std::string>(std::uint64_t)>& next,
              const std::filesystem::path& folder, const WatchLimits& limits = {});

} // namespace weft::test
