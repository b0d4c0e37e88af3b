// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/draft_files.h"

#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/studio.h"

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
    write(path);
}

void DraftFiles::saveAs(QWidget* over) {
    const std::filesystem::path own = place();
    const std::filesystem::path path =
        askForPlace(over != nullptr ? over : &window_,
                    own.empty() ? studio_.draft().name() + ".json" : pathText(own));
    if (!path.empty()) {
        write(path);
    }
}

// A draft that says the same keeps its words; another one comes back by undo.
void DraftFiles::keepRun() {
    const compile::RunConfig& config = studio_.run().config();
    if (studio_.draft().isValid() && studio_.draft().differencesFrom(config).empty()) {
        saveAs();
        return;
    }
    const QString name = toQString(config.name) + ".json";
    const bool preset = config.base_dir == studio_.paths().presets;
    const std::filesystem::path path =
        askForPlace(&window_, preset ? name : pathText(config.base_dir / toPath(name)));
    if (!path.empty()) {
        studio_.draft().setDocument(config.document, config.base_dir);
        write(path);
    }
}

std::filesystem::path DraftFiles::askForPlace(QWidget* over, const QString& proposed) {
    return toPath(
        ui::askForPlace(over, {tr("Save configuration"), FileUse::Configuration,
                               tr("Run configurations and models (*.json *.onnx)"), proposed}));
}

void DraftFiles::write(const std::filesystem::path& path) {
    const QString problem = studio_.draft().save(path);
    if (problem.isEmpty()) {
        studio_.recent().add(path);
        emit saved(pathText(path.filename()));
    } else {
        emit failed(problem);
    }
}

void DraftFiles::askForFile() {
    const QString path = ui::askForFile(&window_, {tr("Open configuration"), FileUse::Configuration,
                                                   tr("Run configurations (*.json)")});
    if (!path.isEmpty()) {
        emit chosen(path);
    }
}

void DraftFiles::askForFolder() {
    const QString path = ui::askForFolder(&window_, {tr("Open run or checkpoint"), FileUse::Run});
    if (!path.isEmpty()) {
        emit chosen(path);
    }
}

} // namespace weft::ui
