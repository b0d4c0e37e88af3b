// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/tensorboard_writer.h"

#include "core/base/crc32c.h"
#include "core/base/protobuf.h"

#include <cmath>
#include <cstring>

namespace weft::train {
namespace {

template <typename T>
std::string little_endian_bytes(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

protobuf::Writer event_head(double wall_time) {
    protobuf::Writer out;
    out.add_double(1, wall_time);
    return out;
}

} // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
    const std::uint32_t crc = crc32c(bytes);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::string framed_record(std::string_view payload) {
    const std::string length = little_endian_bytes<std::uint64_t>(payload.size());
    std::string out = length + little_endian_bytes(masked_crc32c(length));
    out += payload;
    return out + little_endian_bytes(masked_crc32c(payload));
}

std::string version_event(double wall_time) {
    protobuf::Writer out = event_head(wall_time);
    out.add_bytes(3, "brain.Event:2");
    return out.text();
}

std::string scalar_event(double wall_time, std::int64_t step,
                         const std::vector<std::pair<std::string, double>>& values) {
    protobuf::Writer summary;
    for (const auto& [name, number] : values) {
        protobuf::Writer value;
        value.add_bytes(1, name);
        value.add_float(2, static_cast<float>(number));
        summary.add(1, value);
    }
    protobuf::Writer out = event_head(wall_time);
    out.add_integer(2, step);
    out.add(5, summary);
    return out.text();
}

TensorboardWriter::TensorboardWriter(const std::filesystem::path& folder, double wall_time,
                                     const std::string& host)
    : file_(folder /
                ("events.out.tfevents." + std::to_string(std::llround(wall_time)) + "." + host),
            File::Mode::append) {
    file_.write(framed_record(version_event(wall_time)));
}

void TensorboardWriter::add(double wall_time, std::int64_t step,
                            const std::vector<std::pair<std::string, double>>& values) {
    file_.write(framed_record(scalar_event(wall_time, step, values)));
}

} // namespace weft::train
