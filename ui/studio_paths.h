// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace weft::ui {

/// Where things live; app/studio fills it from the environment.
struct StudioPaths {
    std::filesystem::path runs_root;     // ~/WeftRuns
    std::filesystem::path presets;       // folder of *.json
    std::filesystem::path state;         // XDG state: window layout, autosaved draft
    std::filesystem::path calibration{}; // what measurements of this machine taught; empty: no file
    std::filesystem::path worker{};      // the program `weft`
    std::filesystem::path sockets{};     // private, with a short name: for connections to hosts
    std::filesystem::path settings{};    // file of the preferences; empty: in `state`
    std::filesystem::path cache{};       // what can be made again; empty: nothing is kept
    std::filesystem::path counters{"/proc/vmstat"}; // of the system: memoryKills
};

} // namespace weft::ui
