// SPDX-License-Identifier: Apache-2.0
#include "core/stages/separate_sums.h"

#include <algorithm>

namespace weft::stages {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;
using ir::ValueIds;

class Separator {
public:
    Separator(ir::Program& program, const StageMap& map) : program_(program), map_(map) {}

    void run() {
        std::vector<Op> ops;
        for (Op& op : program_.body.ops) {
            std::vector<Op> before;
            std::vector<Op> behind;
            if (op.is_loop()) {
                separate(op, before, behind);
            }
            std::move(before.begin(), before.end(), std::back_inserter(ops));
            ops.push_back(std::move(op));
            std::move(behind.begin(), behind.end(), std::back_inserter(ops));
        }
        program_.body.ops = std::move(ops);
    }

private:
    /// A term of a sum and the part that makes it.
    struct Term {
        ValueId value;
        int part = -1;
    };

    void find_makers(const Block& body) {
        makers_.assign(program_.values.size(), nullptr);
        for (const Op& op : body.ops) {
            for (const ValueId id : op.outputs) {
                makers_[static_cast<std::size_t>(id.index)] = &op;
            }
        }
    }

    const Op* maker(ValueId id) const { return makers_[static_cast<std::size_t>(id.index)]; }

    bool same_shapes(const Op& op) const {
        return std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId id) {
            return program_.type(id).shape == program_.type(op.outputs[0]).shape;
        });
    }

    /// Sums of sums are one sum, whatever element type they have on the way.
    void terms_of(ValueId id, ValueId carried, std::vector<Term>& out) const {
        const Op* op = maker(id);
        const bool joins = op != nullptr && op->phase == ir::Phase::backward && same_shapes(*op) &&
                           (op->kind == "add" || op->kind == "cast");
        if (joins) {
            for (const ValueId input : op->inputs) {
                terms_of(input, carried, out);
            }
        } else if (id != carried) {
            out.push_back({id, op == nullptr ? -1 : map_.part_of(op->path)});
        }
    }

    void separate(Op& loop, std::vector<Op>& before, std::vector<Op>& behind) {
        const auto carried = static_cast<std::size_t>(loop.attributes.integer("carried"));
        find_makers(loop.body.front());
        for (std::size_t i = 0; i < carried; ++i) {
            std::vector<Term> terms;
            Block& body = loop.body.front();
            const ValueId sum = body.arguments[i];
            terms_of(body.results[i], sum, terms);
            std::map<int, ValueIds> by_part;
            for (const Term& term : terms) {
                by_part[term.part].push_back(term.value);
            }
            if (by_part.size() > 1 && !by_part.contains(-1)) {
                const ValueId joined = body.results[i];
                rebuild(loop, i, by_part, before, behind);
                remove_unused(loop.body.front(), joined);
                find_makers(loop.body.front());
            }
        }
    }

    /// Takes the sum away that nobody reads any more, and what only it read.
    void remove_unused(Block& body, ValueId id) const {
        const auto found = std::find_if(body.ops.begin(), body.ops.end(), [&](const Op& op) {
            return op.outputs.size() == 1 && op.outputs.front() == id;
        });
        const auto reads = [&](const ValueIds& ids) {
            return std::find(ids.begin(), ids.end(), id) != ids.end();
        };
        const bool joins =
            found != body.ops.end() && (found->kind == "add" || found->kind == "cast");
        if (!joins || reads(body.results) ||
            std::any_of(body.ops.begin(), body.ops.end(),
                        [&](const Op& op) { return reads(op.inputs); })) {
            return;
        }
        const ValueIds inputs = found->inputs;
        body.ops.erase(found);
        for (const ValueId input : inputs) {
            remove_unused(body, input);
        }
    }

    Op made(std::string kind, ValueIds inputs, ValueId output, const Op& like) const {
        Op op;
        op.kind = std::move(kind);
        op.inputs = std::move(inputs);
        op.outputs = {output};
        op.path = like.path;
        op.phase = like.phase;
        return op;
    }

    ValueId like(ValueId id) { return program_.add_value(ir::Type(program_.type(id))); }

    /// The sum of the first part stays in its place; each other part gets one of its own.
    void rebuild(Op& loop, std::size_t index, const std::map<int, ValueIds>& by_part,
                 std::vector<Op>& before, std::vector<Op>& behind) {
        const ValueId whole = loop.outputs[index];
        const auto carried = static_cast<std::ptrdiff_t>(loop.attributes.integer("carried"));
        std::ptrdiff_t added = 0;
        ValueIds sums;
        for (const auto& [part, terms] : by_part) {
            Block& body = loop.body.front();
            find_makers(body);
            const Op maker_op = *maker(terms.front());
            const bool first = part == by_part.begin()->first;
            ValueId argument = first ? body.arguments[index] : like(whole);
            ValueId result = argument;
            std::vector<Op> adds;
            for (ValueId term : terms) {
                if (program_.type(term) != program_.type(whole)) {
                    const ValueId wide = like(whole);
                    adds.push_back(made("cast", {term}, wide, maker_op));
                    adds.back().attributes = {
                        {"dtype", std::string(ir::dtype_name(program_.type(whole).dtype))}};
                    term = wide;
                }
                const ValueId next = like(whole);
                adds.push_back(made("add", {result, term}, next, maker_op));
                result = next;
            }
            body.ops.insert(body.ops.end(), adds.begin(), adds.end());
            const ValueId total = like(whole);
            sums.push_back(total);
            if (first) {
                loop.outputs[index] = total;
                body.results[index] = result;
                continue;
            }
            const ValueId zero = like(whole);
            Op start = made("constant", {}, zero, adds.front());
            start.attributes = {
                {"value", 0.0},
                {"shape", std::vector<std::int64_t>(program_.type(whole).shape.begin(),
                                                    program_.type(whole).shape.end())},
                {"dtype", std::string(ir::dtype_name(program_.type(whole).dtype))}};
            start.phase = ir::Phase::forward;
            before.push_back(std::move(start));
            const auto at = carried + added++;
            loop.inputs.insert(loop.inputs.begin() + at, zero);
            body.arguments.insert(body.arguments.begin() + at, argument);
            body.results.insert(body.results.begin() + at, result);
            loop.outputs.insert(loop.outputs.begin() + at, total);
        }
        loop.attributes.set("carried", static_cast<std::int64_t>(carried + added));
        ValueId joined = sums.front();
        for (std::size_t i = 1; i < sums.size(); ++i) {
            const ValueId next = i + 1 == sums.size() ? whole : like(whole);
            Op op = made("add", {joined, sums[i]}, next, loop);
            const std::string& name = program_.value(whole).name; // "gradient/NAME"
            op.path = layer_of_path(std::string_view(name).substr(name.find('/') + 1));
            op.phase = ir::Phase::backward;
            behind.push_back(std::move(op));
            joined = next;
        }
    }

    ir::Program& program_;
    const StageMap& map_;
    std::vector<const Op*> makers_; // [value] op of the loop's body; null: none
};

} // namespace

void separate_sums(ir::Program& program, const StageMap& map) {
    Separator(program, map).run();
}

} // namespace weft::stages
