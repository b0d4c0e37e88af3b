// SPDX-License-Identifier: Apache-2.0
#include "core/exec/lane_order.h"

#include <algorithm>

namespace weft::exec {
namespace {

bool overlap(const std::vector<Touched>& a, const std::vector<Touched>& b) {
    return std::any_of(a.begin(), a.end(), [&](const Touched& one) {
        return std::any_of(b.begin(), b.end(), [&](const Touched& other) {
            return one.begin < other.end && other.begin < one.end;
        });
    });
}

bool conflict(const LaneCall& a, const LaneCall& b) {
    return overlap(a.writes, b.writes) || overlap(a.writes, b.reads) || overlap(a.reads, b.writes);
}

class Orderer {
public:
    Orderer(const std::vector<LaneCall>& calls, int lanes)
        : calls_(calls), on_lane_(static_cast<std::size_t>(lanes)),
          known_(on_lane_.size(), std::vector<int>(on_lane_.size(), -1)) {}

    LaneOrder run() {
        LaneOrder order;
        std::vector<std::vector<int>>& out = order.waits;
        out.resize(calls_.size());
        after_.resize(calls_.size());
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            out[i] = waits(static_cast<int>(i));
            const auto lane = static_cast<std::size_t>(calls_[i].lane);
            order.waits_for_begin.push_back(lane != 0 && on_lane_[lane].empty() &&
                                            known_[lane].front() < 0);
            on_lane_[lane].push_back(static_cast<int>(i));
            known_[lane][lane] = static_cast<int>(i);
            if (lane != 0 || !out[i].empty()) {
                after_[i] = known_[lane];
            }
        }
        for (std::size_t lane = 1; lane < on_lane_.size(); ++lane) {
            if (!on_lane_[lane].empty() && on_lane_[lane].back() > known_.front()[lane]) {
                order.open.push_back(on_lane_[lane].back());
            }
        }
        return order;
    }

private:
    /// The latest on each other lane that conflicts and that nothing orders yet, latest first: what
    /// an earlier wait brings along is then known.
    std::vector<int> waits(int call) {
        const LaneCall& own = calls_[static_cast<std::size_t>(call)];
        std::vector<int>& known = known_[static_cast<std::size_t>(own.lane)];
        std::vector<int> found;
        for (std::size_t lane = 0; lane < on_lane_.size(); ++lane) {
            if (lane == static_cast<std::size_t>(own.lane)) {
                continue;
            }
            const std::vector<int>& before = on_lane_[lane];
            for (auto one = before.rbegin(); one != before.rend() && *one > known[lane]; ++one) {
                if (conflict(calls_[static_cast<std::size_t>(*one)], own)) {
                    found.push_back(*one);
                    break;
                }
            }
        }
        std::sort(found.rbegin(), found.rend());
        std::vector<int> out;
        for (const int one : found) {
            const auto lane = static_cast<std::size_t>(calls_[static_cast<std::size_t>(one)].lane);
            if (one <= known[lane]) {
                continue;
            }
            out.push_back(one);
            merge(known, known_after(one));
            known[lane] = std::max(known[lane], one);
        }
        return out;
    }

    /// What a call of a lane knows of the others once it is done: that of the lane's last wait.
    const std::vector<int>& known_after(int call) const {
        const auto lane = static_cast<std::size_t>(calls_[static_cast<std::size_t>(call)].lane);
        const std::vector<int>& own = on_lane_[lane];
        auto at = std::upper_bound(own.begin(), own.end(), call);
        while (at != own.begin()) {
            --at;
            if (!after_[static_cast<std::size_t>(*at)].empty()) {
                return after_[static_cast<std::size_t>(*at)];
            }
        }
        return nothing_;
    }

    static void merge(std::vector<int>& into, const std::vector<int>& from) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            into[i] = std::max(into[i], from[i]);
        }
    }

    const std::vector<LaneCall>& calls_;
    std::vector<std::vector<int>> on_lane_; // calls so far
    std::vector<std::vector<int>> known_; // [lane][other]: the last call of it that is done before
    std::vector<std::vector<int>> after_; // of calls that waited, and of all but those of lane 0
    const std::vector<int> nothing_;
};

} // namespace

LaneOrder order_lanes(const std::vector<LaneCall>& calls, int lanes) {
    return Orderer(calls, lanes).run();
}

} // namespace weft::exec
