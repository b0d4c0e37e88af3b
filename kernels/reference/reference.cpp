// SPDX-License-Identifier: Apache-2.0
// The back end around the reference kernels: converts operands to double in the workspace, calls
// the kernel, rounds the results. Elementwise ops are rows made from their opcode names.
#include "kernels/reference/reference_list.h"

#include "kernels/backend.h"
#include "kernels/numbers.h"

#include <cmath>
#include <cstring>

namespace weft::kernels::reference {
namespace {

double load(const void* data, std::int32_t dtype, std::int64_t i) {
    switch (dtype) {
    case WEFT_F32: return static_cast<double>(static_cast<const float*>(data)[i]);
    case WEFT_BF16: return static_cast<double>(to_float(static_cast<const bf16*>(data)[i]));
    case WEFT_F16: return static_cast<double>(to_float(static_cast<const f16*>(data)[i]));
    case WEFT_F64: return static_cast<const double*>(data)[i];
    case WEFT_I32: return static_cast<double>(static_cast<const std::int32_t*>(data)[i]);
    case WEFT_I64: return static_cast<double>(static_cast<const std::int64_t*>(data)[i]);
    default: return static_cast<double>(static_cast<const std::uint8_t*>(data)[i]);
    }
}

/// Truncates towards zero and stays inside the integer type's range; NaN becomes 0.
template <class Integer>
Integer to_integer(double value) {
    if (std::isnan(value)) {
        return 0;
    }
    constexpr double low = static_cast<double>(std::numeric_limits<Integer>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<Integer>::max());
    return value <= low    ? std::numeric_limits<Integer>::min()
           : value >= high ? std::numeric_limits<Integer>::max()
                           : static_cast<Integer>(value);
}

void store(void* data, std::int32_t dtype, std::int64_t i, double value) {
    switch (dtype) {
    case WEFT_F32: static_cast<float*>(data)[i] = static_cast<float>(value); break;
    case WEFT_BF16: static_cast<bf16*>(data)[i] = to_bf16(static_cast<float>(value)); break;
    case WEFT_F16: static_cast<f16*>(data)[i] = to_f16(static_cast<float>(value)); break;
    case WEFT_F64: static_cast<double*>(data)[i] = value; break;
    case WEFT_I32: static_cast<std::int32_t*>(data)[i] = to_integer<std::int32_t>(value); break;
    case WEFT_I64: static_cast<std::int64_t*>(data)[i] = to_integer<std::int64_t>(value); break;
    default: static_cast<std::uint8_t*>(data)[i] = to_integer<std::uint8_t>(value); break;
    }
}

struct Operand {
    std::int32_t dtype;
    std::int64_t count;
    std::int64_t offset; // of its double copy in the workspace; -1: used as it is stored
};

class ReferenceKernel final : public Kernel {
public:
    ReferenceKernel(Body body, const Op& op, Operands operands) : body_(std::move(body)) {
        for (int i = 0; i < op.inputs(); ++i) {
            place(inputs_, op.input(i), operands);
        }
        for (int i = 0; i < op.outputs(); ++i) {
            place(outputs_, op.output(i), operands);
        }
        in_.resize(inputs_.size());
        out_.resize(outputs_.size());
    }

    weft_status run(const weft_run_args& args) override {
        auto* scratch = static_cast<unsigned char*>(args.workspace);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const Operand& o = inputs_[i];
            in_[i] = static_cast<const double*>(args.inputs[i]);
            if (o.offset >= 0) {
                auto* copy = reinterpret_cast<double*>(scratch + o.offset);
                for (std::int64_t k = 0; k < o.count; ++k) {
                    copy[k] = load(args.inputs[i], o.dtype, k);
                }
                in_[i] = copy;
            }
        }
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            out_[i] = outputs_[i].offset >= 0
                          ? reinterpret_cast<double*>(scratch + outputs_[i].offset)
                          : static_cast<double*>(args.outputs[i]);
        }
        const weft_status status = body_(Call(in_.data(), out_.data(), args));
        for (std::size_t i = 0; status == WEFT_OK && i < outputs_.size(); ++i) {
            const Operand& o = outputs_[i];
            for (std::int64_t k = 0; o.offset >= 0 && k < o.count; ++k) {
                store(args.outputs[i], o.dtype, k, out_[i][k]);
            }
        }
        return status;
    }

private:
    void place(std::vector<Operand>& list, const Type& type, Operands operands) {
        Operand operand{type.dtype, element_count(type), -1};
        if (operands == Operands::converted && type.dtype != WEFT_F64) {
            operand.offset = workspace_bytes_;
            workspace_bytes_ += round_up_to_line(operand.count * 8);
        }
        list.push_back(operand);
    }

    Body body_;
    std::vector<Operand> inputs_, outputs_;
    std::vector<const double*> in_;
    std::vector<double*> out_;
};

template <const ReferenceRow& Row>
std::unique_ptr<Kernel> make_row(const Op& op) {
    return std::make_unique<ReferenceKernel>(Row.make(op), op, Row.operands);
}

std::unique_ptr<Kernel> make_elementwise_row(const Op& op) {
    return std::make_unique<ReferenceKernel>(make_elementwise(op), op, Operands::converted);
}

template <std::size_t... I>
std::vector<KernelEntry> build_entries(std::index_sequence<I...>) {
    const KernelEntry rows[] = {{kReferenceList[I].op, "reference", kReferenceList[I].min_inputs,
                                 kReferenceList[I].max_inputs, kReferenceList[I].outputs,
                                 &make_row<kReferenceList[I]>}...};
    return with_elementwise(rows, "reference", make_elementwise_row);
}

std::span<const KernelEntry> reference_list() {
    static const auto entries =
        build_entries(std::make_index_sequence<std::size(kReferenceList)>());
    return entries;
}

constexpr weft_backend kBackend = BackendOf<reference_list>::named("reference");

} // namespace
} // namespace weft::kernels::reference

extern "C" const weft_backend* weft_reference_backend(void) {
    return &weft::kernels::reference::kBackend;
}
