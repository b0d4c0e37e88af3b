// SPDX-License-Identifier: Apache-2.0
// The records of a TensorBoard event file, one after the other: length, its checksum, payload, its
// checksum (TFRecord). What is still being written is waited for; nothing is trusted.
#pragma once

#include "core/base/file.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::train {

/// Moves over an open file, which must outlive it.
class TensorboardRecords {
public:
    enum class Found : std::uint8_t {
        record,  // payload() and offset() are of it
        damaged, // its checksum is wrong; offset() is where it lies
        lost,    // its length is damaged, so that nothing after offset() can be found
        end,     // no further record is whole
    };

    explicit TensorboardRecords(const File& file, std::int64_t offset = 0)
        : file_(file), size_(file.size()), at_(offset) {}

    /// Goes on to the next one.
    Found next();
    /// Until the next call.
    std::string_view payload() const { return payload_; }
    std::int64_t offset() const { return offset_; }
    /// Of the first record that was not found.
    std::int64_t at() const { return at_; }

private:
    std::string_view look(std::int64_t count);

    const File& file_;
    std::int64_t size_;
    std::int64_t at_;
    std::int64_t base_ = 0; // of text_ in the file
    std::int64_t offset_ = 0;
    std::string text_;
    std::string_view payload_;
};

} // namespace weft::train
