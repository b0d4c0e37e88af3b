// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/open_folders.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_index.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"

#include <QCoreApplication>
#include <QMenu>

namespace weft::ui {
namespace {

QString folderWords(const char* text) {
    return QCoreApplication::translate("OpenFolders", text);
}

QString folderName(const std::filesystem::path& opened) {
    return pathText(opened.has_filename() ? opened.filename() : opened.parent_path().filename());
}

} // namespace

std::filesystem::path openedFolderOf(const RunIndex& index, const std::filesystem::path& path) {
    if (path.parent_path() == index.root()) {
        return {}; // a run of the studio's own
    }
    for (const std::filesystem::path& opened : index.openedFolders()) {
        const std::filesystem::path below = path.lexically_relative(opened);
        if (!below.empty() && *below.begin() != "..") {
            return opened;
        }
    }
    return {};
}

QString closeText(const std::filesystem::path& opened) {
    const bool file = opened.extension() == ".safetensors";
    return (file ? folderWords(QT_TRANSLATE_NOOP("OpenFolders", "Close %1"))
                 : folderWords(QT_TRANSLATE_NOOP("OpenFolders", "Close folder %1")))
        .arg(folderName(opened));
}

void closeOpened(RunIndex& index, const std::filesystem::path& opened,
                 const std::function<void(const QString&)>& closed) {
    index.closeFolder(opened);
    closed(folderWords(
               QT_TRANSLATE_NOOP("OpenFolders", "%1 is closed. Its files stay where they are."))
               .arg(folderName(opened)));
}

void addCloseAction(QMenu& menu, RunIndex& index, const std::filesystem::path& path,
                    const std::function<void(const QString&)>& closed) {
    const std::filesystem::path opened = openedFolderOf(index, path);
    if (opened.empty()) {
        return;
    }
    QAction* action =
        menu.addAction(widgets::icon("close"), widgets::menuText(closeText(opened)), &menu,
                       [&index, opened, closed] { closeOpened(index, opened, closed); });
    action->setToolTip(pathText(opened));
}

} // namespace weft::ui
