// SPDX-License-Identifier: Apache-2.0
// Batches of a source in the order of a sampler, made ahead by threads.
#pragma once

#include "core/base/stage_meter.h"
#include "core/data/sampler.h"
#include "core/data/transforms/mixing.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

/// Where a run is in its data: counts consumed, not prefetched, samples.
struct Cursor {
    std::int64_t epoch = 0;
    std::int64_t position = 0; // samples consumed in this epoch
    friend bool operator==(const Cursor&, const Cursor&) = default;
};

/// A sample that could not be read, and why.
struct LeftOut {
    std::int64_t index = 0;
    std::string fault;
};

/// One global batch, padded to `capacity` samples; rows past `samples` repeat the first sound one
/// with weight 0, and so do damaged ones: whatever is computed of them is finite where that of a
/// sample is. Zeros where there is no sound one. A batch never spans two epochs. What it shows is
/// the loader's. Of rows that LoaderOptions::rows leaves to others it shows nothing of use.
struct Batch {
    std::span<const std::byte> inputs;  // [capacity, input shape]
    std::span<const std::byte> targets; // [capacity, target shape]
    std::vector<float> weights;         // [capacity]
    // Where classes are mixed; else empty.
    std::vector<std::int32_t> others;   // [capacity] classes beside those of targets
    std::vector<float> shares;          // [capacity] of targets, from 1/2 to 1
    std::int64_t samples = 0;           // rows that are samples
    std::int64_t first_sample = 0;      // epoch * samples + position of row 0 (random numbers)
    double count = 0;              // loss terms: samples, or target positions that are not ignored
    Cursor after;                  // cursor once this batch is consumed
    std::vector<LeftOut> left_out; // of the rows that are samples: the damaged ones
};

/// What a loader does with a row of its batches, where several share the work.
enum class RowUse : std::uint8_t {
    none,    // others make it
    made,    // and others count it
    counted, // made, and what is damaged or counts in it is told
};

struct LoaderOptions {
    std::int64_t batch_size = 1; // capacity
    bool drop_last = false;
    bool endless = true; // train: runs into the next epoch; evaluation: ends after one pass
    int prefetch = 2;    // batches prepared ahead; 0 = none, in the caller
    int workers = 1;     // threads that prepare them; 0 = the caller does, when it asks
    std::int64_t max_batches = 0; // 0: no limit
    std::shared_ptr<const Mixing> mixing = {}; // null: samples are as they are
    /// By row of the batch; empty: all are counted. A source that streams is read whole all the
    /// same.
    std::vector<RowUse> rows = {};
};

/// What preparing batches took, summed since the loader was made.
struct LoaderUse {
    /// Of all threads, the caller where it helped. The sums are measured, how they are shared out
    /// among the stages is in part estimated: of samples that are at hand one in each piece of a
    /// batch is looked into.
    StageSeconds stages{};
    double wait_s = 0;        // of the caller, in next()
    std::int64_t samples = 0; // that went through the stages
    std::int64_t batches = 0; // that were taken
    std::int64_t ready = 0;   // that were ready when one was asked for, summed over all taken
};

/// Prepares batches ahead on its own threads; who waits for a batch helps. Neither order nor
/// content depends on how many threads there are, or on timing. Of a source that streams two
/// windows are in memory: one that batches are made of, and the next one.
class Loader {
public:
    Loader(std::shared_ptr<const Source> source, Sampler sampler, LoaderOptions options,
           Cursor start);
    ~Loader();
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    /// The next batch, or null at the end of a finite pass. The pointer is valid until the next
    /// call. Rethrows what went wrong when it was made.
    const Batch* next();
    /// Waits until there is nothing left to prepare before a batch is taken: every buffer is full,
    /// the pass has ended, or something went wrong, which next() tells. Returns at once without
    /// workers.
    void wait_until_full();
    /// Whether next() would return a batch at once; never without workers.
    bool is_ready() const;
    /// Milliseconds that the last next() waited.
    double last_wait_ms() const;
    /// For the thread that takes batches.
    LoaderUse use() const;
    /// Host bytes of all buffers and windows.
    std::int64_t buffer_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Bytes of a row of a batch.
std::int64_t row_bytes(const SampleInfo& info, bool with_other_classes);
/// Bytes of the windows of a loader whose windows have so many rows at most.
std::int64_t window_memory_bytes(const SampleInfo& info, std::int64_t window_rows);

} // namespace weft::data
