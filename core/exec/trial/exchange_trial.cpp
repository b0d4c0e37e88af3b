// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/base/on_threads.h"
#include "core/exec/open_device.h"
#include "core/exec/trial/op_trial.h"
#include "core/exec/trial/trial_watch.h"

#include <algorithm>

namespace weft::exec {
namespace {

/// Operands begin at such multiples.
std::int64_t aligned(std::int64_t bytes) {
    constexpr std::int64_t kUnit = 256;
    return (bytes + kUnit - 1) / kUnit * kUnit;
}

/// A rank of the group, from joining to leaving.
class TrialRank {
public:
    TrialRank(const weft_collectives& collectives, OpenDevice& device, TrialWatch& watch,
              const weft_group_name& name, std::int32_t size, std::int32_t rank)
        : collectives_(collectives), device_(device), watch_(watch), size_(size), rank_(rank) {
        check(collectives_.join(device_.get(), &name, size, rank, &group_), "joining a group");
        watch_.add(group_);
        try {
            device_.wait_until([&] {
                std::int32_t joined = 0;
                check(collectives_.is_joined(group_, &joined), "joining a group");
                return joined != 0;
            });
        } catch (...) {
            leave();
            throw;
        }
    }
    ~TrialRank() { leave(); }
    TrialRank(const TrialRank&) = delete;
    TrialRank& operator=(const TrialRank&) = delete;

    std::vector<std::byte> run(const ExchangeTrial& trial) {
        const auto& input = trial.inputs[static_cast<std::size_t>(rank_)];
        const std::int64_t result_at = aligned(std::ssize(input));
        const std::span<std::byte> sent = device_.staging(std::ssize(input));
        std::copy(input.begin(), input.end(), sent.begin());
        device_.upload(0, sent);
        device_.recycle(sent);
        const weft_transfer whole{device_.data(), device_.data() + result_at, trial.count,
                                  static_cast<std::int32_t>(trial.dtype)};
        if (trial.call.kind == WEFT_SEND) {
            pass_on(trial, whole);
        } else {
            queue(trial.call, whole);
        }
        const std::span<std::byte> back = device_.staging(trial.result_bytes);
        device_.download(back, result_at);
        std::vector<std::byte> out(back.begin(), back.end());
        device_.recycle(back);
        check(collectives_.check(group_), "an exchange");
        return out;
    }

private:
    void leave() {
        watch_.remove(group_);
        collectives_.leave(group_);
    }

    /// To the next rank and from the one before, in a chain that the first begins.
    void pass_on(const ExchangeTrial& trial, const weft_transfer& whole) {
        weft_collective_call send = trial.call;
        send.peer = (rank_ + 1) % size_;
        weft_collective_call receive = trial.call;
        receive.kind = WEFT_RECEIVE;
        receive.peer = (rank_ + size_ - 1) % size_;
        const weft_transfer sent{whole.from, nullptr, whole.count, whole.dtype};
        const weft_transfer received{nullptr, whole.to, whole.count, whole.dtype};
        if (rank_ == 0) {
            queue(send, sent);
        }
        queue(receive, received);
        if (rank_ != 0) {
            queue(send, sent);
        }
    }

    void queue(weft_collective_call call, const weft_transfer& transfer) {
        call.transfers = 1;
        call.list = &transfer;
        check(collectives_.call(group_, &call, device_.computation()), "an exchange");
    }

    void check(weft_status status, const char* what) const {
        if (status != WEFT_OK) {
            throw Error(ErrorKind::device, what, collectives_.last_error(),
                        "run `weft doctor` to see what this machine offers");
        }
    }

    const weft_collectives& collectives_;
    OpenDevice& device_;
    TrialWatch& watch_;
    const std::int32_t size_, rank_;
    weft_group* group_ = nullptr;
};

std::int64_t largest_bytes(std::span<const ExchangeTrial> trials) {
    std::int64_t bytes = 0;
    for (const ExchangeTrial& trial : trials) {
        bytes = std::max(bytes, aligned(std::ssize(trial.inputs.front())) + trial.result_bytes);
    }
    return bytes;
}

} // namespace

std::vector<std::vector<std::vector<std::byte>>>
try_exchanges(const Compute& compute, std::span<const ExchangeTrial> trials, double patience_s) {
    const std::size_t ranks = compute.devices.size();
    const weft_collectives& collectives = *compute.collectives;
    weft_group_name name{};
    if (collectives.name_group(&name) != WEFT_OK) {
        throw Error(ErrorKind::device, "naming a group of devices", collectives.last_error(),
                    "run `weft doctor` to see what this machine offers");
    }
    // All are there before the first waits for the others.
    TrialWatch watch("an exchange", patience_s, &collectives);
    std::vector<std::unique_ptr<OpenDevice>> devices;
    const std::int64_t bytes = largest_bytes(trials);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        devices.push_back(std::make_unique<OpenDevice>(compute, static_cast<int>(rank), bytes));
        devices.back()->take(bytes);
        devices.back()->set_watch(&watch);
    }
    std::vector<std::vector<std::vector<std::byte>>> results(
        trials.size(), std::vector<std::vector<std::byte>>(ranks));
    for_each_on(static_cast<int>(ranks), ranks, [&](std::size_t rank) {
        try {
            devices[rank]->enter();
            TrialRank member(collectives, *devices[rank], watch, name,
                             static_cast<std::int32_t>(ranks), static_cast<std::int32_t>(rank));
            for (std::size_t i = 0; i < trials.size(); ++i) {
                results[i][rank] = member.run(trials[i]);
            }
        } catch (const Error& fault) {
            watch.end(fault.where() + ": " + fault.text());
            throw;
        }
    });
    return results;
}

} // namespace weft::exec
