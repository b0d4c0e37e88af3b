// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/safetensors.h"
#include "core/train/logging/tensorboard_reader.h"
#include "core/train/record/run_summary.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 12;
constexpr std::size_t kMostFolders = 20000; // looked into; more is somebody's home directory

/// Whether `folder` is a run; its subfolders and files of weights.
bool look_into(const fs::path& folder, std::vector<fs::path>& below,
               std::vector<fs::path>& weights) {
    bool is_run = false;
    const std::size_t weights_before = weights.size();
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem);
         !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
        std::error_code ignored;
        const std::string name = entry->path().filename().string();
        if (entry->is_directory(ignored) && !entry->is_symlink(ignored) && name.front() != '.') {
            below.push_back(entry->path());
        }
        if (!entry->is_regular_file(ignored)) {
            continue;
        }
        is_run |= is_tensorboard_file(entry->path());
        if (checkpoint::is_safetensors(entry->path())) {
            weights.push_back(entry->path());
        }
    }
    if (is_run_folder(folder)) {
        below.clear();
        weights.resize(weights_before);
        return true;
    }
    return is_run;
}

} // namespace

FoundRuns find_runs(const fs::path& folder) {
    FoundRuns out;
    std::error_code problem;
    if (fs::is_regular_file(folder, problem) && checkpoint::is_safetensors(folder)) {
        out.weights.push_back(folder);
        return out;
    }
    std::vector<fs::path> level{folder};
    std::size_t looked = 0;
    for (int depth = 0; depth <= kMostDepth && !level.empty(); ++depth) {
        std::vector<fs::path> next;
        for (const fs::path& one : level) {
            if (++looked > kMostFolders) {
                out.all = false;
                break;
            }
            std::vector<fs::path> below;
            if (look_into(one, below, out.weights)) {
                out.folders.push_back(one);
            }
            next.insert(next.end(), below.begin(), below.end());
        }
        level = out.all ? std::move(next) : std::vector<fs::path>();
    }
    out.all = out.all && level.empty();
    std::sort(out.folders.begin(), out.folders.end());
    std::sort(out.weights.begin(), out.weights.end());
    return out;
}

} // namespace weft::train
