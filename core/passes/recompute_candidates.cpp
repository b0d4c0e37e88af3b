// SPDX-License-Identifier: Apache-2.0
#include "core/passes/recompute_candidates.h"

#include "core/ops/op_def.h"
#include "core/passes/model_blocks.h"

#include <algorithm>
#include <numeric>

namespace weft::passes {
namespace {

using ir::Op;
using ir::Phase;
using ir::ValueId;

// What is this small frees nothing worth a kernel call.
constexpr std::int64_t kSmallElements = 64;
// Tells candidates of equal cost apart by their block.
constexpr double kLaterBlock = 1e-6;

std::size_t index_of(ValueId id) {
    return static_cast<std::size_t>(id.index);
}

bool is_view(const Op& op) {
    const ops::OpDef* def = ops::find_op(op.kind);
    return def != nullptr && def->view;
}

class Finder {
public:
    Finder(const ir::Program& program, const ir::Block& block)
        : program_(program), block_(block), weights_(program.values.size(), true),
          kept_(block.ops.size(), false) {
        const std::size_t values = program.values.size();
        out_.producers.assign(values, -1);
        for (std::size_t i = 0; i < values; ++i) {
            out_.roots.push_back({static_cast<std::int32_t>(i)});
        }
        out_.standings.assign(block.ops.size(), Standing::fixed);
        out_.flops_per_byte.assign(block.ops.size(), 0.0);
        out_.bytes.assign(block.ops.size(), 0);
        out_.groups.resize(block.ops.size());
        std::iota(out_.groups.begin(), out_.groups.end(), 0);
    }

    RecomputeCandidates run() {
        walk_definitions();
        if (!out_.trains) {
            return std::move(out_);
        }
        out_.blocks = number_blocks(program_, block_, weights_);
        keep_what_is_read_elsewhere();
        count_backward_reads();
        decide();
        price();
        group();
        return std::move(out_);
    }

private:
    void walk_definitions() {
        for (const ValueId id : block_.arguments) {
            weights_[index_of(id)] = false;
        }
        if (&block_ == &program_.body) {
            for (const ir::Port& port : program_.arguments) {
                weights_[index_of(port.value)] = port.role == ir::Role::state;
            }
        }
        bool forward = false;
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            const Op& op = block_.ops[i];
            forward = forward || op.phase == Phase::forward;
            out_.trains = out_.trains || (forward && op.phase == Phase::backward);
            const bool weight = !op.structured() && !op.inputs.empty() &&
                                std::all_of(op.inputs.begin(), op.inputs.end(),
                                            [this](ValueId id) { return weights_[index_of(id)]; });
            for (const ValueId id : op.outputs) {
                out_.producers[index_of(id)] = static_cast<int>(i);
                weights_[index_of(id)] = weight;
            }
            if (is_view(op)) {
                out_.roots[index_of(op.outputs[0])] = out_.roots[index_of(op.inputs[0])];
            }
        }
    }

    void keep(ValueId id) {
        if (const int producer = out_.producer_of_root(id); producer >= 0) {
            kept_[static_cast<std::size_t>(producer)] = true;
        }
    }

    void keep_what_is_read_elsewhere() {
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            const Op& op = block_.ops[i];
            if (op.phase == Phase::backward || is_view(op)) {
                continue; // who reads the view counts
            }
            for (const ValueId id : Reads(op)) {
                const int producer = out_.producer_of_root(id);
                const bool elsewhere =
                    producer >= 0 &&
                    (op.phase == Phase::update || op.structured() ||
                     out_.blocks[static_cast<std::size_t>(producer)] != out_.blocks[i]);
                if (elsewhere) {
                    keep(id);
                }
            }
        }
        std::for_each(block_.results.begin(), block_.results.end(),
                      [this](ValueId id) { keep(id); });
    }

