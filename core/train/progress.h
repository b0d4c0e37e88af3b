// SPDX-License-Identifier: Apache-2.0
// Where a run is: everything beside the arrays that an exact resume needs, as it goes into a
// checkpoint's record and comes back out of it.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/data/loader.h"
#include "core/exec/executor.h"
#include "core/optim/plateau.h"
#include "core/train/control/live_settings.h"
#include "core/train/left_out.h"
#include "core/train/record/event.h"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

class RankSaves;

/// Before the name of a weight: the slot of its moving average.
inline constexpr std::string_view kAveragePrefix = "ema/";

struct Best {
    checkpoint::Score score;
    Metrics metrics; // of that evaluation
};

/// How long a run has not become better, for early stopping.
struct Stall {
    double best = 0;
    std::int64_t step = 0;        // of the best
    std::int64_t evaluations = 0; // since then
};

/// What the updates since the last evaluation reported, where a training metric is judged.
struct TrainingSums {
    Metrics metrics;
    std::int64_t steps = 0;
};

/// Parameters that stay as they are and that checkpoints leave to the weights of init.from.
struct LeftToBase {
    std::string fingerprint; // of their bytes, in this order
    std::vector<std::pair<std::string, ir::Type>> arrays;
};

struct Progress {
    std::int64_t step = 0; // completed updates
    data::Cursor cursor;
    std::int64_t samples = 0; // consumed over the whole run
    double seconds = 0;       // spent training
    std::int64_t evaluated_step = -1;
    Metrics last_metrics; // of evaluated_step
    std::optional<Best> best;
    std::optional<Stall> stall; // once its metric was evaluated
    TrainingSums training;
    /// By group of the optimizer: how many updates `step` counts, less those skipped, when its
    /// state was zero. What the state has seen, and what Adam corrects for, counts from there.
    std::vector<std::int64_t> moments_since;
    /// By learning rate (compile::learning_rates): what evaluations made of those that follow them.
    std::vector<optim::Plateau> plateaus;
    std::int64_t skipped = 0; // updates that were not taken, as the scaler of the loss counts
    std::set<std::int64_t> passed_over; // updates that were left out, by number
    LeftOutSamples left_out;
    std::optional<LeftToBase> left_to_base; // null: checkpoints hold everything
    LiveSettings live;
};

/// Updates that were skipped until then.
std::int64_t skipped_in(const checkpoint::Record& record);

/// What the checkpoint leaves to other weights; nullopt: nothing. Throws weft::Error{checkpoint}
/// for what no run writes.
std::optional<LeftToBase> left_to_base(const checkpoint::Record& record);

/// Before the first update.
Progress first_progress(const compile::RunConfig& config);

checkpoint::Record to_record(const Progress& progress, const compile::RunConfig& config,
                             double epoch, const config::Json& environment);
/// Throws weft::Error{checkpoint} when the record lacks what a resume needs, or holds what no run
/// writes: a cursor below 0, a multiplier that is not above 0.
Progress read_progress(const checkpoint::Record& record, const compile::RunConfig& config);

/// checkpoint::verify of a checkpoint folder, and what read_progress would refuse. Throws
/// weft::Error{checkpoint} when there is no manifest to go by.
std::vector<std::string> verify_checkpoint(const std::filesystem::path& folder,
                                           const checkpoint::Progress& progress = {});

/// Every saved slot of an executor: on a mesh each device's own pieces. Views of `parts`, which the
/// host sees in the arenas themselves or as copies from the devices.
struct SavedTensors {
    std::vector<checkpoint::TensorView> views;
    std::vector<exec::HostPart> parts;
    bool are_copies = false; // and stay as they are while training goes on
};
/// With `ranks` those that write for themselves keep what their devices have.
SavedTensors saved_tensors(exec::Executor& executor, const RankSaves* ranks = nullptr);

/// The tokenizer that goes into a checkpoint; null where tokens are bytes, or no text.
std::shared_ptr<const std::string> saved_tokenizer(const data::SampleInfo& info);

/// The array of a slot in a checkpoint; null when the slot is not saved or the checkpoint has none.
/// Throws weft::Error{checkpoint} when it has another type.
const checkpoint::TensorInfo* find_saved(const checkpoint::Manifest& manifest,
                                         const plan::StateSlot& slot);

enum class Missing : std::uint8_t {
    is_error,   // the same run goes on: every array must be there
    keeps_init, // a fork may have optimizer state or averages that its parent had not
};
struct Restored {
    std::vector<std::string> notes;       // what started fresh
    std::set<std::string> fresh;          // slots that the checkpoint lacks
    std::vector<std::int64_t> read_bytes; // of arrays, by device: what each of them holds now
    std::int64_t file_bytes = 0;          // read from files; what several devices hold is read once
};
/// Reads every saved slot from a checkpoint of any mesh: each device the blocks that it holds.
/// Every byte is checked before it is used.
/// Missing optimizer state keeps its start value, a missing average starts as the weights. Throws
/// weft::Error{checkpoint} when a parameter is missing or an array has another type or a wrong
/// checksum.
Restored restore_tensors(exec::Executor& executor, const checkpoint::Manifest& manifest,
                         Missing missing);

} // namespace weft::train
