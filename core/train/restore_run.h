// SPDX-License-Identifier: Apache-2.0
// The state that a run goes on from, out of a checkpoint; where the newest one cannot be used, out
// of the newest that can.
#pragma once

#include "core/train/progress.h"
#include "core/train/session.h"

namespace weft::train {

/// A newer checkpoint than the one that was taken.
struct PassedOver {
    std::string problem; // which, and why it cannot be used
    std::string what_became_of_it;
};

struct RestoredRun {
    checkpoint::Manifest manifest; // of the one that was taken
    Progress progress;
    std::vector<std::string> notes; // what started fresh
    std::set<std::string> fresh;    // slots that the checkpoint lacks
    std::vector<PassedOver> passed_over;
};

/// Restores start.checkpoint into the executor, which is initialised. With start.or_older the
/// checkpoints of its folder are tried from the newest on; those of the run's own that cannot be
/// used are set aside once another one could, so that they neither count as the newest nor lie in
/// the way of a save. Throws weft::Error{checkpoint}: what is wrong with the newest when none can
/// be used.
RestoredRun restore_run(exec::Executor& executor, const compile::RunConfig& config,
                        const StartFrom& start);

} // namespace weft::train
