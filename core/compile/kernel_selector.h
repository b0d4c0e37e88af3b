// SPDX-License-Identifier: Apache-2.0
// Which kernel each step of a program runs: the first back end that has one for its shapes and
// types.
#pragma once

#include "core/exec/kernel_call.h"
#include "core/plan/lower.h"

#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::compile {

/// Remembers what back ends answered: a model has many equal ops, and a run many equal programs.
class KernelSelector {
public:
    /// `backends` in order of preference, and `stop` must outlive this; none: nothing is chosen.
    KernelSelector(const std::vector<const weft_backend*>& backends, const std::stop_token& stop)
        : backends_(backends), stop_(stop) {}

    /// One choice per step position; lines about kernels that are slower than they could be. Stops
    /// with weft::Error{runtime}.
    std::vector<plan::KernelChoice> select(const ir::Program& program,
                                           std::vector<std::string>& fallbacks);

    /// Whether the first back end, not the reference, has a kernel for the op.
    bool has_own(const ir::Program& program, const ir::Op& op);

private:
    void visit(const ir::Program& program, const ir::Block& block,
               std::vector<plan::KernelChoice>& choices, std::vector<std::string>& fallbacks);
    plan::KernelChoice choose(const ir::Program& program, const ir::Op& op,
                              std::vector<std::string>& fallbacks);
    const exec::Candidate& candidate(const ir::Program& program, const ir::Op& op);
    void note_fallback(const exec::KernelDesc& desc, const exec::Candidate& best,
                       std::vector<std::string>& fallbacks) const;

    const std::vector<const weft_backend*>& backends_;
    const std::stop_token& stop_;
    std::unordered_map<std::string, exec::Candidate> known_;
};

} // namespace weft::compile
