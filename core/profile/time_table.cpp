// SPDX-License-Identifier: Apache-2.0
#include "core/profile/time_table.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weft::profile {
namespace {

/// Rows by call, so that events are added without looking names up.
struct Groups {
    std::vector<std::size_t> row; // by call
    std::vector<Row> rows;
};

Groups groups_of(const Recording& recording, Grouping grouping) {
    Groups out;
    std::map<std::string, std::size_t> known;
    for (const Call& call : recording.calls) {
        const std::string name = group_name(call, grouping);
        const auto [found, is_new] = known.try_emplace(name, out.rows.size());
        if (is_new) {
            out.rows.push_back({.name = name});
        }
        out.row.push_back(found->second);
    }
    return out;
}

void add_event(const Call& call, const Event& event, double share, Row& row, StepParts& parts) {
    row.calls += share;
    row.us += event.duration_us * share;
    row.waited_us += event.waited_us * share;
    row.predicted_us += call.predicted_us * share;
    row.best_us += call.best_us * share;
    row.flops += call.flops * share;
    row.bytes += call.bytes * share;
    if (call.exchange) {
        parts.exchange_us += event.duration_us - event.waited_us;
        parts.waited_us += event.waited_us;
    } else {
        parts.compute_us += event.duration_us;
    }
}

/// Sums over steps so far; becomes means.
void finish_parts(const Recording& recording, StepParts& parts) {
    double run_us = 0;
    for (const StepTimes& step : recording.steps) {
        parts.wall_us += step.wall_us();
        parts.loader_us += step.batch_us - step.start_us;
        run_us += step.computed_us - step.batch_us;
        parts.host_us += step.end_us - step.computed_us;
    }
    parts.between_us =
        std::max(0.0, run_us - parts.compute_us - parts.exchange_us - parts.waited_us);
    const auto steps = static_cast<double>(recording.steps.size());
    for (double StepParts::*part :
         {&StepParts::wall_us, &StepParts::loader_us, &StepParts::compute_us,
          &StepParts::exchange_us, &StepParts::waited_us, &StepParts::between_us,
          &StepParts::host_us}) {
        parts.*part /= steps;
    }
}

StepParts mean_of(const std::vector<StepParts>& devices) {
    StepParts out;
    const auto count = static_cast<double>(devices.size());
    for (double StepParts::*part :
         {&StepParts::wall_us, &StepParts::loader_us, &StepParts::compute_us,
          &StepParts::exchange_us, &StepParts::waited_us, &StepParts::between_us,
          &StepParts::host_us}) {
        for (const StepParts& device : devices) {
            out.*part += device.*part / count;
        }
    }
    return out;
}

} // namespace

std::string group_name(const Call& call, Grouping grouping) {
    switch (grouping) {
    case Grouping::op: return call.op + " " + call.phase;
    case Grouping::layer: return call.path.empty() ? "(of no layer)" : call.path;
    case Grouping::kernel: return call.exchange ? "exchange" : call.kernel;
    case Grouping::phase: break;
    }
    return call.phase;
}

std::optional<Grouping> grouping_of(std::string_view name) {
    for (const auto& [known, grouping] : {std::pair<std::string_view, Grouping>{"op", Grouping::op},
                                          {"layer", Grouping::layer},
                                          {"kernel", Grouping::kernel},
                                          {"phase", Grouping::phase}}) {
        if (name == known) {
            return grouping;
        }
    }
    return std::nullopt;
}

TimeTable time_table(const Recording& recording, Grouping grouping) {
    TimeTable out;
    Groups groups = groups_of(recording, grouping);
    std::vector<std::map<std::string, double>> bounds(groups.rows.size());
    const double share = 1.0 / static_cast<double>(recording.steps.size()) /
                         static_cast<double>(recording.devices.size());
    for (const DeviceEvents& device : recording.devices) {
        StepParts& parts = out.devices.emplace_back();
        for (const Event& event : device.events) {
            const auto at = static_cast<std::size_t>(event.call);
            const Call& call = recording.calls[at];
            add_event(call, event, share, groups.rows[groups.row[at]], parts);
            bounds[groups.row[at]][call.bound] += event.duration_us;
        }
        finish_parts(recording, parts);
    }
    for (std::size_t row = 0; row < groups.rows.size(); ++row) {
        if (!bounds[row].empty()) {
            const auto longest =
                std::max_element(bounds[row].begin(), bounds[row].end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
            groups.rows[row].bound = longest->first;
            out.rows.push_back(std::move(groups.rows[row]));
        }
    }
    std::stable_sort(out.rows.begin(), out.rows.end(),
                     [](const Row& a, const Row& b) { return a.us > b.us; });
    out.mean = mean_of(out.devices);
    return out;
}

std::vector<ChangedRow> compare(const TimeTable& before, const TimeTable& after) {
    std::map<std::string, ChangedRow> rows;
    for (const Row& row : before.rows) {
        rows[row.name].before_us = row.us;
    }
    for (const Row& row : after.rows) {
        rows[row.name].after_us = row.us;
    }
    std::vector<ChangedRow> out;
    for (auto& [name, row] : rows) {
        row.name = name;
        out.push_back(row);
    }
    std::stable_sort(out.begin(), out.end(), [](const ChangedRow& a, const ChangedRow& b) {
        return std::abs(a.after_us - a.before_us) > std::abs(b.after_us - b.before_us);
    });
    return out;
}

} // namespace weft::profile
