// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_def.h"

#include "core/ops/rules.h"

#include <unordered_map>

namespace weft::ops {

const OpDef* find_op(std::string_view kind) {
    static const auto index = [] {
        std::unordered_map<std::string_view, const OpDef*> out;
        for (const OpDef* def : all_ops()) {
            out.emplace(def->name, def);
        }
        return out;
    }();
    const auto found = index.find(kind);
    return found == index.end() ? nullptr : found->second;
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
