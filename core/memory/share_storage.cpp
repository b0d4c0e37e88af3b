// SPDX-License-Identifier: Apache-2.0
#include "core/memory/share_storage.h"

#include "core/ir/op_tensors.h"
#include "core/memory/insert_copies.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <map>
#include <set>

namespace weft::memory {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;

/// How a value comes to be.
struct Origin {
    enum class Kind : std::uint8_t { argument, step, carried_argument, carried_output, other };
    Kind kind = Kind::other;
    const Op* op = nullptr;
    std::size_t index = 0; // output, or carried position
};

struct Loop {
    const Op* op;
    int position;
};

std::size_t carried_of(const Op& op) {
    return static_cast<std::size_t>(op.attributes.integer("carried"));
}

class Sharer {
public:
    explicit Sharer(const ir::Program& program)
        : program_(program), origins_(program.values.size()),
          yielded_(program.values.size(), false), reads_(program.values.size(), 0) {
        storage_.liveness = analyse_liveness(program);
        walk(program.body, nullptr);
        open_stretches();
    }

    /// Makes every sharing that must be; returns the copies that are missing for the rest.
    MissingCopies share() {
        // Inner loops first: what they cannot share, the loop around them copies.
        for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
            share_loop(*loop);
        }
        share_state();
        return std::move(missing_);
    }

