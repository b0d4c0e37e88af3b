// SPDX-License-Identifier: Apache-2.0
#include "core/passes/chunk_head.h"

#include "core/ops/builder.h"
#include "core/ops/op_def.h"
#include "core/passes/rewrite.h"
#include "core/passes/simplify.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace weft::passes {
namespace {

using ir::Block;
using ir::DType;
using ir::Op;
using ir::Phase;
using ir::ValueId;
using ir::ValueIds;

/// What an op of a head does with the rows.
enum class Part : std::uint8_t {
    product, // rows [N, K] -> logits
    view,    // the same logits
    row,     // of logits and numbers of rows: something for each row
    sum      // over all rows
};

struct Head {
    std::int64_t rows = 0, classes = 0;            // N, V
    std::vector<std::pair<std::size_t, Part>> ops; // position in the block, ascending
};

class HeadChunker {
public:
    HeadChunker(ir::Program& program, Block& block, const ChunkOptions& options,
                const OpGroups& kinds)
        : program_(program), block_(block), options_(options), kinds_(kinds) {
        for (std::size_t at = 0; at < block.ops.size(); ++at) {
            const Op& op = block.ops[at];
            for (const ValueId id : op.outputs) {
                maker_[id] = at;
            }
            if (op.kind == "reshape") {
                shown_[op.outputs[0]] = root(op.inputs[0]);
            }
        }
    }

    /// Whether there was a head; there may be another one.
    bool run() {
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            const std::optional<Head> head = head_of(at);
            if (head && pieces(*head) > 1 && chunk(*head)) {
                return true;
            }
        }
        return false;
    }

private:
    const ir::Type& type(ValueId id) const { return program_.type(id); }
    const ir::Shape& shape(ValueId id) const { return type(id).shape; }

    bool is_logits(ValueId id) const { return logits_.contains(id); }
    /// The value whose elements it shows in another shape.
    ValueId root(ValueId id) const {
        const auto shown = shown_.find(id);
        return shown == shown_.end() ? id : shown->second;
    }

    static bool reads_any(const Op& op, const std::set<ValueId>& of) {
        const auto is_of = [&of](ValueId id) { return of.contains(id); };
        const ValueIds captured = op.structured() ? ir::captures(op) : ValueIds();
        return std::any_of(op.inputs.begin(), op.inputs.end(), is_of) ||
               std::any_of(captured.begin(), captured.end(), is_of);
    }

    /// As many pieces as leave each of them enough rows.
    std::int64_t pieces(const Head& head) const {
        std::int64_t count = std::max<std::int64_t>(1, head.rows / options_.rows);
        while (head.rows % count != 0) {
            --count;
        }
        return count;
    }

    /// The head that begins with this op; none where it is no such product, or something else reads
    /// its logits.
    std::optional<Head> head_of(std::size_t at) {
        const Op& first = block_.ops[at];
        const bool flat = first.kind == "linear" ||
                          (first.kind == "matmul" && shape(first.inputs[1]).rank() == 2 &&
                           !first.attributes.flag("transpose_x"));
        if (!flat || type(first.outputs[0]).bytes() < options_.bytes) {
            return std::nullopt;
        }
        const ir::Shape& logits = shape(first.outputs[0]);
        Head head;
        head.classes = logits.back();
        head.rows = logits.elements() / head.classes;
        head.ops = {{at, Part::product}};
        logits_ = {first.outputs[0]};
        bool scored = false;
        for (std::size_t next = at + 1; next < block_.ops.size(); ++next) {
            const Op& op = block_.ops[next];
            if (!reads_any(op, logits_)) {
                continue;
            }
            const std::optional<Part> part = part_of(op, head);
            if (!part || kinds_(op) != kinds_(first)) {
                return std::nullopt;
            }
            scored = scored || op.kind == "cross_entropy";
            head.ops.emplace_back(next, *part);
        }
        const bool read_later = std::any_of(block_.results.begin(), block_.results.end(),
                                            [this](ValueId id) { return is_logits(id); });
        return scored && !read_later ? std::optional(head) : std::nullopt;
    }

