// SPDX-License-Identifier: Apache-2.0
// How busy a machine and this process are: read from /proc and /sys, where the system tells it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::train {

/// What has been counted since the machine, or the process, began; and what is now. What cannot be
/// read is absent.
struct SystemCounts {
    std::optional<double> busy_s, all_s;                   // of all cores: at work, and in all
    std::optional<double> process_s;                       // of cores, by this process
    std::optional<std::int64_t> read_bytes, written_bytes; // by this process, from and to disks
    std::optional<std::int64_t> received_bytes,
        sent_bytes;                              // over the network, but for this machine
    std::optional<std::int64_t> process_bytes;   // resident
    std::optional<std::int64_t> available_bytes; // of memory, without swapping
    std::optional<double> temperature_c;         // of the processor: the hottest sensor
};

/// Some hundred microseconds. `root` stands for "/". Never throws.
SystemCounts read_system(const std::filesystem::path& root = "/");

/// What a machine does not tell, in words: "temperature of the processor"; empty: it tells all.
std::vector<std::string> missing_sensors(const SystemCounts& counts);

/// Bytes that all interfaces but `lo` received and sent, of the text of /proc/net/dev.
std::optional<std::pair<std::int64_t, std::int64_t>> network_bytes(std::string_view text);

} // namespace weft::train
