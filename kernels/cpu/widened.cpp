// SPDX-License-Identifier: Apache-2.0
// Ops in bf16 or f16 that have no kernel of their own (bf16 of oneDNN on processors without it, f16
// of whatever combines elements): operands are widened to f32 in the workspace, the f32 kernel
// runs, results are rounded. Slower than f32 itself, but hundreds of times faster than the
// reference.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"

namespace weft::kernels::cpu {
namespace {

bool is_narrow(std::int32_t dtype) {
    return dtype == WEFT_BF16 || dtype == WEFT_F16;
}

class Widened final : public Kernel {
public:
    Widened(const Op& op, Made (*make)(const Op&)) : threads_(team_size()) {
        std::vector<Type> inputs = types(op.desc().input_types, op.inputs());
        std::vector<Type> outputs = types(op.desc().output_types, op.outputs());
        weft_op_desc desc = op.desc();
        desc.input_types = inputs.data();
        desc.output_types = outputs.data();
        inner_ = make(Op(desc));
        workspace_bytes_ = round_up_to_line(inner_->workspace_bytes());
        for (int i = 0; i < op.inputs(); ++i) {
            inputs_.push_back(place(op.input(i)));
        }
        for (int i = 0; i < op.outputs(); ++i) {
            outputs_.push_back(place(op.output(i)));
        }
        in_.resize(inputs_.size());
        out_.resize(outputs_.size());
    }

    weft_status run(const weft_run_args& args) override {
        auto* workspace = static_cast<unsigned char*>(args.workspace);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const Copy& copy = inputs_[i];
            in_[i] = copy.offset < 0 ? args.inputs[i] : workspace + copy.offset;
            if (copy.offset >= 0) {
                const auto* from = static_cast<const unsigned char*>(args.inputs[i]);
                auto* to = reinterpret_cast<float*>(workspace + copy.offset);
                parallel_ranges(copy.count, copy.count, threads_,
                                [&](std::int64_t begin, std::int64_t end, int) {
                                    copy.load(from + 2 * begin, to + begin, end - begin);
                                });
            }
        }
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            out_[i] = outputs_[i].offset < 0 ? args.outputs[i] : workspace + outputs_[i].offset;
        }
        const weft_run_args wide{in_.data(), out_.data(), args.workspace, args.stream};
        const weft_status status = inner_->run(wide);
        for (std::size_t i = 0; status == WEFT_OK && i < outputs_.size(); ++i) {
            const Copy& copy = outputs_[i];
            if (copy.offset >= 0) {
                const auto* from = reinterpret_cast<const float*>(workspace + copy.offset);
                auto* to = static_cast<unsigned char*>(args.outputs[i]);
                parallel_ranges(copy.count, copy.count, threads_,
                                [&](std::int64_t begin, std::int64_t end, int) {
                                    copy.store(from + begin, to + 2 * begin, end - begin);
                                });
            }
        }
        return status;
    }

private:
    struct Copy {
        std::int64_t count;
        std::int64_t offset; // in the workspace; -1: used as it is
        LoadRun load;
        StoreRun store;
    };

    static std::vector<Type> types(const Type* given, int count) {
        std::vector<Type> wide(given, given + count);
        for (Type& type : wide) {
            type.dtype = is_narrow(type.dtype) ? WEFT_F32 : type.dtype;
        }
        return wide;
    }

    Copy place(const Type& type) {
        Copy copy{element_count(type), -1, load_run(type.dtype), store_run(type.dtype)};
        if (is_narrow(type.dtype)) {
            copy.offset = workspace_bytes_;
            workspace_bytes_ += round_up_to_line(copy.count * 4);
        }
        return copy;
    }

    Made inner_;
    std::vector<Copy> inputs_, outputs_;
    std::vector<const void*> in_;
    std::vector<void*> out_;
    int threads_;
};

} // namespace

Made make_in_f32(const Op& op, Made (*make)(const Op&)) {
    bool narrow = false;
    for (int i = 0; i < op.inputs(); ++i) {
        narrow = narrow || is_narrow(op.input(i).dtype);
    }
    for (int i = 0; i < op.outputs(); ++i) {
        narrow = narrow || is_narrow(op.output(i).dtype);
    }
    if (!narrow) {
        unsupported("nothing to widen");
    }
    return std::make_unique<Widened>(op, make);
}

} // namespace weft::kernels::cpu
