// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/settings_replay.h"

#include "core/train/record/run_folder.h"

#include <algorithm>

namespace weft::train {
namespace {

constexpr std::size_t kReadAtOnce = 1 << 16;

} // namespace

std::vector<SettingsEvent> settings_to_replay(const std::filesystem::path& run_folder,
                                              std::int64_t step) {
    std::vector<SettingsEvent> out;
    EventReader reader(run_folder);
    for (std::vector<Event> events; !(events = reader.read(kReadAtOnce)).empty();) {
        for (const Event& event : events) {
            const auto* changed = std::get_if<SettingsEvent>(&event.payload);
            if (changed == nullptr || changed->replayed) {
                continue;
            }
            std::erase_if(out, [&](const SettingsEvent& earlier) {
                return earlier.path == changed->path && earlier.step >= changed->step;
            });
            out.push_back(*changed);
        }
    }
    std::erase_if(out, [&](const SettingsEvent& one) { return one.step < step; });
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    return out;
}

std::vector<SettingsEvent> SettingsReplay::due(std::int64_t step) {
    const auto end = std::find_if(changes_.begin(), changes_.end(),
                                  [&](const SettingsEvent& one) { return one.step > step; });
    std::vector<SettingsEvent> out(changes_.begin(), end);
    changes_.erase(changes_.begin(), end);
    return out;
}

void SettingsReplay::drop(const std::string& path) {
    std::erase_if(changes_, [&](const SettingsEvent& one) { return one.path == path; });
}

} // namespace weft::train
