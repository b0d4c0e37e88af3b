// SPDX-License-Identifier: Apache-2.0
// A window of a source that streams: its samples in memory, in the order in which they are given.
#pragma once

#include "core/data/sampler.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace weft::data {

/// Memory that is written all over at random: in huge pages, where the system has them, the
/// processor knows the place of each. Not initialised.
class WideMemory {
public:
    explicit WideMemory(std::int64_t bytes);

    std::span<std::byte> bytes() { return {memory_.get(), size_}; }
    std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }

private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::size_t size_;
    std::unique_ptr<std::byte, Free> memory_;
};

/// Room for the windows of a source, one at a time. Blocks of one window may be loaded by several
/// threads at once; whoever owns it tells them when, and when the samples may be looked at.
class Window {
public:
    Window(std::shared_ptr<const Source> source, std::int64_t most_rows);

    void begin(const EpochWindows& windows, std::int64_t epoch, std::int64_t number);
    std::size_t blocks() const { return blocks_.size(); }
    /// Its samples. Throws weft::Error{data}.
    std::int64_t load(std::size_t block, std::vector<std::byte>& scratch);

    /// Of the epoch.
    std::int64_t first_position() const { return first_position_; }
    std::int64_t end_position() const { return first_position_ + rows_; }
    std::int64_t epoch() const { return epoch_; }
    std::span<const std::byte> inputs(std::int64_t position, std::int64_t count) const;
    std::span<const std::byte> targets(std::int64_t position, std::int64_t count) const;

private:
    std::shared_ptr<const Source> source_;
    std::int64_t most_rows_, input_bytes_, target_bytes_;
    WideMemory inputs_, targets_; // [most_rows, input shape], [most_rows, target shape]
    std::int64_t epoch_ = 0, first_position_ = 0, rows_ = 0;
    std::vector<BlockRows> blocks_;
    std::optional<RowOrder> order_;
};

} // namespace weft::data
