// SPDX-License-Identifier: Apache-2.0
// Groups by a small interpreter, for machines without AVX-512. A block of 384 elements per register
// stays in the first-level cache while every instruction runs over it as one vector loop; threads
// share the blocks of all tensors. Blocks are fixed, so team size changes no bit, and a single op
// is a group of one, so fusing changes none either, nor does a sweep over many tensors.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/groups/group_inputs.h"
#include "kernels/cpu/loops/elementwise_loops.h"
#include "kernels/cpu/loops/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kBlock = 384;

/// A register's place in a block: a slot of the workspace, or straight in an input or output.
struct Place {
    enum class Kind { slot, input, output } kind = Kind::slot;
    int index = 0;
};

struct Instruction {
    enum class Kind { load, compute, store } kind;
    int index; // load: input; store: output
    ElementwiseLoop loop;
    int operand[3], result; // registers
    float scale, shift;
    RoundRun round; // null: the result stays in f32
};

class InterpretedGroup final : public Kernel {
public:
    InterpretedGroup(const Op& op, const Group& group);
    weft_status run(const weft_run_args& args) override;

private:
    void plan(const Group& group);
    void allocate_slots();
    void place_slots(float** registers, float* slots) const;
    void fill_scalars(const TensorOperands& operands, float** registers, std::int64_t count) const;
    void run_block(const TensorOperands& operands, float** registers, std::int64_t start,
                   std::int64_t count) const;
    bool needs_slot(int reg) const {
        return places_[static_cast<std::size_t>(reg)].kind == Place::Kind::slot;
    }

    TensorBlocks blocks_;
    std::vector<Input> inputs_;
    std::vector<std::int32_t> output_dtypes_;
    std::vector<StoreRun> stores_;
    std::vector<Instruction> program_;
    std::vector<Place> places_; // [register]
    int slots_ = 0;
    int threads_ = 1;
    std::int64_t thread_bytes_ = 0;
};

InterpretedGroup::InterpretedGroup(const Op& op, const Group& group)
    : blocks_(group, kBlock), inputs_(describe_inputs(op, group)) {
    require_brief_types(op, group);
    for (int i = 0; i < static_cast<int>(group.outputs()); ++i) {
        output_dtypes_.push_back(op.output(i).dtype);
        stores_.push_back(store_run(op.output(i).dtype));
    }
    plan(group);
    allocate_slots();
    threads_ = team_size();
    thread_bytes_ = round_up_to_line(slots_ * kBlock * 4) +
                    round_up_to_line(static_cast<std::int64_t>(places_.size() * sizeof(float*)));
    workspace_bytes_ = thread_bytes_ * threads_;
}

/// Loads before the first use; stores after the last read of any input, because an output may lie
/// over an input. An f32 result of that last instruction or a later one needs no store: it is
/// computed in place.
void InterpretedGroup::plan(const Group& group) {
    const int inputs = static_cast<int>(inputs_.size());
    const int steps = static_cast<int>(group.steps.size());
    places_.resize(static_cast<std::size_t>(inputs + steps));
    std::vector<bool> loaded(inputs_.size());
    int last_read = -1;
    for (int s = 0; s < steps; ++s) {
        const Step& step = group.steps[static_cast<std::size_t>(s)];
        for (int k = 0; k < step.arity; ++k) {
            const int reg = step.operand[k];
            if (reg < inputs && inputs_[static_cast<std::size_t>(reg)].access != Access::scalar) {
                last_read = s;
            }
        }
    }
    for (const int reg : group.output_registers) {
        last_read = reg < inputs ? steps : last_read;
    }
    auto need = [&](int reg) {
        if (reg < inputs && !loaded[static_cast<std::size_t>(reg)]) {
            loaded[static_cast<std::size_t>(reg)] = true;
            const Access access = inputs_[static_cast<std::size_t>(reg)].access;
            if (access == Access::direct) {
                places_[static_cast<std::size_t>(reg)] = {Place::Kind::input, reg};
            } else if (access != Access::scalar) {
                program_.push_back({Instruction::Kind::load, reg, nullptr, {}, reg, 0, 0, nullptr});
            }
        }
    };
    std::vector<bool> stored(group.output_registers.size());
    for (int s = 0; s < steps; ++s) {
        const Step& step = group.steps[static_cast<std::size_t>(s)];
        Instruction i{Instruction::Kind::compute,
                      0,
                      elementwise_loop(step.opcode),
                      {0, 0, 0},
                      inputs + s,
                      static_cast<float>(step.scale),
                      static_cast<float>(step.shift),
                      round_run(step.dtype)};
        for (int k = 0; k < 3; ++k) {
            i.operand[k] = step.operand[k < step.arity ? k : 0];
            need(i.operand[k]);
        }
        program_.push_back(i);
        for (std::size_t o = 0; s >= last_read && o < stored.size(); ++o) {
            if (group.output_registers[o] == i.result && output_dtypes_[o] == WEFT_F32) {
                places_[static_cast<std::size_t>(i.result)] = {Place::Kind::output,
                                                               static_cast<int>(o)};
                stored[o] = true;
                break;
            }
        }
    }
    for (std::size_t o = 0; o < stored.size(); ++o) {
        if (!stored[o]) {
            need(group.output_registers[o]);
            program_.push_back({Instruction::Kind::store,
                                static_cast<int>(o),
                                nullptr,
                                {},
                                group.output_registers[o],
                                0,
                                0,
                                nullptr});
        }
    }
}

