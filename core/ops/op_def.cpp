// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_def.h"

#include "core/ops/rules.h"

#include <array>

namespace weft::ops {
namespace {

/// Every pass asks for the record of every op: an open table.
class Index {
public:
    Index() {
        WEFT_CHECK(2 * all_ops().size() <= table_.size(), "the table stays half empty");
        for (const OpDef* def : all_ops()) {
            const ir::Name name(def->name);
            std::size_t slot = slot_of(name);
            while (table_[slot].second != nullptr) {
                slot = (slot + 1) % table_.size();
            }
            table_[slot] = {name, def};
        }
    }

    const OpDef* find(ir::Name kind) const {
        std::size_t slot = slot_of(kind);
        while (table_[slot].second != nullptr && table_[slot].first != kind) {
            slot = (slot + 1) % table_.size();
        }
        return table_[slot].second;
    }

private:
    // Names are addresses of texts, which are of this size.
    static std::size_t slot_of(ir::Name kind) {
        return std::hash<ir::Name>()(kind) / sizeof(std::string) % 512;
    }

    std::array<std::pair<ir::Name, const OpDef*>, 512> table_{};
};

} // namespace

const OpDef* find_op(ir::Name kind) {
    static const Index index;
    return index.find(kind);
}

const OpDef& op_def(ir::Name kind) {
    const OpDef* def = find_op(kind);
    WEFT_CHECK(def != nullptr, "no op is called '" + kind + "'");
    return *def;
}

OpCost cost_of(const OpView& view) {
    const OpDef& def = op_def(view.op.kind);
    if (def.cost != nullptr) {
        return def.cost(view);
    }
    double elements = 0;
    for (int i = 0; i < view.outputs(); ++i) {
        elements += static_cast<double>(view.output(i).shape.elements());
    }
    return cost(view, def.element_flops * elements);
}

} // namespace weft::ops
