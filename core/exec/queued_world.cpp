// SPDX-License-Identifier: Apache-2.0
#include "core/exec/queued_world.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <unordered_map>

namespace weft::exec {
namespace {

template <typename Fn>
void for_each_queued_exchange(const std::vector<plan::Step>& steps, const Fn& fn) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            for_each_queued_exchange(step.steps, fn);
        } else if (ops::op_def(step.op.kind).collective) {
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

[[noreturn]] void fail_exchange(const weft_collectives& collectives, const std::string& what) {
    const std::string text = collectives.last_error();
    throw Error(ErrorKind::device, what,
                "an exchange between devices failed: " + (text.empty() ? "no further text" : text),
                "run `weft doctor` to see how the devices are connected");
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

/// One device's end.
class GroupExchange final : public QueuedExchange {
public:
    GroupExchange(QueuedWorld& world, int place, OpenDevice& device)
        : world_(world), collectives_(world.collectives()) {
        try {
            for (const auto& [key, group] : world.groups_) {
                join(key, group, place, device);
            }
        } catch (...) {
            leave();
            throw;
        }
        const plan::ExecutionPlan& plan = world.plan_;
        for (const plan::PlannedProgram& program : plan.programs) {
            if (program.stage == plan.stage_of(place)) {
                for_each_queued_exchange(
                    program.steps, [&](const plan::Step& step) { remember(world, step, place); });
            }
        }
    }
    ~GroupExchange() override { leave(); }
    GroupExchange(const GroupExchange&) = delete;
    GroupExchange& operator=(const GroupExchange&) = delete;

    int lane(const plan::Step& step) const override { return calls_.at(&step).lane; }

    void queue(const plan::Step& step, std::span<const void* const> inputs,
               std::span<void* const> outputs, weft_stream* stream) override {
        Call& call = calls_.at(&step);
        if (call.group == nullptr) {
            return; // "sent": who overwrites what is sent waits by itself
        }
        for (std::size_t i = 0; i < call.transfers.size(); ++i) {
            call.transfers[i].from = call.call.kind == WEFT_RECEIVE ? nullptr : inputs[i];
            call.transfers[i].to = call.call.kind == WEFT_SEND ? nullptr : outputs[i];
        }
        call.call.list = call.transfers.data();
        if (collectives_.call(call.group, &call.call, stream) != WEFT_OK) {
            fail_exchange(collectives_, step.op.attributes.text("cause"));
        }
    }

private:
    struct Call {
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

    void join(const std::string& key, const DeviceGroup& group, int place, OpenDevice& device) {
        const auto own = std::find(group.devices.begin(), group.devices.end(), place);
        if (own == group.devices.end()) {
            return;
        }
        Joined& joined = joined_[key];
        joined.size = static_cast<int>(group.devices.size());
        joined.lane = key.starts_with("messages") ? ++message_lanes_ + 1 : 1;
        if (collectives_.join(device.get(), &group.name, joined.size,
                              static_cast<std::int32_t>(own - group.devices.begin()),
                              &joined.group) != WEFT_OK) {
            fail_exchange(collectives_, key);
        }
        const std::lock_guard lock(world_.mutex_);
        world_.joined_.push_back(joined.group);
    }

    void leave() {
        const std::lock_guard lock(world_.mutex_);
        for (const auto& [key, joined] : joined_) {
            if (joined.group != nullptr) {
                std::erase(world_.joined_, joined.group);
                collectives_.leave(joined.group);
            }
        }
    }

    void remember(const QueuedWorld& world, const plan::Step& step, int place) {
        Call call;
        if (step.op.kind != "sent") {
            const ir::Attributes& attributes = step.op.attributes;
            const auto kind = kind_of(step.op.kind);
            const std::vector<int> devices = world.group_of(attributes.text("axes"), place);
            const auto peer = static_cast<std::size_t>(attributes.integer("peer", 0));
            const std::string key = !is_message(step) ? group_key(attributes.text("axes"), devices)
                                    : kind == WEFT_SEND ? message_key(place, devices[peer])
                                                        : message_key(devices[peer], place);
            const Joined& joined = joined_.at(key);
            call.lane = joined.lane;
            call.group = joined.group;
            call.call.kind = kind;
            call.call.reduction = attributes.text("reduce", "sum") == "max" ? WEFT_MAX : WEFT_SUM;
            call.call.shift = static_cast<std::int32_t>(attributes.integer("shift", 0));
            call.call.peer = kind == WEFT_SEND ? 1 : 0; // of the two that have the messages
            const std::size_t transfers = is_message(step) ? 1 : step.inputs.size();
            call.call.transfers = static_cast<std::int32_t>(transfers);
            for (std::size_t i = 0; i < transfers; ++i) {
                const plan::Operand& operand =
                    kind == WEFT_RECEIVE ? step.outputs[i] : step.inputs[i];
                call.transfers.push_back({nullptr, nullptr, count_of(step, i, kind, joined.size),
                                          static_cast<std::int32_t>(operand.type.dtype)});
            }
        }
        calls_.emplace(&step, std::move(call));
    }

    QueuedWorld& world_;
    const weft_collectives& collectives_;
    std::map<std::string, Joined> joined_;
    int message_lanes_ = 0;
    std::unordered_map<const plan::Step*, Call> calls_;
};

QueuedWorld::QueuedWorld(const Compute& compute, const plan::ExecutionPlan& plan)
    : compute_(compute), plan_(plan) {
    if (compute.collectives == nullptr) {
        throw Error(ErrorKind::device, compute.platform->name,
                    "these devices cannot exchange data with each other",
                    "run on one device, or see `weft doctor` for what is missing");
    }
    for (int place = 0; place < static_cast<int>(plan.mesh.devices()); ++place) {
        for (const plan::PlannedProgram& program : plan.programs) {
            if (program.stage != plan.stage_of(place)) {
                continue;
            }
            for_each_queued_exchange(program.steps, [&](const plan::Step& step) {
                const std::vector<int> devices = group_of(step.op.attributes.text("axes"), place);
                if (step.op.kind == "send") {
                    const auto peer =
                        static_cast<std::size_t>(step.op.attributes.integer("peer", 0));
                    add(message_key(place, devices[peer]), {place, devices[peer]});
                } else if (step.op.kind != "sent" && step.op.kind != "receive") {
                    add(group_key(step.op.attributes.text("axes"), devices), devices);
                }
            });
        }
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

void QueuedWorld::add(const std::string& key, std::vector<int> devices) {
    const auto [found, is_new] = groups_.try_emplace(key);
    if (is_new) {
        found->second.devices = std::move(devices);
        if (collectives().name_group(&found->second.name) != WEFT_OK) {
            fail_exchange(collectives(), key);
        }
    }
}

std::unique_ptr<QueuedExchange> QueuedWorld::join(int place, OpenDevice& device) {
    auto joined = std::make_unique<GroupExchange>(*this, place, device);
    device.set_watch(this);
    return joined;
}

void QueuedWorld::end(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) {
        return;
    }
    failure_ = reason;
    for (weft_group* group : joined_) {
        collectives().abort(group);
    }
}

void QueuedWorld::waiting(double seconds) {
    std::string reason;
    {
        const std::lock_guard lock(mutex_);
        reason = failure_;
        for (std::size_t i = 0; reason.empty() && i < joined_.size(); ++i) {
            if (collectives().check(joined_[i]) != WEFT_OK) {
                reason = collectives().last_error();
            }
        }
    }
    if (reason.empty() && seconds > timeout_s_) {
        reason = "no device has gone on for " + std::to_string(static_cast<int>(timeout_s_)) +
                 " s: one of them has not come to an exchange";
    }
    if (!reason.empty()) {
        end(reason);
        throw Error(ErrorKind::device, compute_.platform->name, reason,
                    "resume from the last checkpoint; `weft doctor` shows what the devices say");
    }
}

} // namespace weft::exec
