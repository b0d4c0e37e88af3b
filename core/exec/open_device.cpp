// SPDX-License-Identifier: Apache-2.0
#include "core/exec/open_device.h"

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/memory/arena.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace weft::exec {
namespace {

[[noreturn]] void fail_arena(const weft_platform& platform, const std::string& name,
                             std::int64_t bytes) {
    throw Error(ErrorKind::memory, "arena",
                (platform.host_reaches_memory != 0 ? "the machine" : name) + " cannot give " +
                    format_bytes(bytes) + " of memory",
                "use a smaller micro_batch_size or model; `weft plan` shows what takes how much");
}

[[noreturn]] void fail_device(const weft_platform& platform, const std::string& where,
                              weft_status status, const char* what) {
    const std::string text = platform.last_error();
    throw Error(status == WEFT_OUT_OF_MEMORY ? ErrorKind::memory : ErrorKind::device, where,
                std::string(what) + " failed: " + (text.empty() ? "no further text" : text),
                status == WEFT_OUT_OF_MEMORY ? "use a smaller micro_batch_size"
                                             : "run `weft doctor` to see what this machine offers");
}

void check_made(const weft_platform& platform, weft_status status, const char* what) {
    if (status != WEFT_OK) {
        fail_device(platform, platform.name, status, what);
    }
}

} // namespace

Stream::Stream(const weft_platform& platform, weft_device* device) : platform_(platform) {
    check_made(platform, platform.make_stream(device, &stream_), "making a stream");
}

Stream::~Stream() {
    platform_.drop_stream(stream_);
}

Event::Event(const weft_platform& platform, weft_device* device) : platform_(platform) {
    check_made(platform, platform.make_event(device, &event_), "making an event");
}

Event::~Event() {
    platform_.drop_event(event_);
}

Event::Event(Event&& other) noexcept
    : platform_(other.platform_), event_(std::exchange(other.event_, nullptr)) {}

OpenDevice::OpenDevice(const Compute& compute, int place, std::int64_t arena_bytes,
                       std::int64_t landing_bytes)
    : platform_(*compute.platform), place_(place),
      name_(std::string(compute.platform->name) + ":" + std::to_string(compute.device(place))),
      size_(arena_bytes) {
    if (!on_host()) {
        landing_ = memory::align(arena_bytes);
        size_ = landing_ + landing_bytes;
    }
    check(platform_.open(compute.device(place), &device_), "opening the device");
    void* arena = nullptr;
    weft_status status = platform_.enter(device_);
    if (status == WEFT_OK) {
        status = platform_.reserve(device_, size_, &arena);
    }
    if (status != WEFT_OK) {
        platform_.close(device_);
        status == WEFT_OUT_OF_MEMORY ? fail_arena(platform_, name_, size_)
                                     : fail_device(platform_, name_, status, "opening the device");
    }
    arena_ = static_cast<std::byte*>(arena);
    try {
        computation_.emplace(platform_, device_);
    } catch (...) {
        platform_.give_back(device_, arena_, size_);
        platform_.close(device_);
        throw;
    }
}

OpenDevice::~OpenDevice() {
    const bool settled = settle();
    computation_.reset();
    if (!settled) {
        return;
    }
    for (const Block& block : blocks_) {
        platform_.give_back_host(device_, block.memory, block.bytes);
    }
    blocks_.clear();
    platform_.give_back(device_, arena_, size_);
    platform_.close(device_);
}

void OpenDevice::enter() {
    check(platform_.enter(device_), "entering the device");
}

void OpenDevice::take(std::int64_t end) {
    end = std::min(end, size_);
    if (end <= taken_) {
        return;
    }
    const weft_status status = platform_.take(device_, arena_, taken_, end);
    if (status == WEFT_OUT_OF_MEMORY) {
        fail_arena(platform_, name_, end);
    }
    check(status, "taking the arena");
    taken_ = end;
}

std::span<std::byte> OpenDevice::staging(std::int64_t bytes) {
    Block* best = nullptr;
    const auto cost = [](const Block& block) { return std::pair(block.under_way, block.bytes); };
    for (Block& block : blocks_) { // a large one is not given away for little
        if (!block.lent && block.bytes >= bytes && (best == nullptr || cost(block) < cost(*best))) {
            best = &block;
        }
    }
    if (best == nullptr) {
        void* memory = nullptr;
        check(platform_.reserve_host(device_, std::max<std::int64_t>(bytes, 1), &memory),
              "memory for copies");
        best = &blocks_.emplace_back(Block{memory, std::max<std::int64_t>(bytes, 1), false, false,
                                           Event(platform_, device_)});
    } else if (best->under_way) {
        await(best->copied);
        best->under_way = false;
    }
    best->lent = true;
    return {static_cast<std::byte*>(best->memory), static_cast<std::size_t>(bytes)};
}

OpenDevice::Block& OpenDevice::block_of(std::span<std::byte> staged) {
    const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
        return block.memory == staged.data();
    });
    WEFT_CHECK(found != blocks_.end(), "staging memory comes from its device");
    return *found;
}

