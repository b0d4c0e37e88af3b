// SPDX-License-Identifier: Apache-2.0
#include "core/passes/bucket_exchanges.h"

#include "core/ir/text.h"
#include "core/ops/op_def.h"
#include "kernels/weft_kernels.h"

#include <algorithm>
#include <map>
#include <set>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;
using ir::ValueIds;

constexpr int kBefore = -1; // made before the block's first op
constexpr std::int64_t kParts = 8;
constexpr std::int64_t kLeastBytes = 1 << 20;
constexpr std::int64_t kMostBytes = 25 << 20;

struct Exchange {
    std::size_t position = 0;
    std::vector<std::size_t> cut; // positions of the ops that only cut its operand up, in order
    int ready = kBefore;          // position of the op that makes what is exchanged
    std::int64_t bytes = 0;
};

struct Bucket {
    std::vector<Exchange> members;
    int ready = kBefore;
    std::int64_t bytes = 0;
};

std::string key_of(const ir::Program& program, const Op& op) {
    std::string key = op.kind + "|" + std::string(ir::phase_name(op.phase)) + "|" +
                      std::string(ir::dtype_name(program.type(op.inputs[0]).dtype));
    for (const auto& [name, value] : op.attributes) {
        if (name != "cause" && name != "what" && name != "why" && name != "tensor") {
            key += "|" + name + "=" + ir::to_text(value);
        }
    }
    return key;
}

class Bucketer {
public:
    Bucketer(ir::Program& program, ir::Block& block, const OpGroups& groups)
        : program_(program), block_(block), groups_(groups),
          makers_(program.values.size(), kBefore), readers_(program.values.size()),
          result_(program.values.size(), false) {}

    void run() {
        look();
        // What depends on an exchange is in another bucket: those of one are as many exchanges away
        // from the block's start.
        std::map<std::string, std::vector<Exchange>> alike;
        std::vector<int> depths(program_.values.size(), 0);
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            const Op& op = block_.ops[i];
            int depth = 0;
            for (const ValueId id : reads(op)) {
                depth = std::max(depth, depths[index(id)]);
            }
            if (ops::op_def(op.kind).collective && op.attributes.has("reduce") &&
                op.inputs.size() == 1 && may_wait(op)) {
                alike[key_of(program_, op) + "|" + std::to_string(groups_(op)) + "|" +
                      std::to_string(depth)]
                    .push_back(exchange_at(i));
                ++depth;
            }
            for (const ValueId id : op.outputs) {
                depths[index(id)] = depth;
            }
        }
        if (alike.empty()) {
            return;
        }
        for (auto& [key, list] : alike) {
            fill(list);
        }
        Writer(*this).run();
    }

