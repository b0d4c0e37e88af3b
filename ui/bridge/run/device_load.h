// SPDX-License-Identifier: GPL-3.0-or-later
// What a run says of its devices, summed up for people. Pure functions.
#pragma once

#include "core/train/record/event.h"

#include <QString>

namespace weft::ui {

struct DeviceLoad {
    int slowest = -1;         // device that computes longest
    double imbalance = 0;     // its computing over the mean, less 1
    double waited_share = 0;  // of the devices' time, waiting for others
    double step_ms = 0;       // of the device that took longest
    double planned_ms = 0;    // likewise; 0: nothing was predicted
    std::int64_t memory = 0;  // of all devices
    std::int64_t planned = 0; // likewise
};

/// Of an event with at least one device.
DeviceLoad deviceLoad(const train::DevicesEvent& event);
/// One line: "step 21.3 ms, planned 18.0 · devices wait 12 % of the time · device 2 computes 8 %
/// longer than the mean · memory 77.6 of 77.6 MiB".
QString loadText(const DeviceLoad& load);

} // namespace weft::ui
