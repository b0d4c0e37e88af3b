// SPDX-License-Identifier: Apache-2.0
// A connection to the process that trains a run: the other end of control_server.h. Never blocks
// but in wait(); one thread at a time.
#pragma once

#include "core/train/control/line_reader.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::train {

class ControlClient {
public:
    /// Throws weft::Error{runtime} when nobody listens at `socket` or it is forbidden.
    explicit ControlClient(const std::filesystem::path& socket);
    ~ControlClient();
    ControlClient(const ControlClient&) = delete;
    ControlClient& operator=(const ControlClient&) = delete;

    /// Queues a line; transfer() sends it.
    void send(const std::string& line);
    /// Sends what is queued and takes what has come. False once the other end is gone and all that
    /// it said has been taken.
    bool transfer();
    /// Complete lines that came, without their newlines.
    std::vector<std::string> take_lines();
    /// Waits until transfer() has something to do, `wake` (a descriptor, or -1) is readable, or the
    /// time is over.
    void wait(double seconds, int wake = -1) const;

private:
    int descriptor_ = -1;
    std::string to_send_;
    LineReader received_;
};

} // namespace weft::train
