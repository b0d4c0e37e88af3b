// SPDX-License-Identifier: GPL-3.0-or-later
// The presets that ship with the studio: what each is, and how good it becomes, as measured.
#pragma once

#include <QString>

#include <filesystem>
#include <vector>

namespace weft::ui {

struct PresetInfo {
    std::filesystem::path path;
    QString title;
    QString notes;
    QString quality; // "89.6 % test accuracy"; empty: not measured

    /// What it is, in one sentence.
    QString firstNote() const { return notes.section(QStringLiteral(". "), 0, 0); }
};

/// Those of a folder, by name. Reads files.
std::vector<PresetInfo> readPresets(const std::filesystem::path& folder);

} // namespace weft::ui
