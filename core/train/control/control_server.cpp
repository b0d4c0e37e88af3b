// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/control_server.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/train/control/control_socket.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <poll.h>
#include <sys/socket.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace weft::train {
namespace {

constexpr std::size_t kMostClients = 64;
constexpr std::size_t kMostKeptEvents = 4096;       // queued while nobody listens, kept for others
constexpr std::size_t kMostKeptBytes = 4 << 20;     // of lines that were sent a moment ago
constexpr std::size_t kMostUnsentBytes = 256 << 10; // per client; the rest waits in the file
constexpr double kGatherSeconds = 0.02; // steps are sent together: each wake-up costs training
constexpr double kNeverSeconds = 3600;
constexpr double kAcceptAgainSeconds = 0.25;
constexpr double kFarewellSeconds = 1; // for clients to take the last events

bool is_urgent(const Event& event) {
    return !std::holds_alternative<StepEvent>(event.payload) &&
           !std::holds_alternative<DevicesEvent>(event.payload) &&
           !std::holds_alternative<LoaderEvent>(event.payload);
}

std::string peer_name(int descriptor) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
               ? "process " + std::to_string(peer.pid)
               : "another process";
}

} // namespace

ControlServer::ControlServer(const std::filesystem::path& socket, std::filesystem::path run_folder)
    : socket_(socket), folder_(std::move(run_folder)), wake_(socket.string()),
      listener_(listen_at(socket)) {}

ControlServer::~ControlServer() {
    stop();
    for (const auto& [descriptor, client] : clients_) {
        ::close(descriptor);
    }
    ::close(listener_);
    ::unlink(socket_.c_str());
}

void ControlServer::start(std::function<void(Command)> post,
                          std::function<void(const std::exception&)> on_fault) {
    post_ = std::move(post);
    on_fault_ = std::move(on_fault);
    thread_ = std::thread([this] { serve_or_end(); });
}

void ControlServer::serve_or_end() {
    try {
        serve();
    } catch (const std::exception& fault) {
        for (const auto& [descriptor, client] : clients_) {
            ::close(descriptor);
        }
        clients_.clear();
        {
            const std::lock_guard lock(mutex_);
            somebody_listens_ = false;
        }
        if (on_fault_) {
            on_fault_(fault);
        }
    }
}

void ControlServer::stop() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.ring();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void ControlServer::publish(const Event& event) {
    bool wanted = false;
    {
        const std::lock_guard lock(mutex_);
        published_.push_back(event);
        if (!somebody_listens_) {
            if (published_.size() > kMostKeptEvents) {
                published_.pop_front();
            }
            return;
        }
        const bool urgent = is_urgent(event);
        wanted = !wake_is_due_ || (urgent && !urgent_);
        wake_is_due_ = true;
        urgent_ = urgent_ || urgent;
    }
    if (wanted) {
        wake_.ring();
    }
}

