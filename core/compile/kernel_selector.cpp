// SPDX-License-Identifier: Apache-2.0
#include "core/compile/kernel_selector.h"

#include "core/base/error.h"
#include "core/ir/text.h"
#include "core/memory/liveness.h"
#include "core/ops/op_def.h"

#include <algorithm>

namespace weft::compile {
namespace {

// Below this a slow kernel costs less than reading about it.
constexpr double kHeavyFlops = 1e6;

/// What a kernel depends on, as text: kind, attributes, types. The name of a random stream changes
/// no kernel, so the layers of a model share their entries.
std::string kernel_key(const ir::Program& program, const ir::Op& op) {
    std::string key = op.kind;
    const auto add_types = [&](const ir::ValueIds& ids) {
        for (const ir::ValueId id : ids) {
            const ir::Type& type = program.type(id);
            key += '|';
            key += ir::dtype_name(type.dtype);
            for (const std::int64_t extent : type.shape) {
                key += ' ' + std::to_string(extent);
            }
        }
    };
    for (const auto& [name, value] : op.attributes) {
        if (name != "stream") {
            key += ';' + name + '=' + ir::to_text(value);
        }
    }
    add_types(op.inputs);
    key += "->";
    add_types(op.outputs);
    for (const ir::Block& body : op.body) {
        const std::int32_t first = body.arguments.empty() ? 0 : body.arguments.front().index;
        for (const ir::Op& inner : body.ops) {
            key += '{' + kernel_key(program, inner);
            for (const auto* ids : {&inner.inputs, &inner.outputs}) {
                for (const ir::ValueId id : *ids) {
                    key += ' ' + std::to_string(id.index - first);
                }
            }
            key += '}';
        }
        for (const ir::ValueId id : body.results) {
            key += ' ' + std::to_string(id.index - first);
        }
    }
    return key;
}

} // namespace

std::vector<plan::KernelChoice> KernelSelector::select(const ir::Program& program,
                                                       std::vector<std::string>& fallbacks) {
    std::vector<plan::KernelChoice> choices;
    visit(program, program.body, choices, fallbacks);
    return choices;
}

bool KernelSelector::has_own(const ir::Program& program, const ir::Op& op) {
    return !backends_.empty() && backends_.front() != weft_reference_backend() &&
           candidate(program, op).backend == backends_.front();
}

void KernelSelector::visit(const ir::Program& program, const ir::Block& block,
                           std::vector<plan::KernelChoice>& choices,
                           std::vector<std::string>& fallbacks) {
    for (const ir::Op& op : block.ops) {
        if (stop_.stop_requested()) {
            throw Error(ErrorKind::runtime, "program " + program.name,
                        "compilation was stopped while choosing kernels");
        }
        if (!memory::is_step(op)) {
            continue;
        }
        if (op.is_loop()) {
            choices.emplace_back();
            visit(program, op.body.front(), choices, fallbacks);
        } else if (ops::op_def(op.kind).collective) {
            choices.push_back({op.kind, "mesh", 0});
        } else {
            choices.push_back(choose(program, op, fallbacks));
        }
    }
}

plan::KernelChoice KernelSelector::choose(const ir::Program& program, const ir::Op& op,
                                          std::vector<std::string>& fallbacks) {
    if (backends_.empty()) {
        return {};
    }
    const exec::Candidate& best = candidate(program, op);
    if (best.backend != backends_.front() && ops::cost_of({program, op}).flops >= kHeavyFlops) {
        note_fallback(exec::KernelDesc(program, op), best, fallbacks);
    }
    return {best.kernel_name, best.backend->name, best.workspace_bytes};
}

const exec::Candidate& KernelSelector::candidate(const ir::Program& program, const ir::Op& op) {
    const auto [found, is_new] = known_.try_emplace(kernel_key(program, op));
    if (is_new) {
        found->second = exec::choose_backend(exec::KernelDesc(program, op), backends_);
    }
    return found->second;
}

void KernelSelector::note_fallback(const exec::KernelDesc& desc, const exec::Candidate& best,
                                   std::vector<std::string>& fallbacks) const {
    std::string line = desc.where() + " runs on '" + best.kernel_name + "': back end '" +
                       backends_.front()->name + "' has no kernel for it";
    if (std::find(fallbacks.begin(), fallbacks.end(), line) == fallbacks.end()) {
        fallbacks.push_back(std::move(line));
    }
}

} // namespace weft::compile