    Storage finish() {
        share_in_place();
        return close_stretches();
    }

private:
    static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }
    ValueId root(ValueId id) const { return storage_.liveness.root(id); }
    const Range& range(ValueId id) const { return storage_.liveness.ranges[at(id)]; }
    int loop_of(ValueId id) const { return storage_.liveness.loops[at(id)]; }

    void walk(const Block& block, const Op* loop) {
        for (const Op& op : block.ops) {
            const int position = position_;
            position_ += is_step(op) ? 1 : 0;
            if (op.is_loop()) {
                loops_.push_back({&op, position});
                for (std::size_t i = 0; i < carried_of(op); ++i) {
                    origins_[at(op.body.front().arguments[i])] = {Origin::Kind::carried_argument,
                                                                  &op, i};
                    origins_[at(op.outputs[i])] = {Origin::Kind::carried_output, &op, i};
                }
                walk(op.body.front(), &op);
                continue;
            }
            for (std::size_t i = 0; i < op.outputs.size(); ++i) {
                origins_[at(op.outputs[i])] = {Origin::Kind::step, &op, i};
            }
            steps_.push_back(&op);
        }
        for (std::size_t i = 0; loop != nullptr && i < block.results.size(); ++i) {
            yielded_[at(root(block.results[i]))] = true;
        }
    }

    void open_stretches() {
        parent_.resize(program_.values.size());
        stretches_.resize(program_.values.size());
        for (std::size_t i = 0; i < parent_.size(); ++i) {
            parent_[i] = static_cast<int>(i);
        }
        for (const ir::Port& port : program_.arguments) {
            origins_[at(port.value)].kind = Origin::Kind::argument;
            Stretch& stretch = stretches_[at(port.value)];
            stretch.argument = port.role != ir::Role::state;
            if (port.role == ir::Role::state) {
                stretch.slot = port.name;
                slot_arguments_[port.name] = port.value;
            }
        }
    }

    int find(ValueId id) {
        int index = root(id).index;
        while (parent_[static_cast<std::size_t>(index)] != index) {
            index = parent_[static_cast<std::size_t>(index)];
        }
        return index;
    }
    Stretch& stretch(ValueId id) { return stretches_[static_cast<std::size_t>(find(id))]; }
    /// Until it is merged a stretch is of the one value that it is numbered like.
    Stretch& with_values(int index) {
        Stretch& out = stretches_[static_cast<std::size_t>(index)];
        if (out.values.empty()) {
            out.values = {{index}};
        }
        return out;
    }

    /// B may be written over A in the step that reads A last and makes B.
    bool hands_over(ValueId a, ValueId b) {
        const Origin& origin = origins_[at(b)];
        switch (origin.kind) {
        case Origin::Kind::step:
            return !yielded_[at(a)] && loop_of(a) == loop_of(b) &&
                   takes_place(*origin.op, origin.index, a);
        case Origin::Kind::carried_argument:
            return root(origin.op->inputs[origin.index]) == a && reads_once(*origin.op, a);
        case Origin::Kind::carried_output:
            return made_in(*origin.op, origin.index, a); // what the last iteration left
        default: return false;
        }
    }

    /// The value is made in the loop's body, so it is dead when the loop's outputs come to be.
    bool made_in(const Op& loop, std::size_t carried, ValueId a) const {
        const auto& definitions = storage_.liveness.definitions;
        return loop_of(a) >= definitions[at(loop.body.front().arguments[carried])] &&
               loop_of(a) <= definitions[at(loop.outputs[carried])];
    }

    /// An op with many operands is asked about one after the other, so the counts of the last op are
    /// kept.
    bool reads_once(const Op& op, ValueId a) {
        if (counted_ != &op) {
            if (counted_ != nullptr) {
                for (const ValueId id : counted_->inputs) {
                    reads_[at(root(id))] = 0;
                }
            }
            for (const ValueId id : op.inputs) {
                ++reads_[at(root(id))];
            }
            counted_ = &op;
        }
        return reads_[at(a)] == 1;
    }

    /// The record lets the output lie over an operand that is `a` and has the same type.
    bool takes_place(const Op& op, std::size_t output, ValueId a) {
        if (!reads_once(op, a)) {
            return false;
        }
        const auto fits = [&](std::size_t input) {
            return root(op.inputs[input]) == a &&
                   program_.type(op.inputs[input]) == program_.type(op.outputs[output]);
        };
        if (op.structured()) { // elementwise, so any operand of the same tensor and type
            const auto beside = ir::inputs_beside(op, output);
            return std::ranges::any_of(beside, fits);
        }
        const ops::OpDef& def = ops::op_def(op.kind);
        if (def.over_operands && fits(output)) {
            return true;
        }
        const auto& aliases = def.aliases;
        return std::any_of(aliases.begin(), aliases.end(), [&](const ops::Alias& alias) {
            return alias.output == static_cast<int>(output) &&
                   alias.input < static_cast<int>(op.inputs.size()) &&
                   fits(static_cast<std::size_t>(alias.input));
        });
    }

    bool conflict(ValueId a, ValueId b) {
        const Range& x = range(a);
        const Range& y = range(b);
        if (x.last < y.first || y.last < x.first) {
            return false;
        }
        return !(x.last == y.first && hands_over(a, b)) && !(y.last == x.first && hands_over(b, a));
    }

    bool can_merge(const Stretch& a, const Stretch& b) {
        for (const ValueId x : a.values) {
            for (const ValueId y : b.values) {
                if (conflict(x, y)) {
                    return false;
                }
            }
        }
        return true;
    }

    bool merge(ValueId a, ValueId b) {
        const int keep = find(a);
        const int gone = find(b);
        if (keep == gone) {
            return true;
        }
        Stretch& into = with_values(keep);
        Stretch& from = with_values(gone);
        const bool two_slots = !into.slot.empty() && !from.slot.empty();
        const bool slot_and_argument =
            (!into.slot.empty() && from.argument) || (!from.slot.empty() && into.argument);
        if (two_slots || slot_and_argument || !can_merge(into, from)) {
            return false;
        }
        into.values.insert(into.values.end(), from.values.begin(), from.values.end());
        into.slot += from.slot;
        into.argument = into.argument || from.argument;
        parent_[static_cast<std::size_t>(gone)] = keep;
        return true;
    }

    void share_loop(const Loop& loop) {
        const Op& op = *loop.op;
        const Block& body = op.body.front();
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            if (i >= carried_of(op)) {
                if (root(body.results[i]) != root(op.outputs[i])) {
                    missing_.body_results[loop.position].insert(i);
                }
                continue;
            }
            if (!may_overwrite(op.inputs[i], op.outputs[i]) ||
                !merge(op.inputs[i], body.arguments[i])) {
                missing_.initial_values[loop.position].insert(i);
            }
            if (!merge(body.arguments[i], body.results[i]) ||
                !merge(body.results[i], op.outputs[i])) {
                // Where copies of the result do not help, the initial value brought the conflict
                // along.
                auto& missing = is_copy_of_copy(body.results[i]) ? missing_.initial_values
                                                                 : missing_.body_results;
                missing[loop.position].insert(i);
            }
        }
    }

    bool is_copy(ValueId id) const {
        const Origin& origin = origins_[at(root(id))];
        return origin.kind == Origin::Kind::step && origin.op->kind == "copy";
    }
    bool is_copy_of_copy(ValueId id) const {
        return is_copy(id) && is_copy(origins_[at(root(id))].op->inputs[0]);
    }

    /// A slot is overwritten by a loop only when the loop ends with the slot's new value.
    bool may_overwrite(ValueId initial, ValueId output) {
        const std::string& slot = stretch(initial).slot;
        return slot.empty() || std::any_of(program_.results.begin(), program_.results.end(),
                                           [&](const ir::Port& port) {
                                               return port.role == ir::Role::state &&
                                                      port.name == slot &&
                                                      root(port.value) == root(output);
                                           });
    }

    void share_state() {
        for (std::size_t i = 0; i < program_.results.size(); ++i) {
            const ir::Port& port = program_.results[i];
            if (port.role == ir::Role::state) {
                if (!put_into_slot(port)) {
                    missing_.program_results.insert(i);
                }
                continue;
            }
            // The host reads after the run, when the slot holds its new value.
            const Origin& origin = origins_[at(root(port.value))];
            if (origin.kind == Origin::Kind::argument && !stretch(port.value).slot.empty()) {
                missing_.program_results.insert(i);
            }
        }
    }

    bool put_into_slot(const ir::Port& port) {
        Stretch& own = stretch(port.value);
        if (own.slot == port.name) {
            return true;
        }
        const auto old = slot_arguments_.find(port.name);
        if (old != slot_arguments_.end()) {
            return merge(old->second, port.value);
        }
        const bool free = own.slot.empty() && !own.argument;
        if (free) {
            own.slot = port.name;
            slot_arguments_[port.name] = port.value;
        }
        return free;
    }

    /// Elementwise results over operands that die: fewer live bytes, fewer cache lines.
    void share_in_place() {
        for (const Op* op : steps_) {
            for (std::size_t output = 0; output < op->outputs.size(); ++output) {
                const ValueId b = op->outputs[output];
                if (root(b) != b || !scratch(b)) {
                    continue;
                }
                for (const std::size_t input : ir::inputs_beside(*op, output)) {
                    const ValueId a = root(op->inputs[input]);
                    if (range(a).last == range(b).first && scratch(a) && find(a) != find(b) &&
                        hands_over(a, b) && merge(a, b)) {
                        break;
                    }
                }
            }
        }
    }

    bool scratch(ValueId id) {
        const Stretch& own = stretch(id);
        return own.slot.empty() && !own.argument;
    }

    Storage close_stretches() {
        const int last = std::max(0, storage_.liveness.positions - 1);
        std::vector<int> number(program_.values.size(), -1); // [owner]
        storage_.stretch_of.assign(program_.values.size(), -1);
        const auto claim = [&](ValueId id) {
            const int index = find(id);
            int& found = number[static_cast<std::size_t>(index)];
            if (found < 0) {
                found = static_cast<int>(storage_.stretches.size());
                Stretch& out = storage_.stretches.emplace_back(std::move(with_values(index)));
                out.range = range(out.values.front());
                for (const ValueId value : out.values) {
                    out.range.first = std::min(out.range.first, range(value).first);
                    out.range.last = std::max(out.range.last, range(value).last);
                    out.bytes = std::max(out.bytes, program_.type(value).bytes());
                }
                out.range.first = out.argument ? 0 : out.range.first;
                out.range.last = std::min(out.range.last, last);
            }
            storage_.stretch_of[at(id)] = found;
        };
        std::for_each(program_.body.arguments.begin(), program_.body.arguments.end(), claim);
        ir::walk(program_.body, [&](const Op& op) {
            std::for_each(op.outputs.begin(), op.outputs.end(), claim);
            if (op.is_loop()) {
                const ir::ValueIds& inner = op.body.front().arguments;
                std::for_each(inner.begin(), inner.end(), claim);
            }
        });
        return std::move(storage_);
    }

    const ir::Program& program_;
    Storage storage_;
    std::vector<Origin> origins_;  // [value]
    std::vector<bool> yielded_;    // [value] result of a loop's body
    std::vector<int> reads_;       // [value] by `counted_`
    const Op* counted_ = nullptr;
    std::vector<const Op*> steps_; // leaf ops, views included
    std::vector<Loop> loops_;
    std::vector<int> parent_; // union-find over owners
    std::vector<Stretch> stretches_;
    std::map<std::string, ValueId> slot_arguments_;
    MissingCopies missing_;
    int position_ = 0;
};

} // namespace

Storage share_storage(ir::Program& program) {
    // A copy resolves its own conflict and may meet another copy's, as when two values swap places.
    constexpr int kMaxRounds = 64;
    for (int round = 0; round < kMaxRounds; ++round) {
        Sharer sharer(program);
        const MissingCopies missing = sharer.share();
        if (missing.empty()) {
            return sharer.finish();
        }
        insert_copies(program, missing);
    }
    WEFT_CHECK(false, "program " + program.name + " needs copies without end");
}

} // namespace weft::memory
