// SPDX-License-Identifier: Apache-2.0
// Checkpoints in object stores, as they lie on disk: shards first, manifest last. The manifest is
// the commit marker there, too: without one there is no checkpoint.
//
//   s3://bucket/folder/<run>/config.json, run.json
//   s3://bucket/folder/<run>/checkpoints/step-00000500/arrays-00000.h5, …, manifest.json
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/store/object_store.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::checkpoint {

/// What a store has of one checkpoint.
struct RemoteStep {
    std::vector<store::ObjectInfo> objects;
    bool complete = false; // it has a manifest
};

/// The checkpoints below `checkpoints`, by step.
std::map<std::int64_t, RemoteStep> remote_steps(store::ObjectStore& in,
                                                const store::Address& checkpoints);

/// Brings a complete checkpoint to the store as `to`. `there` is the manifest that the store has of
/// this step, empty: none. Where its arrays are the same only the record is replaced; of others the
/// manifest goes first. Throws weft::Error, also when the checkpoint is gone from the disk before
/// all of it is there; nothing is committed then. Returns the manifest that was written.
std::string upload_checkpoint(store::ObjectStore& into, const store::Address& to,
                              const std::filesystem::path& folder, const std::string& there);
/// The manifest goes first.
void remove_remote(store::ObjectStore& from, const RemoteStep& step);

/// Whether a folder in a store is a run's, by its run.json.
bool is_remote_run(store::ObjectStore& in, const store::Address& folder);
/// The newest complete checkpoint of a run there, or that of `step`. Throws
/// weft::Error{checkpoint}.
store::Address find_remote(store::ObjectStore& in, const store::Address& run,
                           std::optional<std::int64_t> step = std::nullopt);
/// The best one by the newest one's goal, by their manifests; the newest where none was evaluated.
store::Address find_remote_best(store::ObjectStore& in, const store::Address& run);
/// Brings a checkpoint here, into `parent`, under the name of its step: shards first, manifest
/// last, into a temporary folder that is then renamed. One that is here with the same arrays stays
/// as it is. Sizes are checked here, checksums by whoever reads. Throws weft::Error.
std::filesystem::path fetch_checkpoint(store::ObjectStore& from, const store::Address& checkpoint,
                                       const std::filesystem::path& parent,
                                       const Progress& progress = {});

} // namespace weft::checkpoint
