// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/draft_files.h"

#include "ui/bridge/convert.h"
#include "ui/studio.h"

#include <QFileDialog>

namespace weft::ui {

DraftFiles::DraftFiles(Studio& studio, QWidget& window)
    : QObject(&window), studio_(studio), window_(window) {}

std::filesystem::path DraftFiles::place() const {
    const std::filesystem::path& path = studio_.draft().path();
    return path.parent_path() == studio_.paths().presets ? std::filesystem::path() : path;
}

void DraftFiles::save() {
    const std::filesystem::path path = place();
    if (path.empty()) {
        saveAs();
        return;
    }
    const QString problem = studio_.draft().save(path);
    if (problem.isEmpty()) {
        emit saved(pathText(path.filename()));
    } else {
        emit failed(problem);
    }
}

void DraftFiles::saveAs(QWidget* over) {
    const std::filesystem::path own = place();
    const QString path = QFileDialog::getSaveFileName(
        over != nullptr ? over : &window_, tr("Save configuration"),
        own.empty() ? studio_.draft().name() + ".json" : pathText(own),
        tr("Run configurations (*.json)"));
    if (path.isEmpty()) {
        return;
    }
    const QString problem = studio_.draft().save(toPath(path));
    if (!problem.isEmpty()) {
        emit failed(problem);
    }
}

void DraftFiles::askForFile() {
    const QString path = QFileDialog::getOpenFileName(&window_, tr("Open configuration"),
                                                      pathText(studio_.paths().presets),
                                                      tr("Run configurations (*.json)"));
    if (!path.isEmpty()) {
        emit chosen(path);
    }
}

void DraftFiles::askForFolder() {
    const QString path = QFileDialog::getExistingDirectory(&window_, tr("Open run or checkpoint"),
                                                           pathText(studio_.paths().runs_root));
    if (!path.isEmpty()) {
        emit chosen(path);
    }
}

} // namespace weft::ui
