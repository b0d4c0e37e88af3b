// SPDX-License-Identifier: Apache-2.0
// Recompute of blocks: Chen et al., 2016 ("sublinear memory"); by cost per byte: the greedy choice
// of Jain et al., 2020 ("Checkmate", section 6, baselines).
#include "core/passes/recompute.h"

#include "core/ops/op_def.h"
#include "core/passes/recompute_candidates.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>

namespace weft::passes {
namespace {

using ir::Op;
using ir::Phase;
using ir::ValueId;
using ir::ValueIds;

std::size_t slot(ValueId id) {
    return static_cast<std::size_t>(id.index);
}

// `blocks` keeps at most one in so many bytes of what it could compute again: of a transformer's
// block the sum after attention or what attention gives, whichever is dearer, and some of the
// other.
constexpr std::int64_t kKeptPart = 10;

/// An op of the old block in the new one: as it was, or once more.
struct Entry {
    std::size_t op = 0; // position in the old block
    bool clone = false;
};

class BlockRecompute {
public:
    BlockRecompute(ir::Program& program, ir::Block& block)
        : program_(program), block_(block), found_(find_candidates(program, block)),
          dropped_(block.ops.size(), false) {
        if (!found_.trains) {
            return;
        }
        for (const Op& op : block.ops) {
            first_read_.push_back(reads_.size());
            for (const ValueId id : Reads(op)) {
                reads_.push_back({id, found_.roots[slot(id)], found_.producer_of_root(id)});
            }
        }
        first_read_.push_back(reads_.size());
    }

    bool trains() const { return found_.trains; }

    void thresholds(std::set<double>& out) const {
        for (std::size_t i = 0; i < found_.standings.size(); ++i) {
            if (found_.standings[i] == Standing::candidate) {
                out.insert(std::nextafter(found_.flops_per_byte[i],
                                          std::numeric_limits<double>::infinity()));
            }
        }
    }

    void run(const RecomputeOptions& options) {
        for (std::size_t i = 0; i < found_.standings.size(); ++i) {
            dropped_[i] = found_.standings[i] == Standing::candidate &&
                          (options.mode == Recompute::blocks ||
                           found_.flops_per_byte[i] < options.flops_per_byte);
        }
        if (std::find(dropped_.begin(), dropped_.end(), true) != dropped_.end()) {
            keep_last_blocks();
            if (options.mode == Recompute::blocks) {
                keep_dearest();
            }
            rewrite(schedule());
        }
    }

private:
    /// A value that an op reads.
    struct Read {
        ValueId id;
        ValueId root;
        int producer = -1; // of the root: position
    };

    std::span<const Read> reads_of(std::size_t op) const {
        return std::span(reads_).subspan(first_read_[op], first_read_[op + 1] - first_read_[op]);
    }

    /// Values that are computed together.
    struct Group {
        double flops = 0;
        std::int64_t bytes = 0;
        std::vector<std::size_t> members;

        double flops_per_byte() const { return flops / static_cast<double>(bytes); }
    };

    /// Of what `blocks` would compute again, dearest first.
    std::vector<Group> groups() const {
        std::map<int, Group> found;
        for (std::size_t i = 0; i < dropped_.size(); ++i) {
            if (dropped_[i]) {
                Group& group = found[found_.groups[i]];
                group.flops += found_.flops_per_byte[i] * static_cast<double>(found_.bytes[i]);
                group.bytes += found_.bytes[i];
                group.members.push_back(i);
            }
        }
        std::vector<Group> out;
        for (auto& [position, group] : found) {
            out.push_back(std::move(group));
        }
        std::stable_sort(out.begin(), out.end(), [](const Group& a, const Group& b) {
            return a.flops_per_byte() > b.flops_per_byte();
        });
        return out;
    }

    void keep_dearest() {
        const std::vector<Group> all = groups();
        Group whole;
        for (const Group& group : all) {
            whole.flops += group.flops;
            whole.bytes += group.bytes;
        }
        std::int64_t left = whole.bytes / kKeptPart;
        for (const Group& group : all) {
            const bool dear = group.flops_per_byte() > whole.flops_per_byte();
            if (dear && group.bytes <= left) {
                left -= group.bytes;
                for (const std::size_t member : group.members) {
                    dropped_[member] = false;
                }
            }
        }
    }

    /// What the end of the forward phase makes is needed at once: computing it again would free
    /// memory only while less than the peak is in use.
    void keep_last_blocks() {
        std::set<int> blocks;
        for (std::size_t i = 0; i < dropped_.size(); ++i) {
            if (dropped_[i]) {
                blocks.insert(found_.blocks[i]);
            }
        }
        const std::int64_t peak = peak_bytes(schedule());
        for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
            const std::vector<bool> before = dropped_;
            for (std::size_t i = 0; i < dropped_.size(); ++i) {
                dropped_[i] = dropped_[i] && found_.blocks[i] != *block;
            }
            if (peak_bytes(schedule()) > peak) {
                dropped_ = before;
                return;
            }
        }
    }

    /// The op's results are not there any more when the backward phase or a clone reads them.
    bool gone(int position) const {
        const auto index = static_cast<std::size_t>(position);
        return position >= 0 && (dropped_[index] || found_.standings[index] == Standing::inner);
    }

