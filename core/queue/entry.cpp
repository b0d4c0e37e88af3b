// SPDX-License-Identifier: Apache-2.0
#include "core/queue/entry.h"

namespace weft::queue {
namespace {

using config::Json;

constexpr const char* kStateNames[] = {"waiting", "running", "paused", "done",
                                       "failed",  "stopped", "held"};
static_assert(std::size(kStateNames) == kStates.size());

State state_of(const std::string& name) {
    for (const State state : kStates) {
        if (state_name(state) == name) {
            return state;
        }
    }
    // As what is nearest: a newer program knows more states.
    return State::held;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_at(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? std::nullopt : std::optional(found->get<T>());
}

Json results_json(const std::vector<RungValue>& results) {
    Json out = Json::array();
    for (const RungValue& one : results) {
        out.push_back({{"step", one.step}, {"value", or_null(one.value)}});
    }
    return out;
}

std::vector<RungValue> results_of(const Json& json) {
    std::vector<RungValue> out;
    for (const Json& one : json) {
        out.push_back({one.at("step").get<std::int64_t>(), optional_at<double>(one, "value")});
    }
    return out;
}

} // namespace

std::string_view state_name(State state) {
    return kStateNames[static_cast<std::size_t>(state)];
}

bool has_ended(State state) {
    return state == State::done || state == State::failed || state == State::stopped;
}

Json to_json(const Entry& entry) {
    Json out = {{"id", entry.id},
                {"name", entry.name},
                {"state", state_name(entry.state)},
                {"reason", entry.reason},
                {"config", entry.config},
                {"base_dir", entry.base_dir},
                {"resumes", entry.resumes},
                {"from", entry.from},
                {"overrides", entry.overrides},
                {"devices", entry.devices},
                {"hosts", entry.hosts},
                {"gpus", entry.gpus},
                {"until_step", or_null(entry.until_step)},
                {"stop", entry.stop},
                {"run", entry.run},
                {"attempts", entry.attempts},
                {"saved_step", entry.saved_step},
                {"added", entry.added},
                {"started", entry.started},
                {"ended", entry.ended}};
    if (!entry.sweep.empty()) {
        out["sweep"] = entry.sweep;
        out["trial"] = entry.trial;
        out["rung"] = entry.rung;
        out["settings"] = entry.settings;
        out["results"] = results_json(entry.results);
    }
    return out;
}

Entry entry_of(const Json& json) {
    Entry out;
    out.id = json.at("id").get<std::int64_t>();
    out.name = json.value("name", "");
    out.state = state_of(json.at("state").get<std::string>());
    out.reason = json.value("reason", "");
    out.config = json.value("config", "");
    out.base_dir = json.value("base_dir", "");
    out.resumes = json.value("resumes", "");
    out.from = json.value("from", out.from);
    out.overrides = json.value("overrides", out.overrides);
    out.devices = json.value("devices", out.devices);
    out.hosts = json.value("hosts", "");
    out.gpus = json.value("gpus", out.gpus);
    out.until_step = optional_at<std::int64_t>(json, "until_step");
    out.stop = json.value("stop", false);
    out.run = json.value("run", "");
    out.attempts = json.value("attempts", 0);
    out.saved_step = json.value("saved_step", out.saved_step);
    out.added = json.value("added", 0.0);
    out.started = json.value("started", 0.0);
    out.ended = json.value("ended", 0.0);
    out.sweep = json.value("sweep", "");
    out.trial = json.value("trial", 0);
    out.rung = json.value("rung", std::size_t{0});
    out.settings = json.value("settings", out.settings);
    out.results = json.contains("results") ? results_of(json.at("results")) : out.results;
    return out;
}

} // namespace weft::queue
