// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_def.h"
#include "core/passes/rewrite.h"
#include "core/passes/simplify.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;

// A larger constant costs memory; two accumulators that start at zero must not share one.
constexpr std::int64_t kSharedConstantElements = 64;

constexpr std::size_t kHashPrime = 0x100000001b3; // FNV

class Merger {
public:
    explicit Merger(ir::Program& program) : program_(program) {}

    bool run() {
        visit(program_.body);
        replaced_.apply(program_);
        return !replaced_.empty();
    }

private:
    void visit(ir::Block& block) {
        std::vector<std::size_t> added; // this block's entries leave the table with it
        for (Op& op : block.ops) {
            for (ValueId& input : op.inputs) {
                input = replaced_.resolve(input);
            }
            if (op.structured()) {
                if (op.kind == "repeat") {
                    visit(op.body.front());
                }
                continue;
            }
            if (!mergeable(op)) {
                continue;
            }
            const std::size_t key = hash(op);
            std::vector<const Op*>& alike = table_[key];
            const auto same = std::find_if(alike.begin(), alike.end(),
                                           [&](const Op* other) { return equal(*other, op); });
            if (same == alike.end()) {
                alike.push_back(&op);
                added.push_back(key);
                continue;
            }
            for (std::size_t i = 0; i < op.outputs.size(); ++i) {
                replaced_.set(op.outputs[i], (*same)->outputs[i]);
            }
        }
        for (std::size_t i = added.size(); i-- > 0;) {
            table_[added[i]].pop_back();
        }
    }

    bool mergeable(const Op& op) const {
        const ops::OpDef* def = ops::find_op(op.kind);
        if (def == nullptr || def->random) {
            return false;
        }
        return op.kind != "constant" ||
               program_.type(op.outputs[0]).shape.elements() <= kSharedConstantElements;
    }

    static bool equal(const Op& a, const Op& b) {
        return a.kind == b.kind && a.inputs == b.inputs && a.phase == b.phase &&
               a.attributes == b.attributes;
    }

    static std::size_t hash(const Op& op) {
        std::size_t out = std::hash<std::string>()(op.kind) + static_cast<std::size_t>(op.phase);
        const auto mix = [&](std::size_t more) { out = (out ^ more) * kHashPrime + (out >> 29); };
        for (const ValueId id : op.inputs) {
            mix(static_cast<std::size_t>(id.index));
        }
        for (const auto& [name, value] : op.attributes) {
            std::visit(
                [&]<typename T>(const T& one) {
                    if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
                        std::for_each(one.begin(), one.end(), [&](std::int64_t number) {
                            mix(std::hash<std::int64_t>()(number));
                        });
                    } else {
                        mix(std::hash<T>()(one));
                    }
                },
                value);
        }
        return out;
    }

    ir::Program& program_;
    Replacements replaced_;
    std::unordered_map<std::size_t, std::vector<const Op*>> table_; // by hash, in program order
};

} // namespace

bool merge_duplicates(ir::Program& program) {
    return Merger(program).run();
}

} // namespace weft::passes
