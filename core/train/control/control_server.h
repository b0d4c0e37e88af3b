// SPDX-License-Identifier: Apache-2.0
// A run's door for other processes: commands come in as JSON lines, events go out. One thread of
// its own serves all clients; training never waits for one.
//
// A client gets every event from the moment when it connects. Two messages are for the channel and
// no commands; they are answered to their sender alone, by a `command` event with number 0:
//   {"command": "subscribe", "from": N}    the stream begins again, at event N, each once, in order
//   {"command": "claim", "take_over": false, "as": ""}   control for this client alone
// A claim that cannot be met waits: it is refused with the reason, and accepted when the client
// before it leaves; who claims as the one that has control is that one over another connection, and
// has it at once. While a client has control, commands of others are refused; signals and
// `--control stdin` always work. One client more than 64 takes the place of the one that has been
// silent the longest, of those that never spoke first, and never that of the one with control.
#pragma once

#include "core/base/wake.h"
#include "core/train/control/command.h"
#include "core/train/control/line_reader.h"
#include "core/train/record/event.h"
#include "core/train/record/event_lines.h"

#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace weft::train {

class ControlServer {
public:
    /// Listens at `socket`; events are those of the run in this folder. Throws weft::Error{usage}.
    ControlServer(const std::filesystem::path& socket, std::filesystem::path run_folder);
    ~ControlServer(); // removes the socket
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    const std::filesystem::path& socket() const { return socket_; }
    /// Takes clients from now on; `post` is called on the server's thread, and so is `on_fault`
    /// when that has to end before stop() (no memory is left); the run goes on without it.
    void start(std::function<void(Command)> post,
               std::function<void(const std::exception&)> on_fault = {});
    /// The next event, already in events.jsonl. Any thread, one at a time, in order; only queues.
    void publish(const Event& event);
    /// Nothing is posted after this. Clients that read get what is left, for a moment.
    void stop();

private:
    struct Client {
        LineReader received;
        bool skipping = false; // the rest of a line that was too long
        std::string to_send;
        std::int64_t next_seq = 0;         // 0: the next event that is published
        std::unique_ptr<EventLines> past;  // while it reads what is not in recent_ any more
        std::string name;                  // "process 123"
        std::string claim_id, claim_by, claim_as; // of its newest claim
        std::uint64_t came = 0, spoke = 0; // turns; equal: it has not said a word
    };
    using Clients = std::map<int, Client>;

    void serve_or_end();
    void serve();
    void take_published();
    void accept_clients();
    bool receive(int descriptor, Client& client);
    void take_lines(int descriptor, Client& client);
    void take_line(int descriptor, Client& client, const std::string& line);
    bool take_channel_message(int descriptor, Client& client, const config::Json& message);
    void subscribe(Client& client, const config::Json& message);
    void claim(int descriptor, Client& client, const config::Json& message);
    void pass_control_on();
    std::string owner_text() const;
    /// An answer of the channel itself: it is not in the run's record and has no number.
    static std::string to_answer(const std::string& id, const std::string& by,
                                 const std::string& command, const std::string& problem);
    void refill(Client& client);
    bool flush(int descriptor, Client& client);
    void drop(int descriptor);
    void drop_longest_silent();
    void flush_all_and_wait();

    const std::filesystem::path socket_;
    const std::filesystem::path folder_;
    const Wake wake_;
    const int listener_;
    std::function<void(Command)> post_;
    std::function<void(const std::exception&)> on_fault_;

    std::mutex mutex_; // guards what the threads that publish share with the server's
    std::deque<Event> published_;
    bool somebody_listens_ = false;
    bool wake_is_due_ = false; // the thread knows that there is something
    bool urgent_ = false;
    bool ending_ = false;

    // The rest belongs to the server's thread.
    Clients clients_;
    std::uint64_t turn_ = 0;              // of what clients did
    int owner_ = -1;                      // descriptor of the client with control
    std::deque<int> waiting_;             // descriptors of claims, the first in line first
    std::deque<EventLines::Line> recent_; // numbers without a gap
    std::size_t recent_bytes_ = 0;
    double flush_at_s_ = 0;  // 0: nothing waits to be flushed
    double accept_at_s_ = 0; // not earlier: there was no descriptor left for a client
    std::thread thread_;
};

} // namespace weft::train
