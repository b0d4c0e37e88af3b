// SPDX-License-Identifier: Apache-2.0
// `--control`: commands as JSON lines from stdin or from a Unix socket of mode 0600. Clients of the
// socket get every event line in return. The end of input is not a command: training goes on.
#pragma once

#include "core/train/command.h"
#include "core/train/event.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace weft::cli {

class ControlChannel {
public:
    /// `where` is "stdin" or the path of a socket to create. Throws weft::Error{usage}.
    explicit ControlChannel(const std::string& where);
    ~ControlChannel(); // removes the socket
    ControlChannel(const ControlChannel&) = delete;
    ControlChannel& operator=(const ControlChannel&) = delete;

    void start(std::function<void(train::Command)> post);
    /// Nothing is posted after this.
    void stop();
    /// Hands an event to every client; any thread. A client that does not read is cut off.
    void publish(const train::Event& event);

private:
    struct Client {
        std::string received; // an incomplete line
        std::string to_send;
    };

    void listen_at(const std::string& path);
    void serve();
    void accept_client();
    /// False when the client is gone.
    bool receive(int descriptor, Client& client);
    bool send_pending(int descriptor, Client& client);
    void take_lines(int descriptor, Client& client);
    void reply(int descriptor, const std::string& line);
    void wake() const;

    std::string socket_path_; // empty: stdin
    int listener_ = -1;
    int wake_ = -1; // eventfd
    bool ending_ = false;
    std::mutex mutex_; // guards clients_ and ending_
    std::map<int, Client> clients_;
    std::function<void(train::Command)> post_;
    std::thread thread_;
};

} // namespace weft::cli
