// SPDX-License-Identifier: Apache-2.0
// What a record's `split` function sees of one mesh. Private to core/sharding.
#pragma once

#include "core/ops/split.h"
#include "core/sharding/reshard.h"

namespace weft::sharding {

using FactorSplits = std::vector<DimSharding>; // by factor

class MeshContext final : public ops::SplitContext {
public:
    MeshContext(ops::Builder& builder, ops::OpView whole, const ops::FactorRule& rule,
                ir::ValueIds inputs, std::vector<ir::Type> outputs, ir::Attributes attributes,
                const FactorSplits& splits, const Resharder& resharder, const Mesh& mesh)
        : SplitContext(builder, whole, rule, std::move(inputs), std::move(outputs),
                       std::move(attributes)),
          splits_(splits), resharder_(resharder), mesh_(mesh) {}

    bool is_split(int factor) const override { return factor >= 0 && !splits(factor).empty(); }
    std::int64_t local_size(int factor) const override;
    std::int64_t parts(int factor) const override;
    std::int64_t devices(int factor) const override;
    ir::ValueId origin(std::span<const int> factors, std::span<const std::int64_t> base) override;
    ir::ValueId real(int factor) override;
    ir::ValueId all_reduce(ir::ValueId value, int factor, ops::Combine combine) override;
    ir::ValueId from_part_before(ir::ValueId value, int factor) override;

private:
    const DimSharding& splits(int factor) const {
        return splits_[static_cast<std::size_t>(factor)];
    }
    std::int64_t size(int factor) const {
        return rule().factors[static_cast<std::size_t>(factor)].size;
    }

    const FactorSplits& splits_;
    const Resharder& resharder_;
    const Mesh& mesh_;
};

} // namespace weft::sharding
