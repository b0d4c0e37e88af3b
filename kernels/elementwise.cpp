// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

namespace weft::kernels {
namespace {

int arity_of(std::int32_t opcode) {
    for (const ElementwiseName& name : kElementwiseNames) {
        if (name.opcode == opcode) {
            return name.arity;
        }
    }
    throw Failure{WEFT_BAD_ARGUMENT, "a step has an unknown opcode"};
}

/// Constants in the type that the step computes in.
Step rounded(Step step) {
    if (step.dtype != WEFT_F64) {
        step.scale = static_cast<double>(static_cast<float>(step.scale));
        step.shift = static_cast<double>(static_cast<float>(step.shift));
    }
    return step;
}

Step single_step(const Op& op) {
    for (const ElementwiseName& name : kElementwiseNames) {
        if (op.kind() == name.name) {
            Step step{name.opcode, op.output(0).dtype, name.arity, {0, 1, 2}, 1.0, 0.0};
            if (name.opcode == WEFT_EW_AFFINE) {
                step.scale = op.real("scale");
                step.shift = op.real("shift", 0.0);
            }
            return rounded(step);
        }
    }
    throw Failure{WEFT_BAD_ARGUMENT, "not an elementwise op"};
}

Step checked_step(const weft_elementwise_step& given, int registers) {
    Step step{given.opcode, given.dtype, arity_of(given.opcode),
              {0, 0, 0},    given.scale, given.shift};
    require(given.dtype >= WEFT_F32 && given.dtype <= WEFT_F16, "a step has an unknown dtype");
    for (int k = 0; k < step.arity; ++k) {
        require(given.operand[k] >= 0 && given.operand[k] < registers,
                "a step reads a register that nothing has written");
        step.operand[k] = given.operand[k];
    }
    return rounded(step);
}

/// As those of the first tensor: numbers, and arrays of the tensor's own shape.
void check_tensor(const Op& op, const Group& group, std::size_t tensor) {
    const auto first_input = static_cast<int>(tensor * group.inputs());
    const auto first_output = static_cast<int>(tensor * group.outputs());
    const Type& shape = op.output(first_output);
    for (int i = 0; i < static_cast<int>(group.inputs()); ++i) {
        const Type& type = op.input(first_input + i);
        const bool number = group.numbers[static_cast<std::size_t>(i)];
        require(type.dtype == op.input(i).dtype, "tensors of a sweep differ in element types");
        require(number ? type.rank == 0 : same_shape(type, shape),
                "an operand of a sweep has neither its tensor's shape nor is it a number");
    }
    for (int i = 0; i < static_cast<int>(group.outputs()); ++i) {
        const Type& type = op.output(first_output + i);
        require(type.dtype == op.output(i).dtype && same_shape(type, shape),
                "outputs of a sweep differ in element types, or those of a tensor in shape");
    }
}

} // namespace

Group elementwise_group(const Op& op) {
    const bool sweep = op.kind() == "sweep";
    const std::int64_t tensors = sweep ? op.integer("tensors") : 1;
    require(tensors > 0 && op.inputs() % tensors == 0 && op.outputs() % tensors == 0 &&
                op.outputs() > 0,
            "the operands of a sweep are not those of so many tensors");
    const auto inputs = static_cast<int>(op.inputs() / tensors);
    const auto outputs = static_cast<int>(op.outputs() / tensors);
    Group group;
    group.sweep = sweep;
    group.shape = op.output(0);
    if (sweep || op.kind() == "fused") {
        require(!op.steps().empty(), "a fused group has no steps");
        for (const weft_elementwise_step& given : op.steps()) {
            const int registers = inputs + static_cast<int>(group.steps.size());
            group.steps.push_back(checked_step(given, registers));
        }
        for (int i = 0; i < outputs; ++i) {
            group.output_registers.push_back(op.output_register(i));
        }
    } else {
        group.steps.push_back(single_step(op));
        group.output_registers.push_back(inputs);
    }
    const int registers = inputs + static_cast<int>(group.steps.size());
    for (int i = 0; i < outputs; ++i) {
        require(same_shape(op.output(i), group.shape), "outputs of a group differ in shape");
        const int source = group.output_registers[static_cast<std::size_t>(i)];
        require(source >= 0 && source < registers,
                "an output names a register that does not exist");
    }
    for (int i = 0; i < inputs; ++i) {
        group.strides.push_back(broadcast_strides(op.input(i), group.shape));
        group.numbers.push_back(sweep ? op.input(i).rank == 0 : element_count(op.input(i)) == 1);
    }
    for (std::int64_t tensor = 0; tensor < tensors; ++tensor) {
        if (sweep) {
            check_tensor(op, group, static_cast<std::size_t>(tensor));
        }
        group.counts.push_back(element_count(op.output(static_cast<int>(tensor) * outputs)));
    }
    return group;
}

} // namespace weft::kernels
