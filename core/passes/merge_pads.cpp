// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_def.h"
#include "core/passes/simplify.h"
#include "kernels/weft_kernels.h"

#include <algorithm>
#include <map>
#include <optional>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;

/// `value` lies at [start, start + size) of one dimension.
struct Piece {
    std::int64_t start;
    std::int64_t size;
    ValueId value;
};

/// Pieces side by side along `dim`, zeros elsewhere; sorted, without overlap.
struct Pieces {
    int dim = 0;
    std::vector<Piece> list;
};

class PadMerger {
public:
    explicit PadMerger(ir::Program& program) : program_(program) {}

    bool run() {
        visit(program_.body);
        return changed_;
    }

private:
    void visit(ir::Block& block) {
        for (Op& op : block.ops) {
            for (ir::Block& body : op.body) {
                visit(body);
            }
            const ops::OpDef* def = ops::find_op(op.kind);
            if (op.kind == "pad") {
                remember_pad(op);
            } else if (def != nullptr && def->elementwise == WEFT_EW_ADD) {
                merge(op);
            }
        }
    }

    /// A pad with zeros along exactly one dimension is one piece.
    void remember_pad(const Op& op) {
        const auto& low = op.attributes.list("low");
        const auto& high = op.attributes.list("high");
        const ir::Shape& from = program_.type(op.inputs[0]).shape;
        std::optional<int> padded;
        for (int dim = 0; dim < from.rank(); ++dim) {
            const auto i = static_cast<std::size_t>(dim);
            if (low[i] != 0 || high[i] != 0) {
                if (padded) {
                    return;
                }
                padded = dim;
            }
        }
        if (padded && op.attributes.real("value") == 0.0) {
            pieces_[op.outputs[0]] = {
                *padded, {{low[static_cast<std::size_t>(*padded)], from[*padded], op.inputs[0]}}};
        }
    }

    void merge(Op& op) {
        const auto a = pieces_.find(op.inputs[0]);
        const auto b = pieces_.find(op.inputs[1]);
        const ir::Type& out = program_.type(op.outputs[0]);
        if (a == pieces_.end() || b == pieces_.end() || a->second.dim != b->second.dim ||
            program_.type(op.inputs[0]) != out || program_.type(op.inputs[1]) != out) {
            return;
        }
        Pieces sum = a->second;
        sum.list.insert(sum.list.end(), b->second.list.begin(), b->second.list.end());
        std::sort(sum.list.begin(), sum.list.end(),
                  [](const Piece& x, const Piece& y) { return x.start < y.start; });
        std::int64_t covered = 0;
        bool gaps = false;
        for (const Piece& piece : sum.list) {
            if (piece.start < covered) {
                return; // an element with two addends
            }
            gaps = gaps || piece.start > covered;
            covered = piece.start + piece.size;
        }
        if (gaps || covered != out.shape[sum.dim]) {
            pieces_[op.outputs[0]] = std::move(sum);
            return;
        }
        op.kind = "concat";
        op.attributes = {{"dim", std::int64_t{sum.dim}}};
        op.inputs.clear();
        for (const Piece& piece : sum.list) {
            op.inputs.push_back(piece.value);
        }
        changed_ = true;
    }

    ir::Program& program_;
    std::map<ValueId, Pieces> pieces_;
    bool changed_ = false;
};

} // namespace

bool merge_pads(ir::Program& program) {
    return PadMerger(program).run();
}

} // namespace weft::passes
