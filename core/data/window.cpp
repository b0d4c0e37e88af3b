// SPDX-License-Identifier: Apache-2.0
#include "core/data/window.h"

#include "core/base/check.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace weft::data {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSmallestUnit = 64; // a line of the cache

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

} // namespace

WideMemory::WideMemory(std::int64_t bytes) : size_(static_cast<std::size_t>(bytes)) {
    const std::size_t unit = size_ >= kHugePage ? kHugePage : kSmallestUnit;
    const std::size_t room = rounded_up(std::max<std::size_t>(size_, 1), unit);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, room)));
    if (memory_ == nullptr) {
        throw std::bad_alloc();
    }
    if (unit == kHugePage) {
        ::madvise(memory_.get(), room, MADV_HUGEPAGE); // slower without
    }
}

void WideMemory::Free::operator()(std::byte* memory) const {
    std::free(memory);
}

Window::Window(std::shared_ptr<const Source> source, std::int64_t most_rows)
    : source_(std::move(source)), most_rows_(most_rows),
      input_bytes_(source_->info().input.bytes()), target_bytes_(source_->info().target.bytes()),
      inputs_(most_rows * input_bytes_), targets_(most_rows * target_bytes_) {}

void Window::begin(const EpochWindows& windows, std::int64_t epoch, std::int64_t number) {
    epoch_ = epoch;
    first_position_ = windows.first_position(number);
    rows_ = windows.rows(number);
    WEFT_CHECK(rows_ <= most_rows_, "a window fits its memory");
    blocks_ = windows.blocks(number);
    order_ = windows.order(number);
}

std::int64_t Window::load(std::size_t block, std::vector<std::byte>& scratch) {
    const BlockRows& rows = blocks_[block];
    std::vector<std::uint32_t> places(static_cast<std::size_t>(rows.rows));
    order_->places(rows.first_row, places);
    source_->read_run(rows.first_sample, epoch_,
                      {places, inputs_.bytes(), targets_.bytes(), scratch});
    return rows.rows;
}

std::span<const std::byte> Window::inputs(std::int64_t position, std::int64_t count) const {
    return inputs_.bytes().subspan(
        static_cast<std::size_t>((position - first_position_) * input_bytes_),
        static_cast<std::size_t>(count * input_bytes_));
}

std::span<const std::byte> Window::targets(std::int64_t position, std::int64_t count) const {
    return targets_.bytes().subspan(
        static_cast<std::size_t>((position - first_position_) * target_bytes_),
        static_cast<std::size_t>(count * target_bytes_));
}

} // namespace weft::data
