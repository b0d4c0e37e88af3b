// SPDX-License-Identifier: Apache-2.0
// Faults of communication in sentences.
#include "core/base/text.h"
#include "core/exec/comm/rendezvous.h"

#include <algorithm>

namespace weft::exec::comm {
namespace {

constexpr std::size_t kMostNamed = 4;

std::string rank_text(int world_rank) {
    return "rank " + std::to_string(world_rank);
}

std::string in_brackets(std::string_view text) {
    return text.empty() ? std::string() : " (" + std::string(text) + ")";
}

/// "f32[12], bf16[4] and 3 more"
std::string tensors_text(const Call& call) {
    std::string out;
    for (std::size_t i = 0; i < std::min(call.tensors.size(), kMostNamed); ++i) {
        const Transfer& tensor = call.tensors[i];
        const auto bytes = static_cast<std::int64_t>(tensor.src.size());
        out += i == 0 ? " of " : ", ";
        out += ir::dtype_name(tensor.dtype);
        out += "[" + std::to_string(bytes / ir::dtype_bytes(tensor.dtype)) + "]";
    }
    if (call.tensors.size() > kMostNamed) {
        out += " and " + std::to_string(call.tensors.size() - kMostNamed) + " more";
    }
    return out;
}

std::string call_text(const Call& call) {
    std::string out(kind_name(call.kind));
    if (call.kind == Kind::all_reduce || call.kind == Kind::reduce_scatter) {
        out += " " + std::string(reduction_name(call.reduction));
    }
    out += tensors_text(call);
    if (call.kind == Kind::broadcast) {
        out += " from " + std::to_string(call.root);
    } else if (call.kind == Kind::permute) {
        out += " along";
        for (const Route& route : call.routes) {
            out += " " + std::to_string(route.source) + "->" + std::to_string(route.destination);
        }
    }
    return out + in_brackets(call.what);
}

bool same_call(const Call& a, const Call& b) {
    return a.kind == b.kind && a.reduction == b.reduction && a.root == b.root && a.what == b.what &&
           std::ranges::equal(a.routes, b.routes) &&
           std::ranges::equal(a.tensors, b.tensors, [](const Transfer& x, const Transfer& y) {
               return x.dtype == y.dtype && x.src.size() == y.src.size();
           });
}

std::string message_text(ir::DType dtype, std::size_t bytes, std::string_view what) {
    return std::string(ir::dtype_name(dtype)) + "[" +
           std::to_string(static_cast<std::int64_t>(bytes) / ir::dtype_bytes(dtype)) + "]" +
           in_brackets(what);
}

/// Members that the owner of a wait waits for.
std::vector<int> late_members(const Wait& wait) {
    if (wait.what != Wait::For::meeting) {
        return {wait.peer};
    }
    std::vector<int> out;
    const std::int64_t meeting = wait.group->member(wait.member).meetings;
    for (int i = 0; i < wait.group->size(); ++i) {
        if (wait.group->member(i).meetings < meeting) {
            out.push_back(i);
        }
    }
    return out;
}

std::string place_text(const Wait& wait) {
    const Member& me = wait.group->member(wait.member);
    const std::string peer = wait.what == Wait::For::meeting
                                 ? std::string()
                                 : rank_text(wait.group->member(wait.peer).world_rank);
    const std::string number = std::to_string(wait.number);
    switch (wait.what) {
    case Wait::For::meeting:
        return "collective " + std::to_string(me.number) + in_brackets(me.what);
    case Wait::For::message: return "message " + number + " of " + peer + in_brackets(wait.label);
    case Wait::For::taken: return "message " + number + " to " + peer + in_brackets(wait.label);
    case Wait::For::nothing: break;
    }
    return {};
}

/// "rank 2 is at collective 4 (what), rank 3 has not started, the others wait at 5 (what)"
std::string late_in_collective(const Wait& wait, std::span<const int> late) {
    const Group& group = *wait.group;
    const Member& me = group.member(wait.member);
    std::string out;
    for (std::size_t i = 0; i < std::min(late.size(), kMostNamed); ++i) {
        const Member& member = group.member(late[i]);
        out += rank_text(member.world_rank);
        out += member.number == 0 ? " has not come to collective 1, "
                                  : " is at collective " + std::to_string(member.number) +
                                        in_brackets(member.what) + ", ";
    }
    if (late.size() > kMostNamed) {
        out += std::to_string(late.size() - kMostNamed) + " more are late, ";
    }
    return out + "the others wait at " + std::to_string(me.number) + in_brackets(me.what);
}

/// "rank 0 is at message 1 to rank 1, which waits for 2 (what)"
std::string late_with_message(const Wait& wait) {
    const Group& group = *wait.group;
    const bool sender_is_late = wait.what == Wait::For::message;
    const Channel& channel = sender_is_late ? group.channel(wait.peer, wait.member)
                                            : group.channel(wait.member, wait.peer);
    const std::int64_t last = sender_is_late ? channel.posted : channel.taken;
    const std::string place =
        last == 0 ? (sender_is_late ? "has sent no message" : "has taken no message")
                  : "is at message " + std::to_string(last);
    return rank_text(group.member(wait.peer).world_rank) + " " + place +
           (sender_is_late ? " to " : " of ") + rank_text(group.member(wait.member).world_rank) +
           (sender_is_late ? ", which waits for " : ", which waits until it takes ") +
           std::to_string(wait.number) + in_brackets(wait.label);
}

std::string ending(const Wait& wait, double timeout_s) {
    return ", for more than " + format_duration(timeout_s) + " (group " + wait.group->name + ")";
}

/// Everyone waits: the calls of several groups or channels were made in orders that do not fit.
std::string circle_text(std::span<const Wait> waits, std::span<const int> circle,
                        double timeout_s) {
    std::string out = "ranks wait for each other: ";
    for (std::size_t i = 0; i < std::min(circle.size(), kMostNamed); ++i) {
        const Wait& wait = waits[static_cast<std::size_t>(circle[i])];
        out += (i == 0 ? "" : ", ") + rank_text(circle[i]) + " at " + place_text(wait) +
               " of group " + wait.group->name;
    }
    if (circle.size() > kMostNamed) {
        out += " and " + std::to_string(circle.size() - kMostNamed) + " more";
    }
    return out + ", for more than " + format_duration(timeout_s);
}

} // namespace

std::string describe_mismatch(const Group& group) {
    const Member& first = group.members.front();
    const auto other =
        std::find_if(group.members.begin(), group.members.end(), [&](const Member& member) {
            return member.number != first.number || !same_call(member.call, first.call);
        });
    if (other == group.members.end()) {
        return {};
    }
    const auto side = [](const Member& member) {
        return rank_text(member.world_rank) + " calls collective " + std::to_string(member.number) +
               " as " + call_text(member.call);
    };
    return "collectives differ: " + side(first) + ", " + side(*other) + " (group " + group.name +
           ")";
}

std::string describe_mismatch(const Group& group, int source, int destination,
                              std::span<std::byte> dst, ir::DType dtype, std::string_view what) {
    const Channel& channel = group.channel(source, destination);
    const std::int64_t number = channel.taken + 1;
    const Message& message = channel.message(number);
    if (message.dtype == dtype && message.src.size() == dst.size() && message.what == what) {
        return {};
    }
    return "messages differ: " + rank_text(group.member(source).world_rank) + " sends message " +
           std::to_string(number) + " as " +
           message_text(message.dtype, message.src.size(), message.what) + ", " +
           rank_text(group.member(destination).world_rank) + " expects " +
           message_text(dtype, dst.size(), what) + " (group " + group.name + ")";
}

std::string describe_stall(std::span<const Wait> waits, int first, double timeout_s) {
    // From the rank whose time is over along who waits for whom, to ranks that wait for nobody.
    std::vector<int> seen = {first};
    for (std::size_t at = 0; at < seen.size(); ++at) {
        const Wait& wait = waits[static_cast<std::size_t>(seen[at])];
        std::vector<int> idle;
        for (const int member : late_members(wait)) {
            const int rank = wait.group->member(member).world_rank;
            if (waits[static_cast<std::size_t>(rank)].what == Wait::For::nothing) {
                idle.push_back(member);
            } else if (std::find(seen.begin(), seen.end(), rank) == seen.end()) {
                seen.push_back(rank);
            }
        }
        if (!idle.empty()) {
            return (wait.what == Wait::For::meeting ? late_in_collective(wait, idle)
                                                    : late_with_message(wait)) +
                   ending(wait, timeout_s);
        }
    }
    std::sort(seen.begin(), seen.end());
    return circle_text(waits, seen, timeout_s);
}

} // namespace weft::exec::comm
