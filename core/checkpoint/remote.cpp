// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/remote.h"

#include "core/base/file.h"
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/pointer.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

/// Every file of a checkpoint but the manifest, with its size.
std::vector<std::pair<std::string, std::int64_t>> files_before_manifest(const Manifest& manifest) {
    std::vector<std::pair<std::string, std::int64_t>> out;
    for (const ShardInfo& shard : manifest.shards) {
        out.emplace_back(shard.file, shard.bytes);
    }
    if (manifest.tokenizer) {
        out.emplace_back(kTokenizerName, manifest.tokenizer->bytes);
    }
    return out;
}

std::string text_of_manifest(const fs::path& folder) {
    return read_file(folder / kManifestName, kMostManifestBytes, ErrorKind::checkpoint);
}

/// Arrays never change; a step that is saved anew is saved at another time.
bool same_arrays(const Manifest& a, const Manifest& b) {
    return a.record.step == b.record.step && a.saved_time == b.saved_time;
}

bool has_same_arrays(const std::string& manifest, const Manifest& here) {
    try {
        return !manifest.empty() && same_arrays(parse_manifest(manifest, here.path), here);
    } catch (const Error&) {
        return false; // damaged there: sent anew
    }
}

} // namespace

std::map<std::int64_t, RemoteStep> remote_steps(store::ObjectStore& in,
                                                const store::Address& checkpoints) {
    std::map<std::int64_t, RemoteStep> out;
    const std::string prefix = checkpoints.key + "/";
    for (store::ObjectInfo& object : in.list(prefix)) {
        const std::string rest = object.key.substr(std::min(prefix.size(), object.key.size()));
        const std::size_t slash = rest.find('/');
        const auto step = step_of_folder(rest.substr(0, slash));
        if (slash == std::string::npos || !step) {
            continue; // not ours
        }
        RemoteStep& there = out[*step];
        there.complete = there.complete || rest.substr(slash + 1) == kManifestName;
        there.objects.push_back(std::move(object));
    }
    return out;
}

std::string upload_checkpoint(store::ObjectStore& into, const store::Address& to,
                              const fs::path& folder, const std::string& there) {
    const Manifest manifest = read_manifest(folder);
    const std::string manifest_key = to.below(kManifestName).key;
    if (!has_same_arrays(there, manifest)) {
        if (!there.empty()) {
            into.remove(manifest_key);
        }
        for (const auto& [name, bytes] : files_before_manifest(manifest)) {
            into.put_file(to.below(name).key, folder / name);
        }
        into.put(to.below(kCheckpointPointerName).key,
                 checkpoint_pointer_text(manifest.record.step));
    }
    const std::string text = text_of_manifest(folder);
    if (!has_same_arrays(text, manifest)) {
        throw Error(ErrorKind::checkpoint, folder.string(),
                    "it was replaced while it was being sent", "It will be sent again.");
    }
    into.put(manifest_key, text);
    return text;
}

void remove_remote(store::ObjectStore& from, const RemoteStep& step) {
    for (const bool manifest : {true, false}) {
        for (const store::ObjectInfo& object : step.objects) {
            if (object.key.ends_with(std::string("/") + kManifestName) == manifest) {
                from.remove(object.key);
            }
        }
    }
}

bool is_remote_run(store::ObjectStore& in, const store::Address& folder) {
    return !folder.key.empty() && in.find(folder.below("run.json").key).has_value();
}

store::Address find_remote(store::ObjectStore& in, const store::Address& run,
                           std::optional<std::int64_t> step) {
    const store::Address checkpoints = run.below("checkpoints");
    const auto steps = remote_steps(in, checkpoints);
    for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
        if (at->second.complete && (!step || at->first == *step)) {
            return checkpoints.below(folder_name(at->first));
        }
    }
    throw Error(ErrorKind::checkpoint, checkpoints.text(),
                step ? "there is no complete checkpoint of step " + std::to_string(*step)
                     : std::string("there is no complete checkpoint"),
                "Check the address.");
}

store::Address find_remote_best(store::ObjectStore& in, const store::Address& run) {
    const store::Address newest = find_remote(in, run);
    const store::Address checkpoints = run.below("checkpoints");
    std::vector<Entry> entries;
    for (const auto& [step, there] : remote_steps(in, checkpoints)) {
        if (!there.complete) {
            continue;
        }
        const store::Address manifest = checkpoints.below(folder_name(step)).below(kManifestName);
        Entry& entry = entries.emplace_back();
        entry.step = step;
        entry.record =
            parse_manifest(in.get(manifest.key, kMostManifestBytes), manifest.text()).record;
    }
    const Entry* best = best_entry(entries, goal_of(entries.back().record.config));
    return best == nullptr ? newest : checkpoints.below(folder_name(best->step));
}

fs::path fetch_checkpoint(store::ObjectStore& from, const store::Address& checkpoint,
                          const fs::path& parent, const Progress& progress) {
    const std::string key = checkpoint.below(kManifestName).key;
    if (!from.find(key)) {
        throw Error(ErrorKind::checkpoint, checkpoint.text(),
                    "there is no complete checkpoint: it has no manifest", "Check the address.");
    }
    const std::string text = from.get(key, kMostManifestBytes);
    const Manifest there = parse_manifest(text, checkpoint.text());
    const fs::path target = parent / folder_name(there.record.step);
    try {
        if (const Manifest here = read_manifest(target); same_arrays(here, there)) {
            return target;
        }
    } catch (const Error&) {
        // Not here, or damaged.
    }
    const fs::path part = parent / (temporary_name(there.record.step) + "-fetched");
    remove_tree(part);
    make_directories(part);
    std::int64_t total = 0;
    std::int64_t done = 0;
    const auto files = files_before_manifest(there);
    for (const auto& [name, bytes] : files) {
        total += bytes;
    }
    for (const auto& [name, bytes] : files) {
        const auto found = from.find(checkpoint.below(name).key);
        if (!found || found->bytes != bytes) {
            throw Error(ErrorKind::checkpoint, checkpoint.below(name).text(),
                        found ? "it has " + std::to_string(found->bytes) +
                                    " bytes; the manifest says " + std::to_string(bytes)
                              : std::string("a part of the checkpoint is missing"),
                        "Use another checkpoint of this run.");
        }
        from.get_file(*found, part / name, [&](std::int64_t count) {
            done += count;
            if (progress && total > 0) {
                progress(static_cast<double>(done) / static_cast<double>(total));
            }
        });
    }
    write_file_atomically(part / kCheckpointPointerName,
                          checkpoint_pointer_text(there.record.step));
    write_file_atomically(part / kManifestName, text);
    read_manifest_of_any_step(part);
    remove_tree(target);
    rename_durably(part, target);
    return target;
}

} // namespace weft::checkpoint
