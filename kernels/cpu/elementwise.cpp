// SPDX-License-Identifier: Apache-2.0
// Elementwise ops and fused groups: a small interpreter. A block of 384 elements per register stays
// in the first-level cache while every instruction runs over it as one vector loop; threads share
// the blocks of all tensors. Blocks are fixed, so team size changes no bit, and a single op is a
// group of one, so fusing changes none either, nor does a sweep over many tensors.
#include "kernels/elementwise.h"

#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/elementwise_loops.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kBlock = 384;

enum class Access { direct, converted, scalar, strided };

/// How an input is read: in place (f32 of full shape), converted, as one number, or walked by
/// strides over dimensions that have been merged where possible.
struct Input {
    Access access;
    std::int64_t size; // of an element
    LoadRun load;
    int rank;
    std::int64_t shape[WEFT_MAX_RANK], dense[WEFT_MAX_RANK], strides[WEFT_MAX_RANK];
    int slot; // -1 when direct
};

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

Input describe_input(const Type& type, const Type& shape, const Dims& strides, bool number) {
    Input in{};
    in.size = dtype_size(type.dtype);
    in.load = load_run(type.dtype);
    in.slot = -1;
    if (in.load == nullptr) {
        unsupported("no f64 or i64 in groups");
    }
    if (number) {
        in.access = Access::scalar;
        return in;
    }
    if (same_shape(type, shape) || element_count(type) == element_count(shape)) {
        in.access = type.dtype == WEFT_F32 ? Access::direct : Access::converted;
        return in;
    }
    in.access = Access::strided;
    for (int d = 0; d < shape.rank; ++d) {
        const std::int64_t stride = strides[static_cast<std::size_t>(d)];
        if (shape.shape[d] == 1) {
            continue;
        }
        const int last = in.rank - 1;
        if (last >= 0 &&
            in.strides[last] == stride * shape.shape[d]) { // one run with the outer one
            in.shape[last] *= shape.shape[d];
            in.strides[last] = stride;
        } else {
            in.shape[in.rank] = shape.shape[d];
            in.strides[in.rank++] = stride;
        }
    }
    std::int64_t dense = 1;
    for (int d = in.rank; d-- > 0;) {
        in.dense[d] = dense;
        dense *= in.shape[d];
    }
    return in;
}

/// Elements start .. start + count of a broadcast input, run by run along its innermost dimension.
void load_runs(const Input& in, const unsigned char* data, std::int64_t start, std::int64_t count,
               float* to) {
    const int inner = in.rank - 1;
    while (count > 0) {
        std::int64_t offset = 0;
        for (int d = 0; d < in.rank; ++d) {
            offset += start / in.dense[d] % in.shape[d] * in.strides[d];
        }
        const std::int64_t run = std::min(count, in.shape[inner] - start % in.shape[inner]);
        if (in.strides[inner] == 0) {
            float value = 0.0f;
            in.load(data + offset * in.size, &value, 1);
            fill_run(to, value, run);
        } else {
            in.load(data + offset * in.size, to, run);
        }
        start += run;
        to += run;
        count -= run;
    }
}

/// As load_runs, but a short row that repeats (a bias) is read once and then copied.
void load_strided(const Input& in, const unsigned char* data, std::int64_t start,
                  std::int64_t count, float* to) {
    const bool repeats = in.rank == 2 && in.strides[0] == 0 && in.strides[1] == 1;
    const std::int64_t period = repeats ? std::min(in.shape[1], count) : count;
    load_runs(in, data, start, period, to);
    for (std::int64_t filled = period; filled < count; filled *= 2) {
        std::memcpy(to + filled, to,
                    static_cast<std::size_t>(std::min(filled, count - filled)) * 4);
    }
}

class ElementwiseKernel final : public Kernel {
public:
    explicit ElementwiseKernel(const Op& op);
    weft_status run(const weft_run_args& args) override;

private:
    /// The pointers of one tensor.
    struct Operands {
        const void* const* inputs;
        void* const* outputs;
    };

    void plan(const Group& group);
    void allocate_slots();
    Operands operands(const weft_run_args& args, std::size_t tensor) const;
    void place_slots(float** registers, float* slots) const;
    void fill_scalars(const Operands& operands, float** registers, std::int64_t count) const;
    void run_blocks(const weft_run_args& args, float** registers, std::int64_t begin,
                    std::int64_t end) const;
    void run_block(const Operands& operands, float** registers, std::int64_t start,
                   std::int64_t count) const;
    bool needs_slot(int reg) const {
        return places_[static_cast<std::size_t>(reg)].kind == Place::Kind::slot;
    }