    bool reads_clones(const Entry& entry) const {
        return entry.clone || block_.ops[entry.op].phase == Phase::backward;
    }

    /// The new order: every clone right before the first op that reads it.
    std::vector<Entry> schedule() const {
        std::vector<Entry> out;
        out.reserve(2 * block_.ops.size());
        std::vector<bool> cloned(block_.ops.size(), false);
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            if (block_.ops[i].phase == Phase::backward) {
                for (const Read& read : reads_of(i)) {
                    if (gone(read.producer)) {
                        request(read.id, cloned, out);
                    }
                }
            }
            out.push_back({i, false});
        }
        return out;
    }

    void request(ValueId id, std::vector<bool>& cloned, std::vector<Entry>& out) const {
        const int producer = found_.producers[slot(id)];
        if (!gone(found_.producer_of_root(id)) || cloned[static_cast<std::size_t>(producer)]) {
            return;
        }
        const auto position = static_cast<std::size_t>(producer);
        const Op& op = block_.ops[position];
        if (op.phase != Phase::forward) {
            return; // a view of the backward phase: it reads the clone already
        }
        cloned[position] = true;
        for (const ValueId operand : op.inputs) {
            request(operand, cloned, out);
        }
        out.push_back({position, true});
    }

    /// Most bytes of the block's own values alive at once, each in memory of its own.
    std::int64_t peak_bytes(const std::vector<Entry>& entries) const {
        // Two of each value: the first and the clone.
        std::vector<int> last(2 * program_.values.size(), -1);
        const auto index = [](ValueId root, bool clone) {
            return 2 * slot(root) + (clone ? 1 : 0);
        };
        for (std::size_t t = 0; t < entries.size(); ++t) {
            const bool clones = reads_clones(entries[t]);
            for (const Read& read : reads_of(entries[t].op)) {
                last[index(read.root, clones && gone(read.producer))] = static_cast<int>(t);
            }
        }
        for (const ValueId id : block_.results) {
            last[index(found_.roots[slot(id)], false)] = static_cast<int>(entries.size());
        }
        std::vector<std::int64_t> change(entries.size() + 2, 0);
        for (std::size_t t = 0; t < entries.size(); ++t) {
            for (const ValueId id : block_.ops[entries[t].op].outputs) {
                if (found_.roots[slot(id)] == id) {
                    const int end =
                        std::max(static_cast<int>(t), last[index(id, entries[t].clone)]);
                    change[t] += program_.type(id).bytes();
                    change[static_cast<std::size_t>(end) + 1] -= program_.type(id).bytes();
                }
            }
        }
        std::int64_t alive = 0;
        std::int64_t most = 0;
        for (const std::int64_t bytes : change) {
            alive += bytes;
            most = std::max(most, alive);
        }
        return most;
    }

    void rewrite(const std::vector<Entry>& entries) {
        ValueIds clone_of(program_.values.size());
        std::vector<bool> twice(block_.ops.size(), false); // [position]
        for (const Entry& entry : entries) {
            twice[entry.op] = twice[entry.op] || entry.clone;
        }
        std::vector<Op> ops;
        ops.reserve(entries.size());
        for (const Entry& entry : entries) {
            const bool reads = reads_clones(entry);
            Op& old = block_.ops[entry.op];
            Op op = twice[entry.op] ? old : std::move(old);
            if (reads) {
                for (ValueId& id : op.inputs) {
                    id = slot(id) < clone_of.size() && clone_of[slot(id)].valid()
                             ? clone_of[slot(id)]
                             : id;
                }
                for (ir::Block& body : op.body) {
                    ir::replace_uses(body, clone_of);
                }
            }
            if (entry.clone) {
                op.phase = Phase::backward;
                for (ValueId& id : op.outputs) {
                    const ValueId fresh = program_.add_value(ir::Type(program_.type(id)));
                    clone_of[slot(id)] = fresh;
                    id = fresh;
                }
            }
            ops.push_back(std::move(op));
        }
        block_.ops = std::move(ops);
    }

    ir::Program& program_;
    ir::Block& block_;
    const RecomputeCandidates found_;
    std::vector<Read> reads_;             // of all ops, in order
    std::vector<std::size_t> first_read_; // [position] and one behind
    std::vector<bool> dropped_; // [position] its results are computed again
};

template <typename Visit>
void for_each_trained_block(ir::Program& program, const Visit& visit) {
    ir::walk_blocks(program.body, [&](ir::Block& block) {
        BlockRecompute recompute(program, block);
        if (recompute.trains()) {
            visit(recompute);
        }
    });
}

} // namespace

void recompute(ir::Program& program, const RecomputeOptions& options) {
    if (options.mode != Recompute::none) {
        for_each_trained_block(program, [&](BlockRecompute& block) { block.run(options); });
    }
}

std::vector<double> recompute_thresholds(const ir::Program& program) {
    ir::Program copy = program; // the walk is shared with the pass, which changes programs
    std::set<double> found = {0.0};
    for_each_trained_block(copy, [&](const BlockRecompute& block) { block.thresholds(found); });
    return {found.begin(), found.end()};
}

} // namespace weft::passes
