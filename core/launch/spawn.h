// SPDX-License-Identifier: Apache-2.0
// One child process. Linux: waited for by a descriptor, and told to end when its parent does.
#pragma once

#include "core/launch/request.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace weft::launch {

/// An owned descriptor. Move only.
class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    void close();

private:
    int number_;
};

struct Pipe {
    Descriptor read, write;
};
/// Both ends are closed in children that do not get them. Throws weft::Error{runtime}.
Pipe make_pipe();

/// What a child gets; -1: /dev/null.
struct ChildFiles {
    int in = -1;
    int out = -1;
    int error = -1;
};

struct Child {
    pid_t pid = -1;
    Descriptor ended; // readable once it has ended (pidfd_open(2))
};

/// Starts a program, looked for in PATH, in a process group of its own: a terminal's Ctrl+C reaches
/// the caller alone. It begins with no signal blocked, and gets SIGTERM when the calling thread
/// ends. `variables` come on top of the caller's. Throws weft::Error{runtime} where it cannot be
/// started.
Child spawn(const std::vector<std::string>& words, const std::vector<Variable>& variables,
            const ChildFiles& files);

/// Waits for a child that has ended, or until it ends: its exit code; 128 and the number of the
/// signal that ended it.
int reap(Child& child);

struct Answer {
    int code = -1; // -1: it did not end in time
    std::string out;
    std::string error;
};
/// The last line that is said, without blanks around it.
std::string last_line(std::string_view said);
/// Runs commands at the same time, without input, for `patience_ms` at most; their answers in their
/// order. Somebody who stops it ends the patience.
std::vector<Answer> ask(const std::vector<std::vector<std::string>>& commands, int patience_ms,
                        const std::stop_token& stop = {});

} // namespace weft::launch