    /// An op that reads logits; what it makes of them may be logits, too.
    std::optional<Part> part_of(const Op& op, const Head& head) {
        const auto reads = [&](std::size_t input) { return is_logits(op.inputs[input]); };
        if (op.structured()) {
            return std::nullopt;
        }
        if (op.kind == "reshape" && shape(op.outputs[0]).rank() > 0 &&
            shape(op.outputs[0]).back() == head.classes) {
            logits_.insert(op.outputs[0]);
            return Part::view;
        }
        if (op.kind == "cross_entropy" || op.kind == "correct") {
            return Part::row;
        }
        if (op.kind == "cross_entropy_grad") {
            logits_.insert(op.outputs[0]);
            return Part::row;
        }
        if (op.kind == "reduce_sum") {
            const auto& dims = op.attributes.list("dims");
            const int last = shape(op.inputs[0]).rank() - 1;
            const bool all_rows = static_cast<int>(dims.size()) == last &&
                                  std::find(dims.begin(), dims.end(), last) == dims.end() &&
                                  shape(op.outputs[0]).rank() == 1;
            return all_rows && is_wide(op) ? std::optional(Part::sum) : std::nullopt;
        }
        if (op.kind != "matmul" || shape(op.inputs[1]).rank() != 2 || (reads(0) && reads(1))) {
            return std::nullopt;
        }
        if (!op.attributes.flag("transpose_x")) {
            return reads(0) ? std::optional(Part::row) : std::nullopt;
        }
        // Two matrices with the rows of the head, of which one is turned.
        return shape(op.inputs[0]).rank() == 2 && !op.attributes.flag("transpose_y") && is_wide(op)
                   ? std::optional(Part::sum)
                   : std::nullopt;
    }

    /// Whether what it makes can be added up without loss.
    bool is_wide(const Op& op) const {
        const DType made = type(op.outputs[0]).dtype;
        return made == DType::f32 || made == DType::f64;
    }

    /// The loop in the place of the head's last op; behind it what came before and reads what the
    /// loop makes. False where the head needs any of that.
    bool chunk(const Head& head) {
        std::set<std::size_t> own;
        for (const auto& [at, part] : head.ops) {
            own.insert(at);
        }
        const std::size_t last = head.ops.back().first;
        std::set<ValueId> made;   // by the head, and of what it makes
        std::set<ValueId> beside; // of these what is no part of the head
        std::vector<std::size_t> before, behind;
        for (std::size_t at = 0; at <= last; ++at) {
            const Op& op = block_.ops[at];
            const bool reads = reads_any(op, made);
            if (own.contains(at)) {
                made.insert(op.outputs.begin(), op.outputs.end());
                continue;
            }
            (reads ? behind : before).push_back(at);
            if (reads) {
                made.insert(op.outputs.begin(), op.outputs.end());
                beside.insert(op.outputs.begin(), op.outputs.end());
            }
        }
        if (std::any_of(own.begin(), own.end(),
                        [&](std::size_t at) { return reads_any(block_.ops[at], beside); })) {
            return false;
        }
        share_weights(head);
        write(head, before, behind);
        return true;
    }

    static bool is_product(const Op& op) { return op.kind == "matmul" || op.kind == "linear"; }

    /// Whether operand `input` of an op of the head has something for each row: all but weights.
    static bool has_rows(const Op& op, Part part, std::size_t input) {
        return input == 0 || part == Part::sum || !is_product(op);
    }

    /// The ops of the head, of the rows of a piece: values of the block become those of the body.
    struct Body {
        std::map<ValueId, ValueId> own;                // a value of the block in the body
        ValueIds arguments, taken;                     // rows, and what they are in the block
        std::vector<std::pair<ValueId, ValueId>> sums; // of all rows: in the block, of a piece
        std::vector<std::pair<ValueId, ValueId>> each; // of every row: the same
    };

