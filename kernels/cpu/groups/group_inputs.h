// SPDX-License-Identifier: Apache-2.0
// What both kernels for groups share: how inputs are read, and blocks of elements over all tensors.
#pragma once

#include "kernels/cpu/loops/rows.h"
#include "kernels/elementwise.h"

#include <algorithm>

namespace weft::kernels::cpu {

enum class Access { direct, converted, scalar, strided };

/// How an input is read: in place (f32 of full shape), converted, as one number, or walked by
/// strides over dimensions that have been merged where possible.
struct Input {
    Access access;
    std::int32_t dtype;
    std::int64_t size; // of an element
    LoadRun load;
    int rank;
    std::int64_t shape[WEFT_MAX_RANK], dense[WEFT_MAX_RANK], strides[WEFT_MAX_RANK];
};

/// Of every input of a group's first tensor. Throws UNSUPPORTED for f64 and i64.
std::vector<Input> describe_inputs(const Op& op, const Group& group);
/// Throws UNSUPPORTED unless the group computes in f32, bf16 and f16 and writes these.
void require_brief_types(const Op& op, const Group& group);
/// Elements start .. start + count of a strided input.
void load_strided(const Input& in, const void* data, std::int64_t start, std::int64_t count,
                  float* to);

/// The pointers of one tensor.
struct TensorOperands {
    const void* const* inputs;
    void* const* outputs;
};

/// The elements of all tensors in blocks of one size.
class TensorBlocks {
public:
    TensorBlocks(const Group& group, std::int64_t block)
        : block_(block), counts_(group.counts), inputs_(group.inputs()),
          outputs_(group.outputs()), first_{0} {
        for (const std::int64_t count : counts_) {
            first_.push_back(first_.back() + (count + block - 1) / block);
            elements_ += count;
        }
    }

    std::int64_t count() const { return first_.back(); }
    std::int64_t elements() const { return elements_; }

    /// For the blocks begin .. end: tensor(operands, elements) before the first block of a tensor,
    /// and block(operands, start, count).
    template <class Tensor, class Block>
    void each(const weft_run_args& args, std::int64_t begin, std::int64_t end, const Tensor& tensor,
              const Block& block) const {
        const auto after = std::upper_bound(first_.begin(), first_.end(), begin);
        auto t = static_cast<std::size_t>(after - first_.begin() - 1);
        for (std::int64_t number = begin; number < end; ++t) {
            const TensorOperands own{args.inputs + t * inputs_, args.outputs + t * outputs_};
            const std::int64_t last = std::min(end, first_[t + 1]);
            if (number < last) {
                tensor(own, counts_[t]);
            }
            for (; number < last; ++number) {
                const std::int64_t start = (number - first_[t]) * block_;
                block(own, start, std::min(block_, counts_[t] - start));
            }
        }
    }

private:
    std::int64_t block_;
    std::vector<std::int64_t> counts_; // [tensor]
    std::size_t inputs_, outputs_;     // of one tensor
    std::vector<std::int64_t> first_;  // [tensor], and of all
    std::int64_t elements_ = 0;
};

} // namespace weft::kernels::cpu
