// SPDX-License-Identifier: Apache-2.0
#include "core/data/sampler.h"

#include "core/base/check.h"
#include "core/base/philox.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

namespace weft::data {
namespace {

// Half-rounds; each half of the number is changed five times.
constexpr int kRounds = 10;

using RoundKeys = std::array<std::uint64_t, kRounds>;

RoundKeys round_keys(const RandomStream& stream, std::int64_t epoch) {
    RoundKeys keys{};
    for (int i = 0; i < kRounds; i += 2) {
        const PhiloxCounter words =
            stream.block(static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(i));
        keys[static_cast<std::size_t>(i)] = std::uint64_t{words[1]} << 32 | words[0];
        keys[static_cast<std::size_t>(i) + 1] = std::uint64_t{words[3]} << 32 | words[2];
    }
    return keys;
}

/// A permutation of the numbers of `bits` bits: each half-round adds a function of one half to the
/// other, which can be undone.
std::uint64_t permute(std::uint64_t value, int bits, const RoundKeys& keys) {
    const int low_bits = bits / 2;
    const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
    const std::uint64_t high_mask = (std::uint64_t{1} << (bits - low_bits)) - 1;
    std::uint64_t low = value & low_mask;
    std::uint64_t high = value >> low_bits;
    for (std::size_t i = 0; i < keys.size(); i += 2) {
        high ^= mix_bits(low + keys[i]) & high_mask;
        low ^= mix_bits(high + keys[i + 1]) & low_mask;
    }
    return high << low_bits | low;
}

/// permute() the other way round.
std::uint64_t unpermute(std::uint64_t value, int bits, const RoundKeys& keys) {
    const int low_bits = bits / 2;
    const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
    const std::uint64_t high_mask = (std::uint64_t{1} << (bits - low_bits)) - 1;
    std::uint64_t low = value & low_mask;
    std::uint64_t high = value >> low_bits;
    for (std::size_t i = keys.size(); i > 0; i -= 2) {
        low ^= mix_bits(high + keys[i - 1]) & low_mask;
        high ^= mix_bits(low + keys[i - 2]) & high_mask;
    }
    return high << low_bits | low;
}

/// A keyed Feistel permutation of 0 ... count - 1 with cycle walking (Black and Rogaway 2002,
/// section 3): no table.
class Permutation {
public:
    Permutation(std::int64_t count, const RandomStream& stream, std::int64_t epoch)
        : count_(static_cast<std::uint64_t>(count)), bits_(std::bit_width(count_ - 1)),
          keys_(round_keys(stream, epoch)) {}

    std::int64_t operator()(std::int64_t position) const { return walk(permute, position); }
    std::int64_t inverse(std::int64_t index) const { return walk(unpermute, index); }

private:
    // The cycle until it is back in range: less than two steps on average.
    template <class Step>
    std::int64_t walk(const Step& step, std::int64_t from) const {
        auto value = static_cast<std::uint64_t>(from);
        do {
            value = step(value, bits_, keys_);
        } while (value >= count_);
        return static_cast<std::int64_t>(value);
    }

    std::uint64_t count_;
    int bits_;
    RoundKeys keys_;
};

RandomStream sample_stream(std::uint64_t seed) {
    return {seed, "data.order"};
}

/// A sum below 2 * `below`, less it where it can be: the other difference is larger by wrapping.
std::uint32_t wrapped(std::uint32_t sum, std::uint32_t below) {
    return std::min(sum, sum - below);
}

} // namespace

RowOrder::RowOrder(std::int64_t rows) : rows_(static_cast<std::uint32_t>(rows)) {
    WEFT_CHECK(rows > 0 && rows <= std::numeric_limits<std::int32_t>::max(), "rows of a window");
}

RowOrder RowOrder::shuffled(std::int64_t rows, std::uint64_t seed, std::int64_t epoch,
                            std::int64_t window) {
    RowOrder out(rows);
    out.width_ = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(rows))));
    out.height_ = (out.rows_ + out.width_ - 1) / out.width_;
    const RandomStream stream(seed, "data.order.rows");
    // Numbers of one window are fewer than 2^24: four tables of at most 46,341.
    std::uint64_t next = static_cast<std::uint64_t>(window) << 24;
    for (std::size_t k = 0; k < kHalfRounds; ++k) {
        const std::uint32_t below = k % 2 == 0 ? out.height_ : out.width_;
        out.added_[k].resize(k % 2 == 0 ? out.width_ : out.height_);
        for (std::uint32_t& number : out.added_[k]) {
            number = static_cast<std::uint32_t>(
                stream.below(static_cast<std::uint64_t>(epoch), next++, below));
        }
    }
    return out;
}

RowOrder RowOrder::listed(std::vector<std::uint32_t> places) {
    RowOrder out(static_cast<std::int64_t>(places.size()));
    out.listed_ = std::move(places);
    return out;
}

