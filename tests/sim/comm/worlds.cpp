// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/comm/worlds.h"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace weft::exec::comm::test {
namespace {

class ThreadWorlds final : public Worlds {
public:
    ThreadWorlds(int ranks, Algorithm algorithm) : world_(ranks, {.algorithm = algorithm}) {}
    World& of(int /*rank*/) override { return world_; }

private:
    InProcessWorld world_;
};

class MailTransport final : public Transport {
public:
    MailTransport(Mailbox& mailbox, int rank) : mailbox_(mailbox), rank_(rank) {}

    std::vector<std::byte> address() override { return {std::byte{1}}; }
    void connect(const std::vector<std::vector<std::byte>>& /*addresses*/,
                 double /*seconds*/) override {}

    // Sent when it is waited for, or before the sender waits for anything else: as late as may be.
    Ticket send(int to, Tag tag, std::span<const std::byte> bytes) override {
        return keep({{rank_, to, tag.channel, tag.number}, bytes, {}, true, false});
    }
    Ticket receive(int from, Tag tag, std::span<std::byte> bytes) override {
        return keep({{from, rank_, tag.channel, tag.number}, {}, bytes, false, false});
    }
    bool is_done(Ticket ticket) override { return at(ticket).done; }
    WaitEnd wait(Ticket ticket, double seconds) override {
        post_all();
        Operation& one = at(ticket);
        if (!one.sends && !mailbox_.take(one.key, one.into, seconds, interrupted_)) {
            return interrupted_ ? WaitEnd::interrupted : WaitEnd::timed_out;
        }
        one.done = true;
        return interrupted_ ? WaitEnd::interrupted : WaitEnd::done;
    }
    void drop() override { mailbox_.interrupt(interrupted_); }
    void interrupt() override { mailbox_.interrupt(interrupted_); }
    void leave() override {}

private:
    struct Operation {
        Mailbox::Key key;
        std::span<const std::byte> from;
        std::span<std::byte> into;
        bool sends = false;
        bool done = false;
    };
    Ticket keep(Operation operation) {
        operations_.push_back(operation);
        return static_cast<Ticket>(operations_.size() - 1);
    }
    Operation& at(Ticket ticket) { return operations_[static_cast<std::size_t>(ticket)]; }
    // The last first.
    void post_all() {
        for (std::size_t i = operations_.size(); i-- > posted_;) {
            if (operations_[i].sends) {
                mailbox_.put(operations_[i].key,
                             {operations_[i].from.begin(), operations_[i].from.end()});
            }
        }
        posted_ = operations_.size();
    }

    Mailbox& mailbox_;
    const int rank_;
    std::vector<Operation> operations_; // all that there ever were
    std::size_t posted_ = 0;
    std::atomic<bool> interrupted_ = false;
};

} // namespace

const char* how_text(How how) {
    return how == How::ring        ? "ring"
           : how == How::tree      ? "tree"
           : how == How::processes ? "processes"
                                   : "hosts";
}

Algorithm order_of(How how) {
    return how == How::tree ? Algorithm::tree : Algorithm::ring;
}

std::unique_ptr<Worlds> make_worlds(int ranks, How how) {
    if (how == How::processes) {
        return std::make_unique<ProcessWorlds>(ranks);
    }
    if (how == How::hosts) {
        return std::make_unique<ProcessWorlds>(ranks, Sums::in_rank_order);
    }
    return std::make_unique<ThreadWorlds>(ranks, order_of(how));
}

std::vector<std::string> run_ranks(Worlds& worlds, int ranks,
                                   const std::function<void(int)>& rank_main) {
    std::vector<std::string> errors(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                rank_main(rank);
            } catch (const std::exception& fault) {
                errors[static_cast<std::size_t>(rank)] = fault.what();
                for (int other = 0; other < ranks; ++other) { // as control does between processes
                    worlds.of(other).abort("rank " + std::to_string(rank) + " failed");
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return errors;
}

void Mailbox::put(const Key& key, Bytes letter) {
    const std::lock_guard lock(mutex_);
    carried_[{key.from, key.to}] += std::ssize(letter);
    if (!letters_.emplace(key, std::move(letter)).second) {
        throw std::logic_error("two messages have one number");
    }
    changed_.notify_all();
}

bool Mailbox::take(const Key& key, std::span<std::byte> into, double seconds,
                   const std::atomic<bool>& interrupted) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::duration<double>(std::min(seconds, 1e6)),
                           [&] { return interrupted || letters_.contains(key); }) ||
        interrupted) {
        return false;
    }
    const auto found = letters_.find(key);
    if (found->second.size() != into.size()) {
        throw std::logic_error("a message has another size than its receiver expects");
    }
    std::copy(found->second.begin(), found->second.end(), into.begin());
    letters_.erase(found);
    return true;
}

std::int64_t Mailbox::carried(int from, int to) {
    const std::lock_guard lock(mutex_);
    return carried_[{from, to}];
}

void Mailbox::interrupt(std::atomic<bool>& flag) {
    const std::lock_guard lock(mutex_);
    flag = true;
    changed_.notify_all();
}

std::unique_ptr<Transport> make_mail_transport(Mailbox& mailbox, int rank) {
    return std::make_unique<MailTransport>(mailbox, rank);
}

ProcessWorlds::ProcessWorlds(int ranks, double timeout_s,
                             std::function<void(int, const std::string&)> ended) {
    make(ranks, [&](int rank) {
        ProcessWorldOptions options;
        options.timeout_s = timeout_s;
        if (ended) {
            options.ended = [ended, rank](const std::string& reason) { ended(rank, reason); };
        }
        return options;
    });
}

ProcessWorlds::ProcessWorlds(int ranks, Sums sums) {
    make(ranks, [&](int) {
        ProcessWorldOptions options;
        for (int rank = 0; rank < ranks; ++rank) {
            options.hosts.push_back(rank % 2);
        }
        options.sums = sums;
        return options;
    });
}

void ProcessWorlds::make(int ranks, const std::function<ProcessWorldOptions(int)>& options) {
    for (int rank = 0; rank < ranks; ++rank) {
        transports_.push_back(make_mail_transport(mailbox_, rank));
        worlds_.push_back(
            std::make_unique<ProcessWorld>(*transports_.back(), rank, ranks, options(rank)));
    }
}

} // namespace weft::exec::comm::test
