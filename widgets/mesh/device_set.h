// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of a mesh as plain values: where each stands and what its memory takes.
#pragma once

#include "widgets/views/memory_bar.h"

#include <QString>

#include <optional>
#include <vector>

namespace weft::widgets {

struct DeviceAxis {
    QString name;
    int size = 1;
};

/// Devices that hold and do the same: those of a stage of a pipeline.
struct DeviceGroup {
    std::vector<MemorySegment> segments;
    qint64 bytes = 0; // that each needs
};

/// What the devices of a group hold at a moment.
struct DeviceNow {
    std::vector<MemorySegment> segments;
    qint64 bytes = 0;
    QString note; // what they do: "B3"; empty: what is said of them anyway
    friend bool operator==(const DeviceNow&, const DeviceNow&) = default;
};

struct DeviceSet {
    QString kind;                 // "cpu" of "cpu:0"
    std::vector<DeviceAxis> axes; // major to minor
    std::vector<DeviceGroup> groups;
    std::vector<int> group_of;   // [device]
    std::vector<QString> notes;  // [device] what else to say: "[0:32]", "simulated"
    std::optional<qint64> limit; // memory of a device

    int count() const { return static_cast<int>(group_of.size()); }
    std::vector<int> mesh() const;
    const DeviceGroup& groupOf(int device) const;
    /// Of the device that needs most; at least 1.
    qint64 mostBytes() const;
    /// One number per axis.
    std::vector<int> coordinates(int device) const;
    /// "cpu:3"
    QString nameOf(int device) const;
    /// "data=0 model=1"
    QString placeOf(int device) const;
};

} // namespace weft::widgets
