// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run_index.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"

#include <algorithm>

namespace weft::ui {
namespace {

std::vector<train::RunSummary> read_runs(const std::filesystem::path& root,
                                         const std::vector<std::filesystem::path>& extra,
                                         const std::vector<train::RunSummary>& known) {
    std::vector<train::RunSummary> runs;
    try {
        runs = train::list_runs(root, known);
    } catch (const Error&) {
        runs.clear(); // no such folder yet: no runs
    }
    for (const std::filesystem::path& folder : extra) {
        const bool listed = std::any_of(runs.begin(), runs.end(),
                                        [&](const auto& run) { return run.folder == folder; });
        if (!listed) {
            runs.push_back(train::summarise_run(folder));
        }
    }
    return runs;
}

std::vector<checkpoint::Entry> read_entries(const std::filesystem::path& run_folder) {
    try {
        return checkpoint::list_checkpoints(run_folder / "checkpoints");
    } catch (const Error& error) {
        checkpoint::Entry entry;
        entry.path = run_folder / "checkpoints";
        entry.problem = error.message();
        return {entry};
    }
}

} // namespace

RunIndex::RunIndex(std::filesystem::path root, QObject* parent)
    : QObject(parent), root_(std::move(root)) {}

RunIndex::~RunIndex() = default;

void RunIndex::setRoot(const std::filesystem::path& root) {
    root_ = root;
    refresh();
}

void RunIndex::addFolder(const std::filesystem::path& folder) {
    if (folder.parent_path() != root_ &&
        std::find(extra_.begin(), extra_.end(), folder) == extra_.end()) {
        extra_.push_back(folder);
    }
    refresh();
}

void RunIndex::refresh() {
    if (reading_) {
        again_ = true;
        return;
    }
    reading_ = true;
    runInBackground(
        this,
        [root = root_, extra = extra_, known = runs_] { return read_runs(root, extra, known); },
        [this](std::vector<train::RunSummary> runs) {
            reading_ = false;
            loaded_ = true;
            runs_ = std::move(runs);
            emit runsChanged();
            if (std::exchange(again_, false)) {
                refresh();
            }
        });
}

const train::RunSummary* RunIndex::find(const std::filesystem::path& folder) const {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const auto& run) { return run.folder == folder; });
    return found == runs_.end() ? nullptr : &*found;
}

void RunIndex::readCheckpoints(const std::filesystem::path& run_folder) {
    runInBackground(
        this, [run_folder] { return read_entries(run_folder); },
        [this, run_folder](const std::vector<checkpoint::Entry>& entries) {
            emit checkpointsRead(run_folder, entries);
        });
}

} // namespace weft::ui
