// SPDX-License-Identifier: Apache-2.0
// Changes of settings that a run repeats: those that were made while it went on, after the
// checkpoint that it goes on from.
#pragma once

#include "core/train/record/event.h"

#include <filesystem>
#include <vector>

namespace weft::train {

/// What the log of a run says was changed from this step on, by step. A later order for the same
/// setting takes the place of one that was still to come.
std::vector<SettingsEvent> settings_to_replay(const std::filesystem::path& run_folder,
                                              std::int64_t step);

/// Gives changes when their step has come.
class SettingsReplay {
public:
    SettingsReplay() = default;
    /// As settings_to_replay gives them.
    explicit SettingsReplay(std::vector<SettingsEvent> changes) : changes_(std::move(changes)) {}

    bool is_empty() const { return changes_.empty(); }
    /// Those that take effect once so many updates are complete; each is given once.
    std::vector<SettingsEvent> due(std::int64_t step);
    /// Somebody changed this setting: what was still to come for it is not repeated.
    void drop(const std::string& path);

private:
    std::vector<SettingsEvent> changes_;
};

} // namespace weft::train
