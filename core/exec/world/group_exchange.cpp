// SPDX-License-Identifier: Apache-2.0
#include "core/exec/world/group_exchange.h"

#include "core/base/error.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::exec {
namespace {

weft_collective kind_of(const std::string& kind) {
    static const std::map<std::string, weft_collective, std::less<>> kinds = {
        {"all_reduce", WEFT_ALL_REDUCE},
        {"all_gather", WEFT_ALL_GATHER},
        {"reduce_scatter", WEFT_REDUCE_SCATTER},
        {"all_to_all", WEFT_ALL_TO_ALL},
        {"permute", WEFT_PERMUTE},
        {"send", WEFT_SEND},
        {"receive", WEFT_RECEIVE}};
    return kinds.at(kind);
}

/// Elements that one rank gives or takes.
std::int64_t count_of(const plan::Step& step, std::size_t i, weft_collective kind, int size) {
    const bool parts_in = kind == WEFT_ALL_TO_ALL;
    const ir::Type& type = kind == WEFT_RECEIVE || kind == WEFT_REDUCE_SCATTER
                               ? step.outputs[i].type
                               : step.inputs[i].type;
    return type.shape.elements() / (parts_in ? size : 1);
}

} // namespace

GroupExchange::GroupExchange(QueuedWorld& world, OpenDevice& device)
    : world_(world), device_(device), place_(device.place()),
      probe_(device.platform(), device.get()) {
    {
        const std::lock_guard lock(world_.mutex_);
        QueuedWorld::Rank& rank = world_.ranks_[static_cast<std::size_t>(place_)];
        rank.device = &device;
        rank.probe = probe_.get();
    }
    try {
        for (const auto& [key, meeting] : world.places_) {
            join(key, meeting);
        }
    } catch (...) {
        leave();
        throw;
    }
    const plan::ExecutionPlan& plan = world.plan_;
    for (const plan::PlannedProgram& program : plan.programs) {
        if (program.stage == plan.stage_of(place_)) {
            for_each_queued_exchange(program.steps, false,
                                     [&](const plan::Step& step) { remember(step); });
        }
    }
}

int GroupExchange::lane(const plan::Step& step) const {
    const auto call = calls_.find(&step);
    return call == calls_.end() ? 0 : call->second.lane; // 0: "sent"
}

void GroupExchange::queue(const plan::Step& step, std::span<const void* const> inputs,
                          std::span<void* const> outputs, weft_stream* stream) {
    const auto found = calls_.find(&step);
    if (found == calls_.end()) {
        return; // "sent": who overwrites what is sent waits by itself
    }
    Call& call = found->second;
    for (std::size_t i = 0; i < call.transfers.size(); ++i) {
        call.transfers[i].from = call.call.kind == WEFT_RECEIVE ? nullptr : inputs[i];
        call.transfers[i].to = call.call.kind == WEFT_SEND ? nullptr : outputs[i];
    }
    call.call.list = call.transfers.data();
    if (world_.collectives().call(call.group, &call.call, stream) != WEFT_OK) {
        throw world_.failed(place_, world_.exchange_error(step.op.attributes.text("cause")));
    }
}

ExchangeMarks GroupExchange::marks(const plan::Step& step) const {
    const Call& call = calls_.at(&step);
    return {call.key, step.op.attributes.text("cause"), nullptr, nullptr};
}

void GroupExchange::follow(const ProgramMarks& marks) {
    const std::lock_guard lock(world_.mutex_);
    own_programs().push_back(&marks);
}

void GroupExchange::forget(const ProgramMarks& marks) {
    const std::lock_guard lock(world_.mutex_);
    std::erase(own_programs(), &marks);
    world_.ranks_[static_cast<std::size_t>(place_)].ended.erase(&marks);
}

double GroupExchange::clock_offset_s() const {
    const std::lock_guard lock(world_.mutex_);
    world_.read_clocks(world_.clock_.steady_s()); // where nobody had to wait
    return world_.ranks_[static_cast<std::size_t>(place_)].offset_s;
}

std::uint64_t GroupExchange::all_ended(const ProgramMarks& marks) const {
    std::uint64_t least = times_past(*marks.ended);
    const std::lock_guard lock(world_.mutex_);
    for (const auto& programs : world_.programs_) {
        for (const ProgramMarks* program : programs) {
            if (program->program == marks.program) {
                least = std::min(least, times_past(*program->ended));
            }
        }
    }
    return least;
}

