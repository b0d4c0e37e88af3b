// SPDX-License-Identifier: Apache-2.0
// Numbers of fields: wandb/proto/wandb_internal.proto.
#include "core/train/logging/wandb_writer.h"

#include "core/base/error.h"
#include "core/base/protobuf.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <zlib.h>

namespace weft::train {
namespace {

constexpr std::int64_t kLogBlock = 32768;
constexpr std::int64_t kFrameBytes = 7; // checksum, length, kind
constexpr std::uint16_t kWandbMagic = 0xBEE1;
constexpr std::size_t kLongestId = 64;

/// Kinds of LevelDB's frames.
enum Frame : std::uint8_t { whole_record = 1, first_part = 2, middle_part = 3, last_part = 4 };

/// Fields of wandb_internal.Record.
enum RecordField : unsigned {
    kRecordNumber = 1,
    kHistory = 2,
    kSummary = 3,
    kRun = 17,
    kExit = 18,
    kHeader = 21
};

template <typename T>
std::string bytes_of_number(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

/// As Python's json writes what JSON has no number for, which is what wandb reads.
std::string wandb_number(double value) {
    return std::isnan(value)   ? "NaN"
           : std::isinf(value) ? (value > 0 ? "Infinity" : "-Infinity")
                               : config::Json(value).dump();
}

/// HistoryItem, SummaryItem and ConfigItem alike.
protobuf::Writer item_of(const std::string& key, const std::string& value_json) {
    protobuf::Writer out;
    out.add_bytes(1, key);
    out.add_bytes(16, value_json);
    return out;
}

/// google.protobuf.Timestamp
protobuf::Writer timestamp(double time) {
    const double seconds = std::floor(time);
    protobuf::Writer out;
    out.add_integer(1, static_cast<std::int64_t>(seconds));
    out.add_integer(2, static_cast<std::int64_t>((time - seconds) * 1e9));
    return out;
}

protobuf::Writer run_message(const WandbRun& run, double begun) {
    protobuf::Writer config;
    for (const auto& [key, value] : run.config.items()) {
        config.add(
            1, item_of(key, value.dump(-1, ' ', false, config::Json::error_handler_t::replace)));
    }
    protobuf::Writer out;
    out.add_bytes(1, run.id);
    out.add_bytes(3, run.project);
    out.add(4, config);
    out.add_bytes(8, run.name);
    out.add_bytes(9, run.notes);
    for (const std::string& tag : run.tags) {
        out.add_bytes(10, tag);
    }
    out.add_bytes(13, run.host);
    out.add(17, timestamp(begun));
    return out;
}

std::string record_text(std::int64_t number, RecordField field, const protobuf::Writer& message) {
    protobuf::Writer out;
    out.add_integer(kRecordNumber, number);
    out.add(field, message);
    return out.text();
}

} // namespace

LevelLog::LevelLog(const Path& file) : file_(file, File::Mode::write_new) {
    const std::string head = ":W&B" + bytes_of_number(kWandbMagic) + std::string(1, '\0');
    file_.write(head);
    at_ = std::ssize(head);
}

void LevelLog::put(std::string_view part, std::uint8_t kind) {
    uLong crc = crc32(0, &kind, 1);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    std::string frame = bytes_of_number(static_cast<std::uint32_t>(crc)) +
                        bytes_of_number(static_cast<std::uint16_t>(part.size()));
    frame += static_cast<char>(kind);
    frame += part;
    file_.write(frame);
    at_ += std::ssize(frame);
}

void LevelLog::add(std::string_view record) {
    for (bool begins = true;; begins = false) {
        std::int64_t room = kLogBlock - at_ % kLogBlock;
        if (room < kFrameBytes) {
            file_.write(std::string(static_cast<std::size_t>(room), '\0'));
            at_ += room;
            room = kLogBlock;
        }
        const std::size_t fits = static_cast<std::size_t>(room - kFrameBytes);
        if (record.size() <= fits) {
            put(record, begins ? whole_record : last_part);
            return;
        }
        put(record.substr(0, fits), begins ? first_part : middle_part);
        record.remove_prefix(fits);
    }
}

Path WandbWriter::file_of(const Path& folder, const std::string& id, double now) {
    const auto seconds = static_cast<std::time_t>(now);
    std::tm local{};
    localtime_r(&seconds, &local);
    char when[32];
    std::strftime(when, sizeof when, "%Y%m%d_%H%M%S", &local);
    const Path run = folder / ("offline-run-" + std::string(when) + "-" + id);
    make_directories(run / "files");
    return run / ("run-" + id + ".wandb");
}

WandbWriter::WandbWriter(const Path& folder, const WandbRun& run, double now)
    : begun_(now), log_(file_of(folder, run.id, now)) {
    protobuf::Writer producer;
    producer.add_bytes(1, "weft");
    protobuf::Writer header;
    header.add(1, producer);
    log_.add(record_text(records_++, kHeader, header));
    log_.add(record_text(records_++, kRun, run_message(run, now)));
}

WandbWriter::~WandbWriter() {
    try {
        finish(false);
    } catch (const Error&) {
        // A copy; the run's own record says how it ended.
    }
}

void WandbWriter::add(double time, std::int64_t step, const Metrics& values) {
    if (values.empty()) {
        return;
    }
    last_ = time;
    protobuf::Writer history;
    for (const auto& [name, value] : values) {
        newest_[name] = value;
        history.add(1, item_of(name, wandb_number(value)));
    }
    history.add(1, item_of("_step", std::to_string(step)));
    history.add(1, item_of("_timestamp", wandb_number(time)));
    history.add(1, item_of("_runtime", wandb_number(time - begun_)));
    protobuf::Writer number;
    number.add_integer(1, step);
    history.add(2, number);
    log_.add(record_text(records_++, kHistory, history));
}

void WandbWriter::finish(bool well) {
    if (std::exchange(finished_, true)) {
        return;
    }
    protobuf::Writer summary;
    for (const auto& [name, value] : newest_) {
        summary.add(1, item_of(name, wandb_number(value)));
    }
    log_.add(record_text(records_++, kSummary, summary));
    protobuf::Writer exit;
    exit.add_integer(1, well ? 0 : 1);
    exit.add_integer(2, static_cast<std::int64_t>(std::max(0.0, last_ - begun_)));
    log_.add(record_text(records_++, kExit, exit));
}

std::string wandb_id(std::string_view run_name) {
    std::string out(run_name.substr(0, kLongestId));
    std::replace_if(
        out.begin(), out.end(),
        [](unsigned char c) {
            return !(c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_'));
        },
        '-');
    return out;
}

} // namespace weft::train
