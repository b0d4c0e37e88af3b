// SPDX-License-Identifier: Apache-2.0
#include "core/passes/simplify.h"

namespace weft::passes {

void simplify(ir::Program& program) {
    // Each round shortens the program, so the end is sure; the limit guards against a rule that
    // does not.
    constexpr int kMaxRounds = 16;
    bool changed = true;
    for (int round = 0; changed && round < kMaxRounds; ++round) {
        changed = remove_dead_code(program);
        changed = fold_identities(program) || changed;
        changed = merge_pads(program) || changed;
        changed = inline_single_loops(program) || changed;
        changed = merge_duplicates(program) || changed;
    }
    remove_dead_code(program);
}

} // namespace weft::passes
