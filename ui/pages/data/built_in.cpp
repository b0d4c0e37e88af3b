// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/data/built_in.h"

#include <QCoreApplication>

#include <filesystem>

namespace weft::ui {
namespace {

class BuiltInText {
    Q_DECLARE_TR_FUNCTIONS(BuiltIn)
};

} // namespace

std::vector<BuiltIn> builtInSets() {
    std::vector<BuiltIn> sets;
    const auto add_files = [&](const QString& title, const char* name, const char* type,
                               const char* path) {
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored)) {
            sets.push_back({title, name, {{"type", type}, {"path", path}}});
        }
    };
    add_files(BuiltInText::tr("Fashion-MNIST"), "fashion-mnist", "idx",
              "/usr/share/datasets/fashion-mnist");
    add_files(BuiltInText::tr("Licence texts"), "licences", "text", "/usr/share/common-licenses");
    sets.push_back({BuiltInText::tr("Synthetic points"),
                    "points",
                    {{"type", "synthetic"}, {"kind", "classification"}}});
    sets.push_back({BuiltInText::tr("Synthetic pictures"),
                    "pictures",
                    {{"type", "synthetic"}, {"kind", "images"}, {"shape", {16, 16, 1}}}});
    return sets;
}

} // namespace weft::ui
