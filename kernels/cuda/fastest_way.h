// SPDX-License-Identifier: Apache-2.0
// Which of several ways to compute the same is the fastest: found by timing them where the kernel
// runs first, once, and kept where generated kernels are kept (code_store.h).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weft::kernels::cuda {

class FastestWay {
public:
    /// Beyond `most_seconds` of timing in all, the first way is taken for the best.
    explicit FastestWay(double most_seconds) : left_s_(most_seconds) {}

    /// The place of the fastest among `ways`, each of which is known by its bytes; `key` says what
    /// it hangs on beside them. `seconds` times one, or says that nothing can be timed now; then
    /// there is no choice yet. It throws Failure for a way that does not work. What was chosen once
    /// stays, so that equal runs give equal bits; where nothing can be kept, the first way is
    /// chosen. Any thread: who times the same at the same time gets the same answer.
    std::optional<std::size_t>
    choose(const std::string& key, const std::vector<std::string>& ways,
           const std::function<std::optional<double>(std::size_t)>& seconds);

private:
    std::optional<std::size_t> known(const std::string& key, const std::vector<std::string>& ways);
    std::size_t decide(const std::string& key, const std::vector<std::string>& ways,
                       std::size_t way, bool is_new);
    bool time_is_left();

    std::mutex mutex_;
    std::map<std::string, std::string> chosen_; // [key] bytes of the way
    double left_s_;
};

/// Of the process.
FastestWay& fastest_way();

} // namespace weft::kernels::cuda
