// SPDX-License-Identifier: Apache-2.0
// The order of samples: position -> sample, a pure function of (seed, epoch, position).
//
// Samples that are at hand are in any order of all of them. A source that streams (Source::blocks)
// is read in windows, so that a disk reads long stretches and memory stays bounded:
//   1. blocks come in a new order in every epoch,
//   2. as many blocks as fit make a window,
//   3. within a window samples come in any order.
// What that is worth: a sample may come at any position of the epoch, each as likely as the others.
// Samples of one block always come within one window of each other, among those of the window's
// other blocks; with 32 MiB and blocks of 512 KiB that is 63 blocks from anywhere in the file. A
// file that is sorted by class is therefore mixed well when a window has many more blocks than
// there are classes. Where one window holds everything the order is that of samples at hand.
#pragma once

#include "core/data/dataset.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft::data {

inline constexpr std::int64_t kShuffleWindowBytes = std::int64_t{32} << 20;

/// In which order the rows of a window are given: a permutation of 0 ... rows - 1, by four
/// half-rounds of a Feistel network over pairs (Black and Rogaway 2002, section 4), whose functions
/// are tables of random numbers (Luby and Rackoff 1988). Immutable, any thread.
class RowOrder {
public:
    explicit RowOrder(std::int64_t rows); // as they are
    /// A function of its arguments only.
    static RowOrder shuffled(std::int64_t rows, std::uint64_t seed, std::int64_t epoch,
                             std::int64_t window);
    /// places[row], a permutation.
    static RowOrder listed(std::vector<std::uint32_t> places);

    /// Places of the rows first, first + 1, ...
    void places(std::int64_t first, std::span<std::uint32_t> out) const;
    /// The row at a place.
    std::int64_t row_at(std::int64_t place) const;

private:
    static constexpr std::size_t kHalfRounds = 4;

    std::uint32_t mixed(std::uint32_t left, std::uint32_t right) const;

    std::uint32_t rows_;
    std::vector<std::uint32_t> listed_;
    // A row is left * width_ + right; left < height_. Half-rounds add to left and to right in turn.
    std::uint32_t height_ = 0, width_ = 0;
    std::vector<std::uint32_t> added_[kHalfRounds];
};

/// Samples that follow each other in the source, as rows of a window.
struct BlockRows {
    std::int64_t first_sample = 0;
    std::int64_t first_row = 0; // before they are put in order
    std::int64_t rows = 0;
};

/// The windows of one epoch. Immutable, any thread.
class EpochWindows {
public:
    EpochWindows(std::shared_ptr<const std::vector<std::int64_t>> blocks, std::int64_t window_rows,
                 bool shuffle, std::uint64_t seed, std::int64_t epoch);

    std::int64_t count() const { return static_cast<std::int64_t>(windows_.size()) - 1; }
    /// The window of a position of the epoch.
    std::int64_t at(std::int64_t position) const;
    std::int64_t first_position(std::int64_t window) const;
    std::int64_t rows(std::int64_t window) const;
    std::vector<BlockRows> blocks(std::int64_t window) const;
    RowOrder order(std::int64_t window) const;
    std::int64_t sample_at(std::int64_t window, const RowOrder& order, std::int64_t position) const;
    /// sample_at() the other way round.
    std::int64_t position_of(std::int64_t sample) const;

private:
    struct Start {
        std::size_t block; // in order_
        std::int64_t position;
    };
    std::int64_t rows_of(std::size_t place) const;

    std::shared_ptr<const std::vector<std::int64_t>> starts_; // first sample of each, the end
    std::vector<std::uint32_t> order_;                        // of blocks
    std::vector<Start> windows_;                              // and the end
    bool shuffle_;
    std::uint64_t seed_;
    std::int64_t epoch_;
};

/// Positions of an epoch that follow each other.
struct Stretch {
    std::int64_t first = 0, count = 0;
};

/// Copies share what they know. Any thread.
class Sampler {
public:
    /// All samples in any order.
    Sampler(std::int64_t samples, bool shuffle, std::uint64_t seed);
    /// The same, or in windows of so many bytes of decoded samples where the source streams; a
    /// window has at least one block.
    Sampler(const Source& source, bool shuffle, std::uint64_t seed,
            std::int64_t window_bytes = kShuffleWindowBytes);

    std::int64_t index(std::int64_t epoch, std::int64_t position) const;
    /// Where in the epoch a sample comes: index() the other way round.
    std::int64_t position(std::int64_t epoch, std::int64_t index) const;
    /// The positions whose samples are in memory together with that of `position`: a window, or
    /// all.
    Stretch stretch(std::int64_t epoch, std::int64_t position) const;
    bool has_windows() const { return windows_ != nullptr; }
    /// Of a sampler with windows.
    std::shared_ptr<const EpochWindows> windows(std::int64_t epoch) const;
    /// Samples that no window exceeds; 0 without windows.
    std::int64_t window_rows() const;

private:
    struct Windows;
    std::int64_t samples_;
    bool shuffle_;
    std::uint64_t seed_;
    std::shared_ptr<Windows> windows_;
};

/// Samples that no window exceeds, from the largest block.
std::int64_t most_window_rows(const SampleInfo& info, std::int64_t samples,
                              std::int64_t largest_block,
                              std::int64_t window_bytes = kShuffleWindowBytes);

} // namespace weft::data
