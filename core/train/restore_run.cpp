// SPDX-License-Identifier: Apache-2.0
#include "core/train/restore_run.h"

#include "core/base/text.h"
#include "core/train/engine.h"
#include "core/train/warm_start.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

/// What may be tried, newest first.
std::vector<checkpoint::Entry> starts_of(const StartFrom& start) {
    if (!start.or_older) {
        checkpoint::Entry named;
        named.path = start.checkpoint;
        return {named};
    }
    auto entries = checkpoint::list_checkpoints(start.checkpoint.parent_path());
    // What an interrupted save left, other folders, and what was set aside before.
    std::erase_if(entries, [](const checkpoint::Entry& entry) {
        const std::string name = entry.path.filename().string();
        return entry.step < 0 || (!entry.problem.empty() && !name.starts_with("step-"));
    });
    std::reverse(entries.begin(), entries.end());
    return entries;
}

RestoredRun restored_from(exec::Executor& executor, const compile::RunConfig& config,
                          const fs::path& folder, Missing missing) {
    RestoredRun out{checkpoint::read_manifest(folder), {}, {}, {}, {}};
    out.progress = read_progress(out.manifest.record, config);
    load_base(executor, config, out.manifest);
    Restored restored = restore_tensors(executor, out.manifest, missing);
    out.notes = std::move(restored.notes);
    out.fresh = std::move(restored.fresh);
    const config::Json& counters = out.manifest.record.counters;
    if (counters.contains("plateaus") &&
        counters["plateaus"].size() != out.progress.plateaus.size()) {
        out.notes.push_back("the checkpoint has other learning rates: what plateaus made of them "
                            "is left behind, each begins with a factor of 1");
    }
    return out;
}

struct Unusable {
    fs::path path;
    std::string problem;
};

/// Never throws: the run can go on where the folder cannot be moved.
PassedOver pass_over(const Unusable& unusable, bool fork, std::int64_t taken) {
    PassedOver out{"The checkpoint " + unusable.path.filename().string() + " cannot be used: " +
                       unusable.problem + (unusable.problem.ends_with('.') ? "" : "."),
                   "The run goes on from step " + format_thousands(taken) + "."};
    if (fork) {
        return out;
    }
    try {
        out.what_became_of_it += " What cannot be used is kept as " +
                                 checkpoint::set_aside(unusable.path).filename().string() + ".";
    } catch (const Error& fault) {
        out.what_became_of_it += " It could not be set aside: " + fault.message();
    }
    return out;
}

} // namespace

RestoredRun restore_run(exec::Executor& executor, const compile::RunConfig& config,
                        const StartFrom& start) {
    const Missing missing = start.fork ? Missing::keeps_init : Missing::is_error;
    std::vector<Unusable> unusable;
    std::optional<Error> first;
    for (const checkpoint::Entry& entry : starts_of(start)) {
        if (!entry.problem.empty()) {
            unusable.push_back({entry.path, entry.problem});
            continue;
        }
        try {
            if (first) {
                initialise(executor, config); // nothing of the one that failed stays
            }
            RestoredRun out = restored_from(executor, config, entry.path, missing);
            for (const Unusable& one : unusable) {
                out.passed_over.push_back(pass_over(one, start.fork, out.progress.step));
            }
            return out;
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::checkpoint) {
                throw;
            }
            unusable.push_back({entry.path, fault.message()});
            first = first ? first : fault;
        }
    }
    if (!first) {
        throw Error(ErrorKind::checkpoint, start.checkpoint.parent_path().string(),
                    "the run has no usable checkpoint", "see `weft checkpoint list`");
    }
    throw Error(*first);
}

} // namespace weft::train
