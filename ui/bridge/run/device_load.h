// SPDX-License-Identifier: GPL-3.0-or-later
// What a run says of its devices, summed up for people. Pure functions.
#pragma once

#include "core/train/record/event.h"

#include <QString>

#include <vector>

namespace weft::ui {

/// What a device sends along some axes of the mesh while it is in exchanges.
struct LinkLoad {
    QString axes; // "data"
    bool between_hosts = false;
    double bytes_per_s = 0;
    double planned_bytes_per_s = 0; // 0: nothing was predicted
    bool is_slow = false; // far below what was planned; nothing is said of simulated devices
};

struct DeviceLoad {
    int slowest = -1;         // device that computes longest
    QString host;             // of its process, where devices have processes on several hosts
    double imbalance = 0;     // its computing over the mean, less 1
    double exposed_share = 0; // of the devices' time, in which exchanges held them up
    double waited_share = 0;  // likewise, waiting for others: a part of it
    double planned_exposed_share = 0; // 0: nothing was predicted
    std::vector<LinkLoad> links;
    double step_ms = 0;       // of the device that took longest
    double planned_ms = 0;    // likewise; 0: nothing was predicted
    std::int64_t memory = 0;  // of all devices
    std::int64_t planned = 0; // likewise
};

/// Whether devices have processes, on more than one host.
bool areOnSeveralHosts(const train::DevicesEvent& event);
/// Of an event with at least one device.
DeviceLoad deviceLoad(const train::DevicesEvent& event);
/// One line: "step 21.3 ms, planned 18.0 · exposed communication 23 %, planned 12 %, waiting 9 %
/// · along data, between hosts, a device sends 1.2 GiB/s, planned 4.0 GiB/s: a slow link · device 2
/// on node7 computes 8 % longer than the mean · memory 77.6 of 77.6 MiB".
QString loadText(const DeviceLoad& load);

} // namespace weft::ui
