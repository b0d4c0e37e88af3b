// SPDX-License-Identifier: Apache-2.0
// What a record's `split` function sees: one op of the whole program, the parts of its operands
// that one device holds, and a builder that appends to the device's program. Written once for every
// mesh: the function asks which factors are split, never over which axes.
#pragma once

#include "core/ops/builder.h"
#include "core/ops/op_def.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::ops {

class SplitContext {
public:
    virtual ~SplitContext() = default;

    /// The op on whole arrays, and its factor rule.
    const OpView& whole() const { return whole_; }
    const FactorRule& rule() const { return rule_; }
    Builder& builder() const { return builder_; }
    /// The part of input i that is here. Padding along contracted factors is neutral.
    ir::ValueId input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
    /// Attributes with local extents.
    const ir::Attributes& attributes() const { return attributes_; }
    /// Type of the part of output i that is here.
    const ir::Type& output_type(int i) const { return outputs_[static_cast<std::size_t>(i)]; }

    virtual bool is_split(int factor) const = 0;
    /// Elements of the factor that a device holds, padding included.
    virtual std::int64_t local_size(int factor) const = 0;
    /// Stretches of the whole that a device's part of the factor is made of.
    virtual std::int64_t parts(int factor) const = 0;
    /// Devices that split the factor.
    virtual std::int64_t devices(int factor) const = 0;
    /// i64[factors]: for each, the index of the first element that is here, plus its `base`; 0 for
    /// factors that are not split, and for -1.
    virtual ir::ValueId origin(std::span<const int> factors,
                               std::span<const std::int64_t> base) = 0;
    /// f32[local_size]: 1 for the elements of the factor that are real, 0 for padding.
    virtual ir::ValueId real(int factor) = 0;
    /// The values of all devices that split the factor, combined elementwise; the same everywhere.
    virtual ir::ValueId all_reduce(ir::ValueId value, int factor, Combine combine) = 0;
    /// The value of the device that holds the part before this one, around the ring of those that
    /// split the factor. The parts must follow each other: throws weft::Error{usage} otherwise.
    virtual ir::ValueId from_part_before(ir::ValueId value, int factor) = 0;

    /// Appends the op itself on the local parts (of `inputs`, where they differ).
    ir::ValueIds emit_same(ir::ValueIds inputs) const {
        return builder_.emit_all(whole_.op.kind, std::move(inputs), attributes_);
    }
    ir::ValueIds emit_same() const { return emit_same(inputs_); }
    const ir::ValueIds& inputs() const { return inputs_; }

    void set(int output, ir::ValueId value) { results_[static_cast<std::size_t>(output)] = value; }
    void set_all(const ir::ValueIds& values) { results_ = values; }
    const ir::ValueIds& results() const { return results_; }

protected:
    SplitContext(Builder& builder, OpView whole, const FactorRule& rule, ir::ValueIds inputs,
                 std::vector<ir::Type> outputs, ir::Attributes attributes)
        : builder_(builder), whole_(whole), rule_(rule), inputs_(std::move(inputs)),
          outputs_(std::move(outputs)), attributes_(std::move(attributes)),
          results_(outputs_.size()) {}

private:
    Builder& builder_;
    OpView whole_;
    const FactorRule& rule_;
    ir::ValueIds inputs_;
    std::vector<ir::Type> outputs_;
    ir::Attributes attributes_;
    ir::ValueIds results_;
};

/// The factor of a dimension that has one; -1: none.
inline int factor_of(const std::vector<std::vector<int>>& operand, int dim) {
    const std::vector<int>& factors = operand[static_cast<std::size_t>(dim)];
    return factors.size() == 1 ? factors.front() : -1;
}

} // namespace weft::ops
