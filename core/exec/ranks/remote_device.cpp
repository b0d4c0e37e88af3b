// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/remote_device.h"

#include "core/base/error.h"
#include "core/exec/ranks/device_words.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::exec {
namespace {

using config::Json;

const plan::PlannedPort& port_named(const std::vector<plan::PlannedPort>& ports,
                                    std::string_view name) {
    const auto found = std::find_if(ports.begin(), ports.end(),
                                    [&](const plan::PlannedPort& one) { return one.name == name; });
    WEFT_CHECK(found != ports.end(), "the program has no port " + std::string(name));
    return *found;
}

} // namespace

RemoteDevice::RemoteDevice(std::shared_ptr<const plan::ExecutionPlan> plan, int rank, RankHub& hub,
                           LocalDevice* own)
    : plan_(std::move(plan)), rank_(rank), hub_(hub), own_(own) {}

std::vector<std::byte> RemoteDevice::when_done(Json question) {
    if (own_ != nullptr) {
        own_->finish();
    }
    return hub_.ask(rank_, std::move(question)).body;
}

void RemoteDevice::join(QueuedWorld& world) {
    hub_.ask(rank_, {{"do", "join"}}, bytes_of(world.names()));
}

const plan::PlannedProgram& RemoteDevice::planned(std::string_view program) const {
    const plan::PlannedProgram* found = plan_->find(program, plan_->stage_of(rank_));
    WEFT_CHECK(found != nullptr, "the plan has no program " + std::string(program));
    return *found;
}

HostPart RemoteDevice::slot(std::string_view name, HostPart::Use use) {
    const plan::StateSlot* slot = plan_->find_slot(name);
    WEFT_CHECK(slot != nullptr, "the plan has no state slot " + std::string(name));
    if (use == HostPart::Use::look) {
        auto bytes = when_done({{"do", "slot"}, {"name", name}});
        WEFT_CHECK(bytes.size() == static_cast<std::size_t>(slot->type.bytes()),
                   "a slot has its size");
        return {std::move(bytes), {}};
    }
    return {std::vector<std::byte>(static_cast<std::size_t>(slot->type.bytes())),
            [this, name = std::string(name)](std::span<const std::byte> bytes) {
                hub_.tell(rank_, {{"do", "store"}, {"name", name}}, bytes);
            }};
}

HostPart RemoteDevice::argument(std::string_view program, std::string_view name) {
    const plan::PlannedPort& port = port_named(planned(program).arguments, name);
    return {std::vector<std::byte>(static_cast<std::size_t>(port.operand.type.bytes())),
            [this, program = std::string(program),
             name = std::string(name)](std::span<const std::byte> bytes) {
                hub_.tell(rank_, {{"do", "argument"}, {"program", program}, {"name", name}}, bytes);
            }};
}

std::vector<std::byte> RemoteDevice::result_bytes(std::string_view program, std::string_view name) {
    const plan::PlannedPort& port = port_named(planned(program).results, name);
    auto bytes = when_done({{"do", "result"}, {"program", program}, {"name", name}});
    WEFT_CHECK(bytes.size() == static_cast<std::size_t>(port.operand.type.bytes()),
               "a result has its size");
    return bytes;
}

HostPart RemoteDevice::result(std::string_view program, std::string_view name) {
    return {result_bytes(program, name), {}};
}

void RemoteDevice::want_result(std::string_view program, std::string_view name,
                               Handover& handover) {
    handover.want(result_bytes(program, name));
}

void RemoteDevice::note_facts(const Json& answer) {
    resident_bytes_ = answer.at("resident_bytes").get<std::int64_t>();
    process_bytes_ = answer.at("process_bytes").get<std::int64_t>();
}

void RemoteDevice::prepare(std::string_view program) {
    note_facts(hub_.ask(rank_, {{"do", "prepare"}, {"program", program}}).head);
}

RunOutcome RemoteDevice::run(std::string_view program, std::stop_token /*stop*/,
                             StopVote* /*vote*/) {
    const Frame answer =
        hub_.ask(rank_, {{"do", "run"}, {"program", program}, {"observed", observer_ != nullptr}});
    note_facts(answer.head);
    const double lead_s = hub_.clock_lead_s(rank_);
    use_ = use_of(answer.head.at("use"), lead_s, action_names_);
    const std::size_t calls = answer.body.size() / sizeof(ObservedCall);
    for (std::size_t i = 0; i < calls && observer_ != nullptr; ++i) {
        ObservedCall call;
        std::memcpy(&call, answer.body.data() + i * sizeof(call), sizeof(call));
        const plan::Step* step = plan::step_at(planned(program), call.position);
        WEFT_CHECK(step != nullptr, "a call is of a step of the program");
        if (call.waited_s >= 0) {
            observer_->waited(call.waited_s);
        }
        observer_->step_done(*step, call.position, call.start_s - lead_s, call.end_s - lead_s);
    }
    return RunOutcome::finished;
}

void RemoteDevice::set_value_observer(ValueObserver* observer) {
    if (ValueObserver* const before = std::exchange(values_, observer); before != nullptr) {
        before->seen_elsewhere(hub_.ask(rank_, {{"do", "looked"}}).body);
    }
    if (observer != nullptr) {
        hub_.ask(rank_, {{"do", "look"}});
    }
}

RunReport RemoteDevice::run_checked(std::string_view program, const Checking& checking) {
    return report_of(
        hub_.ask(rank_,
                 {{"do", "check"}, {"program", program}, {"squares_of", checking.squares_of}})
            .head.at("report"));
}

} // namespace weft::exec
