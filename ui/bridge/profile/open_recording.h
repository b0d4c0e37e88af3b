// SPDX-License-Identifier: GPL-3.0-or-later
// A recording as it is read, with all that a page shows of it: made off the GUI thread, shared,
// never changed.
#pragma once

#include "core/profile/recording.h"
#include "core/profile/time_table.h"
#include "core/profile/verdict.h"
#include "widgets/views/event_timeline.h"
#include "widgets/views/roofline_chart.h"

#include <QString>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace weft::ui {

inline constexpr int kGroupings = 4; // profile::Grouping

struct OpenRecording {
    std::filesystem::path file;
    profile::Recording recording;
    std::array<profile::TimeTable, kGroupings> tables; // by profile::Grouping
    std::vector<profile::Cause> causes;
    /// By device: the number of each step's first event, and behind the last step's.
    std::vector<std::vector<std::size_t>> first_events;
    std::size_t median_step = 0; // by its wall time, in recording.steps

    const profile::TimeTable& table(profile::Grouping grouping) const {
        return tables[static_cast<std::size_t>(grouping)];
    }
    double stepMs() const { return tables.front().mean.wall_us / 1e3; }
};

/// Throws weft::Error{data}.
OpenRecording openRecording(const std::filesystem::path& file);

/// One of its steps, in milliseconds from the step's start: a row of kernels for each device, one
/// of exchanges below it where it has some, then loader and host. The labels are the recording's
/// calls, in their order, then loader and host.
widgets::EventTimelineData timelineOf(const OpenRecording& open, std::size_t step);

/// Kernels as points of a roofline, by the table of kernels; those without FLOPs or bytes and
/// exchanges are none.
struct RooflineData {
    std::vector<widgets::RooflinePoint> points;
    std::vector<std::string> kernels; // by point
    std::vector<widgets::RooflineCeiling> ceilings;
    double bandwidth = 0;
    QString bandwidth_label;
};
RooflineData rooflineOf(const OpenRecording& open);

/// "steps 2,030 to 2,049".
QString stepsText(const profile::Recording& recording);

} // namespace weft::ui