private:
    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }

    static ValueIds reads(const Op& op) {
        ValueIds out = op.structured() ? ir::captures(op) : ValueIds();
        out.insert(out.end(), op.inputs.begin(), op.inputs.end());
        return out;
    }

    void look() {
        for (std::size_t i = 0; i < block_.ops.size(); ++i) {
            const Op& op = block_.ops[i];
            for (const ValueId id : reads(op)) {
                readers_[index(id)].push_back(i);
            }
            for (const ValueId id : op.outputs) {
                makers_[index(id)] = static_cast<int>(i);
            }
            last_backward_ = op.phase == ir::Phase::backward ? static_cast<int>(i) : last_backward_;
        }
        for (const ValueId id : block_.results) {
            result_[index(id)] = true;
        }
    }

    /// Whether the op only puts elements of its one operand elsewhere.
    bool moves(const Op& op) const {
        const ops::OpDef& def = ops::op_def(op.kind);
        return !op.structured() && op.inputs.size() == 1 && op.outputs.size() == 1 &&
               def.elementwise < 0 && !def.collective && ops::cost_of({program_, op}).flops == 0;
    }

    /// Whether the exchange may come later: in backward only sums of gradients wait, which nothing
    /// but their accumulator reads.
    bool may_wait(const Op& op) const {
        if (op.phase != ir::Phase::backward) {
            return op.phase == ir::Phase::update;
        }
        return std::all_of(
            readers_[index(op.outputs[0])].begin(), readers_[index(op.outputs[0])].end(),
            [&](std::size_t reader) {
                const Op& next = block_.ops[reader];
                const bool adds = ops::op_def(next.kind).elementwise == WEFT_EW_ADD &&
                                  result_[index(next.outputs[0])];
                return next.phase == ir::Phase::update || adds || (moves(next) && may_wait(next));
            });
    }

    Exchange exchange_at(std::size_t position) const {
        Exchange out{position, {}, kBefore, program_.type(block_.ops[position].inputs[0]).bytes()};
        ValueId operand = block_.ops[position].inputs[0];
        out.ready = makers_[index(operand)];
        while (out.ready != kBefore) {
            const Op& maker = block_.ops[static_cast<std::size_t>(out.ready)];
            if (!moves(maker) || readers_[index(operand)].size() != 1 || result_[index(operand)]) {
                break;
            }
            out.cut.insert(out.cut.begin(), static_cast<std::size_t>(out.ready));
            operand = maker.inputs[0];
            out.ready = makers_[index(operand)];
        }
        return out;
    }

    void fill(std::vector<Exchange>& list) {
        std::stable_sort(list.begin(), list.end(),
                         [](const Exchange& a, const Exchange& b) { return a.ready < b.ready; });
        std::int64_t all = 0;
        for (const Exchange& one : list) {
            all += one.bytes;
        }
        const std::int64_t limit = bucket_bytes(all);
        Bucket bucket;
        for (Exchange& one : list) {
            // What is small goes with what is large: a bias with its weight.
            const std::int64_t first = bucket.members.empty() ? 0 : bucket.members.front().bytes;
            if (!bucket.members.empty() &&
                bucket.bytes + one.bytes > std::max(limit, first) + limit / kParts) {
                buckets_.push_back(std::move(bucket));
                bucket = {};
            }
            bucket.ready = one.ready;
            bucket.bytes += one.bytes;
            bucket.members.push_back(std::move(one));
        }
        buckets_.push_back(std::move(bucket));
    }

    Op joined(const Bucket& bucket) const {
        const std::vector<Op>& ops = block_.ops;
        Op out = ops[bucket.members.front().position];
        for (std::size_t i = 1; i < bucket.members.size(); ++i) {
            const Op& more = ops[bucket.members[i].position];
            out.inputs.push_back(more.inputs[0]);
            out.outputs.push_back(more.outputs[0]);
        }
        const auto largest = std::max_element(
            bucket.members.begin(), bucket.members.end(),
            [](const Exchange& a, const Exchange& b) { return a.bytes < b.bytes; });
        // The largest speaks for all.
        out.attributes = ops[largest->position].attributes;
        if (bucket.members.size() > 1) {
            const std::string more =
                " and " + std::to_string(bucket.members.size() - 1) + " more";
            for (const char* name : {"cause", "what"}) {
                if (out.attributes.has(name)) {
                    out.attributes.set(name, out.attributes.text(name) + more);
                }
            }
        }
        if (bucket.ready < last_backward_ && bucket.ready != kBefore) {
            out.attributes.set("overlaps", std::string("backward"));
        }
        return out;
    }

    /// Writes the block anew. What reads an exchange that is not there yet waits for it.
    class Writer {
    public:
        explicit Writer(Bucketer& from)
            : from_(from), awaited_(from.program_.values.size(), false),
              taken_(from.block_.ops.size(), false) {}

        void run() {
            std::map<int, std::vector<std::size_t>> behind; // position -> buckets ready there
            for (std::size_t i = 0; i < from_.buckets_.size(); ++i) {
                behind[from_.buckets_[i].ready].push_back(i);
                for (const Exchange& member : from_.buckets_[i].members) {
                    take(member.position);
                    std::for_each(member.cut.begin(), member.cut.end(),
                                  [&](std::size_t position) { take(position); });
                }
            }
            out_.reserve(from_.block_.ops.size());
            for (int i = kBefore; i < static_cast<int>(taken_.size()); ++i) {
                if (i != kBefore && !taken_[static_cast<std::size_t>(i)]) {
                    offer({from_.block_.ops[static_cast<std::size_t>(i)]});
                }
                for (const std::size_t bucket : behind[i]) {
                    offer(ops_of(from_.buckets_[bucket]));
                }
            }
            WEFT_CHECK(waiting_.empty(), "every exchange gets its operands");
            from_.block_.ops = std::move(out_);
        }

    private:
        /// The op will come with its bucket.
        void take(std::size_t position) {
            taken_[position] = true;
            for (const ValueId id : from_.block_.ops[position].outputs) {
                awaited_[index(id)] = true;
            }
        }

        std::vector<Op> ops_of(const Bucket& bucket) const {
            std::vector<Op> out;
            for (const Exchange& member : bucket.members) {
                for (const std::size_t position : member.cut) {
                    out.push_back(from_.block_.ops[position]);
                }
            }
            out.push_back(from_.joined(bucket));
            return out;
        }

        bool can_run(const std::vector<Op>& ops) const {
            std::set<ValueId> own;
            for (const Op& op : ops) {
                for (const ValueId id : reads(op)) {
                    if (awaited_[index(id)] && own.count(id) == 0) {
                        return false;
                    }
                }
                own.insert(op.outputs.begin(), op.outputs.end());
            }
            return true;
        }

        void offer(std::vector<Op> ops) {
            if (!can_run(ops)) {
                for (const Op& op : ops) {
                    for (const ValueId id : op.outputs) {
                        awaited_[index(id)] = true;
                    }
                }
                waiting_.push_back(std::move(ops));
                return;
            }
            const bool is_new = std::any_of(ops.begin(), ops.end(), [&](const Op& op) {
                return std::any_of(op.outputs.begin(), op.outputs.end(),
                                   [&](ValueId id) { return awaited_[index(id)]; });
            });
            write(std::move(ops));
            if (is_new) {
                release();
            }
        }

        void write(std::vector<Op> ops) {
            for (Op& op : ops) {
                for (const ValueId id : op.outputs) {
                    awaited_[index(id)] = false;
                }
                out_.push_back(std::move(op));
            }
        }

        /// In their order, again while one runs: it may be what another waits for.
        void release() {
            bool some_ran = true;
            while (some_ran) {
                std::vector<std::vector<Op>> still;
                for (std::vector<Op>& ops : waiting_) {
                    if (can_run(ops)) {
                        write(std::move(ops));
                    } else {
                        still.push_back(std::move(ops));
                    }
                }
                some_ran = still.size() < waiting_.size();
                waiting_ = std::move(still);
            }
        }

        Bucketer& from_;
        std::vector<bool> awaited_; // [value] made by an op that is not written yet
        std::vector<bool> taken_;   // [position]
        std::vector<std::vector<Op>> waiting_;
        std::vector<Op> out_;
    };

    ir::Program& program_;
    ir::Block& block_;
    const OpGroups& groups_;
    std::vector<int> makers_;                       // [value] position
    std::vector<std::vector<std::size_t>> readers_; // [value] positions
    std::vector<bool> result_;                      // [value] of the block
    std::vector<Bucket> buckets_;
    int last_backward_ = kBefore;
};

} // namespace

std::int64_t bucket_bytes(std::int64_t all) {
    return std::clamp((all + kParts - 1) / kParts, kLeastBytes, kMostBytes);
}

void bucket_exchanges(ir::Program& program, const OpGroups& groups) {
    ir::walk_blocks(program.body,
                    [&](ir::Block& block) { Bucketer(program, block, groups).run(); });
}

} // namespace weft::passes