std::uint32_t RowOrder::mixed(std::uint32_t left, std::uint32_t right) const {
    for (std::size_t k = 0; k < kHalfRounds; k += 2) {
        left = wrapped(left + added_[k][right], height_);
        right = wrapped(right + added_[k + 1][left], width_);
    }
    return left * width_ + right;
}

void RowOrder::places(std::int64_t first, std::span<std::uint32_t> out) const {
    WEFT_CHECK(first >= 0 && first + static_cast<std::int64_t>(out.size()) <= rows_,
               "rows within the window");
    auto row = static_cast<std::uint32_t>(first);
    if (!listed_.empty()) {
        std::copy_n(listed_.begin() + row, out.size(), out.begin());
        return;
    }
    if (height_ == 0) {
        for (std::uint32_t& place : out) {
            place = row++;
        }
        return;
    }
    std::uint32_t left = row / width_;
    std::uint32_t right = row % width_;
    for (std::uint32_t& place : out) {
        place = mixed(left, right);
        while (place >= rows_) { // the last line of pairs is not full
            place = mixed(place / width_, place % width_);
        }
        if (++right == width_) {
            right = 0;
            ++left;
        }
    }
}

std::int64_t RowOrder::row_at(std::int64_t place) const {
    WEFT_CHECK(place >= 0 && place < rows_, "a place of the window");
    if (!listed_.empty()) {
        return std::find(listed_.begin(), listed_.end(), static_cast<std::uint32_t>(place)) -
               listed_.begin();
    }
    if (height_ == 0) {
        return place;
    }
    auto row = static_cast<std::uint32_t>(place);
    do {
        std::uint32_t left = row / width_;
        std::uint32_t right = row % width_;
        for (std::size_t k = kHalfRounds; k > 0; k -= 2) {
            right = wrapped(right + width_ - added_[k - 1][left], width_);
            left = wrapped(left + height_ - added_[k - 2][right], height_);
        }
        row = left * width_ + right;
    } while (row >= rows_);
    return row;
}

EpochWindows::EpochWindows(std::shared_ptr<const std::vector<std::int64_t>> blocks,
                           std::int64_t window_rows, bool shuffle, std::uint64_t seed,
                           std::int64_t epoch)
    : starts_(std::move(blocks)), shuffle_(shuffle), seed_(seed), epoch_(epoch) {
    const std::size_t count = starts_->size() - 1;
    const Permutation block_at(static_cast<std::int64_t>(count),
                               RandomStream(seed, "data.order.blocks"), epoch);
    order_.resize(count);
    std::int64_t position = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::int64_t>(i);
        order_[i] = static_cast<std::uint32_t>(shuffle ? block_at(at) : at);
        if (windows_.empty() || position + rows_of(i) - windows_.back().position > window_rows) {
            windows_.push_back({i, position});
        }
        position += rows_of(i);
    }
    windows_.push_back({count, position});
}

std::int64_t EpochWindows::rows_of(std::size_t place) const {
    return (*starts_)[order_[place] + 1] - (*starts_)[order_[place]];
}

std::int64_t EpochWindows::at(std::int64_t position) const {
    WEFT_CHECK(position >= 0 && position < windows_.back().position, "position within the epoch");
    const auto after = std::upper_bound(
        windows_.begin(), windows_.end(), position,
        [](std::int64_t wanted, const Start& start) { return wanted < start.position; });
    return after - windows_.begin() - 1;
}

std::int64_t EpochWindows::first_position(std::int64_t window) const {
    return windows_[static_cast<std::size_t>(window)].position;
}

std::int64_t EpochWindows::rows(std::int64_t window) const {
    return first_position(window + 1) - first_position(window);
}

std::vector<BlockRows> EpochWindows::blocks(std::int64_t window) const {
    std::vector<BlockRows> out;
    std::int64_t row = 0;
    const auto at = static_cast<std::size_t>(window);
    for (std::size_t i = windows_[at].block; i < windows_[at + 1].block; ++i) {
        out.push_back({(*starts_)[order_[i]], row, rows_of(i)});
        row += rows_of(i);
    }
    return out;
}

RowOrder EpochWindows::order(std::int64_t window) const {
    if (!shuffle_) {
        return RowOrder(rows(window));
    }
    if (count() > 1) {
        return RowOrder::shuffled(rows(window), seed_, epoch_, window);
    }
    // All of them: as if they were at hand.
    const Permutation sample_at(rows(0), sample_stream(seed_), epoch_);
    std::vector<std::uint32_t> place_of(static_cast<std::size_t>(rows(0)));
    for (std::int64_t place = 0; place < rows(0); ++place) {
        place_of[static_cast<std::size_t>(sample_at(place))] = static_cast<std::uint32_t>(place);
    }
    std::vector<std::uint32_t> places;
    places.reserve(place_of.size());
    for (const BlockRows& block : blocks(0)) {
        const auto from = place_of.begin() + block.first_sample;
        places.insert(places.end(), from, from + block.rows);
    }
    return RowOrder::listed(std::move(places));
}

