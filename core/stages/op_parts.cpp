// SPDX-License-Identifier: Apache-2.0
#include "core/stages/op_parts.h"

#include <algorithm>
#include <set>

namespace weft::stages {
namespace {

using ir::Block;
using ir::Op;
using ir::Phase;
using ir::ValueId;

std::size_t index_of(ValueId id) {
    return static_cast<std::size_t>(id.index);
}

} // namespace

OpParts::OpParts(const ir::Program& program, const StageMap& map)
    : program_(program), map_(map), parts_(program.values.size(), kAnywhere),
      phases_(program.values.size(), Phase::forward), moving_(program.values.size(), false) {
    for (const Op& op : program.body.ops) {
        if (op.is_loop()) {
            WEFT_CHECK(loop_ == nullptr, "a pipelined program has one loop");
            loop_ = &op;
        }
    }
    place_arguments();
    place_block(program.body);
    divide_backward(loop_ == nullptr ? program.body : loop_->body.front());
}

void OpParts::place_arguments() {
    for (const ir::Port& port : program_.arguments) {
        if (port.role == ir::Role::state) {
            parts_[index_of(port.value)] = std::max(0, map_.part_of(port.name));
        }
    }
}

void OpParts::place_block(const Block& block) {
    for (const Op& op : block.ops) {
        if (&op == loop_) {
            place_loop();
            continue;
        }
        const int part = place(op);
        const bool moves = std::any_of(op.inputs.begin(), op.inputs.end(),
                                       [this](ValueId id) { return moving_[index_of(id)]; });
        for (const ValueId id : op.outputs) {
            parts_[index_of(id)] = part;
            phases_[index_of(id)] = op.phase;
            moving_[index_of(id)] = moves || (loop_ == nullptr && part != kAnywhere);
        }
    }
}

void OpParts::place_loop() {
    const Block& body = loop_->body.front();
    const auto carried = static_cast<std::size_t>(loop_->attributes.integer("carried"));
    for (std::size_t i = 0; i < body.arguments.size(); ++i) {
        parts_[index_of(body.arguments[i])] =
            i < carried ? parts_[index_of(loop_->inputs[i])] : kAnywhere;
        moving_[index_of(body.arguments[i])] = i >= carried;
    }
    // A sum starts from nothing, which is anywhere, and stands where it is added to.
    for (bool settled = false; !settled;) {
        settled = true;
        place_block(body);
        for (std::size_t i = 0; i < carried; ++i) {
            int& own = parts_[index_of(body.arguments[i])];
            const int made = parts_[index_of(body.results[i])];
            if (own != made) {
                own = made;
                settled = false;
            }
        }
    }
    for (std::size_t i = 0; i < loop_->outputs.size(); ++i) {
        parts_[index_of(loop_->outputs[i])] = parts_[index_of(body.results[i])];
        phases_[index_of(loop_->outputs[i])] = Phase::backward;
    }
}

int OpParts::place(const Op& op) const {
    const bool anywhere = std::all_of(op.inputs.begin(), op.inputs.end(), [this](ValueId id) {
        return parts_[index_of(id)] == kAnywhere;
    });
    if (anywhere) {
        return kAnywhere;
    }
    int latest = 0;              // of all operands
    int least = 0;               // a forward op comes behind its operands
    int most = map_.parts() - 1; // a backward op comes before them
    bool any_backward = false;
    for (const ValueId id : op.inputs) {
        const int part = parts_[index_of(id)];
        if (part == kAnywhere) {
            continue;
        }
        latest = std::max(latest, part);
        if (moving_[index_of(id)] && phases_[index_of(id)] == Phase::backward) {
            most = std::min(most, part);
            any_backward = true;
        } else if (moving_[index_of(id)]) {
            least = std::max(least, part);
        }
    }
    const int own = map_.part_of(op.path);
    switch (op.phase) {
    case Phase::forward: return std::max(own < 0 ? latest : own, least);
    case Phase::backward: return std::min(own >= 0 ? own : any_backward ? most : latest, most);
    case Phase::update: break;
    }
    return own < 0 ? latest : own;
}

int OpParts::of(const Op& op) const {
    return op.outputs.empty() ? kAnywhere : of(op.outputs.front());
}

void OpParts::divide_backward(const Block& block) {
    // Of the backward phase, what leads to a value that another part reads comes first.
    std::set<ValueId> leads;
    for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
        if (op->phase != Phase::backward) {
            work_[&*op] = op->phase == Phase::forward ? Work::forward : Work::outside;
            continue;
        }
        const int part = of(*op);
        const bool urgent = std::any_of(op->outputs.begin(), op->outputs.end(),
                                        [&](ValueId id) { return leads.contains(id); });
        work_[&*op] = urgent ? Work::input_grad : Work::weight_grad;
        for (const ValueId id : op->inputs) {
            if (of(id) != kAnywhere && (urgent || of(id) != part)) {
                leads.insert(id);
            }
        }
    }
}

Work OpParts::work(const Op& op) const {
    const auto found = work_.find(&op);
    return found == work_.end() ? Work::outside : found->second;
}

} // namespace weft::stages
