// SPDX-License-Identifier: Apache-2.0
// Collectives between emulated devices: each call is a meeting of its ranks' streams.
#include "tests/kernels/emulation/collectives.h"

#include "kernels/numbers.h"
#include "kernels/op.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/kernels/emulation/ranks_apart.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <utility>

using weft::kernels::fail;
using weft::test::Access;
using weft::test::Gift;
using weft::test::Meeting;
using weft::test::RanksApart;

namespace {

/// A rank's call, with copies of what it names.
struct Call {
    weft_collective_call call{};
    std::vector<weft_transfer> list;
};

/// Calls of one number, by rank.
struct Round {
    std::shared_ptr<Meeting> meeting;
    std::vector<Call> calls;
    std::size_t come = 0;
};

struct Group {
    int size = 0;
    int joined = 0;
    weft::test::MachineOptions planted;
    std::shared_ptr<const RanksApart> apart; // null: all ranks are of this process
    std::string fault;
    // Collectives are counted per rank, messages per pair of ranks.
    std::map<std::pair<int, int>, std::vector<std::int64_t>> next; // [key][rank]
    std::map<std::tuple<int, int, std::int64_t>, Round> rounds;    // gone when all have come
    std::vector<std::weak_ptr<Meeting>> meetings;
};

std::mutex groups_mutex;
std::map<std::string, std::shared_ptr<Group>> groups;
std::int64_t names = 0;

double number(const void* data, std::int32_t dtype, std::int64_t i) {
    switch (dtype) {
    case WEFT_F32: return static_cast<double>(static_cast<const float*>(data)[i]);
    case WEFT_F64: return static_cast<const double*>(data)[i];
    case WEFT_I32: return static_cast<double>(static_cast<const std::int32_t*>(data)[i]);
    case WEFT_I64: return static_cast<double>(static_cast<const std::int64_t*>(data)[i]);
    case WEFT_BF16:
        return static_cast<double>(
            weft::kernels::to_float(static_cast<const weft::kernels::bf16*>(data)[i]));
    case WEFT_F16:
        return static_cast<double>(
            weft::kernels::to_float(static_cast<const weft::kernels::f16*>(data)[i]));
    default: weft::kernels::unsupported("a reduction of this type");
    }
}

void put(void* data, std::int32_t dtype, std::int64_t i, double value) {
    switch (dtype) {
    case WEFT_F32: static_cast<float*>(data)[i] = static_cast<float>(value); break;
    case WEFT_F64: static_cast<double*>(data)[i] = value; break;
    case WEFT_I32: static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(value); break;
    case WEFT_I64: static_cast<std::int64_t*>(data)[i] = static_cast<std::int64_t>(value); break;
    case WEFT_BF16:
        static_cast<weft::kernels::bf16*>(data)[i] =
            weft::kernels::to_bf16(static_cast<float>(value));
        break;
    case WEFT_F16:
        static_cast<weft::kernels::f16*>(data)[i] =
            weft::kernels::to_f16(static_cast<float>(value));
        break;
    default: weft::kernels::unsupported("a reduction of this type");
    }
}

std::int64_t size_of(const weft_transfer& transfer) {
    return transfer.count * weft::kernels::dtype_size(transfer.dtype);
}

const unsigned char* bytes(const void* data) {
    return static_cast<const unsigned char*>(data);
}

/// Element `i` of all ranks' `from`, reduced in rank order.
double reduced(const std::vector<Call>& calls, std::size_t t, std::int64_t i) {
    const weft_transfer& first = calls.front().list[t];
    double out = number(first.from, first.dtype, i);
    for (std::size_t rank = 1; rank < calls.size(); ++rank) {
        const double other = number(calls[rank].list[t].from, first.dtype, i);
        if (calls.front().call.reduction == WEFT_SUM) {
            out += other;
        } else {
            out = out >= other || std::isnan(out) ? out : other;
        }
    }
    return out;
}

/// What the ranks take, computed before anything is written: a result may lie on its input.
std::vector<std::vector<unsigned char>> results(const std::vector<Call>& calls, std::size_t t) {
    const auto ranks = static_cast<std::int64_t>(calls.size());
    std::vector<std::vector<unsigned char>> out(calls.size());
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const weft_transfer& own = calls[static_cast<std::size_t>(rank)].list[t];
        const std::int64_t part = size_of(own);
        auto& to = out[static_cast<std::size_t>(rank)];
        const auto from = [&](std::int64_t other) {
            return bytes(calls[static_cast<std::size_t>(other)].list[t].from);
        };
        switch (calls.front().call.kind) {
        case WEFT_ALL_REDUCE:
        case WEFT_REDUCE_SCATTER: {
            const bool scatters = calls.front().call.kind == WEFT_REDUCE_SCATTER;
            to.resize(static_cast<std::size_t>(part));
            for (std::int64_t i = 0; i < own.count; ++i) {
                put(to.data(), own.dtype, i,
                    reduced(calls, t, i + (scatters ? rank * own.count : 0)));
            }
            break;
        }
        case WEFT_ALL_GATHER:
            for (std::int64_t other = 0; other < ranks; ++other) {
                to.insert(to.end(), from(other), from(other) + part);
            }
            break;
        case WEFT_ALL_TO_ALL:
            for (std::int64_t other = 0; other < ranks; ++other) {
                to.insert(to.end(), from(other) + rank * part, from(other) + (rank + 1) * part);
            }
            break;
        default: { // permute
            const std::int64_t shift = calls.front().call.shift;
            const std::int64_t other = ((rank - shift) % ranks + ranks) % ranks;
            to.assign(from(other), from(other) + part);
        }
        }
    }
    return out;
}

