// SPDX-License-Identifier: Apache-2.0
// Memory of a session as the system counts it: the resident set of the process, less what was
// resident when the session began. In the studio the windows are in it too. Any thread.
#pragma once

#include "core/config/field.h"
#include "core/exec/executor.h"
#include "core/plan/plan.h"

#include <cstdint>

namespace weft::train {

/// For plans, what a run will keep beside what is planned, most of it libraries': buffers in which
/// each thread of oneDNN packs operands, its generated code, touched pages of its file and of
/// HDF5's. The line through the largest of three models with teams of 1 to 8 threads (oneDNN 2.6;
/// tests/e2e/memory shows them); a run reports its own figure.
std::int64_t library_estimate(int threads);

class MemoryMeter {
public:
    /// The session begins now.
    MemoryMeter();

    /// Resident now, less at the beginning, of all processes of the run. Takes microseconds: every
    /// step event carries it.
    std::int64_t growth_bytes(const exec::Executor& executor) const;
    /// What libraries keep: on the heap (Executor::library_bytes), and as touched pages of their
    /// files and of the program's own, which the system may take back at any time. Data files are
    /// read, never mapped, so they are not in it.
    std::int64_t library_bytes(const exec::Executor& executor) const;

    /// For the `system` event: planned_bytes, planned_by_category, limit_bytes (null without one),
    /// startup_bytes (resident at the beginning), resident_bytes and peak_bytes (growth since, now
    /// and at most), library_bytes (of these, measured); startup, peak and libraries of this
    /// process.
    config::Json to_json(const exec::Executor& executor) const;

private:
    std::int64_t start_bytes_ = 0;
    std::int64_t start_file_bytes_ = 0;
};

} // namespace weft::train
