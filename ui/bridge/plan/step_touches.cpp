// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/step_touches.h"

#include "core/ir/op_tensors.h"
#include "ui/bridge/convert.h"

#include <map>
#include <ranges>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace weft::ui {
namespace {

constexpr std::string_view kGradient = "gradient/"; // name of a parameter's summed gradient

std::size_t touchIndex(int index) {
    return static_cast<std::size_t>(index);
}

} // namespace

StepTouches::StepTouches(const plan::ExecutionPlan& plan, const StepTrack& track)
    : program_(&track.program()), owners_(program_->buffers.size()) {
    ownState(plan);
    ownCopies(track);
    ownGradients(track);
}

void StepTouches::own(int buffer, const Owner& owner) {
    if (buffer >= 0 && owners_[touchIndex(buffer)].tensor.isEmpty()) {
        owners_[touchIndex(buffer)] = owner;
    }
}

const StepTouches::Owner* StepTouches::ownerOf(const plan::Operand& operand) const {
    const Owner* owner = operand.buffer < 0 ? nullptr : &owners_[touchIndex(operand.buffer)];
    return owner == nullptr || owner->tensor.isEmpty() ? nullptr : owner;
}

bool StepTouches::isOf(const plan::Operand& operand, plan::Category category) const {
    return operand.buffer >= 0 &&
           program_->buffers[touchIndex(operand.buffer)].category == category;
}

/// "optimizer.m/blocks.0.norm.bias" is a side of "blocks.0.norm.bias".
void StepTouches::ownState(const plan::ExecutionPlan& plan) {
    std::unordered_set<std::string_view> known;
    for (const plan::StateSlot& slot : plan.state_slots) {
        known.insert(slot.name);
    }
    for (std::size_t i = 0; i < owners_.size(); ++i) {
        const plan::Buffer& buffer = program_->buffers[i];
        const std::size_t slash = buffer.name.find('/');
        const bool beside = slash != std::string::npos &&
                            known.contains(std::string_view(buffer.name).substr(slash + 1));
        if (buffer.is_state && buffer.category == plan::Category::optimizer && beside) {
            owners_[i] = {toQString(buffer.name.substr(slash + 1)), TensorSide::Optimizer};
        } else if (buffer.is_state) {
            owners_[i] = {toQString(buffer.name), TensorSide::Parameter};
        } else if (buffer.category == plan::Category::gradients &&
                   buffer.name.starts_with(kGradient)) {
            owners_[i] = {toQString(buffer.name.substr(kGradient.size())), TensorSide::Gradient};
        }
    }
}

/// What computes reads a copy of the parameter in its own precision and layout.
void StepTouches::ownCopies(const StepTrack& track) {
    for (int op = 0; op < track.opCount(); ++op) {
        const plan::Step& step = track.step(op);
        for (std::size_t i = 0; i < step.outputs.size() && !step.inputs.empty(); ++i) {
            const Owner* from = ownerOf(step.inputs[ir::inputs_beside(step.op, i).front()]);
            if (from != nullptr && isOf(step.outputs[i], plan::Category::packed_weights)) {
                own(step.outputs[i].buffer, *from);
            }
        }
    }
}

/// From the update, which says whose gradient it takes, back to where the gradients come from.
void StepTouches::ownGradients(const StepTrack& track) {
    for (int op = track.opCount() - 1; op >= 0; --op) {
        const plan::Step& step = track.step(op);
        if (step.is_loop()) {
            continue;
        }
        // A collective of several arrays takes the k-th to the k-th.
        const bool pairwise = step.outputs.size() > 1 && plan::collective_of(step);
        const auto beside = [&](std::size_t output) {
            return pairwise ? std::views::iota(output, output + 1)
                            : ir::inputs_beside(step.op, output);
        };
        for (std::size_t i = 0; i < step.outputs.size(); ++i) {
            const Owner* owner = ownerOf(step.outputs[i]);
            const bool updates = owner != nullptr && owner->side == TensorSide::Parameter &&
                                 step.op.phase == ir::Phase::update;
            if (owner == nullptr || (owner->side != TensorSide::Gradient && !updates)) {
                continue;
            }
            const Owner gradient{owner->tensor, TensorSide::Gradient};
            for (const std::size_t k : beside(i)) {
                if (isOf(step.inputs[k], plan::Category::gradients)) {
                    own(step.inputs[k].buffer, gradient);
                }
            }
        }
    }
}

std::vector<TensorTouch> StepTouches::of(const plan::Step& step) const {
    std::vector<TensorTouch> out;
    std::map<std::pair<TensorSide, QString>, std::size_t> known;
    const auto touch = [&](const plan::Operand& operand, bool written) {
        const Owner* owner = ownerOf(operand);
        if (owner == nullptr) {
            return;
        }
        const auto [found, is_new] = known.try_emplace({owner->side, owner->tensor}, out.size());
        if (is_new) {
            out.push_back({owner->tensor, owner->side, false, false});
        }
        (written ? out[found->second].written : out[found->second].read) = true;
    };
    for (const plan::Operand& input : step.inputs) {
        touch(input, false);
    }
    for (const plan::Operand& output : step.outputs) {
        touch(output, true);
    }
    return out;
}

} // namespace weft::ui
