// SPDX-License-Identifier: Apache-2.0
// A connection between two processes of a run that carries frames: a JSON document and bytes.
#pragma once

#include "core/config/json.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::exec {

struct Frame {
    config::Json head;
    std::vector<std::byte> body;
};

/// Any thread may send; one receives.
class FrameSocket {
public:
    enum class Got : std::uint8_t { frame, silence, closed };

    /// Owns the descriptor of a connected stream.
    explicit FrameSocket(int descriptor);
    ~FrameSocket();
    FrameSocket(const FrameSocket&) = delete;
    FrameSocket& operator=(const FrameSocket&) = delete;

    /// False when the other end is not there any more. Waits while it takes nothing, until shut().
    bool send(const config::Json& head, std::span<const std::byte> body = {});
    /// Sends where that needs no wait, and nothing else is on its way: a sign of life.
    void send_beat(const config::Json& head);
    /// Fills `frame`. `silence`: nothing came for so long; what had come of a frame is kept. Frames
    /// that are larger than the limit, or none, close the connection.
    Got receive(Frame& frame, double seconds);
    /// The same with a limit for the whole frame, however it trickles in.
    Got receive_all(Frame& frame, double seconds);
    /// Whether any byte has come since it was asked last.
    bool has_heard() { return std::exchange(heard_, false); }
    /// Ends the connection: whoever sends or receives returns. From any thread.
    void shut();
    /// Of one frame, from now on; at first what a stranger may send.
    void limit_frames(std::int64_t bytes) { most_bytes_ = bytes; }
    /// "10.0.0.2:4711"
    std::string peer() const;
    /// The address of this machine that the other end sees: "10.0.0.1".
    std::string own_address() const;

private:
    using Sizes = std::array<std::uint64_t, 3>; // mark, of the head, of the body
    bool begin_frame();
    Got receive_until(Frame& frame, double seconds, double until_s);
    bool send_locked(const config::Json& head, std::span<const std::byte> body);
    bool finish_frame(Frame& frame);

    const int descriptor_;
    std::int64_t most_bytes_ = 64 << 10;
    std::mutex sending_;
    // Of the frame that is coming.
    Sizes sizes_{};
    std::string text_;
    std::vector<std::byte> body_;
    std::size_t come_ = 0; // bytes of it
    bool heard_ = false;
};

/// Listens where ranks find the hub: port 0 is any free one. Throws weft::Error{device} with what
/// stands in the way. `address` is a name or number of an interface of this machine.
int listen_at(const std::string& address, int port);
int port_of(int listener);
/// A connection within `seconds`; -1: none.
int accept_within(int listener, double seconds);
/// Whether a name or number is this machine for itself alone, as 127.0.0.1 is.
bool is_loopback(const std::string& address);
/// Tries again until somebody listens there. Throws weft::Error{device} after `seconds`.
int connect_within(const std::string& address, int port, double seconds);

} // namespace weft::exec
