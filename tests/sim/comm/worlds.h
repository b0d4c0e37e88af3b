// SPDX-License-Identifier: Apache-2.0
// The worlds that every operation is tried on: threads that read each other's memory, and processes
// that are threads here, over a transport that sends as late as may be, the last first; these also
// on two hosts.
#pragma once

#include "core/exec/comm/process_world.h"
#include "tests/sim/comm/ranks.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::exec::comm::test {

enum class How : std::uint8_t { ring, tree, processes, hosts };
const char* how_text(How how);
/// The order in which it adds.
Algorithm order_of(How how);

/// All ranks of a world, or of many that each have one.
class Worlds {
public:
    virtual ~Worlds() = default;
    virtual World& of(int rank) = 0;
};
std::unique_ptr<Worlds> make_worlds(int ranks, How how);
/// As run_ranks of one world.
std::vector<std::string> run_ranks(Worlds& worlds, int ranks,
                                   const std::function<void(int)>& rank_main);

/// What transports of threads have in common: messages on their way.
class Mailbox {
public:
    struct Key {
        int from = 0, to = 0;
        std::uint32_t channel = 0, number = 0;
        auto operator<=>(const Key&) const = default;
    };

    void put(const Key& key, Bytes letter);
    /// False: nothing came in time, or `interrupted` is set.
    bool take(const Key& key, std::span<std::byte> into, double seconds,
              const std::atomic<bool>& interrupted);
    /// Bytes so far of one rank to another.
    std::int64_t carried(int from, int to);
    /// Sets a flag that waits look at.
    void interrupt(std::atomic<bool>& flag);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Key, Bytes> letters_;
    std::map<std::pair<int, int>, std::int64_t> carried_;
};

class ProcessWorlds final : public Worlds {
public:
    /// `ended` is told of the end of each rank's world.
    explicit ProcessWorlds(int ranks, double timeout_s = 600,
                           std::function<void(int, const std::string&)> ended = {});
    /// Every other rank is on the second host.
    ProcessWorlds(int ranks, Sums sums);
    ProcessWorld& of(int rank) override { return *worlds_[static_cast<std::size_t>(rank)]; }
    Mailbox& mailbox() { return mailbox_; }

private:
    void make(int ranks, const std::function<ProcessWorldOptions(int)>& options);

    Mailbox mailbox_;
    std::vector<std::unique_ptr<Transport>> transports_;
    std::vector<std::unique_ptr<ProcessWorld>> worlds_;
};

/// A process's end of a mailbox.
std::unique_ptr<Transport> make_mail_transport(Mailbox& mailbox, int rank);

} // namespace weft::exec::comm::test
