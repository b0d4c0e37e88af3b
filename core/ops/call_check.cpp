// SPDX-License-Identifier: Apache-2.0
#include "core/ops/call_check.h"

#include "core/ops/rules.h"

namespace weft::ops {
namespace {

std::string_view kind_name(AttributeKind kind) {
    constexpr std::array<std::string_view, 5> names{"a flag", "an integer", "a number", "a text",
                                                    "a list of integers"};
    return names[static_cast<std::size_t>(kind)];
}

// The alternatives of ir::Attribute are in the order of AttributeKind.
bool has_kind(const ir::Attribute& attribute, AttributeKind kind) {
    return attribute.index() == static_cast<std::size_t>(kind);
}

std::string check_attributes(const OpDef& def, const ir::Attributes& attributes) {
    for (const AttributeDef& wanted : def.attributes) {
        const ir::Attribute* found = attributes.find(wanted.name);
        if (found == nullptr && wanted.required) {
            return "attribute '" + word(wanted.name) + "' is missing";
        }
        if (found != nullptr && !has_kind(*found, wanted.kind)) {
            return "attribute '" + word(wanted.name) + "' must be " + word(kind_name(wanted.kind));
        }
    }
    for (const auto& [name, value] : attributes) {
        const auto known =
            std::any_of(def.attributes.begin(), def.attributes.end(),
                        [&](const AttributeDef& wanted) { return wanted.name == name; });
        if (!known) {
            return "there is no attribute '" + name + "'";
        }
    }
    return {};
}

} // namespace

Inferred check_call(const OpDef& def, const OpView& view) {
    if (view.inputs() < def.min_inputs || view.inputs() > def.max_inputs) {
        const std::string range = def.min_inputs == def.max_inputs ? word(def.min_inputs)
                                  : def.max_inputs == std::numeric_limits<int>::max()
                                      ? "at least " + word(def.min_inputs)
                                      : word(def.min_inputs) + " to " + word(def.max_inputs);
        return fail("takes ", range, range == "1" ? " operand" : " operands", ", but has ",
                    view.inputs());
    }
    if (const std::string wrong = check_attributes(def, view.attributes()); !wrong.empty()) {
        return fail(wrong);
    }
    return def.infer(view);
}

} // namespace weft::ops
