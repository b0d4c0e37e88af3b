// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/tensorboard_records.h"

#include "core/train/logging/tensorboard_writer.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace weft::train {
namespace {

constexpr std::int64_t kHeadBytes = 12;      // length and its checksum
constexpr std::int64_t kRecordTailBytes = 4; // checksum of the payload
constexpr std::int64_t kChunkBytes = 4 << 20;
constexpr std::int64_t kMostRecordBytes = std::int64_t{1} << 30;

template <typename T>
T number_at(std::string_view text, std::size_t at) {
    T value;
    std::memcpy(&value, text.data() + at, sizeof value);
    return value;
}

} // namespace

/// `count` bytes from the current place; empty when the file ends before.
std::string_view TensorboardRecords::look(std::int64_t count) {
    if (count > size_ - at_) {
        return {};
    }
    if (at_ + count > base_ + static_cast<std::int64_t>(text_.size()) || at_ < base_) {
        base_ = at_;
        text_.resize(static_cast<std::size_t>(std::min(std::max(count, kChunkBytes), size_ - at_)));
        file_.read_at(std::as_writable_bytes(std::span(text_)), base_);
    }
    return std::string_view(text_).substr(static_cast<std::size_t>(at_ - base_),
                                          static_cast<std::size_t>(count));
}

TensorboardRecords::Found TensorboardRecords::next() {
    offset_ = at_;
    payload_ = {};
    const std::string_view head = look(kHeadBytes);
    if (head.empty()) {
        return Found::end;
    }
    const auto length = number_at<std::uint64_t>(head, 0);
    if (number_at<std::uint32_t>(head, 8) != masked_crc32c(head.substr(0, 8)) ||
        length > static_cast<std::uint64_t>(kMostRecordBytes)) {
        // Zeros are room that a file system has set aside for what is being written.
        const std::string_view rest = look(std::min(size_ - at_, kChunkBytes));
        return rest.find_first_not_of('\0') == std::string_view::npos ? Found::end : Found::lost;
    }
    const auto bytes = static_cast<std::int64_t>(length);
    const std::int64_t whole = kHeadBytes + bytes + kRecordTailBytes;
    const std::string_view record = look(whole);
    if (record.empty()) {
        return Found::end; // still being written
    }
    const auto size = static_cast<std::size_t>(bytes);
    const std::string_view payload = record.substr(kHeadBytes, size);
    const bool sound =
        number_at<std::uint32_t>(record, kHeadBytes + size) == masked_crc32c(payload);
    if (!sound && size_ - at_ == whole) {
        return Found::end; // the last one: its bytes may still be on their way
    }
    at_ += whole;
    if (!sound) {
        return Found::damaged;
    }
    payload_ = payload;
    return Found::record;
}

} // namespace weft::train