void carry_out(const std::vector<Call>& calls) {
    for (std::size_t t = 0; t < calls.front().list.size(); ++t) {
        auto out = results(calls, t);
        if (calls.front().call.kind == weft::test::machine_options().wrong_collective) {
            for (auto& bytes : out) {
                std::reverse(bytes.begin(), bytes.end());
            }
        }
        for (std::size_t rank = 0; rank < calls.size(); ++rank) {
            std::memcpy(calls[rank].list[t].to, out[rank].data(), out[rank].size());
        }
    }
}

void carry_message(const std::vector<Call>& calls) { // the sender first
    auto* const to = static_cast<unsigned char*>(calls[1].list[0].to);
    std::memcpy(to, calls[0].list[0].from, static_cast<std::size_t>(size_of(calls[0].list[0])));
    if (calls.front().call.kind == weft::test::machine_options().wrong_collective) {
        std::reverse(to, to + size_of(calls[0].list[0]));
    }
}

std::string mismatch(const std::vector<Call>& calls) {
    const Call& first = calls.front();
    const bool message = first.call.kind == WEFT_SEND;
    for (const Call& other : calls) {
        bool same = (message || first.call.kind == other.call.kind) &&
                    first.call.reduction == other.call.reduction &&
                    first.call.shift == other.call.shift && first.list.size() == other.list.size();
        for (std::size_t t = 0; same && t < first.list.size(); ++t) {
            same = first.list[t].count == other.list[t].count &&
                   first.list[t].dtype == other.list[t].dtype;
        }
        if (!same) {
            return "the ranks of a group call different collectives";
        }
    }
    return {};
}

} // namespace

struct weft_group {
    std::shared_ptr<Group> shared;
    int rank = 0;
};

