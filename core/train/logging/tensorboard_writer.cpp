// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/tensorboard_writer.h"

#include "core/base/crc32c.h"
#include "core/base/protobuf.h"

#include <algorithm>
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

/// Summary.Value.histo, tensorboard/compat/proto/summary.proto: min, max, num, sum, sum_squares,
/// and the upper edge and count of each bucket. A bucket reaches from the edge before, the first
/// one from min.
protobuf::Writer histogram(const Spread& spread) {
    int first = 0;
    int last = kSpreadBins - 1;
    while (first < last && spread.bins[static_cast<std::size_t>(first)] == 0) {
        ++first;
    }
    while (last > first && spread.bins[static_cast<std::size_t>(last)] == 0) {
        --last;
    }
    std::string edges;
    std::string counts;
    double count = 0;
    for (int bin = first; bin <= last; ++bin) {
        const auto here = static_cast<double>(spread.bins[static_cast<std::size_t>(bin)]);
        // Numbers of a negative bin are the mirrored ones of a positive one.
        const double edge = bin < kZeroBin    ? -lower_edge(2 * kZeroBin - bin)
                            : bin == kZeroBin ? 0.0
                                              : lower_edge(bin + 1);
        edges += little_endian_bytes(bin == last ? std::max(edge, spread.high) : edge);
        counts += little_endian_bytes(here);
        count += here;
    }
    protobuf::Writer out;
    out.add_double(1, spread.low);
    out.add_double(2, spread.high);
    out.add_double(3, count);
    out.add_double(4, spread.mean() * count);
    const double deviation = spread.deviation();
    out.add_double(5, (spread.mean() * spread.mean() + deviation * deviation) * count);
    out.add_bytes(6, edges);
    out.add_bytes(7, counts);
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

std::string histogram_event(double wall_time, std::int64_t step,
                            const std::vector<std::pair<std::string, const Spread*>>& values) {
    protobuf::Writer summary;
    for (const auto& [name, spread] : values) {
        if (spread->finite() == 0) {
            continue; // not known, or nothing that could be drawn
        }
        protobuf::Writer value;
        value.add_bytes(1, name);
        value.add(5, histogram(*spread));
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

void TensorboardWriter::add_histograms(
    double wall_time, std::int64_t step,
    const std::vector<std::pair<std::string, const Spread*>>& values) {
    file_.write(framed_record(histogram_event(wall_time, step, values)));
}

} // namespace weft::train
