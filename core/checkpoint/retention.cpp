// SPDX-License-Identifier: Apache-2.0
// Which checkpoints stay: pure functions of what is there.
#include "core/checkpoint/checkpoint.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {

std::optional<Score> score_of(const Entry& entry, const Goal& goal) {
    return entry.record.metric_step == entry.step ? score_in(entry.record.metrics, goal, entry.step)
                                                  : std::nullopt;
}

/// The usable entries that were evaluated, best first.
std::vector<Score> ranked(const std::vector<const Entry*>& usable, const Goal& goal) {
    std::vector<Score> scores;
    for (const Entry* entry : usable) {
        if (const std::optional<Score> score = score_of(*entry, goal)) {
            scores.push_back(*score);
        }
    }
    std::sort(scores.begin(), scores.end(),
              [&](const Score& a, const Score& b) { return is_better(goal, a, b); });
    return scores;
}

std::vector<const Entry*> usable_of(std::span<const Entry> entries) {
    std::vector<const Entry*> usable;
    for (const Entry& entry : entries) {
        if (entry.problem.empty()) {
            usable.push_back(&entry);
        }
    }
    return usable;
}

std::int64_t integer_or(const Json& section, const char* key, std::int64_t otherwise) {
    const auto found = section.find(key);
    return found != section.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                                : otherwise;
}

} // namespace

std::vector<Retained> retained(std::span<const Entry> entries, const ManagerOptions& options) {
    std::vector<const Entry*> usable = usable_of(entries);
    std::sort(usable.begin(), usable.end(),
              [](const Entry* a, const Entry* b) { return a->step < b->step; });
    const auto newest = static_cast<std::size_t>(std::max<std::int64_t>(1, options.keep_latest));
    std::vector<Score> best = ranked(usable, options.goal);
    best.resize(std::min(best.size(),
                         static_cast<std::size_t>(std::max<std::int64_t>(0, options.keep_best))));
    const auto is_among_best = [&](std::int64_t step) {
        return std::any_of(best.begin(), best.end(),
                           [step](const Score& score) { return score.step == step; });
    };
    std::vector<Retained> out;
    for (std::size_t i = 0; i < usable.size(); ++i) {
        const Entry& entry = *usable[i];
        if (usable.size() - i <= newest) {
            out.push_back({entry.step, "newest"});
        }
        if (is_among_best(entry.step)) {
            out.push_back({entry.step, "best"});
        }
        if (options.keep_every && *options.keep_every > 0 &&
            entry.step % *options.keep_every == 0) {
            out.push_back({entry.step, "every " + std::to_string(*options.keep_every)});
        }
        const std::vector<std::string>& marks = entry.record.kept_for;
        if (std::find(marks.begin(), marks.end(), kByHand) != marks.end()) {
            out.push_back({entry.step, kByHand});
        }
    }
    return out;
}

const Entry* best_entry(std::span<const Entry> entries, const Goal& goal) {
    const std::vector<Score> scores = ranked(usable_of(entries), goal);
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return !scores.empty() && entry.problem.empty() && entry.step == scores.front().step;
    });
    return found == entries.end() ? nullptr : &*found;
}

ManagerOptions retention_of(const Json& config) {
    ManagerOptions options;
    const auto section = config.find("checkpoint");
    if (section == config.end() || !section->is_object()) {
        return options;
    }
    options.keep_latest = integer_or(*section, "keep_latest", options.keep_latest);
    options.keep_best = integer_or(*section, "keep_best", options.keep_best);
    if (const std::int64_t every = integer_or(*section, "keep_every", 0); every > 0) {
        options.keep_every = every;
    }
    options.goal = goal_of(config);
    return options;
}

} // namespace weft::checkpoint
