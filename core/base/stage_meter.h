// SPDX-License-Identifier: Apache-2.0
// Where the time of preparing data goes, by stage of the work.
//
// Code that reads, decodes or transforms says so (InStage), however deep it lies; that costs a look
// at a variable of the thread unless a meter is running on it.
#pragma once

#include "core/base/clock.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft {

enum class Stage : std::uint8_t {
    batch,    // putting samples into batches, and all that is none of the others
    read,     // bytes of files
    decode,   // inflating, parsing, pixels of images
    transform // scaling, transforms
};
inline constexpr std::size_t kStages = 4;

/// Seconds per stage, by its number.
using StageSeconds = std::array<double, kStages>;

/// Measures the work of this thread as long as it lives; one at a time. Stages exclude each other:
/// within another stage, time is that of the innermost one.
class StageMeter {
public:
    explicit StageMeter(const Clock& clock);
    ~StageMeter();
    StageMeter(const StageMeter&) = delete;
    StageMeter& operator=(const StageMeter&) = delete;

    /// So far, from the beginning on in Stage::batch.
    StageSeconds seconds();

private:
    friend class InStage;
    Stage enter(Stage stage);

    const Clock& clock_;
    Stage stage_ = Stage::batch;
    double since_s_;
    StageSeconds seconds_{};
};

/// The work of this thread is of this stage as long as it lives. Lives shorter than the meter.
class InStage {
public:
    explicit InStage(Stage stage);
    ~InStage();
    InStage(const InStage&) = delete;
    InStage& operator=(const InStage&) = delete;

private:
    StageMeter* meter_;
    Stage before_ = Stage::batch;
};

} // namespace weft
