// SPDX-License-Identifier: Apache-2.0
// Which ranks of a group exchange with each other, so that as little as can be goes between hosts:
// those of a host among themselves, and those that have the same place on their hosts. Private to
// core/exec/comm.
#pragma once

#include <span>
#include <vector>

namespace weft::exec::comm {

/// Ranks of the group, and where this one is among them.
struct Circle {
    std::vector<int> ranks;
    int place = 0;

    int size() const { return static_cast<int>(ranks.size()); }
    int rank(int at) const { return ranks[static_cast<std::size_t>(at)]; }
    /// The place `steps` behind this rank's, counted round; at most size().
    int behind(int steps) const { return (place + size() - steps) % size(); }
    int ahead(int steps) const { return (place + steps) % size(); }
};

class Circles {
public:
    /// Rank `own` of a group; `hosts` by rank of the world, empty: all are on one. Throws
    /// std::logic_error (WEFT_CHECK) where it is not of the group.
    Circles(std::span<const int> world_ranks, int own, std::span<const int> hosts);

    const Circle& all() const { return all_; }
    /// Each of several hosts has as many ranks of the group, more than one. Else there is nothing
    /// below.
    bool several_hosts() const { return !hosts_.empty(); }
    const Circle& near() const { return near_; }     // of this rank's host
    const Circle& across() const { return across_; } // its place on each host
    int rank_at(int host, int place) const {
        return hosts_[static_cast<std::size_t>(host)][static_cast<std::size_t>(place)];
    }
    int host_of(int rank) const { return places_[static_cast<std::size_t>(rank)].host; }
    int place_of(int rank) const { return places_[static_cast<std::size_t>(rank)].place; }

private:
    struct Place {
        int host = 0; // in the order in which the group's ranks name them
        int place = 0;
    };
    Circle all_;
    Circle near_;
    Circle across_;
    std::vector<std::vector<int>> hosts_; // [host][place]
    std::vector<Place> places_;           // by rank
};

} // namespace weft::exec::comm
