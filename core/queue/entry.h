// SPDX-License-Identifier: Apache-2.0
// One entry of the queue: a run that is to be trained, is, or was. A run stays what it is without a
// queue, a folder of its own (core/train/record); an entry says what is to become of it. Plain
// values.
#pragma once

#include "core/config/json.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::queue {

enum class State : std::uint8_t {
    waiting, // for its turn
    running,
    paused, // a sweep's trial at its rung, until it is decided whether it goes on
    done,
    failed,
    stopped, // by a person, or early by its sweep
    held,    // not started until it is released
};
inline constexpr std::array kStates = {State::waiting, State::running, State::paused, State::done,
                                       State::failed,  State::stopped, State::held};
std::string_view state_name(State state);
/// It is over for the queue: done, failed or stopped.
bool has_ended(State state);

/// What a trial reached at the end of a rung of its sweep.
struct RungValue {
    std::int64_t step = 0;       // of the evaluation that the value is of
    std::optional<double> value; // of the sweep's metric; none: it has no finite one
    friend bool operator==(const RungValue&, const RungValue&) = default;
};

struct Entry {
    std::int64_t id = 0; // never given again
    std::string name;
    // What is done: a configuration as it was when it was added, or a run that goes on.
    std::string config;                 // within the queue's folder: "configs/7.json"
    std::string base_dir;               // where its paths count from
    std::string resumes;                // folder of the run that goes on; empty: `config`
    std::string from = "latest";        // checkpoint of it: latest, best or a step
    std::vector<std::string> overrides; // "--set"; with them, or from an older one, it is a fork

    std::string devices = "auto";           // as mesh.devices
    std::string hosts; // of ranks with a process each, as `weft launch --hosts`; empty: one process
    std::vector<int> gpus;                  // that it has been given while it runs
    std::optional<std::int64_t> until_step; // then it pauses; none: its full length

    State state = State::waiting;
    std::string reason;           // why it has this state, where that is not obvious
    bool stop = false;            // somebody asked for it to stop
    std::string run;              // its folder, from its first start on
    int attempts = 0;             // in a row that ended in death, without getting further
    std::int64_t saved_step = -1; // of the newest checkpoint when it was last looked at
    double added = 0;             // s, UTC epoch; so are the others; 0: not yet
    double started = 0;           // the last time
    double ended = 0;

    std::string sweep;                              // whose trial it is; empty: of none
    int trial = 0;                                  // from 0
    std::size_t rung = 0;                           // that it is trained to
    config::Json settings = config::Json::object(); // {"optimizer.learning_rate": 0.01}
    std::vector<RungValue> results;                 // of the rungs that it has reached

    /// It writes into a folder of its own, not into that of the run that goes on.
    bool is_fork() const { return !resumes.empty() && (!overrides.empty() || from != "latest"); }
    /// Its processes are all of this machine.
    bool stays_here() const {
        return hosts.empty() ||
               (hosts.starts_with("localhost") && hosts.find(',') == std::string::npos);
    }
};

config::Json to_json(const Entry& entry);
/// Throws config::Json::exception where `json` is no entry.
Entry entry_of(const config::Json& json);

} // namespace weft::queue
