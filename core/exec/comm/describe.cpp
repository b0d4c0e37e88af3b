// SPDX-License-Identifier: Apache-2.0
// Faults of communication in sentences.
#include "core/base/text.h"
#include "core/exec/comm/issued_call.h"
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

std::string in_group(std::string_view name) {
    return in_brackets("group " + std::string(name));
}

/// " of f32[12], bf16[4] and 3 more"
std::string tensors_text(const std::vector<IssuedCall::Tensor>& tensors) {
    std::string out;
    for (std::size_t i = 0; i < std::min(tensors.size(), kMostNamed); ++i) {
        out += i == 0 ? " of " : ", ";
        out += ir::dtype_name(tensors[i].dtype);
        out += "[" + std::to_string(tensors[i].count) + "]";
    }
    if (tensors.size() > kMostNamed) {
        out += " and " + std::to_string(tensors.size() - kMostNamed) + " more";
    }
    return out;
}

IssuedCall issued(const Call& call) {
    IssuedCall out;
    out.kind = kind_name(call.kind);
    if (call.kind == Kind::all_reduce || call.kind == Kind::reduce_scatter) {
        out.kind += " " + std::string(reduction_name(call.reduction));
    }
    for (const Transfer& tensor : call.tensors) {
        const auto bytes = static_cast<std::int64_t>(tensor.src.size());
        out.tensors.push_back({tensor.dtype, bytes / ir::dtype_bytes(tensor.dtype)});
    }
    if (call.kind == Kind::broadcast) {
        out.route = "from " + std::to_string(call.root);
    } else if (call.kind == Kind::permute) {
        out.route = "along";
        for (const Route& route : call.routes) {
            out.route +=
                " " + std::to_string(route.source) + "->" + std::to_string(route.destination);
        }
    }
    out.what = call.what;
    return out;
}

IssuedCall issued_message(ir::DType dtype, std::size_t bytes, std::string_view what) {
    const std::int64_t count = static_cast<std::int64_t>(bytes) / ir::dtype_bytes(dtype);
    return {{}, {{dtype, count}}, {}, std::string(what)};
}

bool same_call(const Call& a, const Call& b) {
    return a.kind == b.kind && a.reduction == b.reduction && a.root == b.root && a.what == b.what &&
           std::ranges::equal(a.routes, b.routes) &&
           std::ranges::equal(a.tensors, b.tensors, [](const Transfer& x, const Transfer& y) {
               return x.dtype == y.dtype && x.src.size() == y.src.size();
           });
}

/// Members that the owner of a wait waits for; none: all have come to what does not end.
std::vector<int> late_members(const Wait& wait) {
    const Group& group = *wait.group;
    std::vector<int> out;
    if (wait.what == Wait::For::meeting) {
        const std::int64_t meeting = group.member(wait.member).meetings;
        for (int i = 0; i < group.size(); ++i) {
            if (group.member(i).meetings < meeting) {
                out.push_back(i);
            }
        }
        return out;
    }
    const bool sender_is_late = wait.what == Wait::For::message;
    const std::int64_t come = sender_is_late ? group.channel(wait.peer, wait.member).posted
                                             : group.channel(wait.member, wait.peer).taken;
    if (come < wait.number) {
        out.push_back(wait.peer);
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

int world_rank(const Wait& wait) {
    return wait.group->member(wait.member).world_rank;
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
    return ", for more than " + format_duration(timeout_s) + in_group(wait.group->name);
}

/// Everyone waits: the calls of several groups or channels were made in orders that do not fit.
std::string circle_text(std::span<const Wait> waits, std::span<const int> circle,
                        double timeout_s) {
    std::string out = "ranks wait for each other: ";
    std::size_t named = 0;
    for (const int rank : circle) {
        const auto wait = std::ranges::find(waits, rank, world_rank);
        if (named++ < kMostNamed) {
            out += (named == 1 ? "" : ", ") + rank_text(rank) + " at " + describe_place(*wait);
        }
    }
    if (circle.size() > kMostNamed) {
        out += " and " + std::to_string(circle.size() - kMostNamed) + " more";
    }
    return out + ", for more than " + format_duration(timeout_s);
}

std::string count_text(const IssuedCalls& rank, const char* verb, const char* noun,
                       std::size_t at) {
    const std::string number = std::to_string(at + 1);
    return rank_text(rank.world_rank) + " " + verb +
           (at < rank.calls.size()
                ? " " + std::string(noun) + " " + number + " as " + call_text(rank.calls[at])
                : " no " + std::string(noun) + " " + number);
}

/// Where two rows of calls first differ; the length of both when they do not.
std::size_t first_difference(const IssuedCalls& a, const IssuedCalls& b) {
    const auto [in_a, in_b] = std::ranges::mismatch(a.calls, b.calls);
    return static_cast<std::size_t>(in_a - a.calls.begin());
}

bool same_calls(const IssuedCalls& a, const IssuedCalls& b) {
    return a.calls == b.calls;
}

} // namespace

std::string call_text(const IssuedCall& call) {
    const std::string tensors = tensors_text(call.tensors);
    const bool message = call.kind.empty();
    return (message && !tensors.empty() ? tensors.substr(4) : call.kind + tensors) +
           (call.route.empty() ? "" : " " + call.route) + in_brackets(call.what);
}

std::string describe_mismatch(std::string_view group, std::span<const IssuedCalls> ranks) {
    const IssuedCalls& first = ranks.front();
    const auto other = std::ranges::find_if(
        ranks, [&](const IssuedCalls& rank) { return !same_calls(first, rank); });
    if (other == ranks.end()) {
        return {};
    }
    const std::size_t at = first_difference(first, *other);
    return "collectives differ: " + count_text(first, "calls", "collective", at) + ", " +
           count_text(*other, "calls", "collective", at) + in_group(group);
}

std::string describe_mismatch(std::string_view group, const IssuedCalls& sender,
                              const IssuedCalls& receiver) {
    if (same_calls(sender, receiver)) {
        return {};
    }
    const std::size_t at = first_difference(sender, receiver);
    return "messages differ: " + count_text(sender, "sends", "message", at) + ", " +
           count_text(receiver, "expects", "message", at) + in_group(group);
}

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
               " as " + call_text(issued(member.call));
    };
    return "collectives differ: " + side(first) + ", " + side(*other) + in_group(group.name);
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
           call_text(issued_message(message.dtype, message.src.size(), message.what)) + ", " +
           rank_text(group.member(destination).world_rank) + " expects " +
           call_text(issued_message(dtype, dst.size(), what)) + in_group(group.name);
}

std::string describe_place(const Wait& wait) {
    return place_text(wait) + " of group " + wait.group->name;
}

std::string describe_stall(std::span<const Wait> waits, const Wait& first, double timeout_s) {
    // From the rank whose time is over along who waits for whom, to ranks that wait for nobody.
    std::vector<int> seen = {world_rank(first)};
    for (std::size_t at = 0; at < seen.size(); ++at) {
        for (const Wait& wait : waits) {
            if (world_rank(wait) != seen[at]) {
                continue;
            }
            const std::vector<int> late = late_members(wait);
            if (late.empty()) {
                return "all ranks have come to " + place_text(wait) + ", and it does not end" +
                       ending(wait, timeout_s);
            }
            std::vector<int> idle;
            for (const int member : late) {
                const int rank = wait.group->member(member).world_rank;
                if (std::ranges::find(waits, rank, world_rank) == waits.end()) {
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
    }
    std::sort(seen.begin(), seen.end());
    return circle_text(waits, seen, timeout_s);
}

} // namespace weft::exec::comm
