// SPDX-License-Identifier: Apache-2.0
#include "core/train/remote/fetch_run.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/pointer.h"
#include "core/checkpoint/remote.h"
#include "core/store/local_copy.h"

#include <charconv>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostRunTextBytes = 64 << 20;

std::optional<std::int64_t> step_named(const std::string& from, const store::Address& run) {
    if (from == "latest") {
        return std::nullopt;
    }
    std::int64_t step = -1;
    const auto read = std::from_chars(from.data(), from.data() + from.size(), step);
    if (read.ec != std::errc() || read.ptr != from.data() + from.size()) {
        throw Error(ErrorKind::usage, "--from " + from,
                    "this is neither latest nor best nor a step",
                    "See what is there: " + run.below("checkpoints").text());
    }
    return step;
}

/// The address of a checkpoint; of a run, that of the one that `from` says.
store::Address remote_checkpoint(store::ObjectStore& in, const store::Address& named,
                                 const std::string& from) {
    if (checkpoint::step_of_folder(named.name())) {
        return named;
    }
    return from == "best" ? checkpoint::find_remote_best(in, named)
                          : checkpoint::find_remote(in, named, step_named(from, named));
}

} // namespace

fs::path fetch_checkpoint_at(const std::string& text, const std::string& from,
                             const FetchOptions& options) {
    const store::Address named = store::parse_address(text);
    store::ObjectStore store(named, store::access_of(named), {}, options.stop);
    const store::Address address = remote_checkpoint(store, named, from);
    const fs::path parent = store::copy_path(store::copies_folder(), address.parent());
    return checkpoint::fetch_checkpoint(store, address, parent, options.progress);
}

FetchedRun fetch_run(const std::string& text, const std::string& from, const fs::path& runs,
                     const FetchOptions& options) {
    const store::Address named = store::parse_address(text);
    store::ObjectStore store(named, store::access_of(named), {}, options.stop);
    const store::Address address = remote_checkpoint(store, named, from);
    const store::Address run = address.parent().parent();
    if (!checkpoint::is_remote_run(store, run)) {
        throw Error(ErrorKind::usage, run.text(), "this is no run: it has no run.json",
                    "Name a run that was copied by checkpoint.mirror, or one of its checkpoints.");
    }
    FetchedRun out;
    out.folder = fs::absolute(runs) / run.name();
    if (fs::exists(out.folder)) {
        throw Error(ErrorKind::usage, out.folder.string(),
                    "a run of this name is on this machine already",
                    "Resume it from its folder, or move it away to go on from the store.");
    }
    const fs::path part = out.folder.parent_path() / ("." + run.name() + ".fetched");
    remove_tree(part);
    make_directories(part);
    for (const char* name : {"config.json", "run.json"}) {
        write_file_atomically(part / name, store.get(run.below(name).key, kMostRunTextBytes));
    }
    write_file_atomically(part / checkpoint::kRunPointerName, checkpoint::run_pointer_text());
    checkpoint::fetch_checkpoint(store, address, part / "checkpoints", options.progress);
    rename_durably(part, out.folder);
    out.checkpoint = out.folder / "checkpoints" / address.name();
    return out;
}

} // namespace weft::train
