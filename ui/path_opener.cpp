// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/path_opener.h"

#include "core/base/error.h"
#include "core/checkpoint/pointer.h"
#include "core/checkpoint/safetensors.h"
#include "core/foreign/arrays.h"
#include "core/foreign/describe.h"
#include "core/foreign/onnx.h"
#include "core/train/logging/tensorboard_reader.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

/// By its name; a copy under another name, by the file that points to it.
bool isCheckpoint(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored) &&
           (path.filename().string().starts_with("step-") ||
            std::filesystem::exists(path / checkpoint::kCheckpointPointerName, ignored));
}

/// A configuration may be called run.json, too.
bool isRunOfOurs(const std::filesystem::path& folder) {
    std::error_code ignored;
    return train::is_run_folder(folder) &&
           (std::filesystem::exists(folder / "events.jsonl", ignored) ||
            std::filesystem::is_directory(folder / "checkpoints", ignored));
}

/// The run or checkpoint that one of its own files stands for; other paths as they are. Throws
/// weft::Error for a pointer that leads nowhere.
std::filesystem::path whole(const std::filesystem::path& path) {
    const std::filesystem::path name = path.filename();
    const std::filesystem::path folder = path.parent_path();
    if (((name == "run.json" || name == "config.json") && isRunOfOurs(folder)) ||
        (name == "manifest.json" && isCheckpoint(folder))) {
        return folder;
    }
    return checkpoint::follow_pointer(path);
}

bool isPointer(const std::filesystem::path& path) {
    return checkpoint::is_run_pointer(path) || checkpoint::is_checkpoint_pointer(path);
}

/// A config.json of Hugging Face's, the folder that holds one, or an ONNX file: weights alone are
/// no model.
bool isForeignModel(const std::filesystem::path& path) {
    std::error_code ignored;
    const bool may_be = std::filesystem::is_directory(path, ignored) || foreign::is_onnx(path) ||
                        (path.extension() == ".json" && !foreign::is_weights(path));
    return may_be && foreign::foreign_config(path).has_value();
}

bool isEventFile(const std::filesystem::path& path) {
    return train::is_tensorboard_file(path) || path.filename() == "events.jsonl";
}

} // namespace

PathOpener::PathOpener(const StudioPaths& paths, Draft& draft, RunIndex& index, RecentPaths& recent,
                       QObject* parent)
    : QObject(parent), paths_(paths), draft_(draft), index_(index), recent_(recent) {}

QString PathOpener::open(const std::filesystem::path& named) {
    std::error_code ignored;
    if (!std::filesystem::exists(named, ignored)) {
        return tr("%1 is not there.").arg(pathText(named));
    }
    std::filesystem::path path;
    try {
        path = whole(named);
    } catch (const Error& error) {
        return toQString(error.message());
    }
    if (index_.find(path) != nullptr) {
        recent_.add(path);
        emit runOpened(path); // one of those of an opened folder, which may have others below it
    } else if (train::is_run_folder(path)) {
        recent_.add(path);
        index_.addFolder(path);
        emit runOpened(path);
    } else if (isCheckpoint(path)) {
        if (path.parent_path().filename() != "checkpoints") {
            return tr("%1 is a checkpoint outside of the folder of its run. Open the run, or put "
                      "the checkpoint back into its folder \"checkpoints\".")
                .arg(pathText(path));
        }
        recent_.add(path);
        index_.addFolder(path.parent_path().parent_path());
        emit checkpointOpened(path);
    } else if (isForeignModel(path)) {
        return openForeign(path);
    } else if (std::filesystem::is_directory(path, ignored)) {
        openRunsBelow(path);
    } else if (foreign::is_weights(path)) {
        recent_.add(path);
        index_.addFolder(path);
        emit weightsOpened(path);
    } else if (isEventFile(path)) {
        return open(path.parent_path());
    } else if (path.extension() == ".json") {
        if (path.parent_path() != paths_.presets) { // Home shows those
            recent_.add(path);
        }
        draft_.open(path);
        emit configOpened();
    } else {
        emit dataOffered(path);
    }
    return {};
}

QString PathOpener::openForeign(const std::filesystem::path& path) {
    const auto config = foreign::foreign_config(path);
    if (!config) {
        return tr("%1 is no model of Hugging Face's: there is no config.json with a model_type.")
            .arg(pathText(path));
    }
    if (!foreign::is_onnx(*config)) { // a small file, unlike one that holds the weights, too
        return takeForeign(path, *config, foreign::read_foreign_config(*config));
    }
    reading_.start([config = *config] { return foreign::read_foreign_config(config); },
                   [this, path, config = *config](const foreign::ForeignModel& model) {
                       if (const QString problem = takeForeign(path, config, model);
                           !problem.isEmpty()) {
                           emit troubled(problem);
                       }
                   });
    return {};
}

QString PathOpener::takeForeign(const std::filesystem::path& path,
                                const std::filesystem::path& config,
                                const foreign::ForeignModel& model) {
    QStringList notes;
    for (const config::Diagnostic& problem : model.problems) {
        if (problem.severity == config::Severity::error) {
            return tr("%1: %2").arg(pathText(config),
                                    toQString(problem.message + ". " + problem.hint));
        }
        notes << toQString(problem.message);
    }
    if (const std::string problem = foreign::tokenizer_problem(model); !problem.empty()) {
        notes << toQString(problem);
    }
    const std::filesystem::path place = foreign::model_place(config);
    const bool weights = foreign::is_weights(place);
    recent_.add(path);
    draft_.setDocument(foreign::run_of(model, place.filename().string(),
                                       weights ? place : std::filesystem::path()),
                       paths_.runs_root);
    emit modelOpened();
    if (!notes.isEmpty()) {
        emit troubled(notes.join("\n"));
    }
    return {};
}

bool PathOpener::openModel(const std::filesystem::path& path) {
    if (!foreign::foreign_config(path)) {
        return false;
    }
    const QString problem = openForeign(path);
    if (!problem.isEmpty()) {
        emit troubled(problem);
    }
    return problem.isEmpty();
}

// Data is one file, or the folder that holds its files: a second one would take the place of the
// first.
void PathOpener::openDropped(const QStringList& paths) {
    QString data;
    bool more = false;
    for (const QString& text : paths) {
        const std::filesystem::path path = toPath(text);
        const bool may_be_data = !train::is_run_folder(path) && !isCheckpoint(path) &&
                                 !isEventFile(path) && !isPointer(path) &&
                                 path.extension() != ".json" && !foreign::is_weights(path) &&
                                 !isForeignModel(path);
        if (may_be_data && !data.isEmpty()) {
            more = true;
            continue;
        }
        data = may_be_data ? pathText(path.filename()) : data;
        if (const QString problem = open(path); !problem.isEmpty()) {
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
void PathOpener::openRunsBelow(const std::filesystem::path& folder) {
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
            recent_.add(folder);
            index_.addFolder(folder);
            if (found.folders.empty()) {
                emit weightsOpened(found.weights.front());
            } else if (found.folders.size() == 1) {
                emit runOpened(found.folders.front());
            } else {
                emit runsOpened(folder, found.folders);
            }
        });
}

} // namespace weft::ui
