// SPDX-License-Identifier: Apache-2.0
// What the passes share when they change programs.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace weft::passes {

/// For each value the value that takes its place; chains are followed.
class Replacements {
public:
    void set(ir::ValueId from, ir::ValueId to);
    ir::ValueId resolve(ir::ValueId id) const;
    bool empty() const { return empty_; }
    /// Rewrites every use in the program, results and their ports included.
    void apply(ir::Program& program) const;

private:
    ir::ValueIds to_;
    bool empty_ = true;
};

/// Number of uses of every value: as operand, body result or program result.
std::vector<int> count_uses(const ir::Program& program);

/// Extents without the leading one; with a leading `count`.
ir::Shape without_leading(const ir::Shape& shape);
ir::Shape with_leading(std::int64_t count, const ir::Shape& shape);

std::vector<std::int64_t> list_of(const ir::Shape& shape);

} // namespace weft::passes
