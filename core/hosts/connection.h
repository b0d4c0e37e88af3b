// SPDX-License-Identifier: Apache-2.0
// A host through the user's OpenSSH. All calls share one connection (ControlMaster), which ssh
// closes by itself a minute after the last of them; a call that finds none opens it again.
#pragma once

#include "core/hosts/host_list.h"

#include <functional>
#include <stop_token>

namespace weft::hosts {

class Connection {
public:
    /// `sockets`: a private folder with a short name, for the end that calls share. Connects to
    /// nothing yet. Once somebody stops it, every call ends at once.
    Connection(Host host, const Path& sockets, std::stop_token stop = {});

    const Host& host() const { return host_; }

    /// What sh says there to a script, which finds `$runs`, the folder of runs, and `weft`. Throws
    /// weft::Error: {device} where the host cannot be reached or does not answer in time, {runtime}
    /// with what the script said last where it fails; Stopped.
    std::string ask(const std::string& script, int patience_ms = 60000) const;

    /// While `path` is listened at there, so it is here at `local`. For as long as the connection
    /// lives. Throws weft::Error{device}.
    void forward(const Path& local, const std::string& path) const;
    /// Takes it back; best effort.
    void end_forward(const Path& local, const std::string& path) const;

    /// One file or folder from there or to there by rsync, whose `options` go first. A folder's
    /// name ends in "/" where its content is meant. `tick` is called every half second. Throws
    /// weft::Error: {device} without a connection, {runtime} with what rsync says; Stopped.
    void pull(const std::vector<std::string>& options, const std::string& from, const Path& to,
              const std::function<void()>& tick = {}) const;
    /// `progress` hears how much of all has gone, 0 to 1, as rsync says it.
    void push(const std::vector<std::string>& options, const Path& from, const std::string& to,
              const std::function<void(double)>& progress = {}) const;

    struct Stopped {};
    const std::stop_token& stop() const { return stop_; }

private:
    std::vector<std::string> ssh() const; // without the host
    std::vector<std::string> words_for(const std::string& script) const;
    void run_rsync(std::vector<std::string> words, const std::function<void()>& tick,
                   const std::function<void(double)>& progress) const;

    Host host_;
    std::string socket_;
    std::stop_token stop_;
};

} // namespace weft::hosts
