// SPDX-License-Identifier: Apache-2.0
// The arguments of a device that works by itself, on their way there. While one run computes, the
// host writes those of the next one and they are copied behind the arena, on a stream of their own;
// the next run begins by putting them in their places. Private to core/exec.
#pragma once

#include "core/exec/open_device.h"
#include "core/plan/device_memory.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace weft::exec {

class ArgumentFeed {
public:
    /// `device` outlives it and has room behind its arena for the arguments of each program: they
    /// take `landing_bytes` at most. Throws weft::Error{device, memory}.
    ArgumentFeed(OpenDevice& device, std::int64_t landing_bytes);
    ~ArgumentFeed();
    ArgumentFeed(const ArgumentFeed&) = delete;
    ArgumentFeed& operator=(const ArgumentFeed&) = delete;

    /// Where the host writes an argument of the next run. Waits while the run before the last one
    /// is still being fed from there.
    std::span<std::byte> room(const plan::PlannedProgram& program, std::string_view name);
    /// Queues what was written: what is queued on the stream of computation from now on finds it in
    /// its places. Throws weft::Error{device}.
    void send(const plan::PlannedProgram& program);

private:
    struct Room {
        void* memory = nullptr;
        bool under_way = false; // it is read until `copied`
        Event copied;
    };
    Room make_room();
    void give_back(const Room& room);

    OpenDevice& device_;
    const std::int64_t bytes_;
    Stream copies_;
    Event in_place_; // what landed was taken: the next may land
    std::array<Room, plan::kArgumentRooms> rooms_;
    std::size_t next_ = 0;
};

} // namespace weft::exec
