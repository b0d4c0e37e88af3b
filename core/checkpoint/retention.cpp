// SPDX-License-Identifier: Apache-2.0
// Which checkpoints stay: pure functions of what is there.
#include "core/checkpoint/checkpoint.h"

#include <algorithm>
#include <cmath>

namespace weft::checkpoint {
namespace {

std::optional<double> metric_of(const Entry& entry, const std::string& name) {
    const auto found = entry.record.metrics.find(name);
    if (entry.record.metric_step != entry.step || found == entry.record.metrics.end() ||
        !found->is_number() || !std::isfinite(found->get<double>())) {
        return std::nullopt;
    }
    return found->get<double>();
}

/// The best `count` steps, best first.
std::vector<std::int64_t> best_steps(const std::vector<const Entry*>& usable,
                                     const ManagerOptions& options) {
    std::vector<std::pair<double, std::int64_t>> ranked; // smaller is better
    for (const Entry* entry : usable) {
        if (const std::optional<double> value = metric_of(*entry, options.metric)) {
            ranked.emplace_back(options.metric_min ? *value : -*value, entry->step);
        }
    }
    std::sort(ranked.begin(), ranked.end());
    const auto count =
        std::clamp<std::int64_t>(options.keep_best, 0, static_cast<std::int64_t>(ranked.size()));
    std::vector<std::int64_t> steps;
    for (std::int64_t i = 0; i < count; ++i) {
        steps.push_back(ranked[static_cast<std::size_t>(i)].second);
    }
    return steps;
}

std::int64_t integer_or(const Json& section, const char* key, std::int64_t otherwise) {
    const auto found = section.find(key);
    return found != section.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                                : otherwise;
}

} // namespace

std::vector<Retained> retained(std::span<const Entry> entries, const ManagerOptions& options) {
    std::vector<const Entry*> usable;
    for (const Entry& entry : entries) {
        if (entry.problem.empty()) {
            usable.push_back(&entry);
        }
    }
    std::sort(usable.begin(), usable.end(),
              [](const Entry* a, const Entry* b) { return a->step < b->step; });
    const auto newest = static_cast<std::size_t>(std::max<std::int64_t>(1, options.keep_latest));
    const std::vector<std::int64_t> best = best_steps(usable, options);
    std::vector<Retained> out;
    for (std::size_t i = 0; i < usable.size(); ++i) {
        const Entry& entry = *usable[i];
        if (usable.size() - i <= newest) {
            out.push_back({entry.step, "newest"});
        }
        if (std::find(best.begin(), best.end(), entry.step) != best.end()) {
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
    const auto metric = section->find("metric");
    if (metric != section->end() && metric->is_string()) {
        options.metric = metric->get<std::string>();
    }
    const auto mode = section->find("mode");
    options.metric_min = mode == section->end() || *mode != "max";
    return options;
}

} // namespace weft::checkpoint