namespace {

weft_status name_group(weft_group_name* name) {
    const std::lock_guard lock(groups_mutex);
    *name = {};
    const std::string text =
        "emulated " + std::to_string(::getpid()) + " " + std::to_string(++names);
    std::memcpy(name->bytes, text.data(), text.size());
    return WEFT_OK;
}

weft_status join(weft_device* device, const weft_group_name* name, std::int32_t size,
                 std::int32_t rank, weft_group** group) {
    const std::lock_guard lock(groups_mutex);
    std::shared_ptr<Group>& shared = groups[name->bytes];
    if (shared == nullptr) {
        shared = std::make_shared<Group>();
        shared->size = size;
        shared->planted = weft::test::machine_options();
        if (shared->planted.ranks_apart) {
            shared->apart = std::make_shared<const RanksApart>(name->bytes, size);
        }
    }
    if (shared->apart != nullptr) {
        shared->apart->join(rank);
    }
    shared->joined += shared->planted.absent_rank == rank ? 0 : 1;
    *group = new weft_group{shared, rank};
    weft::test::hold_group(device);
    return WEFT_OK;
}

weft_status is_joined(weft_group* group, std::int32_t* joined) {
    const std::lock_guard lock(groups_mutex);
    const Group& shared = *group->shared;
    const bool all =
        shared.apart != nullptr ? shared.apart->all_joined() : shared.joined == shared.size;
    *joined = all ? 1 : 0;
    return WEFT_OK;
}

/// Bytes that a rank gives in a call of a group of so many.
std::int64_t given_bytes(const weft_collective_call& call, const weft_transfer& one,
                         std::int64_t ranks) {
    const bool parts = call.kind == WEFT_REDUCE_SCATTER || call.kind == WEFT_ALL_TO_ALL;
    return call.kind == WEFT_RECEIVE ? 0 : (parts ? ranks : 1) * size_of(one);
}

std::int64_t taken_bytes(const weft_collective_call& call, const weft_transfer& one,
                         std::int64_t ranks) {
    const bool parts = call.kind == WEFT_ALL_GATHER || call.kind == WEFT_ALL_TO_ALL;
    return call.kind == WEFT_SEND ? 0 : (parts ? ranks : 1) * size_of(one);
}

/// A call whose other ranks are in other processes.
struct CallApart {
    std::shared_ptr<const RanksApart> ranks;
    std::string part;
    std::int64_t number = 0;
    int places = 0;
    int own = 0;
    Call call;

    void give() const {
        Gift gift{call.call, call.list, {}};
        for (const weft_transfer& one : call.list) {
            const auto* from = bytes(one.from);
            const std::int64_t size = given_bytes(call.call, one, places);
            gift.bytes.emplace_back(from, from == nullptr ? from : from + size);
        }
        ranks->give(part, number, own, gift);
    }

