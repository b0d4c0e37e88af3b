// SPDX-License-Identifier: GPL-3.0-or-later
// What a path is that the studio is given, and who looks after it.
#include "core/checkpoint/safetensors.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/studio.h"

namespace weft::ui {
namespace {

bool isCheckpoint(const std::filesystem::path& path) {
    std::error_code ignored;
    return path.filename().string().starts_with("step-") &&
           std::filesystem::is_directory(path, ignored);
}

bool isEventFile(const std::filesystem::path& path) {
    return train::is_tensorboard_file(path) || path.filename() == "events.jsonl";
}

} // namespace

QString Studio::openPath(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        return tr("%1 is not there.").arg(pathText(path));
    }
    if (index_.find(path) != nullptr) {
        showRun(path); // one of those of an opened folder, which may have others below it
    } else if (train::is_run_folder(path)) {
        index_.addFolder(path);
        showRun(path);
    } else if (isCheckpoint(path)) {
        index_.addFolder(path.parent_path().parent_path());
        emit checkpointOpened(path);
    } else if (std::filesystem::is_directory(path, ignored)) {
        openRunsBelow(path);
    } else if (checkpoint::is_safetensors(path)) {
        index_.addFolder(path);
        emit weightsOpened(path);
    } else if (isEventFile(path)) {
        return openPath(path.parent_path());
    } else if (path.extension() == ".json") {
        draft_.open(path);
        emit configOpened();
    } else {
        emit dataOffered(path);
    }
    return {};
}

// Data is one file, or the folder that holds its files: a second one would take the place of the
// first.
void Studio::openDropped(const QStringList& paths) {
    QString data;
    bool more = false;
    for (const QString& text : paths) {
        const std::filesystem::path path = toPath(text);
        const bool may_be_data = !train::is_run_folder(path) && !isCheckpoint(path) &&
                                 !isEventFile(path) && path.extension() != ".json" &&
                                 !checkpoint::is_safetensors(path);
        if (may_be_data && !data.isEmpty()) {
            more = true;
            continue;
        }
        data = may_be_data ? pathText(path.filename()) : data;
        if (const QString problem = openPath(path); !problem.isEmpty()) {
            emit troubled(problem);
        }
    }
    if (more) {
        emit troubled(tr("Of the files, only %1 was opened. To train on several, drop the folder "
                         "that holds them.")
                          .arg(data));
    }
}

// A single run is shown; several are for the Runs page to choose from. Where there is none, the
// folder may hold data.
void Studio::openRunsBelow(const std::filesystem::path& folder) {
    runInBackground(
        this, [folder] { return train::find_runs(folder); },
        [this, folder](const train::FoundRuns& found) {
            if (found.folders.empty() && found.weights.empty()) {
                emit dataOffered(folder);
                return;
            }
            if (!found.all) {
                emit troubled(tr("%1 has too many folders: only the first were looked into. Open "
                                 "a folder below it.")
                                  .arg(pathText(folder)));
            }
            index_.addFolder(folder);
            if (found.folders.empty()) {
                emit weightsOpened(found.weights.front());
            } else if (found.folders.size() == 1) {
                showRun(found.folders.front());
            } else {
                emit runsOpened(folder, found.folders);
            }
        });
}

} // namespace weft::ui
