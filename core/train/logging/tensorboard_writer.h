// SPDX-License-Identifier: Apache-2.0
// Scalars and histograms as a TensorBoard event file: framed records (u64 length, masked CRC-32C of
// it, payload, masked CRC-32C of the payload) of the small part of the Event protocol buffer that
// they need.
#pragma once

#include "core/base/file.h"
#include "core/train/inside/spread.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::train {

/// CRC-32C of `bytes`, rotated and offset as the format asks.
std::uint32_t masked_crc32c(std::string_view bytes);
/// `payload` with its length and checksums.
std::string framed_record(std::string_view payload);
/// The first record of a file: the version.
std::string version_event(double wall_time);
/// One step's scalars.
std::string scalar_event(double wall_time, std::int64_t step,
                         const std::vector<std::pair<std::string, double>>& values);

/// One step's histograms (HistogramProto). Its bins are ours from the first to the last that have a
/// number; of a large array they hold a sample, whose size is the count that is told. What is not
/// finite is left out.
std::string histogram_event(double wall_time, std::int64_t step,
                            const std::vector<std::pair<std::string, const Spread*>>& values);

/// Appends whole records to <folder>/events.out.tfevents.<unix s>.<host>; a resumed run starts a
/// new file.
class TensorboardWriter {
public:
    TensorboardWriter(const std::filesystem::path& folder, double wall_time,
                      const std::string& host);
    void add(double wall_time, std::int64_t step,
             const std::vector<std::pair<std::string, double>>& values);
    void add_histograms(double wall_time, std::int64_t step,
                        const std::vector<std::pair<std::string, const Spread*>>& values);

private:
    File file_;
};

} // namespace weft::train
