// SPDX-License-Identifier: Apache-2.0
// Groups as machine code, on machines with AVX-512. Threads share the blocks of all tensors; an
// input that is walked by strides is laid out as f32 for a block first.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/groups/group_code.h"
#include "kernels/cpu/groups/group_inputs.h"
#include "kernels/cpu/loops/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;

class CompiledGroup final : public Kernel {
public:
    CompiledGroup(const Op& op, const Group& group)
        : blocks_(group, kBlock), inputs_(describe_inputs(op, group)), threads_(team_size()) {
        require_brief_types(op, group);
        GroupForm form;
        form.steps = group.steps;
        form.output_registers = group.output_registers;
        for (const Input& in : inputs_) {
            const bool strided = in.access == Access::strided;
            form.inputs.push_back({in.access == Access::scalar, strided ? WEFT_F32 : in.dtype});
            strided_ += strided ? 1 : 0;
        }
        for (std::size_t o = 0; o < group.outputs(); ++o) {
            form.output_dtypes.push_back(op.output(static_cast<int>(o)).dtype);
        }
        for (const Step& step : group.steps) {
            constants_.push_back(static_cast<float>(step.scale));
            constants_.push_back(static_cast<float>(step.shift));
        }
        output_dtypes_ = form.output_dtypes;
        work_ = blocks_.elements() *
                static_cast<std::int64_t>(inputs_.size() + group.steps.size() + group.outputs());
        code_ = code_of(form);
        thread_bytes_ =
            strided_ * kBlock * 4 + round_up_to_line(static_cast<std::int64_t>(
                                        (inputs_.size() + output_dtypes_.size()) * sizeof(void*)));
        workspace_bytes_ = thread_bytes_ * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        parallel_ranges(
            blocks_.count(), work_, threads_,
            [&](std::int64_t begin, std::int64_t end, int thread) {
                auto* scratch =
                    static_cast<unsigned char*>(args.workspace) + thread * thread_bytes_;
                auto* slots = reinterpret_cast<float*>(scratch);
                auto** pointers = reinterpret_cast<const void**>(scratch + strided_ * kBlock * 4);
                blocks_.each(
                    args, begin, end, [](const TensorOperands&, std::int64_t) {},
                    [&](const TensorOperands& own, std::int64_t start, std::int64_t count) {
                        block(own, start, count, slots, pointers);
                    });
            });
        return WEFT_OK;
    }

private:
    void block(const TensorOperands& own, std::int64_t start, std::int64_t count, float* slots,
               const void** pointers) const {
        const void** next = pointers;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const Input& in = inputs_[i];
            if (in.access == Access::strided) {
                load_strided(in, own.inputs[i], start, count, slots);
                *next++ = slots;
                slots += kBlock;
            } else {
                const std::int64_t at = in.access == Access::scalar ? 0 : start * in.size;
                *next++ = static_cast<const unsigned char*>(own.inputs[i]) + at;
            }
        }
        for (std::size_t o = 0; o < output_dtypes_.size(); ++o) {
            *next++ =
                static_cast<unsigned char*>(own.outputs[o]) + start * dtype_size(output_dtypes_[o]);
        }
        code_->function(pointers, constants_.data(), count);
    }

    TensorBlocks blocks_;
    std::vector<Input> inputs_;
    std::vector<std::int32_t> output_dtypes_;
    std::vector<float> constants_; // scale and shift of each step
    std::shared_ptr<const GroupCode> code_;
    int threads_;
    std::int64_t strided_ = 0, thread_bytes_ = 0, work_ = 0;
};

} // namespace

Made make_compiled_group(const Op& op) {
    if (!machine_runs_group_code()) {
        unsupported("groups as machine code need AVX-512");
    }
    return std::make_unique<CompiledGroup>(op, elementwise_group(op));
}

} // namespace weft::kernels::cpu
