// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/manifest_json.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <tuple>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

bool is_temporary(std::string_view name) {
    return name.starts_with(std::string(kTemporaryPrefix) + "step-");
}

Entry entry_of(const fs::path& folder) {
    Entry entry;
    entry.path = folder;
    const std::string name = folder.filename().string();
    if (is_temporary(name)) {
        entry.step =
            step_of_folder(name.substr(std::string_view(kTemporaryPrefix).size())).value_or(-1);
        entry.problem = "incomplete: a save that was interrupted; the next save removes it";
        return entry;
    }
    if (name.starts_with(kUnusablePrefix)) {
        entry.step =
            step_of_folder(name.substr(std::string_view(kUnusablePrefix).size())).value_or(-1);
        entry.problem = "set aside: it could not be used";
        return entry;
    }
    const std::optional<std::int64_t> step = step_of_folder(name);
    entry.step = step.value_or(-1);
    std::error_code code;
    if (!step && !fs::exists(folder / kManifestName, code)) {
        entry.problem = "not a checkpoint: the folder has no " + std::string(kManifestName);
        return entry;
    }
    try {
        Manifest manifest = read_manifest_of_any_step(folder);
        if (step && *step != manifest.record.step) {
            entry.problem = another_step(manifest);
        }
        entry.step = manifest.record.step;
        entry.record = std::move(manifest.record);
        entry.bytes = manifest.bytes;
        entry.saved_time = manifest.saved_time;
    } catch (const Error& error) {
        entry.problem = error.message();
    }
    return entry;
}

/// A checkpoint that the manager wrote: copies under other names are the user's.
bool is_kept_by_rule(const Entry& entry) {
    return entry.problem.empty() && entry.path.filename() == folder_name(entry.step);
}

/// The folders directly in `folder`; none when it does not exist.
std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
        std::error_code ignored;
        if (entry->is_directory(ignored)) {
            out.push_back(entry->path());
        }
    }
    if (code && code != std::errc::no_such_file_or_directory) {
        throw Error(ErrorKind::checkpoint, folder.string(),
                    "cannot list the folder: " + code.message(), "Check its permissions.");
    }
    return out;
}

void sort_by_step(std::vector<Entry>& entries) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.step, a.path) < std::tie(b.step, b.path);
    });
}

} // namespace

std::optional<std::int64_t> step_of_folder(std::string_view name) {
    constexpr std::string_view kPrefix = "step-";
    if (!name.starts_with(kPrefix)) {
        return std::nullopt;
    }
    name.remove_prefix(kPrefix.size());
    std::int64_t step = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    const bool whole = error == std::errc() && end == name.data() + name.size();
    return whole && step >= 0 && folder_name(step) == std::string(kPrefix) + std::string(name)
               ? std::optional(step)
               : std::nullopt;
}

Entry read_entry(const fs::path& checkpoint_folder) {
    return entry_of(checkpoint_folder);
}

std::vector<Entry> find_checkpoints(const fs::path& checkpoints_folder) {
    std::vector<Entry> entries;
    for (const fs::path& folder : folders_in(checkpoints_folder)) {
        const std::string name = folder.filename().string();
        if (name.front() != '.' || is_temporary(name)) {
            entries.emplace_back().path = folder;
            entries.back().step = step_of_folder(name).value_or(-1);
            entries.back().looked_into = false;
        }
    }
    sort_by_step(entries);
    return entries;
}

std::vector<Entry> list_checkpoints(const fs::path& checkpoints_folder) {
    std::vector<Entry> entries;
    for (const Entry& found : find_checkpoints(checkpoints_folder)) {
        entries.push_back(read_entry(found.path));
    }
    sort_by_step(entries);
    work_out_reasons(entries);
    return entries;
}

void work_out_reasons(std::vector<Entry>& entries) {
    std::vector<Entry> ruled;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(ruled), is_kept_by_rule);
    const std::vector<Retained> kept =
        ruled.empty() ? std::vector<Retained>()
                      : retained(ruled, retention_of(ruled.back().record.config));
    for (Entry& entry : entries) {
        entry.record.kept_for.clear();
        for (const Retained& reason : kept) {
            if (is_kept_by_rule(entry) && reason.step == entry.step) {
                entry.record.kept_for.push_back(reason.reason);
            }
        }
    }
}

fs::path set_aside(const fs::path& checkpoint_folder) {
    const fs::path stem =
        checkpoint_folder.parent_path() / (kUnusablePrefix + checkpoint_folder.filename().string());
    fs::path to = stem;
    for (int number = 2; fs::exists(fs::symlink_status(to)); ++number) {
        to = stem;
        to += "-" + std::to_string(number);
    }
    rename_durably(checkpoint_folder, to);
    return to;
}

void remove_stray_files(const fs::path& checkpoints_folder) {
    for (const fs::path& folder : folders_in(checkpoints_folder)) {
        const std::string name = folder.filename().string();
        if (is_temporary(name) && !is_being_written(folder)) {
            remove_tree(folder);
        } else if (step_of_folder(name)) {
            remove_stray_part(folder / kManifestName);
        }
    }
}

} // namespace weft::checkpoint
