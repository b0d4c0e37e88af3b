// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/data/built_in.h"

#include <QCoreApplication>

#include <filesystem>

namespace weft::ui {

std::vector<BuiltIn> builtInSets() {
    const auto tr = [](const char* text) { return QCoreApplication::translate("BuiltIn", text); };
    std::vector<BuiltIn> sets;
    const auto add_files = [&](const QString& title, const char* name, const char* type,
                               const char* path) {
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored)) {
            sets.push_back({title, name, {{"type", type}, {"path", path}}});
        }
    };
    add_files(tr("Fashion-MNIST"), "fashion-mnist", "idx", "/usr/share/datasets/fashion-mnist");
    add_files(tr("Licence texts"), "licences", "text", "/usr/share/common-licenses");
    sets.push_back(
        {tr("Synthetic points"), "points", {{"type", "synthetic"}, {"kind", "classification"}}});
    sets.push_back({tr("Synthetic pictures"),
                    "pictures",
                    {{"type", "synthetic"}, {"kind", "images"}, {"shape", {16, 16, 1}}}});
    return sets;
}

} // namespace weft::ui
