// SPDX-License-Identifier: Apache-2.0
#include "core/compile/predict.h"

#include <algorithm>

namespace weft::compile {
namespace {

/// Of the first floating-point operand: products compute in it. f32 where there is none.
ir::DType dtype_of(const plan::Step& step) {
    for (const auto* operands : {&step.inputs, &step.outputs}) {
        for (const plan::Operand& operand : *operands) {
            if (ir::is_float(operand.type.dtype)) {
                return operand.type.dtype;
            }
        }
    }
    return ir::DType::f32;
}

void append(const std::vector<plan::Step>& steps, double times, std::vector<cost::Work>& out) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            append(step.steps, times * static_cast<double>(step.count), out);
        } else {
            out.push_back(work_of(step));
            out.back().times = times;
        }
    }
}

double price(std::vector<plan::Step>& steps, const cost::CostModel& cost) {
    double total = 0;
    for (plan::Step& step : steps) {
        step.predicted_ms = step.is_loop()
                                ? price(step.steps, cost) * static_cast<double>(step.count)
                                : cost.op_ms(work_of(step));
        total += step.predicted_ms;
    }
    return total;
}

} // namespace

cost::Work work_of(const plan::Step& step) {
    return {step.op.kind, step.kernel, dtype_of(step), step.flops, step.product_flops, step.bytes};
}

std::vector<cost::Work> work_of(const plan::PlannedProgram& program) {
    std::vector<cost::Work> out;
    append(program.steps, 1, out);
    out.push_back(work_beside_kernels(program));
    return out;
}

cost::Work work_beside_kernels(const plan::PlannedProgram& program) {
    cost::Work work;
    for (const plan::PlannedPort& argument : program.arguments) {
        const bool is_state = argument.role == ir::Role::state;
        work.bytes += is_state ? 0 : static_cast<double>(argument.operand.type.bytes());
    }
    return work;
}

void predict(plan::ExecutionPlan& plan, const cost::CostModel& cost) {
    plan.prediction_basis = cost.basis();
    if (!cost.available()) {
        return;
    }
    for (plan::PlannedProgram& program : plan.programs) {
        price(program.steps, cost);
        const cost::Prediction prediction =
            cost.predict(work_of(program), cost::program_key(program.text));
        program.predicted_ms = prediction.ms;
        program.predicted_error = prediction.error;
    }
    if (const plan::PlannedProgram* step = plan.find("train_step")) {
        plan.predicted_step_ms = step->predicted_ms;
        plan.predicted_error = step->predicted_error;
    }
}

} // namespace weft::compile
