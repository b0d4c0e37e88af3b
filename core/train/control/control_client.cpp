// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/control_client.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/train/control/control_socket.h"

#include <cerrno>
#include <cmath>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::train {
namespace {

constexpr std::size_t kMostPerTransfer = 4 << 20; // so that commands are sent in between

} // namespace

ControlClient::ControlClient(const std::filesystem::path& socket)
    : descriptor_(connect_to(socket)) {
    if (descriptor_ < 0) {
        throw Error(ErrorKind::runtime, socket.string(),
                    "cannot be reached: " + system_error_text(errno),
                    "the process that listened there may have ended");
    }
}

ControlClient::~ControlClient() {
    ::close(descriptor_);
}

void ControlClient::send(const std::string& line) {
    to_send_ += line;
    to_send_ += '\n';
}

bool ControlClient::transfer() {
    if (!to_send_.empty()) {
        const ssize_t sent =
            ::send(descriptor_, to_send_.data(), to_send_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            to_send_.erase(0, static_cast<std::size_t>(sent));
        }
        // That the other end is gone is said by read(), once all that it sent has been taken.
    }
    char bytes[1 << 16];
    for (std::size_t taken = 0; taken < kMostPerTransfer;) {
        const ssize_t count = ::read(descriptor_, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return count < 0 && errno == EAGAIN;
        }
        received_.add({bytes, static_cast<std::size_t>(count)});
        taken += static_cast<std::size_t>(count);
    }
    return true;
}

std::vector<std::string> ControlClient::take_lines() {
    std::vector<std::string> lines;
    while (auto line = received_.next()) {
        lines.push_back(std::move(*line));
    }
    return lines;
}

void ControlClient::wait(double seconds, int wake) const {
    const int sends = to_send_.empty() ? 0 : POLLOUT;
    pollfd polled[2] = {{descriptor_, static_cast<short>(POLLIN | sends), 0}, {wake, POLLIN, 0}};
    ::poll(polled, 2, static_cast<int>(std::ceil(seconds * 1000)));
}

} // namespace weft::train
