// SPDX-License-Identifier: Apache-2.0
// Scalars as a TensorBoard event file: framed records (u64 length, masked CRC-32C of it, payload,
// masked CRC-32C of the payload) of the small part of the Event protocol buffer that scalars need.
#pragma once

#include "core/base/file.h"

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

/// Appends whole records to <folder>/events.out.tfevents.<unix s>.<host>; a resumed run starts a
/// new file.
class TensorboardWriter {
public:
    TensorboardWriter(const std::filesystem::path& folder, double wall_time,
                      const std::string& host);
    void add(double wall_time, std::int64_t step,
             const std::vector<std::pair<std::string, double>>& values);

private:
    File file_;
};

} // namespace weft::train