    std::vector<Input> inputs_;
    std::vector<std::int32_t> output_dtypes_;
    std::vector<StoreRun> stores_;
    std::vector<Instruction> program_;
    std::vector<Place> places_; // [register]
    std::vector<std::int64_t> counts_;      // [tensor]
    std::vector<std::int64_t> first_block_; // [tensor], and of all
    int slots_ = 0;
    int threads_ = 1;
    std::int64_t thread_bytes_ = 0;
};

ElementwiseKernel::ElementwiseKernel(const Op& op) {
    const Group group = elementwise_group(op);
    counts_ = group.counts;
    first_block_ = {0};
    for (const std::int64_t count : counts_) {
        first_block_.push_back(first_block_.back() + (count + kBlock - 1) / kBlock);
    }
    for (std::size_t i = 0; i < group.inputs(); ++i) {
        inputs_.push_back(describe_input(op.input(static_cast<int>(i)), group.shape,
                                         group.strides[i], group.numbers[i]));
    }
    for (int i = 0; i < static_cast<int>(group.outputs()); ++i) {
        output_dtypes_.push_back(op.output(i).dtype);
        stores_.push_back(store_run(op.output(i).dtype));
        if (stores_.back() == nullptr) {
            unsupported("groups write f32, bf16 and f16 only");
        }
    }
    for (const Step& step : group.steps) {
        if (step.dtype != WEFT_F32 && round_run(step.dtype) == nullptr) {
            unsupported("groups compute in f32 only");
        }
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
void ElementwiseKernel::plan(const Group& group) {
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
void ElementwiseKernel::allocate_slots() {
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
            inputs_[r].slot = slots_;
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

ElementwiseKernel::Operands ElementwiseKernel::operands(const weft_run_args& args,
                                                        std::size_t tensor) const {
    return {args.inputs + tensor * inputs_.size(), args.outputs + tensor * stores_.size()};
}

void ElementwiseKernel::place_slots(float** registers, float* slots) const {
    for (std::size_t r = 0; r < places_.size(); ++r) {
        if (places_[r].kind == Place::Kind::slot) {
            registers[r] = slots + places_[r].index * kBlock;
        }
    }
}

void ElementwiseKernel::fill_scalars(const Operands& operands, float** registers,
                                     std::int64_t count) const {
    for (std::size_t r = 0; r < inputs_.size(); ++r) {
        if (inputs_[r].access == Access::scalar) {
            float value = 0.0f;
            inputs_[r].load(operands.inputs[r], &value, 1);
            fill_run(registers[r], value, count);
        }
    }
}

/// Blocks begin .. end of those of all tensors.
void ElementwiseKernel::run_blocks(const weft_run_args& args, float** registers, std::int64_t begin,
                                   std::int64_t end) const {
    const auto after = std::upper_bound(first_block_.begin(), first_block_.end(), begin);
    auto tensor = static_cast<std::size_t>(after - first_block_.begin() - 1);
    for (std::int64_t block = begin; block < end; ++tensor) {
        const Operands own = operands(args, tensor);
        const std::int64_t last = std::min(end, first_block_[tensor + 1]);
        if (block < last) {
            fill_scalars(own, registers, std::min(kBlock, counts_[tensor]));
        }
        for (; block < last; ++block) {
            const std::int64_t start = (block - first_block_[tensor]) * kBlock;
            run_block(own, registers, start, std::min(kBlock, counts_[tensor] - start));
        }
    }
}

void ElementwiseKernel::run_block(const Operands& operands, float** registers, std::int64_t start,
                                  std::int64_t count) const {
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
            const auto* data = static_cast<const unsigned char*>(operands.inputs[index]);
            if (in.access == Access::converted) {
                in.load(data + start * in.size, result, count);
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

weft_status ElementwiseKernel::run(const weft_run_args& args) {
    const std::int64_t count = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
    const std::int64_t work = count * static_cast<std::int64_t>(inputs_.size() + program_.size());
    parallel_ranges(
        first_block_.back(), work, threads_, [&](std::int64_t begin, std::int64_t end, int thread) {
            auto* scratch = static_cast<unsigned char*>(args.workspace) + thread * thread_bytes_;
            auto* slots = reinterpret_cast<float*>(scratch);
            auto** registers =
                reinterpret_cast<float**>(scratch + round_up_to_line(slots_ * kBlock * 4));
            place_slots(registers, slots);
            run_blocks(args, registers, begin, end);
        });
    return WEFT_OK;
}

} // namespace

Made make_elementwise(const Op& op) {
    return std::make_unique<ElementwiseKernel>(op);
}

} // namespace weft::kernels::cpu
