// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_trash.h"

#include "core/base/error.h"
#include "core/train/record/run_summary.h"
#include "ui/bridge/convert.h"

#include <QDir>
#include <QFile>
#include <QObject>
#include <QStandardPaths>

#include <memory>

namespace weft::ui {
namespace {

Trashed move(const std::filesystem::path& path) {
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) {
        return {path, {}, QObject::tr("%1 is not there any more.").arg(pathText(path))};
    }
    // Qt makes the trash, but not the folder that it lies in; a new home may lack it.
    QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation));
    QString in_trash;
    if (!QFile::moveToTrash(pathText(path), &in_trash)) {
        return {path,
                {},
                QObject::tr("%1 could not be moved to the trash: there may be none on this disk, "
                            "or the folder may not be written to. Nothing was deleted.")
                    .arg(pathText(path))};
    }
    return {path, toPath(in_trash), {}};
}

/// Moves while nobody else can begin to train the run.
Trashed moveHeld(const std::filesystem::path& run, const std::filesystem::path& path) {
    std::unique_ptr<train::RunLock> held;
    try {
        if (train::is_weft_run(run)) {
            held = std::make_unique<train::RunLock>(run);
        }
    } catch (const Error& error) {
        return {path, {}, toQString(error.message())};
    }
    return move(path);
}

/// Empty, or why it stays in the trash.
QString bringBack(const Trashed& one) {
    std::error_code problem;
    if (std::filesystem::exists(one.from, problem)) {
        return QObject::tr("%1 stays in the trash: something else has its place now.")
            .arg(pathText(one.from));
    }
    std::filesystem::create_directories(one.from.parent_path(), problem);
    std::filesystem::rename(one.in_trash, one.from, problem);
    if (problem) {
        return QObject::tr("%1 could not be brought back from the trash: %2. It may still be "
                           "there: look in the file manager.")
            .arg(pathText(one.from), toQString(problem.message()));
    }
    // The note of the trash where it came from (freedesktop.org trash specification 1.0).
    const std::filesystem::path trash = one.in_trash.parent_path().parent_path();
    std::filesystem::remove(trash / "info" / (one.in_trash.filename().string() + ".trashinfo"),
                            problem);
    return {};
}

} // namespace

Trashed trashRun(const std::filesystem::path& run) {
    return moveHeld(run, run);
}

Trashed trashCheckpoint(const std::filesystem::path& checkpoint) {
    return moveHeld(checkpoint.parent_path().parent_path(), checkpoint);
}

QString bringBack(const std::vector<Trashed>& trashed) {
    QStringList problems;
    for (const Trashed& one : trashed) {
        if (const QString problem = bringBack(one); !problem.isEmpty()) {
            problems << problem;
        }
    }
    return problems.join(QLatin1Char('\n'));
}

} // namespace weft::ui