    void count_backward_reads() {
        std::vector<bool> counted(program_.values.size(), false);
        for (const Op& op : block_.ops) {
            if (op.phase != Phase::backward) {
                continue;
            }
            for (const ValueId id : Reads(op)) {
                const ValueId root = out_.roots[index_of(id)];
                const int producer = out_.producers[index_of(root)];
                if (producer >= 0 && !counted[index_of(root)]) {
                    counted[index_of(root)] = true;
                    out_.bytes[static_cast<std::size_t>(producer)] += program_.type(root).bytes();
                }
            }
        }
    }

    bool small(const Op& op) const {
        return std::all_of(op.outputs.begin(), op.outputs.end(), [this](ValueId id) {
            return program_.type(id).shape.elements() <= kSmallElements;
        });
    }

    void decide() {
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            const Op& op = block_.ops[i];
            const bool fixed = op.phase != Phase::forward || op.structured() || is_view(op) ||
                               kept_[i] || weights_[index_of(op.outputs[0])] || small(op);
            if (!fixed) {
                out_.standings[i] = out_.bytes[i] > 0 ? Standing::candidate : Standing::inner;
            }
        }
    }

    /// Positions of the ops with standing `inner` that the op reads, each once.
    std::vector<std::size_t> inner_operands(const Op& op) const {
        std::vector<std::size_t> found;
        for (const ValueId id : op.inputs) {
            const int producer = out_.producer_of_root(id);
            if (producer >= 0 &&
                out_.standings[static_cast<std::size_t>(producer)] == Standing::inner) {
                found.push_back(static_cast<std::size_t>(producer));
            }
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    void price() {
        // Ops that lead to a candidate, counted at each inner op before them.
        std::vector<int> readers(block_.ops.size(), 0);
        for (std::size_t i = block_.ops.size(); i-- > 0;) {
            if (out_.standings[i] == Standing::candidate || readers[i] > 0) {
                for (const std::size_t operand : inner_operands(block_.ops[i])) {
                    ++readers[operand];
                }
            }
        }
        std::vector<double> flops(block_.ops.size(), 0.0); // with those of the inner ops before
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            if (out_.standings[i] == Standing::fixed) {
                continue;
            }
            flops[i] = ops::cost_of({program_, block_.ops[i]}).flops;
            for (const std::size_t operand : inner_operands(block_.ops[i])) {
                flops[i] += flops[operand] / std::max(1, readers[operand]);
            }
            if (out_.standings[i] == Standing::candidate) {
                out_.flops_per_byte[i] = flops[i] / static_cast<double>(out_.bytes[i]) *
                                         (1.0 + kLaterBlock * out_.blocks[i]);
            }
        }
    }

    int group_of(int position) const {
        while (out_.groups[static_cast<std::size_t>(position)] != position) {
            position = out_.groups[static_cast<std::size_t>(position)];
        }
        return position;
    }

    void group() {
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            for (const std::size_t operand : inner_operands(block_.ops[i])) {
                const int own = group_of(static_cast<int>(i));
                const int other = group_of(static_cast<int>(operand));
                out_.groups[static_cast<std::size_t>(std::max(own, other))] = std::min(own, other);
            }
        }
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            out_.groups[i] = group_of(static_cast<int>(i));
        }
    }

    const ir::Program& program_;
    const ir::Block& block_;
    std::vector<bool>
        weights_;            // [value] from outside of the block, state, or made from these alone
    std::vector<bool> kept_; // [position] alive anyway
    RecomputeCandidates out_;
};

} // namespace

Reads::Reads(const Op& op) : all_(op.inputs) {
    if (op.structured()) {
        with_captures_ = op.inputs;
        const auto captured = ir::captures(op);
        with_captures_.insert(with_captures_.end(), captured.begin(), captured.end());
        all_ = with_captures_;
    }
}

RecomputeCandidates find_candidates(const ir::Program& program, const ir::Block& block) {
    return Finder(program, block).run();
}

} // namespace weft::passes
