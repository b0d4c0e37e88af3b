// SPDX-License-Identifier: Apache-2.0
// The intermediate representation: a Program is a list of typed values and a tree of blocks of ops.
// Values are in single static assignment form and are numbered over the whole program. An op that
// owns a body may use any value in it that was defined before in an enclosing block (a capture).
//  repeat {count, carried, reverse}: inputs = carried initial values, then per-iteration inputs with
//    `count` as leading dimension; body arguments = carried values, then one slice of each of those
//    (leading dimension removed); body results = new carried values, then per-iteration outputs;
//    outputs = final carried values, then the per-iteration outputs stacked along a new leading
//    dimension. `reverse` visits the slices from last to first.
//  fused: an elementwise group. Inputs = body arguments (any broadcastable shapes), outputs = body
//    results, all of the group's shape; the body holds elementwise ops only.
//  sweep {tensors}: groups that differ in shapes alone, of so many tensors: inputs and outputs of
//    the first, then those of the second, and so on; the body is the first's.
#pragma once

#include "core/ir/name.h"
#include "core/ir/spec.h"
#include "core/ir/type.h"
#include "core/ir/value_ids.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace weft::ir {

/// A value's type, its name, and how it is laid out where that is not the usual.
struct Value {
    Type type;
    std::string name; // state slot or parameter name where there is one; may be empty

    const Spec& spec() const { return laid_ ? laid_->spec : usual().spec; }
    const Layout& layout() const { return laid_ ? laid_->layout : usual().layout; }
    void set_spec(Spec spec) { lay({std::move(spec), layout()}); }
    void set_layout(Layout layout) { lay({spec(), std::move(layout)}); }

    Value() = default;
    explicit Value(Type of_type, std::string own_name = {})
        : type(of_type), name(std::move(own_name)) {}

private:
    struct Laid {
        Spec spec;
        Layout layout;
    };
    static const Laid& usual();
    void lay(Laid laid) { laid_ = std::make_shared<const Laid>(std::move(laid)); }

    std::shared_ptr<const Laid> laid_; // null: replicated and dense, as nearly all values are
};

/// An attribute: bool, int, real, text or list of ints.
using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// Attributes of an op, sorted by name. Getters check that the attribute is there with that type.
/// Copies share the entries, which never change: a model is many equal ops.
class Attributes {
public:
    using Entry = std::pair<std::string, Attribute>;

    Attributes() = default;
    Attributes(std::initializer_list<Entry> entries);

    void set(std::string_view name, Attribute value);
    bool has(std::string_view name) const;
    const Attribute* find(std::string_view name) const;
    bool flag(std::string_view name, bool fallback = false) const;
    std::int64_t integer(std::string_view name) const;
    std::int64_t integer(std::string_view name, std::int64_t fallback) const;
    double real(std::string_view name) const;
    double real(std::string_view name, double fallback) const;
    const std::string& text(std::string_view name) const;
    std::string text(std::string_view name, std::string_view fallback) const;
    const std::vector<std::int64_t>& list(std::string_view name) const;

    auto begin() const { return entries().begin(); }
    auto end() const { return entries().end(); }
    std::size_t size() const { return entries().size(); }
    friend bool operator==(const Attributes& a, const Attributes& b);

private:
    std::span<const Entry> entries() const {
        return entries_ == nullptr ? std::span<const Entry>() : std::span<const Entry>(*entries_);
    }

    std::shared_ptr<const std::vector<Entry>> entries_; // null: none
};

/// The part of a training step that an op belongs to; printed, drawn and priced by phase.
enum class Phase : std::uint8_t { forward, backward, update };
std::string_view phase_name(Phase phase);

struct Op;

/// Straight-line code: arguments, ops in order, results.
struct Block {
    ValueIds arguments;
    std::vector<Op> ops;
    ValueIds results;
};

struct Op {
    Name kind; // of a record in core/ops/op_list.h
    ValueIds inputs;
    ValueIds outputs;
    Attributes attributes;
    Name path; // layer path that made it, e.g. "blocks.3.mlp.up"; gradients inherit it
    Phase phase = Phase::forward;
    Name action;             // of a pipeline schedule that the op is part of: "F3"; else empty
    std::vector<Block> body; // structured ops: exactly one block; else empty

    bool structured() const { return !body.empty(); }
    /// "repeat": its body runs several times. The other structured ops are one kernel each.
    bool is_loop() const { return kind == "repeat"; }
};

/// Calls visit(op) for every op of a block (or a const one) and of the loops in it, a loop before
/// its body. Fused ops are ops: their bodies are not walked.
template <class AnyBlock, class Visit>
void walk(AnyBlock& block, const Visit& visit) {
    for (auto& op : block.ops) {
        visit(op);
        if (op.is_loop()) {
            walk(op.body.front(), visit);
        }
    }
}

/// Calls visit(block) for the body of every loop in a block, the innermost first, and for the
/// block.
template <class AnyBlock, class Visit>
void walk_blocks(AnyBlock& block, const Visit& visit) {
    for (auto& op : block.ops) {
        if (op.is_loop()) {
            walk_blocks(op.body.front(), visit);
        }
    }
    visit(block);
}

/// "matmul at blocks.3.mlp.up": an op in messages and causes.
std::string op_text(const Op& op);

/// What a program argument or result is to the outside.
enum class Role : std::uint8_t {
    state,  // a state slot, read at start; as a result: its new value
    batch,  // data of this call: "inputs", "targets", "weights"
    scalar, // step-dependent scalars: "learning_rate", "step", "random", "inverse_count", ...
    output, // results reported to the host: "loss", "grad_norm", ...
};
std::string_view role_name(Role role);

struct Port {
    ValueId value;
    Role role = Role::batch;
    std::string name; // slot name for Role::state
};

/// One compiled entry point: "init", "train_step", "evaluate", "predict", "prefill", "decode",
/// "make".
struct Program {
    std::string name;
    std::vector<Value> values;
    std::vector<Port> arguments; // body.arguments[i] == arguments[i].value
    std::vector<Port> results;   // body.results[i] == results[i].value
    Block body;

    const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id.index)]; }
    Value& value(ValueId id) { return values[static_cast<std::size_t>(id.index)]; }
    const Type& type(ValueId id) const { return value(id).type; }
    ValueId add_value(Type type, std::string value_name = {});
    ValueId add_argument(Role role, std::string port_name, Type type);
    void add_result(Role role, std::string port_name, ValueId id);
};

/// Values defined outside a structured op's body that the body (or a nested one) uses, in first-use
/// order.
ValueIds captures(const Op& op);

/// Replaces every use in the block, nested bodies included (not definitions).
/// `replacement[v.index]` is the new value of v, or an invalid id to keep v.
void replace_uses(Block& block, const ValueIds& replacement);

} // namespace weft::ir