    /// Forward and backward each gather the weights of a mesh that keeps parts of them, so that no
    /// device has them meanwhile. In a piece there is no meanwhile.
    void share_weights(const Head& head) {
        const ValueId weights = block_.ops[head.ops.front().first].inputs[1];
        for (const auto& [at, part] : head.ops) {
            Op& op = block_.ops[at];
            if (part == Part::row && op.kind == "matmul" && equal(op.inputs[1], weights)) {
                op.inputs[1] = weights;
            }
        }
    }

    bool equal(ValueId a, ValueId b) const {
        const auto x = maker_.find(a);
        const auto y = maker_.find(b);
        if (a == b || x == maker_.end() || y == maker_.end()) {
            return a == b;
        }
        const Op& one = block_.ops[x->second];
        const Op& other = block_.ops[y->second];
        if (one.kind != other.kind || one.structured() || one.outputs.size() != 1 ||
            type(a) != type(b) || one.inputs.size() != other.inputs.size()) {
            return false;
        }
        // What else an exchange says is why it is there.
        const bool alike = ops::op_def(one.kind).collective
                               ? one.attributes.text("axes") == other.attributes.text("axes")
                               : one.attributes == other.attributes;
        return alike && std::equal(one.inputs.begin(), one.inputs.end(), other.inputs.begin(),
                                   [this](ValueId i, ValueId j) { return equal(i, j); });
    }

    void write(const Head& head, const std::vector<std::size_t>& before,
               const std::vector<std::size_t>& behind) {
        const std::size_t last = head.ops.back().first;
        std::vector<Op> old = std::move(block_.ops);
        block_.ops.clear();
        for (const std::size_t at : before) {
            block_.ops.push_back(std::move(old[at]));
        }
        std::vector<std::pair<Op, Part>> ops;
        for (const auto& [at, part] : head.ops) {
            ops.emplace_back(std::move(old[at]), part);
        }
        std::set<ValueId> read; // by what stays
        const auto reads = [&](const Op& op) {
            read.insert(op.inputs.begin(), op.inputs.end());
            const ValueIds captured = op.structured() ? ir::captures(op) : ValueIds();
            read.insert(captured.begin(), captured.end());
        };
        for (const std::size_t at : behind) {
            reads(old[at]);
        }
        for (std::size_t at = last + 1; at < old.size(); ++at) {
            reads(old[at]);
        }
        read.insert(block_.results.begin(), block_.results.end());
        append_loop(head, ops, read);
        for (const std::size_t at : behind) {
            block_.ops.push_back(std::move(old[at]));
        }
        for (std::size_t at = last + 1; at < old.size(); ++at) {
            block_.ops.push_back(std::move(old[at]));
        }
        replacements_.apply(program_);
    }

    void append_loop(const Head& head, const std::vector<std::pair<Op, Part>>& ops,
                     const std::set<ValueId>& read) {
        const Op& first = ops.front().first;
        const bool trains = std::any_of(ops.begin(), ops.end(), [](const auto& one) {
            return one.first.phase == Phase::backward;
        });
        ops::Builder b(program_, block_);
        b.set_path(first.path);
        b.set_phase(trains ? Phase::backward : first.phase);
        Block body;
        Body parts = body_of(head, ops, read, body, b);
        Op loop;
        loop.kind = "repeat";
        loop.path = first.path;
        loop.phase = b.phase();
        loop.attributes = {{"count", pieces(head)},
                           {"carried", static_cast<std::int64_t>(parts.sums.size())},
                           {"reverse", false}};
        for (const auto& [whole, piece] : parts.sums) {
            const ir::Type& of = type(whole);
            loop.inputs.push_back(ops::constant(b, 0.0, of.shape, of.dtype));
            loop.outputs.push_back(program_.add_value(ir::Type(of), program_.value(whole).name));
        }
        loop.inputs.insert(loop.inputs.end(), parts.taken.begin(), parts.taken.end());
        for (const auto& [whole, piece] : parts.each) {
            loop.outputs.push_back(
                program_.add_value({type(piece).dtype, with_leading(pieces(head), shape(piece))}));
        }
        const ValueIds made = loop.outputs;
        loop.body.push_back(std::move(body));
        b.append(std::move(loop));
        for (std::size_t i = 0; i < parts.sums.size(); ++i) {
            replacements_.set(parts.sums[i].first, made[i]);
        }
        for (std::size_t i = 0; i < parts.each.size(); ++i) {
            const ValueId whole = parts.each[i].first;
            replacements_.set(whole, ops::reshape(b, made[parts.sums.size() + i], shape(whole)));
        }
    }

