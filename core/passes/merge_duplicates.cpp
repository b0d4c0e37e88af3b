// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_def.h"
#include "core/passes/rewrite.h"
#include "core/passes/simplify.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;

// A larger constant costs memory; two accumulators that start at zero must not share one.
constexpr std::int64_t kSharedConstantElements = 64;

constexpr std::size_t kHashPrime = 0x100000001b3; // FNV

std::size_t count_ops(const ir::Block& block) {
    std::size_t count = block.ops.size();
    for (const Op& op : block.ops) {
        for (const ir::Block& body : op.body) {
            count += count_ops(body);
        }
    }
    return count;
}

/// Ops by hash: chains of entries that leave in the opposite order of their coming.
class Table {
public:
    explicit Table(std::size_t most) : first_(std::bit_ceil(most + 1), kNone) {
        entries_.reserve(most);
    }

    template <typename Same>
    const Op* find(std::size_t hash, const Same& same) const {
        for (int at = first_[chain(hash)]; at != kNone;) {
            const Entry& entry = entries_[static_cast<std::size_t>(at)];
            if (entry.hash == hash && same(*entry.op)) {
                return entry.op;
            }
            at = entry.next;
        }
        return nullptr;
    }

    void add(std::size_t hash, const Op* op) {
        int& first = first_[chain(hash)];
        entries_.push_back({hash, op, first});
        first = static_cast<int>(entries_.size()) - 1;
    }

    std::size_t size() const { return entries_.size(); }

    void shrink(std::size_t size) {
        for (; entries_.size() > size; entries_.pop_back()) {
            first_[chain(entries_.back().hash)] = entries_.back().next;
        }
    }

private:
    static constexpr int kNone = -1;
    struct Entry {
        std::size_t hash;
        const Op* op;
        int next; // of the same chain
    };
    std::size_t chain(std::size_t hash) const {
        return (hash ^ (hash >> 32)) & (first_.size() - 1);
    }

    std::vector<int> first_; // [chain]
    std::vector<Entry> entries_;
};

class Merger {
public:
    explicit Merger(ir::Program& program) : program_(program), table_(count_ops(program.body)) {}

    bool run() {
        visit(program_.body);
        replaced_.apply(program_);
        return !replaced_.empty();
    }

private:
    void visit(ir::Block& block) {
        const std::size_t before = table_.size();
        for (Op& op : block.ops) {
            for (ValueId& input : op.inputs) {
                input = replaced_.resolve(input);
            }
            if (op.structured()) {
                if (op.is_loop()) {
                    visit(op.body.front());
                }
                continue;
            }
            if (!mergeable(op)) {
                continue;
            }
            const std::size_t key = hash(op);
            const Op* same = table_.find(key, [&](const Op& other) { return equal(other, op); });
            if (same == nullptr) {
                table_.add(key, &op);
                continue;
            }
            for (std::size_t i = 0; i < op.outputs.size(); ++i) {
                replaced_.set(op.outputs[i], same->outputs[i]);
            }
        }
        table_.shrink(before); // a block's ops are not seen behind it
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
    Table table_;
};

} // namespace

bool merge_duplicates(ir::Program& program) {
    return Merger(program).run();
}

} // namespace weft::passes
