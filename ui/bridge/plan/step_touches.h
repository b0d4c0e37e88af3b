// SPDX-License-Identifier: GPL-3.0-or-later
// Which tensors of the model an op of a training step reads and writes: by its operands, and by the
// gradients and the copies for computing that belong to a tensor. Pure values; any thread.
#pragma once

#include "ui/bridge/plan/step_clock.h"
#include "ui/bridge/plan/tensor_tiles.h"

#include <QString>

#include <vector>

namespace weft::ui {

struct TensorTouch {
    QString tensor; // the name of its state slot
    TensorSide side = TensorSide::Parameter;
    bool read = false;
    bool written = false;
    friend bool operator==(const TensorTouch&, const TensorTouch&) = default;
};

class StepTouches {
public:
    StepTouches(const plan::ExecutionPlan& plan, const StepTrack& track);

    /// In the order of the op's operands.
    std::vector<TensorTouch> of(const plan::Step& step) const;

private:
    struct Owner {
        QString tensor; // empty: the buffer belongs to no tensor
        TensorSide side = TensorSide::Parameter;
    };

    void ownState(const plan::ExecutionPlan& plan);
    void ownCopies(const StepTrack& track);
    void ownGradients(const StepTrack& track);
    void own(int buffer, const Owner& owner);
    const Owner* ownerOf(const plan::Operand& operand) const;
    bool isOf(const plan::Operand& operand, plan::Category category) const;

    const plan::PlannedProgram* program_;
    std::vector<Owner> owners_; // [buffer]
};

} // namespace weft::ui
