// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/fastest_way.h"

#include "kernels/cuda/code_store.h"

#include <algorithm>
#include <chrono>

namespace weft::kernels::cuda {
namespace {

std::optional<std::size_t> place_of(const std::string& way, const std::vector<std::string>& ways) {
    const auto found = std::find(ways.begin(), ways.end(), way);
    return found == ways.end() ? std::nullopt : std::optional<std::size_t>(found - ways.begin());
}

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

std::optional<std::size_t>
FastestWay::choose(const std::string& key, const std::vector<std::string>& ways,
                   const std::function<std::optional<double>(std::size_t)>& seconds) {
    if (const auto way = known(key, ways)) {
        return way;
    }
    const std::shared_ptr<const CodeStore> store = chosen_store();
    if (store == nullptr || ways.size() == 1) {
        return decide(key, ways, 0, false);
    }
    const std::vector<char> kept = store->find(key);
    if (const auto way = place_of(std::string(kept.begin(), kept.end()), ways)) {
        return decide(key, ways, *way, false);
    }
    std::size_t best = 0;
    std::optional<double> best_s;
    for (std::size_t way = 0; way < ways.size() && time_is_left(); ++way) {
        const double start_s = now_s();
        std::optional<double> own_s;
        try {
            own_s = seconds(way);
            if (!own_s) {
                return std::nullopt;
            }
        } catch (const Failure&) { // out; a run that has no other way says why
        }
        if (own_s && (!best_s || *own_s < *best_s)) {
            best = way;
            best_s = own_s;
        }
        const std::lock_guard lock(mutex_);
        left_s_ -= now_s() - start_s;
    }
    return decide(key, ways, best, true);
}

std::optional<std::size_t> FastestWay::known(const std::string& key,
                                             const std::vector<std::string>& ways) {
    const std::lock_guard lock(mutex_);
    const auto found = chosen_.find(key);
    return found == chosen_.end() ? std::nullopt : place_of(found->second, ways);
}

/// Who was first has decided.
std::size_t FastestWay::decide(const std::string& key, const std::vector<std::string>& ways,
                               std::size_t way, bool is_new) {
    {
        const std::lock_guard lock(mutex_);
        const auto [entry, first] = chosen_.try_emplace(key, ways[way]);
        if (!first) {
            return place_of(entry->second, ways).value_or(way);
        }
    }
    const std::shared_ptr<const CodeStore> store = chosen_store();
    if (is_new && store != nullptr) {
        store->keep(key, {ways[way].begin(), ways[way].end()});
    }
    return way;
}

bool FastestWay::time_is_left() {
    const std::lock_guard lock(mutex_);
    return left_s_ > 0;
}

FastestWay& fastest_way() {
    constexpr double kMostSeconds = 2;
    static FastestWay of_process(kMostSeconds);
    return of_process;
}

} // namespace weft::kernels::cuda
