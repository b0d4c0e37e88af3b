// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/tensorboard_writer.h"

#include "core/base/crc32c.h"

#include <cmath>
#include <cstring>

namespace weft::train {
namespace {

// Protocol buffer wire types.
constexpr unsigned kVarint = 0;
constexpr unsigned kFixed64 = 1;
constexpr unsigned kBytes = 2;
constexpr unsigned kFixed32 = 5;

template <typename T>
std::string little_endian_bytes(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

void put_varint(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
        out += static_cast<char>(value | 0x80);
        value >>= 7;
    }
    out += static_cast<char>(value);
}

void put_key(std::string& out, unsigned field, unsigned wire_type) {
    put_varint(out, field << 3 | wire_type);
}

void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
    put_key(out, field, kBytes);
    put_varint(out, bytes.size());
    out += bytes;
}

std::string event_head(double wall_time) {
    std::string out;
    put_key(out, 1, kFixed64);
    return out + little_endian_bytes(wall_time);
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
    std::string out = event_head(wall_time);
    put_bytes(out, 3, "brain.Event:2");
    return out;
}

std::string scalar_event(double wall_time, std::int64_t step,
                         const std::vector<std::pair<std::string, double>>& values) {
    std::string summary;
    for (const auto& [name, number] : values) {
        std::string value;
        put_bytes(value, 1, name);
        put_key(value, 2, kFixed32);
        value += little_endian_bytes(static_cast<float>(number));
        put_bytes(summary, 1, value);
    }
    std::string out = event_head(wall_time);
    put_key(out, 2, kVarint);
    put_varint(out, static_cast<std::uint64_t>(step));
    put_bytes(out, 5, summary);
    return out;
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
