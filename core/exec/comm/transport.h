// SPDX-License-Identifier: Apache-2.0
// What a library that moves bytes between processes (MPI, Gloo) gives the world of processes. The
// libraries come as modules that are loaded when a run asks for one: this header is all that a
// module knows of the program, and all that the program knows of a module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::exec::comm {

/// One process's end. Used by one thread, but for interrupt. Functions throw std::exception with
/// the library's words.
class Transport {
public:
    /// Of an operation under way.
    using Ticket = int;
    enum class WaitEnd : std::uint8_t { done, interrupted, timed_out };

    /// Tells messages apart: those of one channel between two ranks are sent and received in the
    /// order of their numbers, which count from 0 in each direction.
    struct Tag {
        std::uint32_t channel = 0; // below 2^15
        std::uint32_t number = 0;
    };

    virtual ~Transport() = default;
    /// What the other ranks need to reach this one.
    virtual std::vector<std::byte> address() = 0;
    /// Meets the others, all at the same time; their addresses in the order of ranks. Throws when
    /// one does not come within `seconds`, as far as the library knows an end.
    virtual void connect(const std::vector<std::vector<std::byte>>& addresses, double seconds) = 0;

    /// Begins to send or receive. The memory stays as it is until the operation is done; both ends
    /// have the same size, above 0.
    virtual Ticket send(int to, Tag tag, std::span<const std::byte> bytes) = 0;
    virtual Ticket receive(int from, Tag tag, std::span<std::byte> bytes) = 0;
    /// Whether it is done: then its ticket is used up.
    virtual bool is_done(Ticket ticket) = 0;
    /// Waits without keeping a core busy. The ticket of what is done is used up; what has not come
    /// in time is lost with the transport.
    virtual WaitEnd wait(Ticket ticket, double seconds) = 0;
    /// Forgets what is under way: nobody touches its memory any more. Nothing is sent or received
    /// after it.
    virtual void drop() = 0;
    /// Ends waits and connecting, now and from now on. From any thread.
    virtual void interrupt() = 0;
    /// The last of a world that ended well, all ranks at the same time.
    virtual void leave() = 0;
};

struct TransportOptions {
    int rank = 0;
    int size = 1;
    const char* interface = ""; // network interface, or address of it; empty: the library's choice
};

/// The interface between program and module; another number is another interface.
constexpr int kTransportEdge = 1;

struct TransportModule {
    int edge = kTransportEdge;
    const char* library = ""; // "Open MPI 4.1.4"
    /// Throws std::exception.
    Transport* (*make)(const TransportOptions& options) = nullptr;
};

/// What a module has under this name.
constexpr const char* kTransportEntry = "weft_transport_module";
using TransportEntry = const TransportModule* (*)();

} // namespace weft::exec::comm
