// SPDX-License-Identifier: Apache-2.0
#include "core/ir/text.h"
#include "core/ops/op_def.h"
#include "core/passes/rewrite.h"
#include "core/passes/simplify.h"

#include <unordered_map>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;

// A larger constant costs memory; two accumulators that start at zero must not share one.
constexpr std::int64_t kSharedConstantElements = 64;

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
        std::vector<std::string> added; // this block's keys leave the table with it
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
            std::string text = key(op);
            const auto [found, is_new] = table_.try_emplace(text, op.outputs);
            if (is_new) {
                added.push_back(std::move(text));
                continue;
            }
            for (std::size_t i = 0; i < op.outputs.size(); ++i) {
                replaced_.set(op.outputs[i], found->second[i]);
            }
        }
        for (const std::string& text : added) {
            table_.erase(text);
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

    static std::string key(const Op& op) {
        std::string text = op.kind + "|";
        for (const ValueId id : op.inputs) {
            text += std::to_string(id.index) + ",";
        }
        for (const auto& [name, value] : op.attributes) {
            text += "|" + name + "=" + ir::to_text(value);
        }
        return text + "|" + std::string(ir::phase_name(op.phase));
    }

    ir::Program& program_;
    Replacements replaced_;
    std::unordered_map<std::string, std::vector<ValueId>> table_;
};

} // namespace

bool merge_duplicates(ir::Program& program) {
    return Merger(program).run();
}

} // namespace weft::passes
