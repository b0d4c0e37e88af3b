// SPDX-License-Identifier: Apache-2.0
#include "app/cli/stdin_commands.h"

#include "core/train/control/control_socket.h"

#include <cerrno>
#include <cstdio>
#include <poll.h>
#include <unistd.h>

namespace weft::cli {
namespace {

void complain(const char* problem) {
    std::fprintf(stderr, "weft: --control stdin: %s\n", problem);
}

} // namespace

StdinCommands::StdinCommands() : wake_("--control stdin") {}

StdinCommands::~StdinCommands() {
    stop();
}

void StdinCommands::start(std::function<void(train::Command)> post) {
    post_ = std::move(post);
    thread_ = std::thread([this] {
        try {
            read();
        } catch (const std::exception& fault) {
            complain(fault.what());
            complain("nothing more is read");
        }
    });
}

void StdinCommands::stop() {
    if (thread_.joinable()) {
        wake_.ring();
        thread_.join();
    }
}

void StdinCommands::read() {
    for (;;) {
        pollfd polled[2] = {{STDIN_FILENO, POLLIN, 0}, {wake_.descriptor(), POLLIN, 0}};
        ::poll(polled, 2, -1);
        if (polled[1].revents != 0) {
            return;
        }
        char bytes[4096];
        const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (count <= 0) {
            return;
        }
        received_.add({bytes, static_cast<std::size_t>(count)});
        take_lines();
        if (received_.rest() > train::kMostControlLineBytes) {
            complain("a line of more than 1 MiB is no command; nothing more is read");
            return;
        }
    }
}

void StdinCommands::take_lines() {
    while (const auto line = received_.next()) {
        if (line->find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        train::ParsedCommand parsed = train::parse_command(*line);
        if (!parsed.command) {
            complain(parsed.problem.c_str());
            continue;
        }
        parsed.command->by = parsed.command->by.empty() ? "control" : parsed.command->by;
        post_(std::move(*parsed.command));
    }
}

} // namespace weft::cli