double GroupExchange::all_come_s(const ProgramMarks& marks, int exchange,
                                 std::uint64_t number) const {
    if (!world_.knows_all()) {
        return -std::numeric_limits<double>::infinity();
    }
    const auto own = marks.exchanges.begin() + exchange;
    const std::string& key = own->group;
    const auto same = [&](const ExchangeMarks& one) { return one.group == key; };
    const auto at = std::count_if(marks.exchanges.begin(), own, same);
    double last_s = -std::numeric_limits<double>::infinity();
    const std::lock_guard lock(world_.mutex_);
    for (const int rank : world_.places_.at(key).devices) {
        const auto of = static_cast<std::size_t>(rank);
        for (const ProgramMarks* program : world_.programs_[of]) {
            if (program->program != marks.program) {
                continue;
            }
            auto one = std::ranges::find_if(program->exchanges, same);
            for (std::ptrdiff_t i = 0; i < at; ++i) {
                one = std::find_if(std::next(one), program->exchanges.end(), same);
            }
            last_s = std::max(last_s, past_s(*one->come, number) + world_.ranks_[of].offset_s);
        }
    }
    return last_s;
}

std::vector<const ProgramMarks*>& GroupExchange::own_programs() {
    return world_.programs_[static_cast<std::size_t>(place_)];
}

void GroupExchange::join(const std::string& key, const MeetingPlace& meeting) {
    const std::vector<int>& devices = meeting.devices;
    const auto own = std::find(devices.begin(), devices.end(), place_);
    if (own == devices.end()) {
        return;
    }
    Joined& joined = joined_[key];
    joined.size = static_cast<int>(devices.size());
    joined.lane = meeting.messages ? ++message_lanes_ + 1 : 1;
    const auto check = [&](weft_status status) {
        if (status != WEFT_OK) {
            throw world_.failed(place_, world_.exchange_error(key));
        }
    };
    check(world_.collectives().join(device_.get(), &world_.names_.at(key), joined.size,
                                    static_cast<std::int32_t>(own - devices.begin()),
                                    &joined.group));
    {
        const std::lock_guard lock(world_.mutex_);
        world_.joined_.push_back({place_, joined.group});
        std::erase(world_.meeting_.at(key).absent, place_);
    }
    device_.wait_until([&] {
        std::int32_t all = 0;
        check(world_.collectives().is_joined(joined.group, &all));
        return all != 0;
    });
    const std::lock_guard lock(world_.mutex_);
    --world_.meeting_.at(key).apart;
}

void GroupExchange::leave() {
    const std::lock_guard lock(world_.mutex_);
    world_.ranks_[static_cast<std::size_t>(place_)] = {};
    for (const auto& [key, joined] : joined_) {
        if (joined.group != nullptr) {
            std::erase_if(world_.joined_,
                          [&](const QueuedWorld::End& end) { return end.group == joined.group; });
            world_.collectives().leave(joined.group);
        }
    }
}

void GroupExchange::remember(const plan::Step& step) {
    const ir::Attributes& attributes = step.op.attributes;
    const auto kind = kind_of(step.op.kind);
    Call call;
    call.key = meeting_key(world_.plan_, step, place_);
    const Joined& joined = joined_.at(call.key);
    call.lane = joined.lane;
    call.group = joined.group;
    call.call.kind = kind;
    call.call.reduction = attributes.text("reduce", "sum") == "max" ? WEFT_MAX : WEFT_SUM;
    call.call.shift = static_cast<std::int32_t>(attributes.integer("shift", 0));
    call.call.peer = kind == WEFT_SEND ? 1 : 0; // of the two that have the messages
    const std::size_t transfers = is_message(step) ? 1 : step.inputs.size();
    call.call.transfers = static_cast<std::int32_t>(transfers);
    for (std::size_t i = 0; i < transfers; ++i) {
        const plan::Operand& operand = kind == WEFT_RECEIVE ? step.outputs[i] : step.inputs[i];
        call.transfers.push_back({nullptr, nullptr, count_of(step, i, kind, joined.size),
                                  static_cast<std::int32_t>(operand.type.dtype)});
    }
    calls_.emplace(&step, std::move(call));
}

} // namespace weft::exec
