// SPDX-License-Identifier: Apache-2.0
// A sweep: trials of one configuration that differ in some settings, and what they are judged by.
// The trials are entries of the queue.
#pragma once

#include "core/queue/halving.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::queue {

enum class Method : std::uint8_t {
    grid,    // every combination
    random,  // drawn
    halving, // successive halving: drawn, and at each rung the best go on
    asha,    // the same without waiting for a rung to be complete
};
inline constexpr const char* kMethodNames[] = {"grid", "random", "halving", "asha"};

struct Sweep {
    std::string name;
    Method method = Method::random;
    std::vector<std::string> vary; // as it was asked for: "optimizer.learning_rate=log:1e-4..1e-2"
    std::uint64_t seed = 0;
    std::string metric; // "validation/loss"
    bool smaller_is_better = true;
    int eta = 3;
    /// Steps of the rungs, the last of which is the full length. One where nothing is halved; 0:
    /// the length is not known in steps.
    std::vector<std::int64_t> rungs;
    double created = 0; // s, UTC epoch

    bool halves() const { return method == Method::halving || method == Method::asha; }
    HalvingRules rules() const { return {method == Method::asha, eta, rungs, smaller_is_better}; }
};

config::Json to_json(const Sweep& sweep);
/// Throws config::Json::exception where `json` is no sweep.
Sweep sweep_of(const config::Json& json);

} // namespace weft::queue
