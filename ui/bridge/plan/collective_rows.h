// SPDX-License-Identifier: GPL-3.0-or-later
// The collectives of a planned training step, added up: one row for those of one kind over the same
// axes of the same thing for the same reason, layers and microbatches together. A large pipeline
// has tens of thousands: they are made with the digest, off the GUI thread.
#pragma once

#include "ui/bridge/plan/collective_arrows.h"

#include <string>
#include <vector>

namespace weft::ui {

/// Collectives that are one row; figures are over all of them.
struct CollectiveRow {
    plan::Collective first;
    QString what;             // travels, with * for numbers of layers, microbatches and stages
    QString why;              // the reason, likewise; where it is not known, who asked for it
    int stage = 0;            // of the first of them
    bool many_stages = false; // devices of other stages have some too
    double count = 0;
    double predicted_ms = 0;
    std::int64_t sent_bytes = 0;         // by one device of each stage
    std::int64_t array_bytes = 0;        // of the largest
    bool mixed = false;                  // others are smaller
    std::vector<int> ops;                // those in the digest's program, ascending
    std::vector<CollectiveShare> shares; // by stage, and by the stage that a message goes to
};

struct CollectiveRows {
    std::vector<CollectiveRow> rows; // heaviest first
    double executions = 0;           // in a step, of all stages together
    std::int64_t sent_bytes = 0;     // of the device that sends most
};

/// `stage`: the one whose ops the rows name.
CollectiveRows collectiveRows(const plan::ExecutionPlan& plan, int stage);

/// "add at blocks.2, microbatch 3, for stage 1" -> "add at blocks.*, microbatch *, for another
/// stage".
std::string withAnyNumber(const std::string& cause);

} // namespace weft::ui