    Body body_of(const Head& head, const std::vector<std::pair<Op, Part>>& ops,
                 const std::set<ValueId>& read, Block& body, ops::Builder& before) {
        Body out;
        ValueIds carried;
        for (const auto& [op, part] : ops) {
            if (part == Part::sum) {
                carried.push_back(program_.add_value(ir::Type(type(op.outputs[0]))));
            }
        }
        ops::Builder b(program_, body);
        std::size_t sum = 0;
        for (const auto& [op, part] : ops) {
            ValueIds inputs;
            for (std::size_t i = 0; i < op.inputs.size(); ++i) {
                const ValueId id = op.inputs[i];
                const auto known = out.own.find(root(id));
                inputs.push_back(known != out.own.end() ? known->second
                                 : has_rows(op, part, i)
                                     ? take(id, is_product(op), head, out, before)
                                     : id);
            }
            b.set_path(op.path);
            b.set_phase(op.phase);
            if (part == Part::view) { // in a piece logits have one form
                continue;
            }
            ir::Attributes attributes = op.attributes;
            if (op.kind == "reduce_sum") {
                attributes.set("dims", std::vector<std::int64_t>{0});
            }
            const ValueIds made = b.emit_all(op.kind, inputs, attributes);
            if (part == Part::sum) {
                out.sums.emplace_back(op.outputs[0], ops::add(b, carried[sum++], made[0]));
                continue;
            }
            for (std::size_t i = 0; i < made.size(); ++i) {
                out.own[op.outputs[i]] = made[i];
                if (read.contains(op.outputs[i])) {
                    out.each.emplace_back(op.outputs[i], made[i]);
                }
            }
        }
        body.arguments = carried;
        body.arguments.insert(body.arguments.end(), out.arguments.begin(), out.arguments.end());
        for (const auto& [whole, piece] : out.sums) {
            body.results.push_back(piece);
        }
        for (const auto& [whole, piece] : out.each) {
            body.results.push_back(piece);
        }
        return out;
    }

    /// The rows of a piece of an array [N] or of a matrix [N, ...].
    ValueId take(ValueId id, bool matrix, const Head& head, Body& out, ops::Builder& before) {
        ir::Shape in_pieces{pieces(head), head.rows / pieces(head)};
        if (matrix) {
            in_pieces.push_back(shape(id).back());
        }
        const ValueId from = root(id);
        const ValueId argument = program_.add_value({type(id).dtype, without_leading(in_pieces)});
        out.taken.push_back(ops::reshape(before, from, in_pieces));
        out.arguments.push_back(argument);
        out.own[from] = argument;
        return argument;
    }

    ir::Program& program_;
    Block& block_;
    const ChunkOptions& options_;
    const OpGroups& kinds_;
    std::set<ValueId> logits_;             // and gradients of them, of the head that is looked at
    std::map<ValueId, ValueId> shown_;     // by a reshape: what it is one of
    std::map<ValueId, std::size_t> maker_; // position
    Replacements replacements_;
};

} // namespace

void chunk_head(ir::Program& program, const ChunkOptions& options, const OpGroups& kinds) {
    bool changed = false;
    ir::walk_blocks(program.body, [&](Block& block) {
        while (HeadChunker(program, block, options, kinds).run()) {
            changed = true;
        }
    });
    if (changed) {
        remove_dead_code(program); // views of the whole, weights that were gathered twice
    }
}

} // namespace weft::passes
