// SPDX-License-Identifier: Apache-2.0
// `--control stdin`: commands as JSON lines. The end of input is not a command: training goes on.
#pragma once

#include "core/base/wake.h"
#include "core/train/control/command.h"
#include "core/train/control/line_reader.h"

#include <functional>
#include <string>
#include <thread>

namespace weft::cli {

class StdinCommands {
public:
    StdinCommands();
    ~StdinCommands();
    StdinCommands(const StdinCommands&) = delete;
    StdinCommands& operator=(const StdinCommands&) = delete;

    /// Calls `post` on a thread of its own from now on.
    void start(std::function<void(train::Command)> post);
    /// Nothing is posted after this.
    void stop();

private:
    void read();
    void take_lines();

    Wake wake_;
    train::LineReader received_;
    std::function<void(train::Command)> post_;
    std::thread thread_;
};

} // namespace weft::cli
