// SPDX-License-Identifier: Apache-2.0
#include "core/exec/arena_memory.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>

namespace weft::exec {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

[[noreturn]] void fail_map(std::int64_t bytes) {
    throw Error(ErrorKind::memory, "arena",
                "the machine cannot give " + format_bytes(bytes) + " of memory",
                "use a smaller micro_batch_size or model; `weft plan` shows what takes how much");
}

} // namespace

ArenaMemory::ArenaMemory(std::int64_t bytes) : size_(static_cast<std::size_t>(bytes)) {
    const bool huge = size_ >= 2 * kHugePage;
    const std::size_t alignment = huge ? kHugePage : kPage;
    mapped_ = std::max(size_, std::size_t{1}) + alignment;
    mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) {
        fail_map(bytes);
    }
    const auto start = reinterpret_cast<std::uintptr_t>(mapping_);
    data_ = reinterpret_cast<std::byte*>((start + alignment - 1) / alignment * alignment);
    if (huge) {
        madvise(data_, size_, MADV_HUGEPAGE); // advice only: without it the arena is merely slower
    }
}

void ArenaMemory::take(std::int64_t end) {
    const std::size_t to =
        std::min(size_, (static_cast<std::size_t>(end) + kPage - 1) / kPage * kPage);
    if (to <= taken_) {
        return;
    }
    if (madvise(data_ + taken_, to - taken_, MADV_POPULATE_WRITE) != 0) {
        if (errno != EINVAL) {
            fail_map(end);
        }
        for (std::size_t at = taken_; at < to; at += kPage) { // before Linux 5.14
            volatile std::byte* page = data_ + at;
            *page = *page; // arguments may have been written already
        }
    }
    taken_ = to;
}

ArenaMemory::~ArenaMemory() {
    munmap(mapping_, mapped_);
}

} // namespace weft::exec
