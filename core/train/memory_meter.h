// SPDX-License-Identifier: Apache-2.0
// Memory of a session as the system counts it: the resident set of the process, less what was
// resident when the session began. In the studio the windows are in it too. Any thread.
#pragma once

#include "core/config/field.h"
#include "core/exec/executor.h"
#include "core/plan/plan.h"

#include <cstdint>

namespace weft::train {

/// What libraries keep for themselves once a run is going, for plans: buffers in which oneDNN packs
/// operands, generated code and primitives, touched pages of its library and of HDF5's, stacks of
/// threads. The largest of what runs of three models measured on two cores (tests/e2e/memory),
/// rounded up; a run reports its own figure.
constexpr std::int64_t kLibraryBytes = std::int64_t{32} << 20;

class MemoryMeter {
public:
    /// The session begins now.
    MemoryMeter();

    /// Resident now, less at the beginning.
    std::int64_t growth_bytes() const;
    /// What libraries keep: on the heap (Executor::library_bytes), and as touched pages of their
    /// files.
    std::int64_t library_bytes(const exec::Executor& executor) const;

    /// For the `system` event: planned_bytes, planned_by_category, limit_bytes (null without one),
    /// startup_bytes (resident at the beginning), resident_bytes and peak_bytes (growth since, now
    /// and at most), library_bytes (of these, measured).
    config::Json to_json(const exec::Executor& executor) const;

private:
    std::int64_t start_bytes_ = 0;
    std::int64_t start_file_bytes_ = 0;
};

} // namespace weft::train
