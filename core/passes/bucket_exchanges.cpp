// SPDX-License-Identifier: Apache-2.0
#include "core/passes/bucket_exchanges.h"

#include "core/ir/text.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <map>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;

constexpr int kBefore = -1; // made before the block's first op

struct Exchange {
    std::size_t position = 0;
    int ready = kBefore; // position of the op that makes its operand
    std::int64_t bytes = 0;
};

struct Bucket {
    std::vector<Exchange> members;
    int ready = kBefore;
    std::int64_t bytes = 0;
};

std::string key_of(const ir::Program& program, const Op& op) {
    std::string key = op.kind + "|" + std::string(ir::dtype_name(program.type(op.inputs[0]).dtype));
    for (const auto& [name, value] : op.attributes) {
        if (name != "cause") {
            key += "|" + name + "=" + ir::to_text(value);
        }
    }
    return key;
}

class Bucketer {
public:
    Bucketer(ir::Program& program, std::int64_t limit, const OpGroups& groups)
        : program_(program), limit_(limit), groups_(groups) {}

    void run() {
        std::vector<Op>& ops = program_.body.ops;
        std::map<ValueId, int> makers;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            for (const ValueId id : ops[i].outputs) {
                makers[id] = static_cast<int>(i);
            }
            last_backward_ =
                ops[i].phase == ir::Phase::backward ? static_cast<int>(i) : last_backward_;
        }
        std::map<std::string, std::vector<Exchange>> alike;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const Op& op = ops[i];
            if (op.phase == ir::Phase::update && ops::op_def(op.kind).collective &&
                op.attributes.has("reduce") && op.inputs.size() == 1) {
                const auto maker = makers.find(op.inputs[0]);
                alike[key_of(program_, op) + "|" + std::to_string(groups_(op))].push_back(
                    {i, maker == makers.end() ? kBefore : maker->second,
                     program_.type(op.inputs[0]).bytes()});
            }
        }
        for (auto& [key, list] : alike) {
            fill(list);
        }
        place();
    }

private:
    void fill(std::vector<Exchange>& list) {
        std::stable_sort(list.begin(), list.end(),
                         [](const Exchange& a, const Exchange& b) { return a.ready < b.ready; });
        Bucket bucket;
        for (const Exchange& one : list) {
            // What depends on an exchange of this very bucket cannot join it.
            const bool depends = std::any_of(
                bucket.members.begin(), bucket.members.end(), [&](const Exchange& member) {
                    return one.ready >= static_cast<int>(member.position);
                });
            if (!bucket.members.empty() && (depends || bucket.bytes + one.bytes > limit_)) {
                buckets_.push_back(std::move(bucket));
                bucket = {};
            }
            bucket.members.push_back(one);
            bucket.ready = one.ready;
            bucket.bytes += one.bytes;
        }
        buckets_.push_back(std::move(bucket));
    }

    Op joined(const Bucket& bucket) const {
        const std::vector<Op>& ops = program_.body.ops;
        Op out = ops[bucket.members.front().position];
        for (std::size_t i = 1; i < bucket.members.size(); ++i) {
            const Op& more = ops[bucket.members[i].position];
            out.inputs.push_back(more.inputs[0]);
            out.outputs.push_back(more.outputs[0]);
        }
        const auto largest =
            std::max_element(bucket.members.begin(), bucket.members.end(),
                             [](const Exchange& a, const Exchange& b) { return a.bytes < b.bytes; });
        std::string cause = ops[largest->position].attributes.text("cause");
        if (bucket.members.size() > 1) {
            cause += " and " + std::to_string(bucket.members.size() - 1) + " more";
        }
        out.attributes.set("cause", cause);
        if (bucket.ready < last_backward_ && bucket.ready != kBefore) {
            out.attributes.set("overlaps", std::string("backward"));
        }
        return out;
    }

    void place() {
        std::vector<Op>& ops = program_.body.ops;
        std::map<int, std::vector<Op>> behind; // position -> exchanges to put behind it
        std::vector<bool> taken(ops.size(), false);
        for (const Bucket& bucket : buckets_) {
            behind[bucket.ready].push_back(joined(bucket));
            for (const Exchange& member : bucket.members) {
                taken[member.position] = true;
            }
        }
        std::vector<Op> out;
        const auto put = [&](int position) {
            for (Op& op : behind[position]) {
                out.push_back(std::move(op));
            }
        };
        put(kBefore);
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (!taken[i]) {
                out.push_back(std::move(ops[i]));
            }
            put(static_cast<int>(i));
        }
        ops = std::move(out);
    }

    ir::Program& program_;
    const std::int64_t limit_;
    const OpGroups& groups_;
    std::vector<Bucket> buckets_;
    int last_backward_ = kBefore;
};

} // namespace

void bucket_exchanges(ir::Program& program, std::int64_t bucket_bytes,
                      const OpGroups& groups) {
    Bucketer(program, bucket_bytes, groups).run();
}

} // namespace weft::passes