/// Gives every register in need of one a slot that is free between its first and last use. Scalars
/// are filled once per run and keep theirs.
void InterpretedGroup::allocate_slots() {
    std::vector<int> last_use(places_.size(), -1);
    for (int p = 0; p < static_cast<int>(program_.size()); ++p) {
        const Instruction& i = program_[static_cast<std::size_t>(p)];
        last_use[static_cast<std::size_t>(i.result)] = p;
        for (int k = 0; i.kind == Instruction::Kind::compute && k < 3; ++k) {
            last_use[static_cast<std::size_t>(i.operand[k])] = p;
        }
    }
    for (int p = 0; p + 1 < static_cast<int>(program_.size()); ++p) {
        // A result that is only stored in the type that it is rounded to is rounded by the store.
        Instruction& i = program_[static_cast<std::size_t>(p)];
        const Instruction& next = program_[static_cast<std::size_t>(p) + 1];
        if (i.round != nullptr && next.kind == Instruction::Kind::store &&
            next.result == i.result && last_use[static_cast<std::size_t>(i.result)] == p + 1 &&
            round_run(output_dtypes_[static_cast<std::size_t>(next.index)]) == i.round) {
            i.round = nullptr;
        }
    }
    std::vector<bool> placed(places_.size());
    for (std::size_t r = 0; r < inputs_.size(); ++r) {
        if (inputs_[r].access == Access::scalar) {
            places_[r] = {Place::Kind::slot, slots_++};
            placed[r] = true;
            last_use[r] = static_cast<int>(program_.size());
        }
    }
    std::vector<int> free_slots;
    for (int p = 0; p < static_cast<int>(program_.size()); ++p) {
        const auto result = static_cast<std::size_t>(program_[static_cast<std::size_t>(p)].result);
        if (needs_slot(static_cast<int>(result)) && !placed[result]) {
            if (free_slots.empty()) {
                free_slots.push_back(slots_++);
            }
            places_[result].index = free_slots.back();
            free_slots.pop_back();
            placed[result] = true;
        }
        for (std::size_t r = 0; r < places_.size(); ++r) {
            if (last_use[r] == p && needs_slot(static_cast<int>(r)) && placed[r]) {
                free_slots.push_back(places_[r].index);
            }
        }
    }
}

void InterpretedGroup::place_slots(float** registers, float* slots) const {
    for (std::size_t r = 0; r < places_.size(); ++r) {
        if (places_[r].kind == Place::Kind::slot) {
            registers[r] = slots + places_[r].index * kBlock;
        }
    }
}

void InterpretedGroup::fill_scalars(const TensorOperands& operands, float** registers,
                                    std::int64_t count) const {
    for (std::size_t r = 0; r < inputs_.size(); ++r) {
        if (inputs_[r].access == Access::scalar) {
            float value = 0.0f;
            inputs_[r].load(operands.inputs[r], &value, 1);
            fill_run(registers[r], value, count);
        }
    }
}

void InterpretedGroup::run_block(const TensorOperands& operands, float** registers,
                                 std::int64_t start, std::int64_t count) const {
    for (std::size_t r = 0; r < places_.size(); ++r) {
        const auto index = static_cast<std::size_t>(places_[r].index);
        if (places_[r].kind == Place::Kind::input) { // only read
            registers[r] =
                const_cast<float*>(static_cast<const float*>(operands.inputs[index])) + start;
        } else if (places_[r].kind == Place::Kind::output) {
            registers[r] = static_cast<float*>(operands.outputs[index]) + start;
        }
    }
    for (const Instruction& i : program_) {
        float* result = registers[i.result];
        const auto index = static_cast<std::size_t>(i.index);
        if (i.kind == Instruction::Kind::compute) {
            i.loop(registers[i.operand[0]], registers[i.operand[1]], registers[i.operand[2]],
                   result, count, i.scale, i.shift);
            if (i.round != nullptr) {
                i.round(result, count);
            }
        } else if (i.kind == Instruction::Kind::load) {
            const Input& in = inputs_[index];
            const void* data = operands.inputs[index];
            if (in.access == Access::converted) {
                in.load(static_cast<const unsigned char*>(data) + start * in.size, result, count);
            } else {
                load_strided(in, data, start, count, result);
            }
        } else {
            stores_[index](result,
                           static_cast<unsigned char*>(operands.outputs[index]) +
                               start * dtype_size(output_dtypes_[index]),
                           count);
        }
    }
}

weft_status InterpretedGroup::run(const weft_run_args& args) {
    const std::int64_t work =
        blocks_.elements() * static_cast<std::int64_t>(inputs_.size() + program_.size());
    parallel_ranges(
        blocks_.count(), work, threads_, [&](std::int64_t begin, std::int64_t end, int thread) {
            auto* scratch = static_cast<unsigned char*>(args.workspace) + thread * thread_bytes_;
            auto* slots = reinterpret_cast<float*>(scratch);
            auto** registers =
                reinterpret_cast<float**>(scratch + round_up_to_line(slots_ * kBlock * 4));
            place_slots(registers, slots);
            blocks_.each(
                args, begin, end,
                [&](const TensorOperands& own, std::int64_t count) {
                    fill_scalars(own, registers, std::min(kBlock, count));
                },
                [&](const TensorOperands& own, std::int64_t start, std::int64_t count) {
                    run_block(own, registers, start, count);
                });
        });
    return WEFT_OK;
}

} // namespace

Made make_interpreted_group(const Op& op) {
    return std::make_unique<InterpretedGroup>(op, elementwise_group(op));
}

} // namespace weft::kernels::cpu
