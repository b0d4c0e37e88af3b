// SPDX-License-Identifier: GPL-3.0-or-later
// Folders and files that the user opened beside the folder of runs, and the way to close them.
#pragma once

#include <QString>

#include <filesystem>
#include <functional>

class QMenu;

namespace weft::ui {

class RunIndex;

/// The opened folder or file that brought a path into the lists; empty when none did.
std::filesystem::path openedFolderOf(const RunIndex& index, const std::filesystem::path& path);
/// "Close folder logs", "Close model.safetensors".
QString closeText(const std::filesystem::path& opened);
/// Takes it out of the lists; what is said of that goes to `closed`.
void closeOpened(RunIndex& index, const std::filesystem::path& opened,
                 const std::function<void(const QString&)>& closed);
/// Adds that to a menu over a run or file, where it came in so.
void addCloseAction(QMenu& menu, RunIndex& index, const std::filesystem::path& path,
                    const std::function<void(const QString&)>& closed);

} // namespace weft::ui
