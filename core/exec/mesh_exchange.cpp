// SPDX-License-Identifier: Apache-2.0
#include "core/exec/mesh_exchange.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ops/op_def.h"

#include <algorithm>

namespace weft::exec {
namespace {

template <typename Fn>
void for_each_exchange(const std::vector<plan::Step>& steps, const Fn& fn) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            for_each_exchange(step.steps, fn);
        } else if (ops::op_def(step.op.kind).collective) {
            fn(step);
        }
    }
}

template <typename Fn>
void for_each_exchange(const plan::ExecutionPlan& plan, const Fn& fn) {
    for (const plan::PlannedProgram& program : plan.programs) {
        for_each_exchange(program.steps, fn);
    }
}

std::vector<int> axes_named(const sharding::Mesh& mesh, const std::string& text) {
    std::vector<int> out;
    for (const std::string& name : split(text, ',')) {
        out.push_back(mesh.find(name));
        WEFT_CHECK(out.back() >= 0, "exchanges name axes of the mesh");
    }
    return out;
}

} // namespace

std::map<std::string, comm::GroupSet> add_groups(comm::World& world,
                                                 const plan::ExecutionPlan& plan) {
    std::map<std::string, comm::GroupSet> out;
    for_each_exchange(plan, [&](const plan::Step& step) {
        const std::string& axes = step.op.attributes.text("axes");
        if (out.contains(axes)) {
            return;
        }
        std::vector<std::vector<int>> groups;
        for (const auto& group : plan.mesh.groups(axes_named(plan.mesh, axes))) {
            groups.emplace_back(group.begin(), group.end());
        }
        out[axes] = world.add_groups(axes, std::move(groups));
    });
    return out;
}

MeshExchange::MeshExchange(comm::World& world, const std::map<std::string, comm::GroupSet>& groups,
                           const plan::ExecutionPlan& plan, int device, Devices devices)
    : devices_(devices) {
    static const std::map<std::string, Kind, std::less<>> kinds = {
        {"all_reduce", Kind::all_reduce},
        {"all_gather", Kind::all_gather},
        {"reduce_scatter", Kind::reduce_scatter},
        {"all_to_all", Kind::all_to_all},
        {"permute", Kind::permute},
        {"send", Kind::send},
        {"sent", Kind::sent},
        {"receive", Kind::receive}};
    const auto remember = [&](const plan::Step& step) {
        const ir::Attributes& attributes = step.op.attributes;
        Call call;
        call.kind = kinds.at(step.op.kind);
        call.group = &world.communicator(device, groups.at(attributes.text("axes")));
        call.reduction =
            attributes.text("reduce", "sum") == "max" ? comm::Reduction::max : comm::Reduction::sum;
        call.what = attributes.text("cause");
        if (call.kind == Kind::permute) {
            const int size = call.group->size();
            const auto shift = static_cast<int>(attributes.integer("shift"));
            for (int rank = 0; rank < size; ++rank) {
                call.routes.push_back({rank, ((rank + shift) % size + size) % size});
            }
        }
        call.peer = static_cast<int>(attributes.integer("peer", 0));
        call.transfers.resize(step.inputs.size());
        const std::string& axes = attributes.text("axes");
        const auto link = std::find(links_.begin(), links_.end(), axes);
        call.link = static_cast<std::size_t>(link - links_.begin());
        if (link == links_.end()) {
            links_.push_back(axes);
            groups_.push_back(call.group);
        }
        calls_.emplace(&step, std::move(call));
    };
    for (const plan::PlannedProgram& program : plan.programs) {
        if (program.stage == plan.stage_of(device)) {
            for_each_exchange(program.steps, remember);
        }
    }
}

bool MeshExchange::run_message(const Call& call, const plan::Step& step,
                               std::span<const void* const> inputs,
                               std::span<void* const> outputs) {
    const auto size = [](const plan::Operand& operand) {
        return static_cast<std::size_t>(operand.type.bytes());
    };
    comm::Outcome outcome = comm::Outcome::finished;
    if (call.kind == Kind::receive) {
        outcome = call.group->receive({static_cast<std::byte*>(outputs[0]), size(step.outputs[0])},
                                      step.outputs[0].type.dtype, call.peer, call.what);
    } else if (call.kind == Kind::send) {
        outcome =
            call.group->post_send({static_cast<const std::byte*>(inputs[0]), size(step.inputs[0])},
                                  step.inputs[0].type.dtype, call.peer, call.what);
        *static_cast<std::int32_t*>(outputs[0]) =
            static_cast<std::int32_t>(call.group->last_posted(call.peer));
    } else if (call.kind == Kind::sent) {
        // Messages to a peer are waited for in the order in which they were posted.
        const std::int64_t number = ++freed_[{call.group, call.peer}];
        outcome = call.group->wait_sent(call.peer, number);
        *static_cast<std::int32_t*>(outputs[0]) = static_cast<std::int32_t>(number);
    } else {
        return false;
    }
    WEFT_CHECK(outcome == comm::Outcome::finished, "nobody asked an exchange to stop");
    return true;
}

void MeshExchange::run(const plan::Step& step, std::span<const void* const> inputs,
                       std::span<void* const> outputs) {
    const auto bytes = [](const plan::Operand& operand) {
        return static_cast<std::size_t>(operand.type.bytes());
    };
    Call& call = calls_.at(&step);
    if (run_message(call, step, inputs, outputs)) {
        return;
    }
    for (std::size_t i = 0; i < call.transfers.size(); ++i) {
        call.transfers[i] = {{static_cast<const std::byte*>(inputs[i]), bytes(step.inputs[i])},
                             {static_cast<std::byte*>(outputs[i]), bytes(step.outputs[i])},
                             step.inputs[i].type.dtype};
    }
    const std::span<const comm::Transfer> all(call.transfers);
    comm::Outcome outcome = comm::Outcome::finished;
    switch (call.kind) {
    case Kind::all_reduce: outcome = call.group->all_reduce(all, call.reduction, call.what); break;
    case Kind::all_gather: outcome = call.group->all_gather(all, call.what); break;
    case Kind::reduce_scatter:
        outcome = call.group->reduce_scatter(all, call.reduction, call.what);
        break;
    case Kind::all_to_all: outcome = call.group->all_to_all(all[0], call.what); break;
    case Kind::send:
    case Kind::sent:
    case Kind::receive: break;
    case Kind::permute: outcome = call.group->permute(all[0], call.routes, call.what); break;
    }
    WEFT_CHECK(outcome == comm::Outcome::finished, "nobody asked an exchange to stop");
}

} // namespace weft::exec
