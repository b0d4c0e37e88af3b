// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/loader_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft::train {
namespace {

constexpr double kLoaderSeconds = 1;
constexpr double kBusyShare = 0.7; // of the workers' time: more of them would help
constexpr int kMostWorkers = 64;   // data.num_workers
constexpr int kMostPrefetch = 64;  // data.prefetch
constexpr double kLeastShown = 0.005;

double milliseconds(const data::LoaderUse& now, const data::LoaderUse& before, Stage stage) {
    const auto at = static_cast<std::size_t>(stage);
    return (now.stages[at] - before.stages[at]) * 1000;
}

std::string percent(double share) {
    return std::to_string(std::lround(100 * share)) + " %";
}

/// The stage that takes longest, in words and with its share of all.
struct Longest {
    Stage stage;
    double share;
};

Longest longest_stage(const LoaderEvent& event, double busy_ms) {
    const std::array<std::pair<Stage, double>, kStages> stages{
        {{Stage::read, event.read_ms},
         {Stage::decode, event.decode_ms},
         {Stage::transform, event.transform_ms},
         {Stage::batch, event.batch_ms}}};
    const auto found =
        std::max_element(stages.begin(), stages.end(), [](const auto& one, const auto& other) {
            return one.second < other.second;
        });
    return {found->first, busy_ms > 0 ? found->second / busy_ms : 0};
}

const char* name_of(Stage stage) {
    switch (stage) {
    case Stage::read: return "reading files";
    case Stage::decode: return "decoding";
    case Stage::transform: return "transforming";
    case Stage::batch: return "putting samples into batches";
    }
    return "";
}

/// Where every core prepares data already.
const char* hint_for(Stage stage) {
    switch (stage) {
    case Stage::read: return "Set data.cache to memory where they fit, or use a faster disk.";
    case Stage::decode: return "Store them unpacked: weft data convert.";
    case Stage::transform: return "Use fewer or cheaper transforms.";
    case Stage::batch: return "Use smaller samples.";
    }
    return "";
}

void advise(const LoaderEvent& event, double busy_ms, Stage longest, int cores,
            LoaderVerdict& out) {
    const auto set = [&](const char* field, int value) {
        out.pointer = std::string("/data/") + field;
        out.value = value;
        out.hint = "Set data." + std::string(field) + " to " + std::to_string(value) + ".";
    };
    const int most = std::min(cores, kMostWorkers);
    const bool busy = busy_ms >= kBusyShare * event.workers * event.steps_ms;
    if (event.workers < most && busy) {
        // As many as would do the same work in the time in which a step computes.
        const double computing_ms = std::max(event.steps_ms - event.wait_ms, 1e-3);
        const double enough = std::min(std::ceil(busy_ms / computing_ms), 1.0 * most);
        set("num_workers", std::max(event.workers + 1, static_cast<int>(enough)));
    } else if (!busy && event.prefetch < kMostPrefetch) {
        set("prefetch", std::min(kMostPrefetch, 2 * std::max(1, event.prefetch)));
    } else {
        out.hint = hint_for(longest);
    }
}

} // namespace

LoaderWatch::LoaderWatch(int workers, int prefetch)
    : workers_(prefetch > 0 ? workers : 0), prefetch_(workers > 0 ? prefetch : 0) {}

void LoaderWatch::begin(const FeedUse& now) {
    before_ = now;
    steps_s_ = 0;
}

void LoaderWatch::add_step(double seconds, double now_s) {
    steps_s_ += seconds;
    now_s_ = now_s;
    told_s_ = told_s_ < 0 ? now_s : told_s_;
}

bool LoaderWatch::is_due() const {
    return now_s_ - told_s_ >= kLoaderSeconds;
}

LoaderEvent LoaderWatch::take(std::int64_t step, const FeedUse& all) {
    before_.of_ranks.resize(all.of_ranks.size());
    std::size_t slowest = 0;
    const auto waited_s = [&](std::size_t rank) {
        return all.of_ranks[rank].wait_s - before_.of_ranks[rank].wait_s;
    };
    for (std::size_t rank = 1; rank < all.of_ranks.size(); ++rank) {
        slowest = waited_s(rank) > waited_s(slowest) ? rank : slowest;
    }
    const data::LoaderUse& now = all.of_ranks[slowest];
    const data::LoaderUse& before = before_.of_ranks[slowest];
    LoaderEvent out;
    if (all.of_ranks.size() > 1) {
        out.rank = static_cast<int>(slowest);
    }
    out.step = step;
    out.steps_ms = std::exchange(steps_s_, 0.0) * 1000;
    out.wait_ms = (all.wait_s - before_.wait_s) * 1000;
    out.workers = workers_;
    out.prefetch = prefetch_;
    const std::int64_t batches = now.batches - before.batches;
    out.ready = static_cast<double>(now.ready - before.ready) /
                static_cast<double>(std::max<std::int64_t>(1, batches));
    out.samples = now.samples - before.samples;
    out.read_ms = milliseconds(now, before, Stage::read);
    out.decode_ms = milliseconds(now, before, Stage::decode);
    out.transform_ms = milliseconds(now, before, Stage::transform);
    out.batch_ms = milliseconds(now, before, Stage::batch);
    before_ = all;
    told_s_ = now_s_;
    return out;
}

void add(const LoaderEvent& event, LoaderEvent& to) {
    const double all_ms = to.steps_ms + event.steps_ms;
    to.ready = all_ms > 0 ? (to.ready * to.steps_ms + event.ready * event.steps_ms) / all_ms : 0;
    to.step = event.step;
    to.steps_ms = all_ms;
    to.rank = event.wait_ms > to.wait_ms ? event.rank : to.rank;
    to.wait_ms += event.wait_ms;
    to.workers = event.workers;
    to.prefetch = event.prefetch;
    to.samples += event.samples;
    to.read_ms += event.read_ms;
    to.decode_ms += event.decode_ms;
    to.transform_ms += event.transform_ms;
    to.batch_ms += event.batch_ms;
}

LoaderVerdict judge_loader(const LoaderEvent& event, int cores) {
    LoaderVerdict out;
    out.wait_share = event.steps_ms > 0 ? event.wait_ms / event.steps_ms : 0;
    out.starved = out.wait_share > kStarvedShare;
    if (!out.starved) {
        out.text = "Data are ready before they are asked for";
        out.text += out.wait_share < kLeastShown
                        ? "."
                        : ", but for " + percent(out.wait_share) + " of the time.";
        return out;
    }
    const double busy_ms = event.read_ms + event.decode_ms + event.transform_ms + event.batch_ms;
    const Longest longest = longest_stage(event, busy_ms);
    out.text = "The steps wait for data " + percent(out.wait_share) + " of the time" +
               (event.rank ? ", for rank " + std::to_string(*event.rank) + " most: " : ": ") +
               name_of(longest.stage) + " takes " + percent(longest.share) +
               " of the time that goes into preparing them" +
               (event.workers == 0 ? ", which the training thread does itself." : ".");
    advise(event, busy_ms, longest.stage, cores, out);
    return out;
}

} // namespace weft::train
