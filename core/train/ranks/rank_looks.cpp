// SPDX-License-Identifier: Apache-2.0
#include "core/train/ranks/rank_looks.h"

#include "core/train/inside/device_look.h"

namespace weft::train {

struct RankLooks::State {
    State(exec::RankMember& of, std::shared_ptr<const plan::ExecutionPlan> same)
        : member(of), plan(std::move(same)), watched(watched_arrays(*plan)),
          look(*plan, watched, member.rank()) {}

    exec::RankMember& member;
    const std::shared_ptr<const plan::ExecutionPlan> plan;
    const Watched watched;
    DeviceLook look;
};

RankLooks::RankLooks(exec::RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan)
    : state_(std::make_unique<State>(member, std::move(plan))) {}

RankLooks::~RankLooks() = default;

bool RankLooks::act(const exec::Frame& command, exec::Device& device) {
    const auto wanted = command.head.at("do").get<std::string>();
    const auto slot = [&device](const std::string& name) {
        return device.slot(name, exec::HostPart::Use::look);
    };
    if (wanted == "look") {
        state_->look.begin(slot);
        device.set_value_observer(&state_->look);
        state_->member.answer();
        return true;
    }
    if (wanted == "looked") {
        device.set_value_observer(nullptr);
        state_->look.end(slot);
        state_->member.answer(config::Json::object(), state_->look.bytes());
        return true;
    }
    return false;
}

} // namespace weft::train
