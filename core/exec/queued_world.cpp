// SPDX-License-Identifier: Apache-2.0
#include "core/exec/queued_world.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/comm/issued_call.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace weft::exec {
namespace {

/// Calls fn(step) for each exchange, in loops as often as they run where `unrolls`.
template <typename Fn>
void for_each_queued_exchange(const std::vector<plan::Step>& steps, bool unrolls, const Fn& fn) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            for (std::int64_t visit = 0; visit < (unrolls ? step.count : 1); ++visit) {
                for_each_queued_exchange(step.steps, unrolls, fn);
            }
        } else if (ops::op_def(step.op.kind).collective && step.op.kind != "sent") {
            fn(step);
        }
    }
}

bool is_message(const plan::Step& step) {
    return step.op.kind == "send" || step.op.kind == "receive";
}

/// Keys of groups sort as they are joined.
std::string group_key(const std::string& axes, const std::vector<int>& devices) {
    return "group " + axes + " of " + std::to_string(devices.front());
}
std::string message_key(int from, int to) {
    return "messages " + std::to_string(from) + " to " + std::to_string(to);
}

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

Error exchange_error(const weft_collectives& collectives, const std::string& what) {
    const std::string text = collectives.last_error();
    return {ErrorKind::device, what,
            "an exchange between devices failed: " + (text.empty() ? "no further text" : text),
            "run `weft doctor` to see how the devices are connected"};
}

/// "group data of 0", "messages 0 to 1": where a rank makes the call of a step. `devices` are those
/// of the group of its axes that has the rank.
std::string meeting_key(const plan::Step& step, int place, const std::vector<int>& devices) {
    const auto peer = static_cast<std::size_t>(step.op.attributes.integer("peer", 0));
    return !is_message(step)        ? group_key(step.op.attributes.text("axes"), devices)
           : step.op.kind == "send" ? message_key(place, devices[peer])
                                    : message_key(devices[peer], place);
}

/// Elements that one rank gives or takes.
std::int64_t count_of(const plan::Step& step, std::size_t i, weft_collective kind, int size) {
    const bool parts_in = kind == WEFT_ALL_TO_ALL;
    const ir::Type& type = kind == WEFT_RECEIVE || kind == WEFT_REDUCE_SCATTER
                               ? step.outputs[i].type
                               : step.inputs[i].type;
    return type.shape.elements() / (parts_in ? size : 1);
}

comm::IssuedCall issued_call(const plan::Step& step) {
    const ir::Attributes& attributes = step.op.attributes;
    comm::IssuedCall out;
    if (!is_message(step)) {
        out.kind = step.op.kind;
        if (out.kind == "all_reduce" || out.kind == "reduce_scatter") {
            out.kind += " " + attributes.text("reduce", "sum");
        }
    }
    const bool receives = step.op.kind == "receive";
    const auto& operands = receives ? step.outputs : step.inputs;
    for (std::size_t i = 0; i < (is_message(step) ? 1 : operands.size()); ++i) {
        out.tensors.push_back({operands[i].type.dtype, operands[i].type.shape.elements()});
    }
    if (step.op.kind == "permute") {
        out.route = "by " + std::to_string(attributes.integer("shift"));
    }
    out.what = attributes.text("cause");
    return out;
}

} // namespace