std::int64_t EpochWindows::sample_at(std::int64_t window, const RowOrder& order,
                                     std::int64_t position) const {
    const std::int64_t row = order.row_at(position - first_position(window));
    for (const BlockRows& block : blocks(window)) {
        if (row < block.first_row + block.rows) {
            return block.first_sample + row - block.first_row;
        }
    }
    WEFT_CHECK(false, "every row of a window is of one of its blocks");
}

std::int64_t EpochWindows::position_of(std::int64_t sample) const {
    const auto after = std::upper_bound(starts_->begin(), starts_->end(), sample);
    const auto block = static_cast<std::uint32_t>(after - starts_->begin() - 1);
    const auto place =
        static_cast<std::size_t>(std::find(order_.begin(), order_.end(), block) - order_.begin());
    const auto next = std::upper_bound(
        windows_.begin(), windows_.end(), place,
        [](std::size_t wanted, const Start& start) { return wanted < start.block; });
    const std::int64_t window = next - windows_.begin() - 1;
    std::int64_t row = sample - (*starts_)[block];
    for (std::size_t i = windows_[static_cast<std::size_t>(window)].block; i < place; ++i) {
        row += rows_of(i);
    }
    std::uint32_t found = 0;
    order(window).places(row, std::span(&found, 1));
    return first_position(window) + found;
}

struct Sampler::Windows {
    std::shared_ptr<const std::vector<std::int64_t>> blocks;
    std::int64_t rows = 0; // at most

    std::mutex mutex; // of what follows: the epoch that was asked for last
    std::int64_t epoch = -1;
    std::shared_ptr<const EpochWindows> last;
};

Sampler::Sampler(std::int64_t samples, bool shuffle, std::uint64_t seed)
    : samples_(samples), shuffle_(shuffle), seed_(seed) {
    WEFT_CHECK(samples > 0, "a sampler has samples");
}

Sampler::Sampler(const Source& source, bool shuffle, std::uint64_t seed, std::int64_t window_bytes)
    : Sampler(source.samples(), shuffle, seed) {
    const std::span<const std::int64_t> blocks = source.blocks();
    if (blocks.empty()) {
        return;
    }
    WEFT_CHECK(blocks.front() == 0 && blocks.back() == samples_, "blocks hold all samples");
    std::int64_t largest = 0;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        largest = std::max(largest, blocks[i] - blocks[i - 1]);
    }
    windows_ = std::make_shared<Windows>();
    windows_->blocks =
        std::make_shared<const std::vector<std::int64_t>>(blocks.begin(), blocks.end());
    windows_->rows = most_window_rows(source.info(), samples_, largest, window_bytes);
}

std::int64_t Sampler::index(std::int64_t epoch, std::int64_t position) const {
    WEFT_CHECK(epoch >= 0 && position >= 0 && position < samples_, "position within the epoch");
    if (!shuffle_) {
        return position;
    }
    if (windows_ == nullptr) {
        return Permutation(samples_, sample_stream(seed_), epoch)(position);
    }
    const std::shared_ptr<const EpochWindows> all = windows(epoch);
    const std::int64_t window = all->at(position);
    return all->sample_at(window, all->order(window), position);
}

std::int64_t Sampler::position(std::int64_t epoch, std::int64_t index) const {
    WEFT_CHECK(epoch >= 0 && index >= 0 && index < samples_, "a sample of the epoch");
    if (!shuffle_) {
        return index;
    }
    return windows_ == nullptr ? Permutation(samples_, sample_stream(seed_), epoch).inverse(index)
                               : windows(epoch)->position_of(index);
}

Stretch Sampler::stretch(std::int64_t epoch, std::int64_t position) const {
    if (windows_ == nullptr) {
        return {0, samples_};
    }
    const std::shared_ptr<const EpochWindows> all = windows(epoch);
    const std::int64_t window = all->at(position);
    return {all->first_position(window), all->rows(window)};
}

std::shared_ptr<const EpochWindows> Sampler::windows(std::int64_t epoch) const {
    WEFT_CHECK(windows_ != nullptr, "a sampler with windows");
    const std::lock_guard lock(windows_->mutex);
    if (windows_->epoch != epoch) {
        windows_->last = std::make_shared<const EpochWindows>(windows_->blocks, windows_->rows,
                                                              shuffle_, seed_, epoch);
        windows_->epoch = epoch;
    }
    return windows_->last;
}

std::int64_t Sampler::window_rows() const {
    return windows_ == nullptr ? 0 : windows_->rows;
}

std::int64_t most_window_rows(const SampleInfo& info, std::int64_t samples,
                              std::int64_t largest_block, std::int64_t window_bytes) {
    const std::int64_t sample_bytes =
        std::max<std::int64_t>(1, info.input.bytes() + info.target.bytes());
    constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();
    return std::min({samples, std::max(largest_block, window_bytes / sample_bytes), kMostRows});
}

} // namespace weft::data
