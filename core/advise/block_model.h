// SPDX-License-Identifier: Apache-2.0
// What one device of a group that shares layers holds and takes, as planes over layers and samples.
// Fitted through small plans: two and four layers, four and eight samples; and for split parameters
// two and four layers on two data ranks.
#pragma once

#include "core/advise/alternatives.h"

#include <string>

namespace weft::advise {

/// A straight line over the samples of a microstep.
struct Line {
    double base = 0;
    double slope = 0;

    double at(double samples) const { return base + slope * samples; }
};

/// Exchanges of one kind between data ranks, in one microstep.
struct Traffic {
    double calls = 0;
    double bytes = 0; // of the whole arrays, all calls together
};

/// What is otherwise where parameters are split over the data ranks (ZeRO 3): weights are gathered
/// for use, and no packed copy outlives that.
struct SplitParameters {
    double scratch_bytes = 0; // beyond BlockModel's, packed copies less
    Traffic gathered, scattered;
};

/// A number of layers with what stands beside them: embeddings, head, loss.
struct BlockModel {
    Line microstep_ms;               // forward and backward, without exchanges
    Line exchange_ms;                // of one microstep, within the group
    Line scratch_bytes;              // of a microstep, beside state and gradients
    double update_scratch_bytes = 0; // of the update, the same
    double update_ms = 0;
    double parameter_bytes = 0; // f32, and so of gradients
    double parameter_tensors = 0;
    double optimizer_bytes = 0;
    double other_state_bytes = 0;
    SplitParameters split;
};

struct BlockFit {
    std::string problem; // why the model cannot be split so; empty: it can
    int plans = 0;       // that were made for it
    double layers = 0;   // of the run; 0: it has no layers of the same kind
    BlockModel none;     // what stands beside the layers
    BlockModel one;      // with one layer

    BlockModel of(double layers) const;
    BlockModel whole() const { return of(layers); }
};

/// `parameters`: of the whole run; they tell how many layers it has. A model without layers of the
/// same kind is planned whole.
BlockFit fit_block_model(const compile::RunConfig& config, const Planner& planner,
                         std::int64_t model, bool recomputes, std::int64_t parameters);

} // namespace weft::advise