/// One device's end.
class GroupExchange final : public QueuedExchange {
public:
    GroupExchange(QueuedWorld& world, OpenDevice& device)
        : world_(world), collectives_(world.collectives()), device_(device), place_(device.place()),
          probe_(device.platform(), device.get()) {
        {
            const std::lock_guard lock(world_.mutex_);
            QueuedWorld::Rank& rank = world_.ranks_[static_cast<std::size_t>(place_)];
            rank.device = &device;
            rank.probe = probe_.get();
        }
        try {
            for (const auto& [key, group] : world.groups_) {
                join(key, group);
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
    ~GroupExchange() override { leave(); }
    GroupExchange(const GroupExchange&) = delete;
    GroupExchange& operator=(const GroupExchange&) = delete;

    int lane(const plan::Step& step) const override {
        const auto call = calls_.find(&step);
        return call == calls_.end() ? 0 : call->second.lane; // 0: "sent"
    }

    void queue(const plan::Step& step, std::span<const void* const> inputs,
               std::span<void* const> outputs, weft_stream* stream) override {
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
        if (collectives_.call(call.group, &call.call, stream) != WEFT_OK) {
            throw world_.failed(place_,
                                exchange_error(collectives_, step.op.attributes.text("cause")));
        }
    }

    ExchangeMarks marks(const plan::Step& step) const override {
        const Call& call = calls_.at(&step);
        return {call.key, step.op.attributes.text("cause"), nullptr, nullptr};
    }

    void follow(const ProgramMarks& marks) override {
        const std::lock_guard lock(world_.mutex_);
        own_programs().push_back(&marks);
    }

    void forget(const ProgramMarks& marks) override {
        const std::lock_guard lock(world_.mutex_);
        std::erase(own_programs(), &marks);
        world_.ranks_[static_cast<std::size_t>(place_)].ended.erase(&marks);
    }

    double clock_offset_s() const override {
        const std::lock_guard lock(world_.mutex_);
        world_.read_clocks(world_.clock_.steady_s()); // where nobody had to wait
        return world_.ranks_[static_cast<std::size_t>(place_)].offset_s;
    }

    std::uint64_t all_ended(const ProgramMarks& marks) const override {
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

    double all_come_s(const ProgramMarks& marks, int exchange,
                      std::uint64_t number) const override {
        const auto own = marks.exchanges.begin() + exchange;
        const std::string& key = own->group;
        const auto same = [&](const ExchangeMarks& one) { return one.group == key; };
        const auto at = std::count_if(marks.exchanges.begin(), own, same);
        double last_s = -std::numeric_limits<double>::infinity();
        const std::lock_guard lock(world_.mutex_);
        for (const int rank : world_.groups_.at(key).place.devices) {
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

private:
    struct Call {
        std::string key; // of the group
        int lane = 0;
        weft_group* group = nullptr;
        weft_collective_call call{};
        std::vector<weft_transfer> transfers;
    };
    struct Joined {
        weft_group* group = nullptr;
        int lane = 0;
        int size = 0;
    };

    std::vector<const ProgramMarks*>& own_programs() {
        return world_.programs_[static_cast<std::size_t>(place_)];
    }

    void join(const std::string& key, const QueuedWorld::Group& group) {
        const std::vector<int>& devices = group.place.devices;
        const auto own = std::find(devices.begin(), devices.end(), place_);
        if (own == devices.end()) {
            return;
        }
        Joined& joined = joined_[key];
        joined.size = static_cast<int>(devices.size());
        joined.lane = group.place.messages ? ++message_lanes_ + 1 : 1;
        const auto check = [&](weft_status status) {
            if (status != WEFT_OK) {
                throw world_.failed(place_, exchange_error(collectives_, key));
            }
        };
        check(collectives_.join(device_.get(), &group.name, joined.size,
                                static_cast<std::int32_t>(own - devices.begin()), &joined.group));
        {
            const std::lock_guard lock(world_.mutex_);
            world_.joined_.push_back({place_, joined.group});
            std::erase(world_.meeting_.at(key).absent, place_);
        }
        device_.wait_until([&] {
            std::int32_t all = 0;
            check(collectives_.is_joined(joined.group, &all));
            return all != 0;
        });
        const std::lock_guard lock(world_.mutex_);
        --world_.meeting_.at(key).apart;
    }

    void leave() {
        const std::lock_guard lock(world_.mutex_);
        world_.ranks_[static_cast<std::size_t>(place_)] = {};
        for (const auto& [key, joined] : joined_) {
            if (joined.group != nullptr) {
                std::erase_if(world_.joined_, [&](const QueuedWorld::End& end) {
                    return end.group == joined.group;
                });
                collectives_.leave(joined.group);
            }
        }
    }

    void remember(const plan::Step& step) {
        const ir::Attributes& attributes = step.op.attributes;
        const auto kind = kind_of(step.op.kind);
        Call call;
        call.key = meeting_key(step, place_, world_.group_of(attributes.text("axes"), place_));
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

    QueuedWorld& world_;
    const weft_collectives& collectives_;
    OpenDevice& device_;
    const int place_;
    Stream probe_;
    std::map<std::string, Joined> joined_;
    int message_lanes_ = 0;
    std::unordered_map<const plan::Step*, Call> calls_;
};

QueuedWorld::QueuedWorld(const Compute& compute, const plan::ExecutionPlan& plan, double timeout_s)
    : compute_(compute), plan_(plan), timeout_s_(timeout_s),
      ranks_(static_cast<std::size_t>(plan.mesh.devices())), programs_(ranks_.size()) {
    if (compute.collectives == nullptr) {
        throw Error(ErrorKind::device, compute.platform->name,
                    "these devices cannot exchange data with each other",
                    "run on one device, or see `weft doctor` for what is missing");
    }
    add_groups();
    compare_calls();
    for (auto& [key, group] : groups_) {
        if (collectives().name_group(&group.name) != WEFT_OK) {
            throw exchange_error(collectives(), key);
        }
        meeting_[key] = {group.place.devices, static_cast<int>(group.place.devices.size())};
    }
}

void QueuedWorld::add_groups() {
    for (int place = 0; place < static_cast<int>(ranks_.size()); ++place) {
        for (const plan::PlannedProgram& program : plan_.programs) {
            if (program.stage != plan_.stage_of(place)) {
                continue;
            }
            for_each_queued_exchange(program.steps, false, [&](const plan::Step& step) {
                const std::string& axes = step.op.attributes.text("axes");
                std::vector<int> devices = group_of(axes, place);
                const std::string key = meeting_key(step, place, devices);
                if (is_message(step)) {
                    const int peer =
                        devices[static_cast<std::size_t>(step.op.attributes.integer("peer", 0))];
                    const bool sends = step.op.kind == "send";
                    devices = {sends ? place : peer, sends ? peer : place};
                }
                groups_.try_emplace(key, Group{{axes, std::move(devices), is_message(step)}, {}});
            });
        }
    }
}

/// Before anything moves. Ranks of one stage have one program.
void QueuedWorld::compare_calls() const {
    for (const auto& [key, group] : groups_) {
        const std::vector<int>& devices = group.place.devices;
        const bool one_program = std::ranges::all_of(devices, [&](int place) {
            return plan_.stage_of(place) == plan_.stage_of(devices.front());
        });
        if (one_program) {
            continue;
        }
        for (const plan::PlannedProgram& program : plan_.programs) {
            if (program.stage == plan_.stage_of(devices.front())) {
                compare_calls(key, group.place, program.name);
            }
        }
    }
}

void QueuedWorld::compare_calls(const std::string& key, const MeetingPlace& meeting,
                                const std::string& program) const {
    std::vector<comm::IssuedCalls> ranks;
    for (const int place : meeting.devices) {
        comm::IssuedCalls& one = ranks.emplace_back();
        one.world_rank = place;
        const plan::PlannedProgram* own = plan_.find(program, plan_.stage_of(place));
        if (own == nullptr) {
            continue;
        }
        for_each_queued_exchange(own->steps, true, [&](const plan::Step& step) {
            const auto devices = group_of(step.op.attributes.text("axes"), place);
            if (meeting_key(step, place, devices) == key) {
                one.calls.push_back(issued_call(step));
            }
        });
    }
    const std::string wrong = meeting.messages
                                  ? comm::describe_mismatch(meeting.axes, ranks[0], ranks[1])
                                  : comm::describe_mismatch(meeting.axes, ranks);
    if (!wrong.empty()) {
        throw Error(ErrorKind::device, "program " + program, wrong,
                    "the plan cannot run; make it again, and tell us if it comes out the same");
    }
}

std::vector<int> QueuedWorld::group_of(const std::string& axes, int place) const {
    std::vector<int> numbers;
    for (const std::string& name : split(axes, ',')) {
        numbers.push_back(plan_.mesh.find(name));
    }
    for (const auto& group : plan_.mesh.groups(numbers)) {
        if (std::find(group.begin(), group.end(), place) != group.end()) {
            return {group.begin(), group.end()};
        }
    }
    WEFT_CHECK(false, "every device is in a group of each axis");
    return {};
}

std::unique_ptr<QueuedExchange> QueuedWorld::join(OpenDevice& device) {
    device.set_watch(this);
    return std::make_unique<GroupExchange>(*this, device);
}

Error QueuedWorld::ended() const {
    return {ErrorKind::device, compute_.platform->name, failure_,
            "resume from the last checkpoint; `weft doctor` shows what the devices say"};
}

void QueuedWorld::end(const std::string& reason) {
    if (!failure_.empty()) {
        return;
    }
    failure_ = reason;
    ended_s_ = clock_.steady_s();
    for (const End& end : joined_) {
        collectives().abort(end.group);
    }
}

bool QueuedWorld::gave_up() const {
    constexpr double kGrace_s = 1; // for what ends when its group has ended
    const std::lock_guard lock(mutex_);
    return !failure_.empty() && clock_.steady_s() - ended_s_ > kGrace_s;
}

std::string QueuedWorld::name_of(int place) const {
    return "rank " + std::to_string(place) + " (" + compute_.platform->name + ":" +
           std::to_string(compute_.device(place)) + ")";
}

WorldReport QueuedWorld::report() const {
    std::map<std::string, MeetingPlace> places;
    for (const auto& [key, group] : groups_) {
        places.emplace(key, group.place);
    }
    return {places, programs_};
}

Error QueuedWorld::failed(int place, const Error& fault) {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) {
        return ended();
    }
    end(name_of(place) + " failed " + report().place(place) + ": " + fault.text());
    return {fault.kind(), fault.where(), failure_, fault.hint()};
}

void QueuedWorld::waiting(int place, double seconds) {
    const double now_s = clock_.steady_s();
    {
        const std::lock_guard lock(mutex_);
        read_clocks(now_s);
        if (failure_.empty()) {
            end_broken_group();
        }
        if (failure_.empty() && has_stalled(now_s, now_s - seconds)) {
            end(hang(place));
        }
        if (!failure_.empty()) {
            throw ended();
        }
    }
    look_at_others(place, now_s);
}

/// A program's end is noticed at once or a while later: what is least is nearest.
void QueuedWorld::read_clocks(double now_s) {
    constexpr double kDrift = 50e-6; // of quartz against quartz, at most
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank& rank = ranks_[i];
        for (const ProgramMarks* program : programs_[i]) {
            const std::uint64_t number = times_past(*program->ended);
            std::uint64_t& seen = rank.ended[program];
            if (std::exchange(seen, number) != number) {
                rank.offset_s = std::min(rank.offset_s + (now_s - rank.seen_s) * kDrift,
                                         now_s - past_s(*program->ended, number));
                rank.seen_s = now_s;
            }
        }
    }
}

void QueuedWorld::end_broken_group() {
    for (const End& one : joined_) {
        if (collectives().check(one.group) != WEFT_OK) {
            const std::string text = collectives().last_error();
            end(name_of(one.place) + " failed " + report().place(one.place) + ": " + text);
            return;
        }
    }
}

/// Neither a mark nor a joining for the whole timeout, of which the device has waited all.
bool QueuedWorld::has_stalled(double now_s, double waiting_since_s) {
    constexpr double kBetweenLooks_s = 0.005; // marks are many
    if (now_s - counted_s_ < kBetweenLooks_s) {
        return false;
    }
    counted_s_ = now_s;
    std::uint64_t progress = joined_.size();
    for (const auto& programs : programs_) {
        for (const ProgramMarks* program : programs) {
            progress += times_past(*program->begun) + times_past(*program->ended);
            for (const ExchangeMarks& exchange : program->exchanges) {
                progress += times_past(*exchange.come) + times_past(*exchange.done);
            }
        }
    }
    if (std::exchange(progress_, progress) != progress) {
        progress_s_ = now_s;
    }
    return now_s - std::max(progress_s_, waiting_since_s) > timeout_s_;
}

std::string QueuedWorld::hang(int place) const {
    for (const auto& [key, ranks] : meeting_) {
        if (ranks.apart > 0) {
            return (ranks.absent.empty()
                        ? "all ranks have come to join " + key + ", and it does not end"
                        : name_of(ranks.absent.front()) + " has not come to join " + key) +
                   ", for more than " + format_duration(timeout_s_);
        }
    }
    return report().stall(place, timeout_s_);
}

/// A device that is dead says so to whoever asks it for anything.
void QueuedWorld::look_at_others(int place, double now_s) {
    constexpr double kBetweenLooks_s = 0.05;
    std::vector<Rank> others;
    {
        const std::lock_guard lock(mutex_);
        if (now_s - looked_s_ < kBetweenLooks_s) {
            return;
        }
        looked_s_ = now_s;
        others = ranks_;
    }
    for (const Rank& other : others) {
        if (other.device != nullptr && other.device->place() != place) {
            other.device->enter();
            other.device->look(other.probe);
        }
    }
    if (OpenDevice* own = others[static_cast<std::size_t>(place)].device; own != nullptr) {
        own->enter();
    }
}

} // namespace weft::exec