    void carry() const {
        std::vector<Gift> gifts;
        std::vector<Call> calls;
        std::vector<std::vector<unsigned char>> nowhere; // what the others take
        for (int place = 0; place < places; ++place) {
            Gift& gift = gifts.emplace_back(ranks->gift_of(part, number, place));
            Call& one = calls.emplace_back(Call{gift.call, gift.list});
            for (std::size_t i = 0; i < one.list.size(); ++i) {
                nowhere.emplace_back(
                    static_cast<std::size_t>(taken_bytes(one.call, one.list[i], places)));
                one.list[i].from = gift.bytes[i].data();
                one.list[i].to = place == own ? call.list[i].to : nowhere.back().data();
            }
        }
        if (const std::string wrong = mismatch(calls); !wrong.empty()) {
            throw weft::kernels::Failure{WEFT_LIBRARY_ERROR, wrong};
        }
        call.call.kind == WEFT_SEND || call.call.kind == WEFT_RECEIVE ? carry_message(calls)
                                                                      : carry_out(calls);
    }
};

/// The machine's lock is held: ranks come one after another.
std::shared_ptr<Meeting> come(const std::shared_ptr<Group>& group, int rank, const Call& call,
                              weft_stream* stream) {
    const bool sends = call.call.kind == WEFT_SEND;
    const bool message = sends || call.call.kind == WEFT_RECEIVE;
    const std::pair<int, int> key = !message ? std::pair(-1, -1)
                                    : sends  ? std::pair(rank, static_cast<int>(call.call.peer))
                                             : std::pair(static_cast<int>(call.call.peer), rank);
    const std::size_t ranks = message ? 2 : static_cast<std::size_t>(group->size);
    const auto place =
        message ? static_cast<std::size_t>(sends ? 0 : 1) : static_cast<std::size_t>(rank);
    std::vector<std::int64_t>& next = group->next[key];
    next.resize(ranks);
    const std::int64_t number = next[place]++;
    const bool mismatched =
        number == group->planted.mismatched_call && rank == group->planted.troubled;
    if (group->apart != nullptr) {
        Call own = call;
        own.list.front().count -= mismatched ? 1 : 0;
        const auto apart = std::make_shared<const CallApart>(CallApart{
            group->apart,
            message ? std::to_string(key.first) + " to " + std::to_string(key.second) : "all",
            number, static_cast<int>(ranks), static_cast<int>(place), std::move(own)});
        auto meeting = std::make_shared<Meeting>();
        meeting->streams = {stream};
        meeting->refused = group->fault;
        meeting->others_come = [apart, gave = false]() mutable {
            if (!std::exchange(gave, true)) {
                apart->give();
            }
            return apart->ranks->all_gave(apart->part, apart->number, apart->places);
        };
        meeting->work = [apart] { apart->carry(); };
        std::erase_if(group->meetings, [](const auto& one) { return one.expired(); });
        group->meetings.push_back(meeting);
        return meeting;
    }
    const std::tuple id(key.first, key.second, number);
    Round& round = group->rounds[id];
    if (round.meeting == nullptr) {
        round.meeting = std::make_shared<Meeting>();
        round.meeting->streams.resize(ranks);
        round.calls.resize(ranks);
        std::erase_if(group->meetings, [](const auto& one) { return one.expired(); });
        group->meetings.push_back(round.meeting);
        round.meeting->refused = group->fault;
    }
    round.meeting->streams[place] = stream;
    round.calls[place] = call;
    if (mismatched) {
        --round.calls[place].list.front().count;
    }
    const std::shared_ptr<Meeting> meeting = round.meeting;
    if (++round.come == ranks) {
        meeting->refused = meeting->refused.empty() ? mismatch(round.calls) : meeting->refused;
        meeting->work = [message, calls = std::move(round.calls)] {
            message ? carry_message(calls) : carry_out(calls);
        };
        group->rounds.erase(id);
    }
    return meeting;
}

weft_status call_group(weft_group* group, const weft_collective_call* call, weft_stream* stream) {
    Call kept{*call, {call->list, call->list + call->transfers}};
    kept.call.list = nullptr;
    std::vector<Access> accesses;
    const std::int64_t ranks = group->shared->size;
    const auto add = [&](const void* data, std::int64_t size, bool writes) {
        const auto begin = reinterpret_cast<std::uintptr_t>(data);
        accesses.push_back({begin, begin + static_cast<std::uintptr_t>(size), writes});
    };
    for (const weft_transfer& one : kept.list) {
        if (call->kind != WEFT_RECEIVE) {
            add(one.from, given_bytes(*call, one, ranks), false);
        }
        if (call->kind != WEFT_SEND) {
            add(one.to, taken_bytes(*call, one, ranks), true);
        }
    }
    const weft::test::AccessScope scope(std::move(accesses), "a collective");
    try {
        weft::test::queue_meeting(stream, [shared = group->shared, rank = group->rank, kept,
                                           stream] { return come(shared, rank, kept, stream); });
    } catch (const weft::kernels::Failure& failure) {
        return failure.status;
    }
    return WEFT_OK;
}

weft_status check_group(weft_group* group) {
    return group->shared->fault.empty() ? WEFT_OK
                                        : fail(WEFT_LIBRARY_ERROR, group->shared->fault.c_str());
}

void abort_group(weft_group* group) {
    group->shared->fault = "the group was ended";
    weft::test::refuse_meetings(group->shared->meetings, group->shared->fault);
}

void leave_group(weft_group* group) {
    delete group;
}

constexpr weft_collectives kEmulatedCollectives = {"emulated",  name_group,  join,
                                                   is_joined,   call_group,  check_group,
                                                   abort_group, leave_group, weft_last_error};

} // namespace

const weft_collectives* weft_emulated_collectives() {
    return &kEmulatedCollectives;
}
