// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"

#include "kernels/elementwise.h"

namespace weft::kernels {
namespace {

bool counts_fit(const KernelEntry& row, const Op& op) {
    return op.inputs() >= row.min_inputs && (row.max_inputs < 0 || op.inputs() <= row.max_inputs) &&
           (row.outputs < 0 ? op.outputs() >= 1 : op.outputs() == row.outputs);
}

} // namespace

weft_kernel make_kernel(std::span<const KernelEntry> list, const weft_op_desc& desc) {
    const Op op(desc);
    std::string why;
    for (const KernelEntry& row : list) {
        if (op.kind() != row.op) {
            continue;
        }
        if (!counts_fit(row, op)) {
            throw Failure{WEFT_BAD_ARGUMENT,
                          "wrong number of operands for op '" + std::string(op.kind()) + "'"};
        }
        try {
            return {row.make(op), row.name};
        } catch (const Failure& failure) {
            const std::string text = std::string(row.name) + ": " + failure.text;
            if (failure.status != WEFT_UNSUPPORTED) {
                throw Failure{failure.status, text};
            }
            why = why.empty() ? text : why; // the best kernel's reason
        }
    }
    throw Failure{WEFT_UNSUPPORTED,
                  why.empty() ? "no kernel for op '" + std::string(op.kind()) + "'" : why};
}

std::vector<KernelEntry> with_elementwise(std::span<const KernelEntry> rows, const char* name,
                                          std::unique_ptr<Kernel> (*make)(const Op& op)) {
    std::vector<KernelEntry> all(rows.begin(), rows.end());
    for (const ElementwiseName& op : kElementwiseNames) {
        all.push_back({op.name, name, op.arity, op.arity, 1, make});
    }
    return all;
}

} // namespace weft::kernels
