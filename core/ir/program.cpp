// SPDX-License-Identifier: Apache-2.0
#include "core/ir/program.h"

#include <algorithm>

namespace weft::ir {
namespace {

/// The attribute as T; a missing one or another type is a programmer fault.
template <typename T>
const T& expect(const Attribute* attribute, std::string_view name) {
    WEFT_CHECK(attribute != nullptr, "attribute '" + std::string(name) + "' is missing");
    const T* value = std::get_if<T>(attribute);
    WEFT_CHECK(value != nullptr, "attribute '" + std::string(name) + "' has another type");
    return *value;
}

/// Appends what a block defines and what it uses, nested blocks included.
void collect(const Block& block, ValueIds& defined, ValueIds& used) {
    defined.insert(defined.end(), block.arguments.begin(), block.arguments.end());
    for (const Op& op : block.ops) {
        used.insert(used.end(), op.inputs.begin(), op.inputs.end());
        defined.insert(defined.end(), op.outputs.begin(), op.outputs.end());
        for (const Block& inner : op.body) {
            collect(inner, defined, used);
        }
    }
    used.insert(used.end(), block.results.begin(), block.results.end());
}

void replace(ValueIds& ids, const ValueIds& replacement) {
    for (ValueId& id : ids) {
        const auto index = static_cast<std::size_t>(id.index);
        if (id.valid() && index < replacement.size() && replacement[index].valid()) {
            id = replacement[index];
        }
    }
}

/// Adds an entry at its place, or changes the one that has its name.
void put(std::vector<Attributes::Entry>& entries, std::string_view name, Attribute value) {
    const auto place =
        std::lower_bound(entries.begin(), entries.end(), name,
                         [](const auto& entry, std::string_view key) { return entry.first < key; });
    if (place != entries.end() && place->first == name) {
        place->second = std::move(value);
    } else {
        entries.emplace(place, std::string(name), std::move(value));
    }
}

} // namespace

Attributes::Attributes(std::initializer_list<Entry> entries) {
    std::vector<Entry> sorted;
    sorted.reserve(entries.size());
    for (const auto& [name, value] : entries) {
        put(sorted, name, value);
    }
    entries_ = std::make_shared<const std::vector<Entry>>(std::move(sorted));
}

void Attributes::set(std::string_view name, Attribute value) {
    std::vector<Entry> changed(begin(), end());
    put(changed, name, std::move(value));
    entries_ = std::make_shared<const std::vector<Entry>>(std::move(changed));
}

const Attribute* Attributes::find(std::string_view name) const {
    // There are a handful.
    for (const auto& [key, value] : entries()) {
        if (key == name) {
            return &value;
        }
    }
    return nullptr;
}

bool operator==(const Attributes& a, const Attributes& b) {
    return a.entries_ == b.entries_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool Attributes::has(std::string_view name) const {
    return find(name) != nullptr;
}

bool Attributes::flag(std::string_view name, bool fallback) const {
    const Attribute* attribute = find(name);
    return attribute == nullptr ? fallback : expect<bool>(attribute, name);
}

std::int64_t Attributes::integer(std::string_view name) const {
    return expect<std::int64_t>(find(name), name);
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t fallback) const {
    const Attribute* attribute = find(name);
    return attribute == nullptr ? fallback : expect<std::int64_t>(attribute, name);
}

double Attributes::real(std::string_view name) const {
    return expect<double>(find(name), name);
}

double Attributes::real(std::string_view name, double fallback) const {
    const Attribute* attribute = find(name);
    return attribute == nullptr ? fallback : expect<double>(attribute, name);
}

const std::string& Attributes::text(std::string_view name) const {
    return expect<std::string>(find(name), name);
}

std::string Attributes::text(std::string_view name, std::string_view fallback) const {
    const Attribute* attribute = find(name);
    return attribute == nullptr ? std::string(fallback) : expect<std::string>(attribute, name);
}

const std::vector<std::int64_t>& Attributes::list(std::string_view name) const {
    return expect<std::vector<std::int64_t>>(find(name), name);
}

std::string op_text(const Op& op) {
    return op.path.empty() ? op.kind.text() : op.kind + " at " + op.path;
}

std::string_view phase_name(Phase phase) {
    switch (phase) {
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::update: return "update";
    }
    return "forward";
}

std::string_view role_name(Role role) {
    switch (role) {
    case Role::state: return "state";
    case Role::batch: return "batch";
    case Role::scalar: return "scalar";
    case Role::output: return "output";
    }
    return "output";
}

const Value::Laid& Value::usual() {
    static const Laid laid;
    return laid;
}

ValueId Program::add_value(Type type, std::string value_name) {
    values.emplace_back(type, std::move(value_name));
    return {static_cast<std::int32_t>(values.size()) - 1};
}

ValueId Program::add_argument(Role role, std::string port_name, Type type) {
    const ValueId id = add_value(type, port_name);
    arguments.push_back({id, role, std::move(port_name)});
    body.arguments.push_back(id);
    return id;
}

void Program::add_result(Role role, std::string port_name, ValueId id) {
    results.push_back({id, role, std::move(port_name)});
    body.results.push_back(id);
}

ValueIds captures(const Op& op) {
    ValueIds defined;
    ValueIds used;
    for (const Block& block : op.body) {
        collect(block, defined, used);
    }
    // Values are defined once in the whole program, so order and nesting do not matter here.
    std::int32_t most = -1;
    for (const ValueIds* ids : {&defined, &used}) {
        for (const ValueId id : *ids) {
            most = std::max(most, id.index);
        }
    }
    std::vector<bool> known(static_cast<std::size_t>(most) + 1);
    for (const ValueId id : defined) {
        known[static_cast<std::size_t>(id.index)] = true;
    }
    erase_if(used, [&](ValueId id) {
        const bool seen = known[static_cast<std::size_t>(id.index)];
        known[static_cast<std::size_t>(id.index)] = true;
        return seen;
    });
    return used;
}

void replace_uses(Block& block, const ValueIds& replacement) {
    for (Op& op : block.ops) {
        replace(op.inputs, replacement);
        for (Block& inner : op.body) {
            replace_uses(inner, replacement);
        }
    }
    replace(block.results, replacement);
}

} // namespace weft::ir
