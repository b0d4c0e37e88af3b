// SPDX-License-Identifier: Apache-2.0
// Memory of a session as the system counts it: the resident set of the process, less what was
// resident when the session began. In the studio the windows are in it too. One thread, but
// growth_bytes().
#pragma once

#include "core/config/field.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace weft::train {

/// What libraries keep for themselves once a run is going, for plans: oneDNN's generated code and
/// primitives, the pages of its library that are touched, OpenMP's and HDF5's. Measured on three
/// models (tests/e2e/memory); a run reports its own figure.
constexpr std::int64_t kLibraryBytes = std::int64_t{32} << 20;

class MemoryMeter {
public:
    /// The session begins now.
    MemoryMeter();

    /// Resident now, less at the beginning.
    std::int64_t growth_bytes() const;
    /// Runs `work` and books the growth meanwhile to libraries, but for what `own` counts of ours.
    void book(const std::function<void()>& work, const std::function<std::int64_t()>& own);
    /// What was booked so far.
    std::int64_t library_bytes() const { return library_bytes_; }

    /// For the `system` event: what was planned, limit, resident at the beginning; growth now and
    /// at most; the libraries' share.
    config::Json to_json(const plan::ExecutionPlan& plan) const;

private:
    std::int64_t start_bytes_ = 0;
    std::int64_t library_bytes_ = 0;
};

} // namespace weft::train
