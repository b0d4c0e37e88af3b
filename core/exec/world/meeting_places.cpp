// SPDX-License-Identifier: Apache-2.0
#include "core/exec/world/meeting_places.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/comm/issued_call.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <utility>

namespace weft::exec {
namespace {

int peer_of(const plan::Step& step, const std::vector<int>& devices) {
    return devices[static_cast<std::size_t>(step.op.attributes.integer("peer", 0))];
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

/// What each rank of a meeting calls there in a program.
std::vector<comm::IssuedCalls> calls_there(const plan::ExecutionPlan& plan, const std::string& key,
                                           const MeetingPlace& meeting,
                                           const std::string& program) {
    std::vector<comm::IssuedCalls> ranks;
    for (const int place : meeting.devices) {
        comm::IssuedCalls& one = ranks.emplace_back();
        one.world_rank = place;
        const plan::PlannedProgram* own = plan.find(program, plan.stage_of(place));
        if (own == nullptr) {
            continue;
        }
        for_each_queued_exchange(own->steps, true, [&](const plan::Step& step) {
            if (meeting_key(plan, step, place) == key) {
                one.calls.push_back(issued_call(step));
            }
        });
    }
    return ranks;
}

} // namespace

bool is_message(const plan::Step& step) {
    return step.op.kind == "send" || step.op.kind == "receive";
}

void for_each_queued_exchange(const std::vector<plan::Step>& steps, bool unrolls,
                              const std::function<void(const plan::Step&)>& fn) {
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

std::vector<int> group_of(const plan::ExecutionPlan& plan, const std::string& axes, int place) {
    std::vector<int> numbers;
    for (const std::string& name : split(axes, ',')) {
        numbers.push_back(plan.mesh.find(name));
    }
    for (const auto& group : plan.mesh.groups(numbers)) {
        if (std::find(group.begin(), group.end(), place) != group.end()) {
            return {group.begin(), group.end()};
        }
    }
    WEFT_CHECK(false, "every device is in a group of each axis");
    return {};
}

std::string meeting_key(const plan::ExecutionPlan& plan, const plan::Step& step, int place) {
    const std::string& axes = step.op.attributes.text("axes");
    const std::vector<int> devices = group_of(plan, axes, place);
    if (!is_message(step)) {
        return "group " + axes + " of " + std::to_string(devices.front());
    }
    const std::string own = std::to_string(place);
    const std::string peer = std::to_string(peer_of(step, devices));
    return step.op.kind == "send" ? "messages " + own + " to " + peer
                                  : "messages " + peer + " to " + own;
}

MeetingPlaces meeting_places(const plan::ExecutionPlan& plan) {
    MeetingPlaces out;
    for (int place = 0; place < static_cast<int>(plan.mesh.devices()); ++place) {
        for (const plan::PlannedProgram& program : plan.programs) {
            if (program.stage != plan.stage_of(place)) {
                continue;
            }
            for_each_queued_exchange(program.steps, false, [&](const plan::Step& step) {
                const std::string& axes = step.op.attributes.text("axes");
                std::vector<int> devices = group_of(plan, axes, place);
                if (is_message(step)) {
                    const int peer = peer_of(step, devices);
                    const bool sends = step.op.kind == "send";
                    devices = {sends ? place : peer, sends ? peer : place};
                }
                out.try_emplace(meeting_key(plan, step, place),
                                MeetingPlace{axes, std::move(devices), is_message(step)});
            });
        }
    }
    return out;
}

/// Ranks of one stage have one program.
void compare_calls(const plan::ExecutionPlan& plan, const MeetingPlaces& places) {
    for (const auto& [key, meeting] : places) {
        const int stage = plan.stage_of(meeting.devices.front());
        if (std::ranges::all_of(meeting.devices,
                                [&](int place) { return plan.stage_of(place) == stage; })) {
            continue;
        }
        for (const plan::PlannedProgram& program : plan.programs) {
            if (program.stage != stage) {
                continue;
            }
            const auto ranks = calls_there(plan, key, meeting, program.name);
            const std::string wrong =
                meeting.messages ? comm::describe_mismatch(meeting.axes, ranks[0], ranks[1])
                                 : comm::describe_mismatch(meeting.axes, ranks);
            if (!wrong.empty()) {
                throw Error(ErrorKind::device, "program " + program.name, wrong,
                            "the plan cannot run; make it again, and tell us if it comes out the "
                            "same");
            }
        }
    }
}

} // namespace weft::exec
