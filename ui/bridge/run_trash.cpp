// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run_trash.h"

#include "core/base/error.h"
#include "core/train/run_summary.h"
#include "ui/bridge/convert.h"

#include <QDir>
#include <QFile>
#include <QObject>
#include <QStandardPaths>

#include <memory>

namespace weft::ui {
namespace {

QString move(const std::filesystem::path& path) {
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) {
        return QObject::tr("%1 is not there any more.").arg(pathText(path));
    }
    // Qt makes the trash, but not the folder that it lies in; a new home may lack it.
    QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation));
    return QFile::moveToTrash(pathText(path))
               ? QString()
               : QObject::tr("%1 could not be moved to the trash: there may be none on this disk, "
                             "or the folder may not be written to. Nothing was deleted.")
                     .arg(pathText(path));
}

/// Moves while nobody else can begin to train the run.
QString moveHeld(const std::filesystem::path& run, const std::filesystem::path& path) {
    std::unique_ptr<train::RunLock> held;
    try {
        if (train::is_weft_run(run)) {
            held = std::make_unique<train::RunLock>(run);
        }
    } catch (const Error& error) {
        return toQString(error.message());
    }
    return move(path);
}

} // namespace

QString trashRun(const std::filesystem::path& run) {
    return moveHeld(run, run);
}

QString trashCheckpoint(const std::filesystem::path& checkpoint) {
    return moveHeld(checkpoint.parent_path().parent_path(), checkpoint);
}

} // namespace weft::ui
