// SPDX-License-Identifier: Apache-2.0
#include "core/exec/world/world_report.h"

#include "core/base/text.h"

#include <algorithm>

namespace weft::exec {

WorldReport::WorldReport(const MeetingPlaces& places,
                         const std::vector<std::vector<const ProgramMarks*>>& programs)
    : programs_(programs) {
    for (const auto& [key, place] : places) {
        read(key, place);
    }
}

/// Neither has the rank done its program nor does its computation wait for an exchange. It may have
/// begun exchanges that are not needed yet.
bool WorldReport::computes(int rank) const {
    const auto& programs = programs_[static_cast<std::size_t>(rank)];
    return std::ranges::any_of(programs, [](const ProgramMarks* program) {
        return times_past(*program->begun) > times_past(*program->ended) &&
               std::ranges::none_of(program->stalls, [](const StallMarks& stall) {
                   return times_past(*stall.begun) > times_past(*stall.ended);
               });
    });
}

WorldReport::Count WorldReport::count(const std::string& key, int rank) const {
    Count out;
    for (const ProgramMarks* program : programs_[static_cast<std::size_t>(rank)]) {
        for (const ExchangeMarks& exchange : program->exchanges) {
            if (exchange.group != key) {
                continue;
            }
            const std::uint64_t done = times_past(*exchange.done); // first: it follows
            const std::uint64_t come = times_past(*exchange.come);
            out.come += static_cast<std::int64_t>(come);
            out.done += static_cast<std::int64_t>(done);
            if (come > 0 && past_s(*exchange.come, come) >= out.last_s) {
                out.last_s = past_s(*exchange.come, come);
                out.what = exchange.what;
            }
        }
    }
    return out;
}

void WorldReport::read(const std::string& key, const MeetingPlace& place) {
    comm::Group& group = groups_.emplace_back();
    group.name = place.axes;
    group.world_ranks = place.devices;
    const int size = static_cast<int>(place.devices.size());
    group.members.resize(place.devices.size());
    group.channels.resize(place.devices.size() * place.devices.size());
    std::vector<Count> counts;
    for (int i = 0; i < size; ++i) {
        comm::Member& member = group.member(i);
        member.world_rank = place.devices[static_cast<std::size_t>(i)];
        const Count& one = counts.emplace_back(count(key, member.world_rank));
        if (!place.messages) {
            member.number = one.come;
            member.what = one.what;
            member.meetings = one.come;
        } else if (i == 0) {
            group.channel(0, 1).posted = one.come;
        } else {
            group.channel(0, 1).taken = one.come;
        }
    }
    using For = comm::Wait::For;
    for (int i = 0; i < size; ++i) {
        const Count& one = counts[static_cast<std::size_t>(i)];
        const comm::Wait wait{!place.messages ? For::meeting
                              : i == 0        ? For::taken
                                              : For::message,
                              &group,
                              i,
                              1 - i, // of the two of a message
                              one.come,
                              *texts_.insert(one.what).first,
                              0};
        if (one.come > one.done && !computes(group.member(i).world_rank)) {
            waits_.push_back(wait);
        }
        Last& last = last_[group.member(i).world_rank];
        if (one.come > 0 && one.last_s >= last.s) {
            last = {one.last_s, comm::describe_place(wait)};
        }
    }
}

const comm::Wait* WorldReport::wait_of(int rank) const {
    const auto wait = std::ranges::find_if(waits_, [&](const comm::Wait& one) {
        return one.group->member(one.member).world_rank == rank;
    });
    return wait == waits_.end() ? nullptr : &*wait;
}

comm::RankPosition WorldReport::position(int rank) const {
    const comm::Wait* wait = wait_of(rank);
    if (wait == nullptr) {
        return {};
    }
    comm::RankPosition out{comm::describe_place(*wait), wait->group->world_ranks};
    std::erase(out.waits_for, rank);
    return out;
}

std::string WorldReport::place(int rank) const {
    if (const comm::Wait* wait = wait_of(rank)) {
        return "at " + comm::describe_place(*wait);
    }
    const auto last = last_.find(rank);
    return last == last_.end() || last->second.place.empty() ? "before its first exchange"
                                                             : "after " + last->second.place;
}

std::string WorldReport::stall(int waiting, double timeout_s) const {
    if (!waits_.empty()) {
        return comm::describe_stall(waits_, waits_.front(), timeout_s);
    }
    std::string out;
    for (int rank = 0; rank < static_cast<int>(programs_.size()); ++rank) {
        const std::string one = unended(rank, "rank " + std::to_string(rank));
        out += (out.empty() || one.empty() ? "" : ", ") + one;
    }
    if (out.empty()) { // no program runs: what is left are copies
        out = "rank " + std::to_string(waiting) + " does not end a copy from or to the host, " +
              place(waiting);
    }
    return out + ", for more than " + format_duration(timeout_s);
}

/// Programs of a rank that run; empty: none does.
std::string WorldReport::unended(int rank, const std::string& name) const {
    std::string out;
    for (const ProgramMarks* program : programs_[static_cast<std::size_t>(rank)]) {
        if (times_past(*program->begun) > times_past(*program->ended)) {
            out += (out.empty() ? "" : ", ") + name + " does not end " +
                   std::string(program->program) + ", " + place(rank);
        }
    }
    return out;
}

std::string WorldReport::stall_of(int rank, const std::string& name, double timeout_s) const {
    const comm::Wait* wait = wait_of(rank);
    std::string out = wait != nullptr
                          ? name + " waits for the other ranks at " + comm::describe_place(*wait)
                          : unended(rank, name);
    if (out.empty()) {
        out = name + " does not end a copy from or to the host, " + place(rank);
    }
    return out + ", for more than " + format_duration(timeout_s);
}

std::string WorldReport::stall_alone(double timeout_s) const {
    std::string out = "a copy from or to the host does not end";
    for (const ProgramMarks* program : programs_.front()) {
        const std::uint64_t runs = times_past(*program->begun);
        if (runs > times_past(*program->ended)) {
            const auto before = (runs - 1) * static_cast<std::uint64_t>(program->stops);
            const std::uint64_t stops = times_past(*program->gone_on);
            out = std::string(program->program) +
                  (stops > before ? " does not go on after " +
                                        std::to_string((stops - before) * kCallsBetweenStops) +
                                        " of its " + std::to_string(program->calls) + " calls"
                                  : " does not end");
        }
    }
    return out + ", for more than " + format_duration(timeout_s);
}

} // namespace weft::exec
