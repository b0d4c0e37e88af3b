// SPDX-License-Identifier: Apache-2.0
// How the machine is doing while a run trains: metrics "system/..." of a step every kSystemSeconds,
// and so series beside the run's own. On the thread of the step loop, a few hundred microseconds
// each time. Of a run of many processes: of the one that records, and its host.
#pragma once

#include "core/train/measure/health_watch.h"
#include "core/train/measure/system_reader.h"
#include "core/train/record/event.h"

#include <filesystem>
#include <vector>

namespace weft::train {

constexpr double kSystemSeconds = 2;

/// The values of "system/..." between two readings that are `seconds` apart; what is absent in one
/// of them is left out:
///   process_cores: cores that this process kept busy; cpu_percent: of the machine's
///   process_memory_bytes, memory_available_bytes
///   disk_read_bytes_per_s, disk_write_bytes_per_s: of this process
///   network_received_bytes_per_s, network_sent_bytes_per_s: of the machine
///   cpu_temperature_c
Metrics system_values(const SystemCounts& before, const SystemCounts& now, double seconds);

/// Of GPUs: gpu0_percent, gpu0_memory_bytes, gpu0_power_w, gpu0_temperature_c, ...
Metrics gpu_values(const std::vector<GpuState>& gpus);

class RecordSystem {
public:
    /// `health` of the GPUs that it runs on; null: none. `epoch`: where training begins or goes on.
    /// `root` stands for "/".
    RecordSystem(std::filesystem::path run_folder, const HealthWatch* health, double epoch,
                 std::filesystem::path root = "/");

    /// A step is complete at `now_s` of a steady clock; it took so many seconds, of which it waited
    /// for data. Returns what is to be recorded now, mostly nothing: the machine's values, and
    ///   disk_free_bytes: of the volume of the run's folder
    ///   data_wait_percent: of the steps' time since the last ones
    ///   epoch_seconds: how long an epoch took that is complete, from its first step
    Metrics step(double epoch, double step_s, double wait_s, double now_s);

private:
    const std::filesystem::path folder_;
    const HealthWatch* health_;
    const std::filesystem::path root_;
    SystemCounts before_;
    double told_s_ = -1; // before the first step: negative
    double steps_s_ = 0, waits_s_ = 0;
    double epoch_ = 0;        // that is under way
    bool sees_epoch_ = false; // from its beginning on
    double epoch_began_s_ = 0;
};

} // namespace weft::train
