// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/frame_socket.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

namespace weft::exec {
namespace {

constexpr std::uint64_t kMark = 0x31'6b6e'6172'7477'66; // begins every frame
constexpr int kMostWaiting = 8192; // who finds no place comes again a second later, or three
constexpr std::chrono::milliseconds kBetweenTries(50);

/// Addresses of a name, freed with it.
class Addresses {
public:
    Addresses(const std::string& name, int port, int flags) {
        addrinfo wanted{};
        wanted.ai_socktype = SOCK_STREAM;
        wanted.ai_flags = flags | AI_NUMERICSERV;
        problem_ = ::getaddrinfo(name.empty() ? nullptr : name.c_str(),
                                 std::to_string(port).c_str(), &wanted, &first_);
    }
    ~Addresses() {
        if (first_ != nullptr) {
            ::freeaddrinfo(first_);
        }
    }
    Addresses(const Addresses&) = delete;
    Addresses& operator=(const Addresses&) = delete;

    const addrinfo* first() const { return first_; }
    std::string problem() const { return problem_ == 0 ? "" : ::gai_strerror(problem_); }

private:
    addrinfo* first_ = nullptr;
    int problem_ = 0;
};

/// Host and port in numbers; empty where they are not known.
std::pair<std::string, std::string> end_of(int descriptor,
                                           int (*which)(int, sockaddr*, socklen_t*)) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (which(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
        ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof(host), port,
                      sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return {};
    }
    return {host, port};
}

bool poll_for(int descriptor, short what, double seconds) {
    pollfd one{descriptor, what, 0};
    const int most = static_cast<int>(std::clamp(std::ceil(seconds * 1000), 0.0, 1e9));
    return ::poll(&one, 1, most) > 0;
}

void send_at_once(int descriptor) {
    const int yes = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

} // namespace

FrameSocket::FrameSocket(int descriptor) : descriptor_(descriptor) {
    send_at_once(descriptor_);
}

FrameSocket::~FrameSocket() {
    ::close(descriptor_);
}

bool FrameSocket::send(const config::Json& head, std::span<const std::byte> body) {
    const std::lock_guard lock(sending_);
    return send_locked(head, body);
}

// A frame that is on its way is a sign of life itself; a few hundred bytes fit where there is room.
void FrameSocket::send_beat(const config::Json& head) {
    const std::unique_lock lock(sending_, std::try_to_lock);
    if (lock.owns_lock() && poll_for(descriptor_, POLLOUT, 0)) {
        send_locked(head, {});
    }
}

bool FrameSocket::send_locked(const config::Json& head, std::span<const std::byte> body) {
    std::string text = head.dump(-1, ' ', false, config::Json::error_handler_t::replace);
    Sizes sizes{kMark, text.size(), body.size()};
    std::array<iovec, 3> parts{iovec{sizes.data(), sizeof(sizes)}, iovec{text.data(), text.size()},
                               iovec{const_cast<std::byte*>(body.data()), body.size()}};
    std::size_t first = 0;
    while (first < parts.size()) {
        if (parts[first].iov_len == 0) {
            ++first;
            continue;
        }
        msghdr message{};
        message.msg_iov = parts.data() + first;
        message.msg_iovlen = parts.size() - first;
        const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0) {
            return false;
        }
        auto left = static_cast<std::size_t>(sent);
        for (; first < parts.size() && left >= parts[first].iov_len; ++first) {
            left -= parts[first].iov_len;
        }
        if (first < parts.size()) {
            parts[first].iov_base = static_cast<std::byte*>(parts[first].iov_base) + left;
            parts[first].iov_len -= left;
        }
    }
    return true;
}

bool FrameSocket::begin_frame() {
    const auto most = static_cast<std::uint64_t>(most_bytes_);
    if (sizes_[0] != kMark || sizes_[1] > most || sizes_[2] > most - sizes_[1]) {
        return false;
    }
    text_.resize(sizes_[1]);
    body_.resize(sizes_[2]);
    return true;
}

bool FrameSocket::finish_frame(Frame& frame) {
    frame.head = config::Json::parse(text_, nullptr, false);
    frame.body = std::move(body_);
    body_ = {};
    come_ = 0;
    return frame.head.is_object();
}

FrameSocket::Got FrameSocket::receive(Frame& frame, double seconds) {
    return receive_until(frame, seconds, std::numeric_limits<double>::infinity());
}

FrameSocket::Got FrameSocket::receive_all(Frame& frame, double seconds) {
    return receive_until(frame, seconds, SystemClock().steady_s() + seconds);
}

FrameSocket::Got FrameSocket::receive_until(Frame& frame, double seconds, double until_s) {
    for (;;) {
        const double left_s = std::min(seconds, until_s - SystemClock().steady_s());
        if (left_s <= 0 || !poll_for(descriptor_, POLLIN, left_s)) {
            return Got::silence;
        }
        std::byte* into = nullptr;
        std::size_t wanted = 0;
        const std::size_t in_text = come_ - std::min(come_, sizeof(sizes_));
        if (come_ < sizeof(sizes_)) {
            into = reinterpret_cast<std::byte*>(sizes_.data()) + come_;
            wanted = sizeof(sizes_) - come_;
        } else if (in_text < text_.size()) {
            into = reinterpret_cast<std::byte*>(text_.data()) + in_text;
            wanted = text_.size() - in_text;
        } else {
            into = body_.data() + (in_text - text_.size());
            wanted = body_.size() - (in_text - text_.size());
        }
        const ssize_t got = ::recv(descriptor_, into, wanted, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (got <= 0) {
            return Got::closed;
        }
        heard_ = true;
        come_ += static_cast<std::size_t>(got);
        if (come_ == sizeof(sizes_) && !begin_frame()) {
            return Got::closed;
        }
        if (come_ >= sizeof(sizes_) && come_ == sizeof(sizes_) + text_.size() + body_.size()) {
            return finish_frame(frame) ? Got::frame : Got::closed;
        }
    }
}

void FrameSocket::shut() {
    ::shutdown(descriptor_, SHUT_RDWR);
}

std::string FrameSocket::peer() const {
    const auto [host, port] = end_of(descriptor_, ::getpeername);
    return host.empty() ? "somebody" : host + ":" + port;
}

std::string FrameSocket::own_address() const {
    return end_of(descriptor_, ::getsockname).first;
}

int listen_at(const std::string& address, int port) {
    const std::string where = address + ":" + std::to_string(port);
    const Addresses found(address, port, AI_PASSIVE);
    std::string problem = found.problem();
    for (const addrinfo* one = found.first(); one != nullptr; one = one->ai_next) {
        const int descriptor =
            ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        const int yes = 1;
        ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (descriptor >= 0 && ::bind(descriptor, one->ai_addr, one->ai_addrlen) == 0 &&
            ::listen(descriptor, kMostWaiting) == 0) {
            return descriptor;
        }
        problem = system_error_text(errno);
        if (descriptor >= 0) {
            ::close(descriptor);
        }
    }
    throw Error(ErrorKind::device, "MASTER_ADDR " + where,
                "rank 0 cannot listen there for the other ranks: " + problem,
                "name an address of the machine of rank 0 and a free port (MASTER_ADDR, "
                "MASTER_PORT; `weft launch --port`)");
}

bool is_loopback(const std::string& address) {
    const Addresses found(address, 0, 0);
    if (found.first() == nullptr) {
        return false;
    }
    for (const addrinfo* one = found.first(); one != nullptr; one = one->ai_next) {
        char host[NI_MAXHOST];
        if (::getnameinfo(one->ai_addr, one->ai_addrlen, host, sizeof(host), nullptr, 0,
                          NI_NUMERICHOST) != 0 ||
            !(std::string_view(host).starts_with("127.") || std::string_view(host) == "::1")) {
            return false;
        }
    }
    return true;
}

int port_of(int listener) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                     : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

int accept_within(int listener, double seconds) {
    return poll_for(listener, POLLIN, seconds) ? ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)
                                               : -1;
}

int connect_within(const std::string& address, int port, double seconds) {
    const SystemClock clock;
    const double until_s = clock.steady_s() + seconds;
    std::string problem;
    do {
        const Addresses found(address, port, 0);
        problem = found.problem();
        for (const addrinfo* one = found.first(); one != nullptr; one = one->ai_next) {
            const int descriptor =
                ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
            if (descriptor >= 0 && ::connect(descriptor, one->ai_addr, one->ai_addrlen) == 0 &&
                end_of(descriptor, ::getsockname) != end_of(descriptor, ::getpeername)) {
                return descriptor;
            } // else, on a port that the system gives away, a connection with itself
            problem = system_error_text(errno);
            if (descriptor >= 0) {
                ::close(descriptor);
            }
        }
        std::this_thread::sleep_for(kBetweenTries); // nobody tells when somebody listens there
    } while (clock.steady_s() < until_s);
    throw Error(ErrorKind::device, "MASTER_ADDR " + address + ":" + std::to_string(port),
                "rank 0 was not reached there within " + format_duration(seconds) + ": " + problem,
                "see that rank 0 has been started, that MASTER_ADDR is the machine it runs on, and "
                "that no firewall closes the port");
}

} // namespace weft::exec
