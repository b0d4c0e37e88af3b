// SPDX-License-Identifier: Apache-2.0
#include "core/exec/argument_feed.h"

#include "core/base/check.h"
#include "core/memory/arena.h"

#include <algorithm>
#include <string>

namespace weft::exec {
namespace {

/// Calls fn(argument, place) for what the host gives, one behind the other; returns the end.
template <typename Fn>
std::int64_t for_each_given(const plan::PlannedProgram& program, const Fn& fn) {
    std::int64_t place = 0;
    for (const plan::PlannedPort& argument : program.arguments) {
        if (argument.role != ir::Role::state) {
            fn(argument, place);
            place += memory::align(argument.operand.type.bytes());
        }
    }
    return place;
}

} // namespace

ArgumentFeed::ArgumentFeed(OpenDevice& device, std::int64_t landing_bytes)
    : device_(device), bytes_(std::max<std::int64_t>(landing_bytes, 1)),
      copies_(device.platform(), device.get()),
      in_place_(device.platform(), device.get()), rooms_{make_room(), make_room()} {}

ArgumentFeed::~ArgumentFeed() {
    device_.platform().enter(device_.get());
    device_.platform().finish(copies_.get()); // a fault of it was told where somebody waited
    for (const Room& room : rooms_) {
        device_.platform().give_back_host(device_.get(), room.memory, bytes_);
    }
}

ArgumentFeed::Room ArgumentFeed::make_room() {
    Room room{nullptr, false, Event(device_.platform(), device_.get())};
    device_.check(device_.platform().reserve_host(device_.get(), bytes_, &room.memory),
                  "memory for arguments");
    return room;
}

std::span<std::byte> ArgumentFeed::room(const plan::PlannedProgram& program,
                                        std::string_view name) {
    Room& room = rooms_[next_];
    if (room.under_way) {
        device_.enter();
        device_.await(room.copied);
        room.under_way = false;
    }
    std::span<std::byte> out;
    for_each_given(program, [&](const plan::PlannedPort& argument, std::int64_t place) {
        if (argument.name == name) {
            out = {static_cast<std::byte*>(room.memory) + place,
                   static_cast<std::size_t>(argument.operand.type.bytes())};
        }
    });
    WEFT_CHECK(out.data() != nullptr, "the program has no argument " + std::string(name));
    return out;
}

void ArgumentFeed::send(const plan::PlannedProgram& program) {
    const weft_platform& platform = device_.platform();
    weft_stream* const computation = device_.computation();
    std::byte* const landed = device_.data() + device_.landing();
    Room& room = rooms_[next_];
    const std::int64_t end = for_each_given(program, [](const plan::PlannedPort&, std::int64_t) {});
    if (end == 0) {
        return;
    }
    device_.check(platform.wait(copies_.get(), in_place_.get()), "ordering streams");
    device_.check(platform.upload(copies_.get(), landed, room.memory, end),
                  "copying to the device");
    device_.check(platform.record(room.copied.get(), copies_.get()), "ordering streams");
    room.under_way = true;
    next_ = (next_ + 1) % rooms_.size();
    device_.check(platform.wait(computation, room.copied.get()), "ordering streams");
    for_each_given(program, [&](const plan::PlannedPort& argument, std::int64_t place) {
        device_.check(platform.copy(computation, device_.data() + argument.operand.offset,
                                    landed + place, argument.operand.type.bytes()),
                      "putting arguments in place");
    });
    device_.check(platform.record(in_place_.get(), computation), "ordering streams");
}

} // namespace weft::exec