void OpenDevice::upload(std::int64_t offset, std::span<std::byte> staged) {
    check(platform_.upload(computation(), arena_ + offset, staged.data(),
                           static_cast<std::int64_t>(staged.size())),
          "copying to the device");
    mark(staged);
}

void OpenDevice::mark(std::span<std::byte> staged) {
    Block& block = block_of(staged);
    check(platform_.record(block.copied.get(), computation()), "ordering streams");
    block.under_way = true;
}

void OpenDevice::await(std::span<std::byte> staged) {
    Block& block = block_of(staged);
    await(block.copied);
    block.under_way = false;
}

void OpenDevice::download(std::span<std::byte> staged, std::int64_t offset) {
    queue_download(staged, offset);
    finish();
}

void OpenDevice::queue_download(std::span<std::byte> staged, std::int64_t offset) {
    check(platform_.download(computation(), staged.data(), arena_ + offset,
                             static_cast<std::int64_t>(staged.size())),
          "copying from the device");
}

void OpenDevice::recycle(std::span<std::byte> staged) {
    block_of(staged).lent = false;
}

void OpenDevice::finish(weft_stream* stream) {
    if (watch_ != nullptr) {
        wait_until([&] { return is_finished(stream); });
    }
    check(platform_.finish(stream), "work on the device");
}

void OpenDevice::await(const Event& event) {
    if (watch_ != nullptr) {
        wait_until([&] {
            std::int32_t past = 0;
            check(platform_.is_past(event.get(), &past), "work on the device");
            return past != 0;
        });
    }
    check(platform_.await(event.get()), "work on the device");
}

bool OpenDevice::is_finished(weft_stream* stream) {
    std::int32_t finished = 0;
    check(platform_.is_finished(stream, &finished), "work on the device");
    return finished != 0;
}

bool OpenDevice::look_after(double waited_s) {
    const bool done = is_finished(computation());
    if (!done) {
        watch_->waiting(place_, waited_s);
    }
    return done;
}

void OpenDevice::wait_until(const std::function<bool()>& done) {
    constexpr double kAwake_s = 50e-6; // nobody wakes a thread sooner
    constexpr double kLongest_s = 500e-6;
    const SystemClock clock;
    const double start_s = clock.steady_s();
    while (!done()) {
        const double waited_s = clock.steady_s() - start_s;
        watch_->waiting(place_, waited_s);
        if (waited_s < kAwake_s) {
            std::this_thread::yield();
        } else { // late by an eighth at most
            std::this_thread::sleep_for(
                std::chrono::duration<double>(std::min(waited_s / 8, kLongest_s)));
        }
    }
}

bool OpenDevice::settle() {
    platform_.enter(device_);
    const auto stands_still = [&] {
        std::int32_t finished = 0;
        return platform_.is_finished(computation(), &finished) != WEFT_OK || finished != 0;
    };
    while (watch_ != nullptr && !stands_still()) {
        try {
            wait_until(stands_still);
        } catch (const Error&) { // whoever ran it was told
            if (watch_->gave_up()) {
                return stands_still();
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    platform_.finish(computation());
    return true;
}

void OpenDevice::check(weft_status status, const char* what) const {
    if (status == WEFT_OK) {
        return;
    }
    try {
        fail_device(platform_, name_, status, what);
    } catch (const Error& fault) {
        if (watch_ != nullptr) {
            throw watch_->failed(place_, fault);
        }
        throw;
    }
}

} // namespace weft::exec
