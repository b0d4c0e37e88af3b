// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rewrite.h"

namespace weft::passes {
namespace {

void count_in(const ir::Block& block, std::vector<int>& uses) {
    const auto count = [&uses](const ir::ValueIds& ids) {
        for (const ir::ValueId id : ids) {
            ++uses[static_cast<std::size_t>(id.index)];
        }
    };
    for (const ir::Op& op : block.ops) {
        count(op.inputs);
        for (const ir::Block& body : op.body) {
            count_in(body, uses);
        }
    }
    count(block.results);
}

} // namespace

void Replacements::set(ir::ValueId from, ir::ValueId to) {
    const auto index = static_cast<std::size_t>(from.index);
    if (index >= to_.size()) {
        to_.resize(index + 1);
    }
    to_[index] = to;
    empty_ = false;
}

ir::ValueId Replacements::resolve(ir::ValueId id) const {
    while (static_cast<std::size_t>(id.index) < to_.size() &&
           to_[static_cast<std::size_t>(id.index)].valid()) {
        id = to_[static_cast<std::size_t>(id.index)];
    }
    return id;
}

void Replacements::apply(ir::Program& program) const {
    if (empty_) {
        return;
    }
    ir::ValueIds final_ids(to_.size());
    for (std::size_t i = 0; i < to_.size(); ++i) {
        if (to_[i].valid()) {
            final_ids[i] = resolve(to_[i]);
        }
    }
    ir::replace_uses(program.body, final_ids);
    for (std::size_t i = 0; i < program.results.size(); ++i) {
        program.results[i].value = program.body.results[i];
    }
}

std::vector<int> count_uses(const ir::Program& program) {
    std::vector<int> uses(program.values.size(), 0);
    count_in(program.body, uses);
    return uses;
}

ir::Shape without_leading(const ir::Shape& shape) {
    return ir::Shape(shape.span().subspan(1));
}

ir::Shape with_leading(std::int64_t count, const ir::Shape& shape) {
    ir::Shape out{count};
    for (const std::int64_t extent : shape) {
        out.push_back(extent);
    }
    return out;
}

std::vector<std::int64_t> list_of(const ir::Shape& shape) {
    return {shape.begin(), shape.end()};
}

} // namespace weft::passes
