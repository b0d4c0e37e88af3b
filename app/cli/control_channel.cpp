// SPDX-License-Identifier: Apache-2.0
#include "app/cli/control_channel.h"

#include "core/base/error.h"
#include "core/base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace weft::cli {
namespace {

constexpr std::size_t kMostLineBytes = 1 << 20;
constexpr std::size_t kMostUnreadBytes = 64 << 20;

[[noreturn]] void fail(const std::string& path, const std::string& what, int number) {
    throw Error(ErrorKind::usage, "--control " + path, what + ": " + system_error_text(number),
                "Name a socket in a folder of your own, such as $XDG_RUNTIME_DIR/weft.sock.");
}

// A socket file that nobody listens at is left over from a killed process.
bool is_stale(const sockaddr_un& address) {
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool refused =
        ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
        errno == ECONNREFUSED;
    ::close(probe);
    return refused;
}

} // namespace

ControlChannel::ControlChannel(const std::string& where) {
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (where == "stdin") {
        clients_.emplace(STDIN_FILENO, Client{});
    } else {
        listen_at(where);
    }
}

void ControlChannel::listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        fail(path,
             "the path of a socket has 1 to " + std::to_string(sizeof address.sun_path - 1) +
                 " bytes",
             ENAMETOOLONG);
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    struct stat existing {};
    if (::lstat(path.c_str(), &existing) == 0 && S_ISSOCK(existing.st_mode) && is_stale(address)) {
        ::unlink(path.c_str());
    }
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // The mask makes the file private from its first moment; no other thread runs yet.
    const mode_t before = ::umask(0177);
    const bool bound =
        ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const int number = errno;
    ::umask(before);
    if (!bound) {
        fail(path, "the socket cannot be made", number);
    }
    socket_path_ = path;
    if (::listen(listener_, 8) != 0) {
        fail(path, "nobody can connect", errno);
    }
}

void ControlChannel::stop() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake();
    if (thread_.joinable()) {
        thread_.join();
    }
}

ControlChannel::~ControlChannel() {
    stop();
    for (const auto& [descriptor, client] : clients_) {
        if (descriptor != STDIN_FILENO) {
            ::close(descriptor);
        }
    }
    if (listener_ >= 0) {
        ::close(listener_);
        ::unlink(socket_path_.c_str());
    }
    ::close(wake_);
}

void ControlChannel::start(std::function<void(train::Command)> post) {
    post_ = std::move(post);
    thread_ = std::thread([this] { serve(); });
}

void ControlChannel::wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void ControlChannel::publish(const train::Event& event) {
    if (socket_path_.empty()) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        if (clients_.empty()) {
            return;
        }
        const std::string line = train::to_line(event) + "\n";
        for (auto& [descriptor, client] : clients_) {
            client.to_send += line;
        }
    }
    wake();
}

void ControlChannel::serve() {
    for (;;) {
        std::vector<pollfd> waiting{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
        {
            const std::lock_guard lock(mutex_);
            for (const auto& [descriptor, client] : clients_) {
                const short events =
                    static_cast<short>(POLLIN | (client.to_send.empty() ? 0 : POLLOUT));
                waiting.push_back({descriptor, events, 0});
            }
        }
        ::poll(waiting.data(), waiting.size(), -1);
        std::uint64_t count = 0;
        [[maybe_unused]] const auto drained = ::read(wake_, &count, sizeof count);
        if ((waiting[1].revents & POLLIN) != 0) {
            accept_client();
        }
        for (std::size_t i = 2; i < waiting.size(); ++i) {
            const int descriptor = waiting[i].fd;
            Client& client = clients_.at(descriptor); // only this thread adds or removes clients
            const bool readable = (waiting[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
            const bool alive =
                (!readable || receive(descriptor, client)) && send_pending(descriptor, client);
            if (!alive) {
                const std::lock_guard lock(mutex_);
                clients_.erase(descriptor);
                if (descriptor != STDIN_FILENO) {
                    ::close(descriptor);
                }
            }
        }
        const std::lock_guard lock(mutex_);
        if (ending_) {
            return;
        }
    }
}

void ControlChannel::accept_client() {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
        const std::lock_guard lock(mutex_);
        clients_.emplace(descriptor, Client{});
    }
}

bool ControlChannel::receive(int descriptor, Client& client) {
    char bytes[4096];
    const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
    if (count < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (count == 0) {
        return false;
    }
    client.received.append(bytes, static_cast<std::size_t>(count));
    take_lines(descriptor, client);
    return client.received.size() <= kMostLineBytes;
}

void ControlChannel::take_lines(int descriptor, Client& client) {
    std::size_t begin = 0;
    for (std::size_t end = client.received.find('\n'); end != std::string::npos;
         end = client.received.find('\n', begin)) {
        const std::string line = client.received.substr(begin, end - begin);
        begin = end + 1;
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        train::ParsedCommand parsed = train::parse_command(line);
        if (!parsed.command) {
            reply(descriptor, parsed.problem);
            continue;
        }
        if (parsed.command->by.empty()) {
            parsed.command->by = "control";
        }
        post_(std::move(*parsed.command));
    }
    client.received.erase(0, begin);
}

// A line that is no command has no place in the run's own record: its sender alone is told.
void ControlChannel::reply(int descriptor, const std::string& problem) {
    if (descriptor == STDIN_FILENO) {
        std::fprintf(stderr, "weft: --control: %s\n", problem.c_str());
        return;
    }
    train::CommandEvent event;
    event.by = "control";
    event.accepted = false;
    event.reason = problem;
    const std::lock_guard lock(mutex_);
    clients_.at(descriptor).to_send += train::to_line({0, 0, event}) + "\n";
}

bool ControlChannel::send_pending(int descriptor, Client& client) {
    const std::lock_guard lock(mutex_);
    if (client.to_send.empty()) {
        return true;
    }
    const ssize_t count = ::send(descriptor, client.to_send.data(), client.to_send.size(),
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
        client.to_send.erase(0, static_cast<std::size_t>(count));
    }
    return (count >= 0 || errno == EAGAIN || errno == EINTR) &&
           client.to_send.size() <= kMostUnreadBytes;
}

} // namespace weft::cli
