// SPDX-License-Identifier: Apache-2.0
// The queue on disk. <folder>/queue.json is the whole truth of all entries and sweeps: one file, so
// that a decision about many trials is there as a whole or not at all, whatever is killed when.
// Beside it: configs/ (configurations as they were when they were added), logs/ (what runs said),
// running/ (locks, core/queue/process.h). Any number of processes read and change it.
#pragma once

#include "core/base/file.h"
#include "core/queue/entry.h"
#include "core/queue/sweep.h"

#include <functional>

namespace weft::queue {

struct Book {
    std::int64_t next_id = 1;
    std::vector<Entry> entries; // in the order in which they are started
    std::vector<Sweep> sweeps;

    /// Null when there is none.
    Entry* find(std::int64_t id);
    const Entry* find(std::int64_t id) const;
    const Sweep* find_sweep(std::string_view name) const;
    /// Gives it a number and puts it at the end.
    Entry& add(Entry entry);
    /// Places in `entries` of a sweep's trials, by trial.
    std::vector<std::size_t> trials_of(std::string_view sweep) const;
};

/// <runs root>/queue
Path folder_under(const Path& runs_root);
/// An empty one where there is no queue yet. Throws weft::Error{runtime} for a file that is damaged
/// or of a newer version; it is never written over.
Book read_book(const Path& folder);
/// Size and time of the file: equal as long as nothing changed.
std::string stamp_of(const Path& folder);

/// Reads, calls `change`, writes: no other process comes between. Nothing is written where nothing
/// has changed, or `change` throws. Throws weft::Error{runtime}.
void change_book(const Path& folder, const std::function<void(Book&)>& change);

/// Configurations of entries lie here; written before the entry is there.
Path config_file(const Path& folder, std::int64_t id);
Path log_file(const Path& folder, std::int64_t id);

} // namespace weft::queue