void ControlServer::serve() {
    const SystemClock clock;
    for (;;) {
        std::vector<pollfd> polled{{wake_.descriptor(), POLLIN, 0}};
        const double now_s = clock.steady_s();
        const bool accepts = now_s >= accept_at_s_;
        polled.push_back({accepts ? listener_ : -1, POLLIN, 0});
        for (const auto& [descriptor, client] : clients_) {
            const int sends = client.to_send.empty() ? 0 : POLLOUT;
            polled.push_back({descriptor, static_cast<short>(POLLIN | sends), 0});
        }
        double wait_s = flush_at_s_ == 0 ? kNeverSeconds : std::max(0.0, flush_at_s_ - now_s);
        wait_s = now_s < accept_at_s_ ? std::min(wait_s, accept_at_s_ - now_s) : wait_s;
        ::poll(polled.data(), polled.size(), static_cast<int>(std::ceil(wait_s * 1000)));
        wake_.quiet();
        bool ending = false;
        {
            const std::lock_guard lock(mutex_);
            ending = ending_;
            if (wake_is_due_ && flush_at_s_ == 0) {
                flush_at_s_ = clock.steady_s() + kGatherSeconds;
            }
            if (urgent_ || ending) {
                flush_at_s_ = clock.steady_s();
            }
        }
        if (ending) {
            flush_all_and_wait();
            return;
        }
        if (flush_at_s_ != 0 && clock.steady_s() >= flush_at_s_) {
            take_published();
        }
        for (std::size_t i = 2; i < polled.size(); ++i) {
            const int descriptor = polled[i].fd;
            Client& client = clients_.at(descriptor);
            const bool readable = (polled[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
            if ((readable && !receive(descriptor, client)) || !flush(descriptor, client)) {
                drop(descriptor);
            }
        }
        if ((polled[1].revents & POLLIN) != 0) {
            accept_clients();
        }
    }
}

void ControlServer::take_published() {
    std::deque<Event> events;
    {
        const std::lock_guard lock(mutex_);
        events.swap(published_);
        wake_is_due_ = urgent_ = false;
    }
    flush_at_s_ = 0;
    if (events.empty()) {
        return;
    }
    if (recent_.empty() || recent_.back().seq + 1 != events.front().seq) {
        recent_.clear(); // nobody listened, and what was queued then was thrown away
        recent_bytes_ = 0;
    }
    for (auto& [descriptor, client] : clients_) {
        client.next_seq = client.next_seq == 0 ? events.front().seq : client.next_seq;
    }
    for (const Event& event : events) {
        recent_.push_back({event.seq, to_line(event) + "\n"});
        recent_bytes_ += recent_.back().text.size();
    }
    while (recent_.size() > 1 &&
           (recent_.size() > kMostKeptEvents || recent_bytes_ > kMostKeptBytes)) {
        recent_bytes_ -= recent_.front().text.size();
        recent_.pop_front();
    }
}

void ControlServer::accept_clients() {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) {
        accept_at_s_ = SystemClock().steady_s() + kAcceptAgainSeconds;
        return;
    }
    take_published(); // it hears of what comes from now on
    if (clients_.size() >= kMostClients) {
        drop_longest_silent();
    }
    clients_[descriptor].name = peer_name(descriptor);
    clients_[descriptor].came = clients_[descriptor].spoke = ++turn_;
    const std::lock_guard lock(mutex_);
    somebody_listens_ = true;
}

bool ControlServer::receive(int descriptor, Client& client) {
    char bytes[4096];
    const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
    if (count <= 0) {
        return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
    client.received.add({bytes, static_cast<std::size_t>(count)});
    client.spoke = ++turn_;
    take_lines(descriptor, client);
    return true;
}

// Brings what the client has not got yet into its buffer: from memory, or from the file while it is
// far behind. A client that does not read costs nothing but its place.
void ControlServer::refill(Client& client) {
    while (client.next_seq > 0 && client.to_send.size() < kMostUnsentBytes) {
        if (!recent_.empty() && client.next_seq >= recent_.front().seq) {
            client.past.reset();
            const auto at = static_cast<std::size_t>(client.next_seq - recent_.front().seq);
            if (at >= recent_.size()) {
                return;
            }
            client.to_send += recent_[at].text;
            ++client.next_seq;
            continue;
        }
        if (!client.past) {
            client.past = std::make_unique<EventLines>(folder_, client.next_seq - 1);
        }
        std::vector<EventLines::Line> lines;
        try {
            lines = client.past->read(kMostUnsentBytes);
        } catch (const Error&) {
            // The folder went away; what is in memory still comes.
        }
        for (const EventLines::Line& line : lines) {
            client.to_send += line.text;
            client.next_seq = line.seq + 1;
        }
        if (lines.empty()) {
            if (recent_.empty()) {
                return;
            }
            client.next_seq = recent_.front().seq;
        }
    }
}

bool ControlServer::flush(int descriptor, Client& client) {
    for (;;) {
        refill(client);
        if (client.to_send.empty()) {
            return true;
        }
        const ssize_t count = ::send(descriptor, client.to_send.data(), client.to_send.size(),
                                     MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            // Answers pile up only with a client that asks and never reads.
            return (errno == EAGAIN || errno == EINTR) &&
                   client.to_send.size() <= kMostUnsentBytes + kMostControlLineBytes;
        }
        client.to_send.erase(0, static_cast<std::size_t>(count));
    }
}

// Clients that never said a word go first, the oldest first; then those that are silent the
// longest.
void ControlServer::drop_longest_silent() {
    const auto rank = [this](const Clients::value_type& one) {
        return std::tuple(one.first == owner_, one.second.spoke != one.second.came,
                          one.second.spoke);
    };
    const auto silent =
        std::min_element(clients_.begin(), clients_.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    silent->second.to_send += to_answer("", "control", "",
                                        "this run has " + std::to_string(kMostClients) +
                                            " clients; the one silent the longest makes room");
    flush(silent->first, silent->second);
    drop(silent->first);
}

void ControlServer::drop(int descriptor) {
    ::close(descriptor);
    clients_.erase(descriptor);
    std::erase(waiting_, descriptor);
    owner_ = owner_ == descriptor ? -1 : owner_;
    pass_control_on();
    const std::lock_guard lock(mutex_);
    somebody_listens_ = !clients_.empty();
}

void ControlServer::flush_all_and_wait() {
    const SystemClock clock;
    const double until_s = clock.steady_s() + kFarewellSeconds;
    take_published();
    for (;;) {
        std::vector<pollfd> polled;
        for (auto next = clients_.begin(); next != clients_.end();) {
            const auto at = next++;
            if (!flush(at->first, at->second)) {
                drop(at->first);
            } else if (!at->second.to_send.empty()) {
                polled.push_back({at->first, POLLOUT, 0});
            }
        }
        const double left_s = until_s - clock.steady_s();
        if (polled.empty() || left_s <= 0) {
            return;
        }
        ::poll(polled.data(), polled.size(), static_cast<int>(std::ceil(left_s * 1000)));
    }
}

} // namespace weft::train
