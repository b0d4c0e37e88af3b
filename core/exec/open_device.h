// SPDX-License-Identifier: Apache-2.0
// A device of a platform, opened for one arena and the work in it. Private to core/exec.
#pragma once

#include "core/base/error.h"
#include "core/exec/compute.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::exec {

/// Owns what a platform made. Throws weft::Error{device} where it makes nothing.
class Stream {
public:
    Stream(const weft_platform& platform, weft_device* device);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    weft_stream* get() const { return stream_; }

private:
    const weft_platform& platform_;
    weft_stream* stream_ = nullptr;
};

class Event {
public:
    Event(const weft_platform& platform, weft_device* device);
    ~Event();
    Event(Event&& other) noexcept;
    Event& operator=(Event&&) = delete;
    weft_event* get() const { return event_; }

private:
    const weft_platform& platform_;
    weft_event* event_ = nullptr;
};

/// Looks after devices that work by themselves and wait for each other, which it knows by their
/// places on the mesh. Its functions are called from any thread.
class DeviceWatch {
public:
    virtual ~DeviceWatch() = default;
    /// A device fails: the others shall not wait for it. Returns what to throw.
    virtual Error failed(int place, const Error& fault) = 0;
    /// A device has waited for so long. Throws weft::Error{device} when that will not end.
    virtual void waiting(int place, double seconds) = 0;
    /// The devices were told to end so long ago that what does not stand still never will.
    virtual bool gave_up() const = 0;
};

/// One thread at a time, which has entered it.
class OpenDevice {
public:
    /// Reserves addresses and nothing else: of the arena, and of what lies behind it where the
    /// device works by itself. Throws weft::Error{device, memory}.
    OpenDevice(const Compute& compute, int place, std::int64_t arena_bytes,
               std::int64_t landing_bytes = 0);
    ~OpenDevice();
    OpenDevice(const OpenDevice&) = delete;
    OpenDevice& operator=(const OpenDevice&) = delete;

    void enter();

    /// The bytes [0, end) are there from now on; what was there stays as it is. Throws
    /// weft::Error{memory}.
    void take(std::int64_t end);
    std::int64_t taken_bytes() const { return taken_; }
    /// Where arguments land, from there to the end.
    std::int64_t landing() const { return landing_; }
    std::byte* data() const { return arena_; } // an address of the device
    bool on_host() const { return platform_.host_reaches_memory != 0; }
    /// Only on the host.
    std::span<std::byte> bytes() const { return {arena_, static_cast<std::size_t>(size_)}; }

    /// Host memory that copies reach; from a pool that grows to what is used at once. It comes back
    /// by `recycle`.
    std::span<std::byte> staging(std::int64_t bytes);
    /// Queues a copy to the arena; the staging memory may be recycled, and is used again when the
    /// copy is done.
    void upload(std::int64_t offset, std::span<std::byte> staged);
    /// Copies from the arena and waits.
    void download(std::span<std::byte> staged, std::int64_t offset);
    /// Queues a copy from the arena to a stretch of staging memory.
    void queue_download(std::span<std::byte> staged, std::int64_t offset);
    /// All that has been queued on the stream of computation until now may touch the staging
    /// memory: `await` waits for it, and so does whoever gets the memory after `recycle`.
    void mark(std::span<std::byte> staged);
    void await(std::span<std::byte> staged);
    void recycle(std::span<std::byte> staged);

    /// Waits until what was queued before the event is done. Throws as finish.
    void await(const Event& event);

    /// Null on the host alone. The watch outlives it.
    void set_watch(DeviceWatch* watch) { watch_ = watch; }
    int place() const { return place_; } // on the mesh

    /// Waits for everything queued on the stream of computation, or on another of the device.
    /// Throws weft::Error{device} with what failed, or what bad data a kernel has met.
    void finish() { finish(computation()); }
    void finish(weft_stream* stream);
    /// Asks for nothing but whether the device is alive; throws weft::Error{device} otherwise.
    void look(weft_stream* idle) { is_finished(idle); }
    /// Whether the stream of computation is done; else what the watch says of one that has waited
    /// for so long. Only with a watch.
    bool look_after(double waited_s);
    /// Looks until `done` says so; throws what the watch does. Only with a watch.
    void wait_until(const std::function<bool()>& done);
    /// Waits as far as that can end. False: work on the device never will, and whoever gives back
    /// what it uses would wait for it.
    bool settle();

    const weft_platform& platform() const { return platform_; }
    weft_device* get() const { return device_; }
    weft_stream* computation() const { return computation_->get(); }
    /// Throws weft::Error{device} unless the platform said WEFT_OK to what it was to do.
    void check(weft_status status, const char* what) const;

private:
    struct Block {
        void* memory = nullptr;
        std::int64_t bytes = 0;
        bool lent = false;
        bool under_way = false; // copies use it until `copied`
        Event copied;
    };
    Block& block_of(std::span<std::byte> staged);
    bool is_finished(weft_stream* stream);

    const weft_platform& platform_;
    const int place_;
    std::string name_; // "cuda:1", for people
    weft_device* device_ = nullptr;
    std::byte* arena_ = nullptr;
    std::int64_t size_ = 0;
    std::int64_t landing_ = 0;
    std::int64_t taken_ = 0;
    DeviceWatch* watch_ = nullptr;
    std::optional<Stream> computation_;
    std::list<Block> blocks_;
};

/// For what uses a device whose work never ends: it stays where it is until the process ends. To
/// give back memory of a device is to wait for it.
template <typename Owned>
void abandon(std::unique_ptr<Owned> owned) {
    static auto* const abandoned = new std::vector<std::unique_ptr<Owned>>;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    abandoned->push_back(std::move(owned));
}

} // namespace weft::exec
