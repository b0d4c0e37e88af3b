// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_def.h"

#include "core/ops/rules.h"

#include <array>

namespace weft::ops {
namespace {

/// Every pass asks for the record of every op: an open table, and a hash of a few letters.
class Index {
public:
    Index() {
        WEFT_CHECK(2 * all_ops().size() <= table_.size(), "the table stays half empty");
        for (const OpDef* def : all_ops()) {
            std::size_t slot = slot_of(def->name);
            while (table_[slot] != nullptr) {
                slot = (slot + 1) % table_.size();
            }
            table_[slot] = def;
        }
    }

    const OpDef* find(std::string_view kind) const {
        std::size_t slot = slot_of(kind);
        while (table_[slot] != nullptr && table_[slot]->name != kind) {
            slot = (slot + 1) % table_.size();
        }
        return table_[slot];
    }

private:
    static std::size_t slot_of(std::string_view kind) {
        const auto letter = [&](std::size_t i) {
            return static_cast<std::size_t>(static_cast<unsigned char>(kind[i]));
        };
        return kind.empty() ? 0
                            : (letter(0) * 37 + letter(kind.size() / 2) * 101 +
                               letter(kind.size() - 1) * 5 + kind.size() * 59) %
                                  512;
    }

    std::array<const OpDef*, 512> table_{};
};

} // namespace

const OpDef* find_op(std::string_view kind) {
    static const Index index;
    return index.find(kind);
}

const OpDef& op_def(std::string_view kind) {
    const OpDef* def = find_op(kind);
    WEFT_CHECK(def != nullptr, "no op is called '" + std::string(kind) + "'");
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
