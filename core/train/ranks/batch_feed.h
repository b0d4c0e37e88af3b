// SPDX-License-Identifier: Apache-2.0
// Batches of a run on their way into its devices. Where each device has a process, every rank makes
// the rows that its device holds, and rank 0 hears of each batch what must be known of all of it.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/data/loader.h"
#include "core/exec/executor.h"
#include "core/train/record/loader_watch.h"

#include <memory>
#include <string>

namespace weft::train {

class RankRows;

/// Which batches, for whoever makes rows of them.
struct BatchOrder {
    std::string program = "train_step"; // that they are arguments of
    std::string part = "train";         // of the data: "train", "validation", "test"
    std::int64_t rows = 1;              // of a batch
    /// Epoch after epoch, shuffled and mixed as the run says; else once through.
    bool training = true;
    std::int64_t max_batches = 0; // 0: no limit
    data::Cursor start{};
};

/// Those that a run trains on, from `start` on.
BatchOrder training_order(const compile::RunConfig& config, data::Cursor start);
/// How all rows of such batches are made.
data::LoaderOptions loader_options(const compile::RunConfig& config, const data::Source& source,
                                   const BatchOrder& order);
/// In which order samples come.
data::Sampler sampler_of(const compile::RunConfig& config, const data::Source& source,
                         const BatchOrder& order);

/// Writes all rows of a batch into the arguments of a program, on all devices.
void write_batch(exec::Executor& executor, const std::string& program, const data::Batch& batch);

class BatchFeed {
public:
    /// Who wants to look at batches beside the devices.
    enum class Looks : std::uint8_t { nobody, rank_0 };

    /// `ranks` outlives it; null: all devices are of this process. Throws weft::Error{data}.
    BatchFeed(const compile::RunConfig& config, std::shared_ptr<const data::Source> source,
              const BatchOrder& order, RankRows* ranks, Looks looks = Looks::nobody);
    ~BatchFeed();
    BatchFeed(const BatchFeed&) = delete;
    BatchFeed& operator=(const BatchFeed&) = delete;

    /// As Loader::next. Of the rows those that rank 0 makes are there, all of them where it looks
    /// at them; count and left_out are of all. Throws what went wrong on any rank.
    const data::Batch* next();
    /// The last one.
    const data::Batch& batch() const { return *last_; }
    /// Writes the rows of the last batch into the arguments of its program, on all devices.
    void write(exec::Executor& executor) const;

    /// As Loader has them, on all ranks.
    void wait_until_full();
    /// Whether next() would not wait for this process.
    bool is_ready() const { return loader_->is_ready(); }
    /// Milliseconds that the last next() waited, for any rank.
    double last_wait_ms() const { return wait_ms_; }
    /// Of all ranks, as they told with their last batch.
    FeedUse use() const;

private:
    const BatchOrder order_;
    RankRows* const ranks_;
    const std::shared_ptr<const data::Source> source_;
    const data::Sampler sampler_;
    std::unique_ptr<data::Loader> loader_;
    int number_ = 0;                    // by which ranks know it
    data::Batch joined_;                // of all ranks
    const data::Batch* last_ = nullptr; // that next() gave
    std::vector<data::LoaderUse> uses_; // by rank, but for this one
    double wait_ms_ = 0, waited_s_ = 0; // of the last call, of all
};

} // namespace weft::train
