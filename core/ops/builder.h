// SPDX-License-Identifier: Apache-2.0
// Appends ops to a block of a program with inferred output types. One builder works on one block.
#pragma once

#include "core/ir/program.h"

#include <span>
#include <vector>

namespace weft::ops {

class Builder {
public:
    /// Appends to `block`, which must outlive the builder and belong to `program`.
    Builder(ir::Program& program, ir::Block& block) : program_(&program), block_(&block) {}

    /// Appends one op. Throws weft::Error{usage, path, text} when its record rejects the operands.
    ir::ValueIds emit_all(ir::Name kind, ir::ValueIds inputs, ir::Attributes attributes = {});
    /// As emit_all, for ops with one output of interest (the first).
    ir::ValueId emit(ir::Name kind, ir::ValueIds inputs, ir::Attributes attributes = {});
    /// Appends a finished op (a repeat with its body); outputs must already be values.
    void append(ir::Op op);

    ir::Program& program() { return *program_; }
    ir::Block& block() { return *block_; }
    const ir::Type& type(ir::ValueId id) const { return program_->type(id); }
    const ir::Shape& shape(ir::ValueId id) const { return program_->type(id).shape; }

    /// Layer path and phase given to the ops appended from now on.
    void set_path(ir::Name path) { path_ = path; }
    ir::Name path() const { return path_; }
    void set_phase(ir::Phase phase) { phase_ = phase; }
    ir::Phase phase() const { return phase_; }

private:
    ir::Program* program_;
    ir::Block* block_;
    ir::Name path_;
    ir::Phase phase_ = ir::Phase::forward;
};

// Shorthands, one per op that other code builds by hand. Shapes as in the records.
ir::ValueId constant(Builder& b, double value, ir::Shape shape = {}, ir::DType dtype = ir::DType::f32);
ir::ValueId add(Builder& b, ir::ValueId x, ir::ValueId y); // right-aligned broadcasting
ir::ValueId sub(Builder& b, ir::ValueId x, ir::ValueId y);
ir::ValueId mul(Builder& b, ir::ValueId x, ir::ValueId y);
ir::ValueId div(Builder& b, ir::ValueId x, ir::ValueId y);
ir::ValueId maximum(Builder& b, ir::ValueId x, ir::ValueId y);
ir::ValueId minimum(Builder& b, ir::ValueId x, ir::ValueId y);
ir::ValueId affine(Builder& b, ir::ValueId x, double scale, double shift = 0.0); // x * scale + shift
ir::ValueId select(Builder& b, ir::ValueId condition, ir::ValueId yes, ir::ValueId no);
ir::ValueId cast(Builder& b, ir::ValueId x, ir::DType dtype); // x itself when it has that type
ir::ValueId reshape(Builder& b, ir::ValueId x, ir::Shape shape);
ir::ValueId transpose(Builder& b, ir::ValueId x, std::vector<std::int64_t> permutation);
ir::ValueId slice(Builder& b, ir::ValueId x, std::vector<std::int64_t> starts,
                  std::vector<std::int64_t> sizes);
ir::ValueId reduce_sum(Builder& b, ir::ValueId x, std::vector<std::int64_t> dims, bool keep = false);
ir::ValueId reduce_mean(Builder& b, ir::ValueId x, std::vector<std::int64_t> dims, bool keep = false);
ir::ValueId matmul(Builder& b, ir::ValueId x, ir::ValueId y, bool transpose_x = false,
                   bool transpose_y = false);
/// x [..., K], weight [K, N], bias [N] or invalid -> [..., N]
ir::ValueId linear(Builder& b, ir::ValueId x, ir::ValueId weight, ir::ValueId bias = {});

} // namespace weft::ops
