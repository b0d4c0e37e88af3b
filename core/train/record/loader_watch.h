// SPDX-License-Identifier: Apache-2.0
// What a run tells of its loader while it trains, and what that means for people.
#pragma once

#include "core/data/loader.h"
#include "core/train/record/event.h"

#include <vector>

namespace weft::train {

/// What preparing batches took in each process of a run, since it began.
struct FeedUse {
    double wait_s = 0;                       // of the steps, for whichever process
    std::vector<data::LoaderUse> of_ranks{}; // by rank; of a run of one process one
};

/// Gathers steps between two events. One thread, that which takes batches.
class LoaderWatch {
public:
    /// As LoaderOptions has them.
    LoaderWatch(int workers, int prefetch);

    /// Training begins, or goes on: what was prepared before does not count.
    void begin(const FeedUse& now);
    /// A step is complete that took so many seconds, at `now_s` of a steady clock.
    void add_step(double seconds, double now_s);
    bool has_steps() const { return steps_s_ > 0; }
    /// About once a second.
    bool is_due() const;
    /// What happened since the one before: of many ranks, with that whose loader kept it waiting
    /// longest.
    LoaderEvent take(std::int64_t step, const FeedUse& now);

private:
    int workers_, prefetch_;
    FeedUse before_;
    double steps_s_ = 0;
    double told_s_ = -1; // before the first step: negative
    double now_s_ = 0;
};

/// Both together; `to` may be empty.
void add(const LoaderEvent& event, LoaderEvent& to);

/// Waiting for data is worth a word from this share of the steps' time on.
inline constexpr double kStarvedShare = 0.05;

/// Who waits for whom.
struct LoaderVerdict {
    double wait_share = 0; // of the steps' time
    bool starved = false;  // the steps wait for data
    std::string text;      // "The steps wait for data 12 % of the time: ..."
    std::string hint;      // what to do; empty where there is nothing
    // The setting that would help, and its value; an empty pointer: none does.
    std::string pointer; // "/data/num_workers"
    int value = 0;
};

/// Of an event with steps. `cores`: that the run may use.
LoaderVerdict judge_loader(const LoaderEvent& event, int cores);

} // namespace weft::train
